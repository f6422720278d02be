//! Reads pages ahead of redo. Redo needs pages in the order of the log, which is a random order on
//! disk, and a read takes longer than the redo of the page. So one thread runs ahead through the
//! log, and a few others read the absent pages. One more keeps frames free, as the evictor does
//! later. A wrong guess costs a read. Errors are ignored here: redo will meet them.

use super::redo::is_moot;
use super::scan::LogScan;
use crate::checkpoint::CheckpointRecord;
use crate::error::{Result, StorageError};
use crate::ids::PageId;
use crate::log::{Group, LogReader, Record, RecordReader, Segments};
use crate::pool::Pool;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex};
use std::collections::VecDeque;
use std::time::Duration;

/// Number of concurrent reads.
const READERS: usize = 8;
/// Pools below this size do without prefetch: they would evict pages before redo needs them.
const MIN_FRAMES: usize = 1024;

/// Progress of redo, and the queue of pages to read for it.
#[derive(Default)]
pub(super) struct Ahead {
    redone: AtomicU64,
    over: AtomicBool,
    queue: Mutex<VecDeque<PageId>>,
    changed: Condvar,
    /// Unreadable pages are skipped.
    pub(super) salvages: bool,
}

impl Ahead {
    /// No prefetch; unreadable pages are skipped.
    pub(super) fn salvaging() -> Ahead {
        Ahead { salvages: true, ..Ahead::default() }
    }

    /// Notes that redo has reached the group at `position`.
    pub(super) fn note(&self, position: u64) {
        self.redone.store(position, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn push(&self, id: PageId) {
        self.queue.lock().push_back(id);
        self.changed.notify_one();
    }

    fn pop(&self) -> Option<PageId> {
        let mut queue = self.queue.lock();
        if queue.is_empty() && !self.is_over() {
            self.changed.wait_for(&mut queue, Duration::from_millis(5));
        }
        queue.pop_front()
    }
}

/// Ends the threads when dropped, also if redo fails.
struct Over<'a>(&'a Ahead, &'a Pool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Relaxed);
        self.0.changed.notify_all();
        self.1.wake_evictor();
    }
}

/// Runs `redo` while other threads read the pages it will need.
pub(super) fn with_prefetch<R>(
    segments: &Segments,
    from: &CheckpointRecord,
    scan: &LogScan,
    pool: &Pool,
    redo: impl FnOnce(&Ahead) -> Result<R>,
) -> Result<R> {
    let ahead = Ahead::default();
    if pool.capacity() < MIN_FRAMES {
        return redo(&ahead);
    }
    pool.set_background(true);
    let outcome = std::thread::scope(|scope| {
        let _over = Over(&ahead, pool);
        scope.spawn(|| {
            while !ahead.is_over() {
                pool.evictor_step(Duration::from_millis(20));
            }
        });
        for _ in 0..READERS {
            scope.spawn(|| read(&ahead, pool));
        }
        scope.spawn(|| look_ahead(&ahead, segments, from, scan, pool));
        redo(&ahead)
    });
    pool.set_background(false);
    outcome
}

fn read(ahead: &Ahead, pool: &Pool) {
    while !ahead.is_over() {
        if let Some(id) = ahead.pop() {
            let _ = pool.load(id);
        }
    }
}

/// Reads the log ahead of redo, as far as the pool can hold the pages.
fn look_ahead(
    ahead: &Ahead,
    segments: &Segments,
    from: &CheckpointRecord,
    scan: &LogScan,
    pool: &Pool,
) -> Result<()> {
    let most = pool.capacity() / 4;
    // Log positions of the requested pages that redo has not passed yet.
    let mut asked: VecDeque<u64> = VecDeque::new();
    let mut reader = LogReader::new(segments, from.lsn, from.epoch_at_lsn, from.epoch)?;
    while reader.position() < scan.end
        && let Some(group) = reader.next_group()?
    {
        for id in pages_of(&group, scan, pool)? {
            ahead.push(id);
            asked.push_back(group.start.0);
        }
        while asked.len() > most && !ahead.is_over() {
            let redone = ahead.redone.load(Ordering::Relaxed);
            asked.drain(..asked.partition_point(|at| *at < redone));
            if asked.len() > most {
                crate::sync::sleep(Duration::from_micros(200));
            }
        }
        if ahead.is_over() {
            break;
        }
    }
    Ok(())
}

/// Pages that redo will read from their files for this group.
fn pages_of(group: &Group<'_>, scan: &LogScan, pool: &Pool) -> Result<Vec<PageId>> {
    let mut pages = Vec::new();
    for record in RecordReader::new(group.payload) {
        let record = record.map_err(|_| StorageError::corrupt("invalid log group"))?;
        let (Record::Write { page, .. } | Record::Op { page, .. }) = record else { continue };
        if !pages.contains(&page) && !is_moot(scan, group, page) && !pool.is_resident(page) {
            pages.push(page);
        }
    }
    Ok(pages)
}
