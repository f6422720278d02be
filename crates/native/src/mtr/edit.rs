//! Construction of a mini-transaction: latch, change, record.
//!
//! A page must not be changed without a record of the change. Whatever can fail must be checked
//! before the first change.

use crate::error::Result;
use crate::ids::{FileId, PAGE_SIZE, PageId};
use crate::log::{Record, RecordWriter};
use crate::page::{self, PageBytes};
use crate::pool::ExclusiveGuard;
use crate::storage::Storage;
use smallvec::SmallVec;
use std::backtrace::Backtrace;
use std::cell::Cell;

/// A page latched by a mini-transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PageSlot(u8);

pub(super) struct Held<'s> {
    pub(super) guard: Option<ExclusiveGuard<'s>>,
    pub(super) logged: bool,
    pub(super) initialised: bool,
}

/// A mini-transaction under construction.
///
/// Pages are changed only through `write`, `init` and `op`, which record each change. Dropping a
/// mini-transaction without changes is free. Dropping one that has changed pages would make memory
/// and log differ, so it ends the process: check everything that can fail before the first change.
///
/// Latch order: tree pages from top to bottom and left to right, then the space maps, which
/// `Space::alloc` and `free` latch. So allocate only after all existing tree pages that the
/// mini-transaction needs are latched.
pub(crate) struct Mtr<'s> {
    pub(super) storage: &'s Storage,
    pub(super) pages: SmallVec<[Held<'s>; 8]>,
    pub(super) records: RecordWriter,
}

thread_local! { static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) } }

