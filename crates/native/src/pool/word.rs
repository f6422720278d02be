//! The entry word of a page, in eight bytes: its state, version and frame.
//!
//! ```text
//!  63        56 55                            26 25                      0
//! +------------+--------------------------------+-------------------------+
//! |  state: 8  |           version: 30          |        frame: 26        |
//! +------------+--------------------------------+-------------------------+
//! ```
//!
//! A zero word is a page that is not in memory, so a new translation array needs no initialisation.
//! The version grows whenever the bytes may have changed (exclusive unlatch, eviction). It survives
//! eviction, so an optimistic reader notices that its page left and came back. Pure functions only;
//! the atomics are elsewhere.

/// The page is not in memory.
pub(super) const EVICTED: u8 = 0;
/// In memory, not latched, used since the clock last passed.
pub(super) const UNLOCKED: u8 = 1;
/// The largest state that counts shared holders; `state - UNLOCKED` is their number.
pub(super) const SHARED_MAX: u8 = 251;
/// Like `UNLOCKED`, but the clock has passed: evicted on the next visit unless used.
pub(super) const MARKED: u8 = 252;
/// Held exclusively.
pub(super) const EXCLUSIVE: u8 = 253;
/// Being read from disk.
pub(super) const LOADING: u8 = 254;

const STATE_SHIFT: u32 = 56;
const FRAME_BITS: u32 = 26;
const VERSION_MASK: u64 = (1 << 30) - 1;
/// One shared holder more or less.
pub(super) const ONE_SHARED: u64 = 1 << STATE_SHIFT;
/// Number of addressable frames: 2^26 of 16 KiB are 1 TiB.
pub(super) const MAX_FRAMES: usize = 1 << FRAME_BITS;

/// A decoded entry word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Word(pub(super) u64);

impl Word {
    /// Composes a word; the version wraps.
    pub(super) const fn new(state: u8, version: u64, frame: u32) -> Word {
        Word((state as u64) << STATE_SHIFT | (version & VERSION_MASK) << FRAME_BITS | frame as u64)
    }

    pub(super) const fn state(self) -> u8 {
        (self.0 >> STATE_SHIFT) as u8
    }

    pub(super) const fn version(self) -> u64 {
        self.0 >> FRAME_BITS & VERSION_MASK
    }

    pub(super) const fn frame(self) -> u32 {
        self.0 as u32 & (MAX_FRAMES as u32 - 1)
    }

    const fn with_state(self, state: u8) -> Word {
        Word::new(state, self.version(), self.frame())
    }

    /// Whether the page is in memory and not latched.
    pub(super) const fn is_free(self) -> bool {
        matches!(self.state(), UNLOCKED | MARKED)
    }

    /// Whether no thread writes the page: bytes read under this word are valid until the version
    /// changes.
    pub(super) const fn is_readable(self) -> bool {
        let s = self.state();
        s >= UNLOCKED && s <= MARKED
    }

    /// The word with one more shared holder; `None` if the latch must be waited for.
    pub(super) const fn shared(self) -> Option<Word> {
        match self.state() {
            UNLOCKED | MARKED => Some(self.with_state(UNLOCKED + 1)),
            s if s > UNLOCKED && s < SHARED_MAX => Some(Word(self.0 + ONE_SHARED)),
            _ => None,
        }
    }

    /// The word when latched exclusively; `None` if the latch must be waited for.
    pub(super) const fn exclusive(self) -> Option<Word> {
        if self.is_free() { Some(self.with_state(EXCLUSIVE)) } else { None }
    }

    /// The word after the exclusive holder leaves, if it changed bytes.
    pub(super) const fn released(self) -> Word {
        Word::new(UNLOCKED, self.version() + 1, self.frame())
    }

    /// The word after the exclusive holder leaves without changes: optimistic readers stay valid.
    pub(super) const fn released_unchanged(self) -> Word {
        self.with_state(UNLOCKED)
    }

    /// The word after the clock's first visit.
    pub(super) const fn marked(self) -> Word {
        self.with_state(MARKED)
    }

    /// The word after the first use since the clock's visit.
    pub(super) const fn unmarked(self) -> Word {
        self.with_state(UNLOCKED)
    }

    /// The word after eviction.
    pub(super) const fn evicted(self) -> Word {
        Word::new(EVICTED, self.version() + 1, 0)
    }

    /// The word while `frame` is being filled.
    pub(super) const fn loading(self, frame: u32) -> Word {
        Word::new(LOADING, self.version(), frame)
    }

    /// Whether frame and version are equal, which an optimistic reader checks. The number of
    /// readers does not matter.
    pub(super) const fn same_content(self, other: Word) -> bool {
        let mask = ONE_SHARED - 1;
        self.0 & mask == other.0 & mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_round_trip() {
        let w = Word::new(EXCLUSIVE, VERSION_MASK, MAX_FRAMES as u32 - 1);
        assert_eq!(
            (w.state(), w.version(), w.frame()),
            (EXCLUSIVE, VERSION_MASK, MAX_FRAMES as u32 - 1)
        );
        assert_eq!(w.released().version(), 0, "the version wraps inside its bits");
    }

    #[test]
    fn shared_counts_and_saturates() {
        let mut w = Word::new(MARKED, 5, 7);
        for _ in 0..SHARED_MAX - UNLOCKED {
            w = w.shared().expect("room for another reader");
        }
        assert_eq!(w.state(), SHARED_MAX);
        assert!(w.shared().is_none() && w.exclusive().is_none());
        assert_eq!((w.version(), w.frame()), (5, 7));
    }

    #[test]
    fn nobody_enters_an_exclusive_or_loading_page() {
        for s in [EXCLUSIVE, LOADING, EVICTED] {
            let w = Word::new(s, 1, 1);
            assert!(w.shared().is_none() && w.exclusive().is_none() && !w.is_readable());
        }
    }
}
