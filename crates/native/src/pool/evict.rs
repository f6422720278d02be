//! Free frames and how they come about. The evictor keeps a 64th of the frames, at most 4,096, free
//! ahead of need, so that a miss pops one; a thread that finds none waits, holding no latch, and
//! never writes a page itself. It is independent of the flusher that bounds recovery time: coupling
//! the two is a known source of stalls. While somebody waits the evictor does not rest: what was
//! latched, or on its way to the file, when it came by may leave any moment.
//!
//! Without background threads (recovery, simulation) the thread that needs a frame runs the
//! evictor's round itself.

use super::miss::Pool;
use super::word::Word;
use crate::error::{Result, StorageError};
use crate::ids::PageId;
use crate::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use crate::sync::{Condvar, Mutex};
use std::time::Duration;

/// Frames looked at per round of the clock, for a pool of `frames`: enough that the dirty ones
/// among them make a doublewrite batch worth its flush.
const fn round(frames: usize) -> usize {
    let n = frames / 32;
    if n < 64 {
        64
    } else if n > 512 {
        512
    } else {
        n
    }
}

/// How often the evictor, while somebody waits, finds that nothing at all can leave before those
/// who wait give up: it rests in between, so that this takes most of a minute. Rounds that have not
/// ended do not count, however long their writes take. Fewer in models, which try many orders of
/// them.
const PASSES_IN_VAIN: u32 = if cfg!(all(test, feature = "models")) { 5 } else { 2_000 };

/// The longest rest between two passes.
const LONGEST_REST: Duration = Duration::from_millis(20);

/// Frames without a page.
struct Free {
    list: Vec<u32>,
    /// Threads that wait for one.
    waiting: usize,
    /// Frames from here on are not handed out any more; they collect in `retired`.
    limit: u32,
    retired: Vec<u32>,
}

/// Free frames and the clock's hand.
pub(super) struct Clock {
    free: Mutex<Free>,
    free_count: AtomicUsize,
    came_free: Condvar,
    wanted: Mutex<bool>,
    work: Condvar,
    hand: AtomicU32,
    /// Passes of the evictor since a frame came free, or since the first of those who wait began
    /// to.
    in_vain: AtomicU32,
}

impl Clock {
    pub(super) fn new(frames: u32) -> Clock {
        Clock {
            free: Mutex::new(Free {
                list: (0..frames).rev().collect(),
                waiting: 0,
                limit: frames,
                retired: Vec::new(),
            }),
            free_count: AtomicUsize::new(frames as usize),
            came_free: Condvar::new(),
            wanted: Mutex::new(false),
            work: Condvar::new(),
            hand: AtomicU32::new(0),
            in_vain: AtomicU32::new(0),
        }
    }

    fn pop(&self) -> Option<u32> {
        let mut free = self.free.lock();
        let frame = free.list.pop();
        self.free_count.store(free.list.len(), Ordering::Relaxed);
        frame
    }

    pub(super) fn give_back(&self, frame: u32) {
        let mut free = self.free.lock();
        if frame >= free.limit {
            free.retired.push(frame);
            return;
        }
        free.list.push(frame);
        self.free_count.store(free.list.len(), Ordering::Relaxed);
        drop(free);
        self.in_vain.store(0, Ordering::Relaxed);
        self.came_free.notify_one();
    }

    /// Hands out frames below `limit` only, from now on; frames between the old limit and a higher
    /// new one are free.
    pub(super) fn set_limit(&self, limit: u32) {
        let mut free = self.free.lock();
        let old = std::mem::replace(&mut free.limit, limit);
        let Free { list, retired, .. } = &mut *free;
        retired.extend(list.extract_if(.., |frame| *frame >= limit));
        list.extend((old..limit).rev());
        self.free_count.store(list.len(), Ordering::Relaxed);
        drop(free);
        self.came_free.notify_all();
    }

