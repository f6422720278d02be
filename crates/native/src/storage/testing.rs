//! Shared parts of the storage tests: options small enough that everything happens often, a page
//! operation, a model of the pages' content, and a workload on both. Tests of the upper half use it
//! too.

use super::{Storage, StorageOptions};
use crate::checkpoint::CheckpointParticipant;
use crate::disk::sim::{ProcessEnded, Rng, SimDisk};
use crate::error::Result;
use crate::ids::{FileId, Lsn, PageId};
use crate::mtr::{Mtr, PageRedo};
use crate::page::{HEADER_LEN, get_u64, put};
use crate::recovery::RecoveryVisitor;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Options under which a few hundred mini-transactions evict, wrap the log and recycle segments.
pub(crate) fn small_options() -> StorageOptions {
    StorageOptions {
        pool_bytes: 16 * crate::ids::PAGE_SIZE,
        log_buffer_bytes: 64 << 10,
        segment_bytes: 64 << 10,
        log_budget_bytes: 256 << 10,
        doublewrite: true,
        background: false,
        force_recovery: 0,
    }
}

/// The only page operation: its payload is a body offset (u16) and the bytes to put there.
pub(crate) struct PutOp;

impl PageRedo for PutOp {
    fn apply(&self, _: PageId, _: u8, page: &mut [u8], payload: &[u8]) -> Result<()> {
        let at = u16::from_le_bytes([payload[0], payload[1]]) as usize;
        put(page, at, &payload[2..]);
        Ok(())
    }
}

/// Collects the results of recovery.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) snapshot: Vec<u8>,
    pub(crate) rows: Vec<u64>,
    pub(crate) trx: usize,
}

impl RecoveryVisitor for Seen {
    fn snapshot(&mut self, bytes: &[u8]) -> Result<()> {
        self.snapshot = bytes.to_vec();
        Ok(())
    }

    fn row(&mut self, _: Lsn, payload: &[u8]) -> Result<()> {
        self.rows.push(get_u64(payload, 0));
        Ok(())
    }

    fn trx(&mut self, _: Lsn, _: &[u8]) -> Result<()> {
        self.trx += 1;
        Ok(())
    }

    fn scanned(&mut self, _: Option<Lsn>) -> Result<()> {
        Ok(())
    }

    fn rider(&mut self, _: Lsn, _: &[u8]) -> Result<()> {
        Ok(())
    }
}

/// Stores the number of the last step as the engine's state.
pub(crate) struct StepCounter(pub(crate) AtomicU64);

impl CheckpointParticipant for StepCounter {
    fn snapshot_len(&self) -> usize {
        0
    }

    /// The number, with a length that changes from step to step: some are longer than the reserve
    /// of the files.
    fn snapshot(&self, _: Lsn) -> Result<Vec<u8>> {
        let number = self.0.load(Ordering::SeqCst);
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.resize(8 + (number * 997 % 40_000) as usize, number as u8);
        Ok(bytes)
    }
}

/// Runs part of a simulated process. `None`: the process ended itself, as it must after an I/O
/// error.
pub(crate) fn process<T>(body: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(value) => Some(value),
        Err(payload) if payload.is::<ProcessEnded>() => None,
        Err(payload) => std::panic::resume_unwind(payload),
    }
}

/// Silences the panic messages of simulated process ends, which are not failures.
pub(crate) fn quiet_process_ends() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.payload().is::<ProcessEnded>() {
                before(info);
            }
        }));
    });
}

/// Opens on a simulated disk.
pub(crate) fn open(disk: &SimDisk) -> Result<(Arc<Storage>, Seen)> {
    let mut seen = Seen::default();
    let storage =
        Storage::open_on(Arc::new(disk.clone()), small_options(), Box::new(PutOp), &mut seen)?;
    Ok((storage, seen))
}

/// Counters on one page.
const CELLS: usize = 8;
type Cells = [u64; CELLS];

/// Content of all pages after some step.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Contents {
    pub(crate) pages: BTreeMap<PageId, Cells>,
    pub(crate) files: Vec<FileId>,
}

/// The model: contents after every step, and the number of acknowledged steps.
#[derive(Default)]
pub(crate) struct Model {
    pub(crate) history: Vec<Contents>,
    pub(crate) acked: usize,
}

impl Model {
    /// The page into which every step writes its number: the header page of the first file.
    pub(crate) fn home(&self) -> PageId {
        let first = self.history.first().and_then(|c| c.files.first());
        PageId::new(*first.expect("the first step creates a file"), 0)
    }
}

