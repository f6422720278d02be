//! Changes the number of frames while the pool is in use. Address space is reserved once for as
//! many frames as the machine's memory holds. Growing gives out more of it; shrinking empties the
//! last frames and returns their memory. Frames never move, so guards stay valid.

use super::miss::Pool;
use super::word::MAX_FRAMES;
use crate::ids::PAGE_SIZE;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Time after which shrinking is given up because pages stay latched.
const PATIENCE: Duration = Duration::from_secs(30);
/// Number of frames to empty at once.
const PIECE: u32 = 1024;

/// The frames in use.
pub(super) struct Extent {
    /// Number of frames that may be given a page.
    limit: AtomicUsize,
    /// Number of frames that may hold a page: more than `limit` while the pool shrinks.
    end: AtomicUsize,
    changing: Mutex<()>,
}

impl Extent {
    pub(super) fn new(frames: usize) -> Extent {
        Extent {
            limit: AtomicUsize::new(frames),
            end: AtomicUsize::new(frames),
            changing: Mutex::new(()),
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    /// A search for the oldest change must load it after the log's tail (I4): a frame that became
    /// dirty before that was given out earlier, and the end moved before that.
    pub(super) fn end(&self) -> usize {
        self.end.load(Ordering::SeqCst)
    }
}

/// Number of frames to reserve address space for, in a pool that starts with `frames`.
pub(super) fn reserved_frames(frames: usize) -> usize {
    let system = rustix::system::sysinfo();
    let memory = (system.totalram as usize).saturating_mul(system.mem_unit as usize);
    (memory / PAGE_SIZE).clamp(frames, MAX_FRAMES)
}

impl Pool {
    /// Changes the number of frames as far as possible and returns the new number. Waits for writes
    /// of pages when the pool shrinks; hold no latch.
    pub(crate) fn resize(&self, frames: usize) -> usize {
        let _one_at_a_time = self.extent.changing.lock();
        let (now, wanted) = (self.capacity(), frames.clamp(super::MIN_FRAMES, self.frames.len()));
        if wanted > now {
            self.extent.end.store(wanted, Ordering::SeqCst);
            self.extent.limit.store(wanted, Ordering::Relaxed);
            self.clock.set_limit(wanted as u32);
        } else if wanted < now {
            self.shrink(now, wanted);
        }
        self.capacity()
    }

    fn shrink(&self, from: usize, to: usize) {
        self.extent.limit.store(to, Ordering::Relaxed);
        self.clock.set_limit(to as u32);
        let begun = Instant::now();
        while self.clock.retired() < from - to {
            for first in (to as u32..from as u32).step_by(PIECE as usize) {
                // Twice: the first visit marks a page, the second evicts it.
                let piece = first..(first + PIECE).min(from as u32);
                self.evict_among(piece.clone());
                self.evict_among(piece);
            }
            if begun.elapsed() > PATIENCE {
                self.extent.limit.store(from, Ordering::Relaxed);
                return self.clock.settle(Some(from as u32));
            }
            crate::sync::sleep(Duration::from_millis(1));
        }
        self.extent.end.store(to, Ordering::SeqCst);
        self.clock.settle(None);
        self.arena.discard_part(to * PAGE_SIZE, (from - to) * PAGE_SIZE);
    }
}