    /// Frames at or above the limit that hold no page any more.
    pub(super) fn retired(&self) -> usize {
        self.free.lock().retired.len()
    }

    /// Forgets them; or, after a lowering that did not succeed, hands them out again under the old
    /// limit.
    pub(super) fn settle(&self, restored: Option<u32>) {
        let mut free = self.free.lock();
        let retired = std::mem::take(&mut free.retired);
        if let Some(limit) = restored {
            free.limit = limit;
            free.list.extend(retired);
            self.free_count.store(free.list.len(), Ordering::Relaxed);
        }
    }

    fn request(&self) {
        *self.wanted.lock() = true;
        self.work.notify_one();
    }

    /// As [`Self::wait_free`], for the first time. If nobody else waits, what was in vain before
    /// does not count.
    fn begin_to_wait(&self) {
        let free = self.free.lock();
        if free.waiting == 0 {
            self.in_vain.store(0, Ordering::Relaxed);
        }
        drop(free);
        self.wait_free();
    }

    /// Waits until there may be a free frame.
    fn wait_free(&self) {
        self.free.lock().waiting += 1;
        // Only now: the evictor, asked before, may have ended its work by finding that nobody
        // waits.
        self.request();
        let mut free = self.free.lock();
        if free.list.is_empty() {
            self.came_free.wait_for(&mut free, Duration::from_millis(20));
        }
        free.waiting -= 1;
    }

    /// A pass of the evictor has freed nothing for those who wait.
    fn passed_in_vain(&self) {
        self.in_vain.fetch_add(1, Ordering::Relaxed);
        if self.is_exhausted() {
            self.came_free.notify_all();
        }
    }

    /// Whether those who wait are to give up.
    fn is_exhausted(&self) -> bool {
        self.in_vain.load(Ordering::Relaxed) >= PASSES_IN_VAIN
    }

    /// Whether somebody waits for a frame and there is none.
    fn is_awaited(&self) -> bool {
        let free = self.free.lock();
        free.waiting > 0 && free.list.is_empty()
    }
}

impl Pool {
    /// Frames the evictor keeps free.
    fn low_water(&self) -> usize {
        (self.capacity() / 64).clamp(4, 4096)
    }

    /// Number of free frames.
    pub(crate) fn free_frames(&self) -> usize {
        self.clock.free_count.load(Ordering::Relaxed)
    }

    pub(super) fn take_frame(&self) -> Result<u32> {
        let (mut own_rounds, mut waited) = (0, false);
        loop {
            let popped = self.clock.pop();
            let background = self.background.load(Ordering::Relaxed);
            if background && self.free_frames() < self.low_water() {
                self.clock.request();
            }
            match popped {
                Some(frame) => return Ok(frame),
                None if background && !waited => {
                    self.clock.begin_to_wait();
                    waited = true;
                }
                None if background && self.clock.is_exhausted() => break,
                None if background => self.clock.wait_free(),
                None if own_rounds > 100 => break,
                None => {
                    own_rounds += 1;
                    self.evict_round();
                }
            }
        }
        let busy = std::io::Error::new(std::io::ErrorKind::OutOfMemory, "every page is latched");
        Err(StorageError::Io { what: "buffer pool exhausted".to_owned(), source: busy })
    }

    /// A free frame, if taking it leaves enough for those who cannot do without.
    pub(super) fn take_spare_frame(&self) -> Option<u32> {
        if self.free_frames() <= self.low_water() {
            self.clock.request();
            return None;
        }
        self.clock.pop()
    }

    /// Waits until a few frames are spare, so that a mini-transaction that creates pages finds
    /// them. Call with no latch held.
    pub(crate) fn wait_for_spare_frames(&self) {
        let enough = self.low_water().min(4);
        for _ in 0..50 {
            if self.free_frames() >= enough {
                return;
            }
            if self.background.load(Ordering::Relaxed) {
                self.waits_for_frames.fetch_add(1, Ordering::Relaxed);
                self.clock.wait_free();
            } else {
                self.evict_round();
            }
        }
    }