/// Position of cell `n` in a page. Cells are far apart, so that a torn page mixes old and new ones.
fn cell_at(n: usize) -> usize {
    HEADER_LEN + 100 + n * 2000
}

/// Reads the cells of a page.
pub(crate) fn read_cells(page: &[u8]) -> Cells {
    std::array::from_fn(|n| get_u64(page, cell_at(n)))
}

/// A running workload.
pub(crate) struct Workload<'m> {
    pub(crate) storage: Arc<Storage>,
    pub(crate) model: &'m mut Model,
    pub(crate) rng: Rng,
    counter: Arc<StepCounter>,
}

impl<'m> Workload<'m> {
    /// Takes over an open database whose state is that after the model's last step.
    pub(crate) fn new(storage: Arc<Storage>, model: &'m mut Model, seed: u64) -> Workload<'m> {
        let steps = model.history.len() as u64;
        let counter = Arc::new(StepCounter(AtomicU64::new(steps.saturating_sub(1))));
        storage.set_participant(counter.clone());
        Workload { storage, model, rng: Rng::new(seed), counter }
    }

    fn now(&self) -> Contents {
        self.model.history.last().cloned().unwrap_or_default()
    }

    /// Creates the first file, whose header page is the model's home.
    pub(crate) fn prepare(&mut self) -> Result<()> {
        let file = self.storage.space().create_file(&self.storage)?;
        let mut contents = Contents { files: vec![file], ..Contents::default() };
        contents.pages.insert(PageId::new(file, 0), [0; CELLS]);
        self.storage.log().flush_all();
        self.model.history.push(contents);
        Ok(())
    }

    fn ack(&mut self, lsn: Lsn) {
        self.storage.log().flush_upto(lsn);
        self.model.acked = self.model.history.len() - 1;
    }

    /// One step that writes and is acknowledged.
    pub(crate) fn write_and_ack(&mut self) -> Result<()> {
        self.write_some()?;
        self.ack(self.storage.log().tail());
        Ok(())
    }

    /// One random step.
    pub(crate) fn step(&mut self) -> Result<()> {
        match self.rng.below(100) {
            0..60 => self.write_some()?,
            60..75 => self.allocate()?,
            75..82 => self.free_one()?,
            82..85 => self.create_file()?,
            85..87 => self.delete_file()?,
            87..92 => drop(self.storage.checkpoint()?),
            92..97 => {
                let limit = self.rng.below(20) as usize;
                let upto = self.storage.log().tail();
                self.storage.pool().write_older_than(upto, limit);
            }
            _ => self.ack(self.storage.log().tail()),
        }
        Ok(())
    }

    /// Commits `mtr` as the next step with the contents `next`.
    fn finish(&mut self, mut mtr: Mtr<'_>, mut next: Contents) -> Result<()> {
        let number = self.model.history.len() as u64;
        let id = self.model.home();
        let home = mtr.exclusive(id)?;
        mtr.write(home, cell_at(0), &number.to_le_bytes());
        if let Some(cells) = next.pages.get_mut(&id) {
            cells[0] = number;
        }
        mtr.row(&number.to_le_bytes());
        // The step is in the model before its group can reach the disk.
        self.model.history.push(next);
        let lsn = mtr.commit_with(|_| self.counter.0.store(number, Ordering::SeqCst));
        if self.rng.chance(30) {
            self.ack(lsn);
        }
        Ok(())
    }

    fn pick(&mut self, contents: &Contents) -> PageId {
        let at = self.rng.below(contents.pages.len() as u64) as usize;
        contents.pages.keys().copied().nth(at).unwrap_or(self.model.home())
    }

    fn write_some(&mut self) -> Result<()> {
        let (storage, mut next) = (self.storage.clone(), self.now());
        let number = self.model.history.len() as u64;
        let mut mtr = Mtr::begin(&storage)?;
        for _ in 0..1 + self.rng.below(4) {
            let page = self.pick(&next);
            let cell = 1 + self.rng.below(CELLS as u64 - 1) as usize;
            let slot = mtr.exclusive(page)?;
            if self.rng.chance(50) {
                mtr.write(slot, cell_at(cell), &number.to_le_bytes());
            } else {
                let mut payload = (cell_at(cell) as u16).to_le_bytes().to_vec();
                payload.extend_from_slice(&number.to_le_bytes());
                mtr.op(slot, 1, &payload)?;
            }
            if let Some(cells) = next.pages.get_mut(&page) {
                cells[cell] = number;
            }
        }
        self.finish(mtr, next)
    }

    fn allocate(&mut self) -> Result<()> {
        let (storage, mut next) = (self.storage.clone(), self.now());
        let number = self.model.history.len() as u64;
        let file = next.files[self.rng.below(next.files.len() as u64) as usize];
        let mut reserved = storage.space().reserve(&storage, file, 2)?;
        let mut mtr = Mtr::begin(&storage)?;
        for near in [None, Some(crate::ids::PageNo(2))] {
            let page = storage.space().alloc(&mut mtr, &mut reserved, near)?;
            let id = PageId { file, page };
            let slot = mtr.create(id, 4)?;
            let mut cells = [0; CELLS];
            cells[3] = number;
            mtr.write(slot, cell_at(3), &number.to_le_bytes());
            assert!(next.pages.insert(id, cells).is_none(), "{id} was handed out twice");
        }
        self.finish(mtr, next)
    }

    fn free_one(&mut self) -> Result<()> {
        let (storage, mut next) = (self.storage.clone(), self.now());
        let page = self.pick(&next);
        if page.page.0 == 0 {
            return Ok(());
        }
        next.pages.remove(&page);
        let mut mtr = Mtr::begin(&storage)?;
        storage.space().free(&mut mtr, page)?;
        self.finish(mtr, next)
    }

    fn create_file(&mut self) -> Result<()> {
        if self.now().files.len() >= 4 {
            return Ok(());
        }
        let storage = self.storage.clone();
        let file = storage.space().create_file(&storage)?;
        let mut next = self.now();
        next.files.push(file);
        let id = PageId::new(file, 0);
        next.pages.insert(id, [0; CELLS]);
        let mtr = Mtr::begin(&storage)?;
        self.finish(mtr, next)
    }

    /// Deletes a file as the engine above does: first a durable step with the decision, then the
    /// file.
    fn delete_file(&mut self) -> Result<()> {
        let (storage, mut next) = (self.storage.clone(), self.now());
        let Some(file) = next.files.iter().copied().find(|f| *f != self.model.home().file) else {
            return Ok(());
        };
        next.files.retain(|f| *f != file);
        next.pages.retain(|id, _| id.file != file);
        let mtr = Mtr::begin(&storage)?;
        self.finish(mtr, next)?;
        self.ack(storage.log().tail());
        storage.space().delete_file(&storage, file)
    }
}

/// Compares a recovered database with the model, cuts the model to the recovered step, and deletes
/// files that the recovered state does not know, as the engine above would.
pub(crate) fn check(storage: &Arc<Storage>, seen: &Seen, model: &mut Model) {
    if model.history.is_empty() {
        for file in storage.space().files() {
            storage.space().delete_file(storage, file).expect("an unknown file goes");
        }
        return;
    }
    let home = read_cells(&storage.pool().shared(model.home()).expect("the first page")[..]);
    let recovered = home[0] as usize;
    assert!(recovered >= model.acked, "step {recovered} of {} acknowledged", model.acked);
    assert!(recovered < model.history.len(), "a step that never was: {recovered}");
    let expected = model.history[recovered].clone();
    for (id, cells) in &expected.pages {
        let page = storage.pool().shared(*id).unwrap_or_else(|e| panic!("step {recovered}: {e}"));
        assert_eq!(read_cells(&page[..]), *cells, "{id} after step {recovered}");
        drop(page);
        assert!(id.page.0 == 0 || storage.space().is_allocated(storage, *id).expect("map"));
    }
    for file in storage.space().files() {
        if !expected.files.contains(&file) {
            storage.space().delete_file(storage, file).expect("an unknown file goes");
            continue;
        }
        let pages = expected.pages.keys().filter(|id| id.file == file && id.page.0 > 1).count();
        assert_eq!(storage.space().usage(file).expect("usage").used as usize, pages + 2);
    }
    check_rows(seen, recovered as u64);
    model.history.truncate(recovered + 1);
    model.acked = recovered;
}

/// Checks that snapshot and row records together cover every step.
fn check_rows(seen: &Seen, recovered: u64) {
    let covered = if seen.snapshot.is_empty() { 0 } else { get_u64(&seen.snapshot, 0) };
    let rows = &seen.rows;
    assert!(rows.windows(2).all(|w| w[1] == w[0] + 1), "rows out of order or missing: {rows:?}");
    match (rows.first(), rows.last()) {
        (Some(first), Some(last)) => {
            assert!(*first <= covered + 1, "steps {covered}..{first} have no record");
            assert_eq!(*last, recovered);
        }
        _ => assert!(covered >= recovered, "steps after {covered} have no record"),
    }
}
