//! Free frames and eviction. The evictor keeps a 64th of the frames, at most 4,096, free ahead of
//! need, so that a miss pops one. A thread that finds none waits, holds no latch, and never writes
//! a page itself. The evictor is independent of the flusher that bounds recovery time: coupling the
//! two is a known source of stalls. While a thread waits for a frame, the evictor does not stop: a
//! page that was latched or being written on its last visit may become evictable at any moment.
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

/// Frames visited per round of the clock, for a pool of `frames`: enough that the dirty ones among
/// them make a doublewrite batch worth its flush.
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

/// Passes in which no frame at all could be freed, after which waiting threads give up. The evictor
/// rests in between, so this takes most of a minute. An unfinished round does not count, however
/// long its writes take. Models use fewer, since they try many orders of passes.
const PASSES_IN_VAIN: u32 = if cfg!(all(test, feature = "models")) { 5 } else { 2_000 };

/// The longest rest between two passes.
const LONGEST_REST: Duration = Duration::from_millis(20);

/// Frames without a page.
struct Free {
    list: Vec<u32>,
    /// Number of threads that wait for a frame.
    waiting: usize,
    /// Frames from this one on are not given out any more; they collect in `retired`.
    limit: u32,
    retired: Vec<u32>,
}

/// Free frames, and the position of the clock's hand.
pub(super) struct Clock {
    free: Mutex<Free>,
    free_count: AtomicUsize,
    came_free: Condvar,
    wanted: Mutex<bool>,
    work: Condvar,
    hand: AtomicU32,
    /// Passes of the evictor since a frame was freed, or since the first of the waiting threads
    /// began to wait.
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

    /// From now on gives out only frames below `limit`. Frames between the old limit and a higher
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

    /// Number of frames at or above the limit without a page.
    pub(super) fn retired(&self) -> usize {
        self.free.lock().retired.len()
    }

    /// Forgets the retired frames. If the limit could not be lowered, gives them out again under
    /// the old one.
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

    /// As [`Self::wait_free`], for the first wait. If no other thread waits, earlier passes in vain
    /// do not count.
    fn begin_to_wait(&self) {
        let free = self.free.lock();
        if free.waiting == 0 {
            self.in_vain.store(0, Ordering::Relaxed);
        }
        drop(free);
        self.wait_free();
    }

    /// Waits until a frame may be free.
    fn wait_free(&self) {
        self.free.lock().waiting += 1;
        // Only now: an earlier request may have ended because the evictor found no waiting thread.
        self.request();
        let mut free = self.free.lock();
        if free.list.is_empty() {
            self.came_free.wait_for(&mut free, Duration::from_millis(20));
        }
        free.waiting -= 1;
    }

    /// Counts a pass of the evictor that freed nothing for the waiting threads.
    fn passed_in_vain(&self) {
        self.in_vain.fetch_add(1, Ordering::Relaxed);
        if self.is_exhausted() {
            self.came_free.notify_all();
        }
    }

    /// Whether waiting threads must give up.
    fn is_exhausted(&self) -> bool {
        self.in_vain.load(Ordering::Relaxed) >= PASSES_IN_VAIN
    }

    /// Whether a thread waits for a frame and there is none.
    fn is_awaited(&self) -> bool {
        let free = self.free.lock();
        free.waiting > 0 && free.list.is_empty()
    }
}

impl Pool {
    /// Number of frames the evictor keeps free.
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
        // Logged here, since a mini-transaction that had changed pages ends the process before its
        // caller sees the error.
        tracing::error!("none of the buffer pool's {} pages can be evicted", self.capacity());
        let busy = std::io::Error::new(std::io::ErrorKind::OutOfMemory, "every page is latched");
        Err(StorageError::Io { what: "buffer pool exhausted".to_owned(), source: busy })
    }

    /// Returns a free frame, if enough others remain for threads that cannot do without.
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

    /// The evictor thread's body: one wait. If frames are short, it then runs rounds until they are
    /// not, or until no page can leave and no thread waits.
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

    /// Runs rounds until there are spare frames, for two turns of the clock at most: the first may
    /// only mark pages. Returns whether there are enough.
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

    /// Ends the evictor's sleep.
    pub(crate) fn wake_evictor(&self) {
        self.clock.request();
    }

    /// One round. Its frames are those of scans beyond their share, else the clock's next ones.
    /// Unmarked pages get marked, marked clean ones leave, marked dirty ones are written and then
    /// leave.
    pub(super) fn evict_round(&self) {
        let overrun = self.overrun_frames(round(self.capacity()));
        if !overrun.is_empty() {
            // Twice: the first visit marks, the second evicts.
            self.evict_among(overrun.iter().copied());
            return self.evict_among(overrun.into_iter());
        }
        let capacity = self.capacity();
        let turn = |_| self.clock.hand.fetch_add(1, Ordering::Relaxed) % capacity as u32;
        self.evict_among((0..round(capacity).min(capacity)).map(turn));
    }

    /// Whether waiting threads must give up, for tests.
    #[cfg(all(test, feature = "models"))]
    pub(crate) fn is_exhausted(&self) -> bool {
        self.clock.is_exhausted()
    }

    /// A round, for tests.
    #[cfg(all(test, feature = "models"))]
    pub(crate) fn evict_some(&self) {
        self.evict_round();
    }

    /// Visits these frames and evicts those that can leave.
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

    /// Marks or evicts the page. Returns it if it must be written before it can leave.
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

    /// Evicts the page if it is not latched and clean.
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