    /// The evictor thread's body: one wait and, if frames are short, rounds until they are not or
    /// nothing can leave and nobody waits.
    pub(crate) fn evictor_step(&self, timeout: Duration) {
        let mut wanted = self.clock.wanted.lock();
        if !*wanted {
            self.clock.work.wait_for(&mut wanted, timeout);
        }
        *wanted = false;
        drop(wanted);
        let mut rest = Duration::from_millis(1);
        while !self.evict_enough() && self.clock.is_awaited() && self.is_background() {
            self.clock.passed_in_vain();
            crate::sync::sleep(rest);
            rest = (rest * 2).min(LONGEST_REST);
        }
    }

    /// Rounds until there are free frames to spare, for two turns of the clock: the first may only
    /// mark.
    fn evict_enough(&self) -> bool {
        let enough = || self.free_frames() >= self.low_water() * 2;
        for _ in 0..2 * self.capacity().div_ceil(round(self.capacity())) {
            if enough() {
                return true;
            }
            self.evict_round();
        }
        enough()
    }

    /// Ends a sleep of the evictor.
    pub(crate) fn wake_evictor(&self) {
        self.clock.request();
    }

    /// One round: what scans brought in beyond their share, else of the clock: unmarked pages get
    /// marked, marked clean ones leave, marked dirty ones are written and then leave.
    pub(super) fn evict_round(&self) {
        let overrun = self.overrun_frames(round(self.capacity()));
        if !overrun.is_empty() {
            // Twice: the first visit marks, the second takes.
            self.evict_among(overrun.iter().copied());
            return self.evict_among(overrun.into_iter());
        }
        let capacity = self.capacity();
        let turn = |_| self.clock.hand.fetch_add(1, Ordering::Relaxed) % capacity as u32;
        self.evict_among((0..round(capacity).min(capacity)).map(turn));
    }

    /// Whether those who wait for a frame are to give up, for tests.
    #[cfg(all(test, feature = "models"))]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.clock.is_exhausted()
    }

    /// A round, for tests.
    #[cfg(all(test, feature = "models"))]
    pub(crate) fn evict_some(&self) {
        self.evict_round();
    }

    /// Visits these frames and lets go of what can leave.
    pub(super) fn evict_among(&self, frames: impl Iterator<Item = u32>) {
        let mut dirty: Vec<(u32, PageId)> =
            frames.filter_map(|frame| Some((frame, self.visit(frame)?))).collect();
        if dirty.is_empty() {
            return;
        }
        self.write_pages(&mut dirty, super::write::Who::Evictor);
        for (frame, id) in dirty {
            self.try_evict(frame, id);
        }
    }

    /// Returns the page if it should be written before it can leave.
    fn visit(&self, frame: u32) -> Option<PageId> {
        let id = self.frame(frame).page()?;
        let word = self.word(id).ok()?;
        let seen = Word(word.load(Ordering::Relaxed));
        if seen.frame() != frame || !seen.is_free() {
            return None;
        }
        if seen.marked() != seen {
            let _ = word.compare_exchange(
                seen.0,
                seen.marked().0,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            return None;
        }
        if !self.frame(frame).is_clean() {
            return Some(id);
        }
        self.try_evict(frame, id);
        None
    }

    /// Evicts the page if nobody holds it and it is clean.
    fn try_evict(&self, frame: u32, id: PageId) {
        let Ok(word) = self.word(id) else { return };
        let seen = Word(word.load(Ordering::Relaxed));
        let Some(held) = seen.exclusive().filter(|_| seen.frame() == frame) else { return };
        if word.compare_exchange(seen.0, held.0, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return;
        }
        if self.frame(frame).is_clean() && self.frame(frame).page() == Some(id) {
            self.release_frame(word, held);
        } else {
            word.store(held.released_unchanged().0, Ordering::Release);
        }
    }
}