impl<'s> Mtr<'s> {
    /// Starts a mini-transaction. Waits while writers are slowed down or frames are short; fails
    /// with `DiskFull` when the log cannot grow (I13). The caller must hold no latch.
    pub(crate) fn begin(storage: &'s Storage) -> Result<Mtr<'s>> {
        storage.admit()?;
        Ok(Mtr::unchecked(storage))
    }

    /// Starts a mini-transaction that may use the log space reserved for rollback and recovery: it
    /// is never refused for lack of space and never slowed down. It may wait for frames.
    pub(crate) fn begin_reserved(storage: &'s Storage) -> Mtr<'s> {
        storage.pool().wait_for_spare_frames();
        Mtr::unchecked(storage)
    }

    fn unchecked(storage: &'s Storage) -> Mtr<'s> {
        Mtr { storage, pages: SmallVec::new(), records: RecordWriter::reusing(BUFFER.take()) }
    }

    pub(super) fn recycle_buffer(records: RecordWriter) {
        let buffer = records.into_buffer();
        if buffer.capacity() <= 1 << 20 {
            BUFFER.set(buffer);
        }
    }

    fn find(&self, id: PageId) -> Option<PageSlot> {
        let held = |h: &Held<'_>| h.guard.as_ref().is_some_and(|g| g.id() == id);
        self.pages.iter().position(held).map(|n| PageSlot(n as u8))
    }

    /// Takes over a latched page, which stays latched until commit or `release`.
    pub(crate) fn adopt(&mut self, guard: ExclusiveGuard<'s>) -> PageSlot {
        debug_assert!(self.find(guard.id()).is_none(), "{} is latched twice", guard.id());
        let slot = PageSlot(
            u8::try_from(self.pages.len()).expect("fewer than 256 pages in a mini-transaction"),
        );
        self.pages.push(Held { guard: Some(guard), logged: false, initialised: false });
        slot
    }

    /// Latches a page, or finds it among the latched ones.
    pub(crate) fn exclusive(&mut self, id: PageId) -> Result<PageSlot> {
        match self.find(id) {
            Some(slot) => Ok(slot),
            None => Ok(self.adopt(self.storage.pool().exclusive(id)?)),
        }
    }

    /// Latches a newly allocated page and initialises it (I5). Its old content is not read.
    pub(crate) fn create(&mut self, id: PageId, kind: u8) -> Result<PageSlot> {
        let slot = match self.find(id) {
            Some(slot) => slot,
            None => self.adopt(self.storage.pool().create(id)?),
        };
        self.init(slot, kind);
        Ok(slot)
    }

    fn held(&mut self, slot: PageSlot) -> &mut ExclusiveGuard<'s> {
        self.pages[slot.0 as usize].guard.as_mut().expect("the page was released")
    }

    /// The page's id.
    pub(crate) fn id(&self, slot: PageSlot) -> PageId {
        self.pages[slot.0 as usize].guard.as_ref().expect("the page was released").id()
    }

    /// The page's bytes.
    pub(crate) fn page(&self, slot: PageSlot) -> &PageBytes {
        self.pages[slot.0 as usize].guard.as_ref().expect("the page was released")
    }

    /// Unlatches a page that was not changed.
    pub(crate) fn release(&mut self, slot: PageSlot) {
        let held = &mut self.pages[slot.0 as usize];
        let changed = held.logged || held.guard.as_ref().is_some_and(ExclusiveGuard::is_changed);
        assert!(!changed, "a changed page stays latched until commit");
        held.guard = None;
    }

    /// Makes the page an empty one of type `kind`.
    pub(crate) fn init(&mut self, slot: PageSlot, kind: u8) {
        let id = self.id(slot);
        page::init(self.held(slot).bytes_mut(), id, kind);
        let held = &mut self.pages[slot.0 as usize];
        // Only a page whose first record in the group is INIT can be rebuilt from the log alone.
        held.initialised |= !held.logged;
        held.logged = true;
        self.records.push(Record::Init { page: id, kind });
    }

    /// Replaces bytes of the page. The fields LSN and checksum must not be written.
    pub(crate) fn write(&mut self, slot: PageSlot, offset: usize, bytes: &[u8]) {
        debug_assert!(offset + bytes.len() <= PAGE_SIZE);
        page::put(self.held(slot).bytes_mut(), offset, bytes);
        self.log_write(slot, offset, bytes);
    }

    /// Applies an operation of the page's owner through its `PageRedo`, and records it.
    pub(crate) fn op(&mut self, slot: PageSlot, op: u8, payload: &[u8]) -> Result<()> {
        let (storage, id) = (self.storage, self.id(slot));
        let applied = storage.redo().apply(id, op, &mut self.held(slot).bytes_mut()[..], payload);
        // The page may have changed in part: dropping this mini-transaction ends the process.
        let failed =
            |e: &_| tracing::error!("operation {op} of {} bytes failed: {e}", payload.len());
        applied.inspect_err(failed)?;
        self.log_op(slot, op, payload);
        Ok(())
    }

    fn log_op(&mut self, slot: PageSlot, op: u8, payload: &[u8]) {
        let page = self.id(slot);
        self.pages[slot.0 as usize].logged = true;
        self.records.push(Record::Op { page, op, payload });
    }

    fn log_write(&mut self, slot: PageSlot, offset: usize, bytes: &[u8]) {
        let page = self.id(slot);
        self.pages[slot.0 as usize].logged = true;
        self.records.push(Record::Write { page, offset: offset as u16, bytes });
    }

    /// Records a logical row change; recovery passes it to `RecoveryVisitor::row`.
    pub(crate) fn row(&mut self, payload: &[u8]) {
        self.records.push(Record::Row(payload));
    }

    /// Records a transaction's change of state; recovery passes it to `RecoveryVisitor::trx`.
    pub(crate) fn trx(&mut self, payload: &[u8]) {
        self.records.push(Record::Trx(payload));
    }

    pub(crate) fn file_created(&mut self, file: FileId) {
        self.records.push(Record::FileCreated(file));
    }

    pub(crate) fn file_dropped(&mut self, file: FileId) {
        self.records.push(Record::FileDropped(file));
    }
}

impl Drop for Mtr<'_> {
    fn drop(&mut self) {
        let changed = self
            .pages
            .iter()
            .any(|h| h.logged || h.guard.as_ref().is_some_and(ExclusiveGuard::is_changed));
        if changed {
            // The caller never sees the error that led here: the places in the code are all that
            // tells of it. A panic has told its place.
            let from = match std::thread::panicking() {
                true => String::new(),
                false => format!(" at\n{}\n", Backtrace::force_capture()),
            };
            let what = format!("a mini-transaction that had changed pages was abandoned{from}");
            self.storage.disk().abandoned(&what);
        }
    }
}
