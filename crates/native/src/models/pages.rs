//! Pages of the models: two cells far apart that always change together, so that a half-changed
//! page is recognised.

use super::disk::SteppingDisk;
use crate::disk::DOUBLEWRITE;
use crate::disk::sim::SimDisk;
use crate::disk::{Access, Disk};
use crate::ids::{FileId, Lsn, PAGE_SIZE, PageId};
use crate::log::{BLOCK, Log, Segments};
use crate::page::{self, PageType};
use crate::pool::{ExclusiveGuard, OptimisticGuard, Pool, Restart};
use crate::sync::{set_steps, step, yield_now};
use parking_lot::Mutex;
use std::sync::Arc;

const SEGMENT: u64 = 64 << 10;
const CELLS: [usize; 2] = [1000, 15_000];
pub(super) const FILE: FileId = FileId(1);

/// A change of a page.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub(super) page: u32,
    pub(super) start: Lsn,
    pub(super) end: Lsn,
}

/// A small pool with a file of a few pages.
pub(super) struct Pages {
    pub(super) disk: SimDisk,
    pub(super) log: Arc<Log>,
    pub(super) pool: Pool,
    /// All changes so far. Not a step.
    pub(super) changes: Mutex<Vec<Change>>,
    count: u32,
}

pub(super) fn id(page: u32) -> PageId {
    PageId::new(FILE, page)
}

fn cell(bytes: &[u8], n: usize) -> u64 {
    page::get_u64(bytes, CELLS[n])
}

fn content(page: u32, version: u64) -> u64 {
    u64::from(page) << 32 | version
}

impl Pages {
    pub(super) fn new(frames: usize, count: u32) -> Arc<Pages> {
        set_steps(false);
        let disk = SimDisk::new(1);
        let stepping: Arc<dyn Disk> = Arc::new(SteppingDisk(disk.clone()));
        let segments = Segments::open(stepping.clone(), SEGMENT).expect("segments");
        segments.prepare(Lsn(2 * SEGMENT)).expect("room");
        let log = Arc::new(Log::new(segments, Lsn(BLOCK), 1, 0).expect("log"));
        let file = stepping.create("data.1", Access::Direct).expect("file");
        for page in 0..count {
            let mut bytes = vec![0; PAGE_SIZE];
            page::init(&mut bytes, id(page), PageType::Blob as u8);
            for at in CELLS {
                page::put(&mut bytes, at, &content(page, 0).to_le_bytes());
            }
            page::seal(&mut bytes);
            file.write_at(&bytes, id(page).byte_offset()).expect("written");
        }
        let doublewrite = stepping.create(DOUBLEWRITE, Access::Direct).expect("file");
        file.sync().and_then(|()| disk.sync_dir()).expect("durable");
        let pool = Pool::new(stepping, log.clone(), frames, Some(doublewrite)).expect("pool");
        pool.attach(FILE, file);
        set_steps(true);
        Arc::new(Pages { disk, log, pool, changes: Mutex::default(), count })
    }

    /// Changes a page as a mini-transaction does.
    pub(super) fn change(&self, page: u32) {
        let mut guard = self.pool.exclusive(id(page)).expect("latched");
        let next = self.check(page, |n| cell(&guard[..], n)) + 1;
        let reserved = self.log.reserve(8);
        let (start, end) = (reserved.start, reserved.end);
        self.changes.lock().push(Change { page, start, end });
        for at in CELLS {
            page::put(guard.bytes_mut(), at, &content(page, next).to_le_bytes());
            step();
        }
        guard.mark_dirty(start, end, false);
        self.log.fill(&reserved, &[1; 8], crc32c::crc32c(&[1; 8]));
        drop(reserved);
        drop::<ExclusiveGuard<'_>>(guard);
    }

    /// Reads these pages, one after the other.
    pub(super) fn read_each(&self, pages: &[u32]) {
        for page in pages {
            self.read(*page);
        }
    }

    /// Reads a page under a latch and returns its number of changes.
    pub(super) fn read(&self, page: u32) -> u64 {
        let guard = self.pool.shared(id(page)).expect("latched");
        self.check(page, |n| {
            step();
            cell(&guard[..], n)
        })
    }

    /// Reads a page without a latch, as often as needed.
    pub(super) fn peek(&self, page: u32) -> u64 {
        loop {
            match self.pool.optimistic(id(page)).expect("a file") {
                None => self.pool.load(id(page)).expect("loaded"),
                Some(guard) => {
                    if let Ok(cells) = peek_cells(&guard) {
                        return self.check(page, |n| cells[n]);
                    }
                }
            }
            yield_now();
        }
    }

    fn check(&self, page: u32, cell: impl Fn(usize) -> u64) -> u64 {
        let cells = [cell(0), cell(1)];
        assert_eq!(cells[0], cells[1], "page {page} was seen half way");
        assert_eq!((cells[0] >> 32) as u32, page, "another page was seen");
        cells[0] & u64::from(u32::MAX)
    }

    /// Checks that no change was lost and no frame leaked.
    pub(super) fn check_end(&self) {
        set_steps(false);
        let changes = self.changes.lock().clone();
        for page in 0..self.count {
            let expected = changes.iter().filter(|change| change.page == page).count();
            assert_eq!(self.read(page), expected as u64, "changes of page {page}");
        }
        let resident = (0..self.count).filter(|page| self.pool.is_resident(id(*page))).count();
        assert_eq!(self.pool.free_frames() + resident, self.pool.capacity());
        set_steps(true);
    }
}

fn peek_cells(guard: &OptimisticGuard<'_>) -> Result<[u64; 2], Restart> {
    let mut cells = [0; 2];
    for (at, cell) in CELLS.into_iter().zip(&mut cells) {
        let mut bytes = [0; 8];
        guard.copy(at, &mut bytes)?;
        *cell = u64::from_le_bytes(bytes);
    }
    guard.validate()?;
    Ok(cells)
}
