//! Work of the operators of one execution: rows read and given, openings, and times if they are
//! wanted. Its thread writes, others may read.
//!
//! # Invariants
//! - TALLY-1 Numbers only grow while the statement runs. A reader may see them one batch late.
//! - TALLY-2 One thread at a time writes, so no operation is locked.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use selkie_plan::explain::Work;
use selkie_plan::physical::Plan;

/// Counts of one operator.
#[derive(Debug, Default)]
pub(crate) struct WorkCell {
    loops: AtomicU64,
    lookups: AtomicU64,
    read: AtomicU64,
    given: AtomicU64,
    nanos: AtomicU64,
    memory: AtomicU64,
    merges: AtomicU64,
}

fn add(cell: &AtomicU64, n: u64) {
    cell.store(cell.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
}

impl WorkCell {
    /// Counts an opening.
    pub(crate) fn opened(&self) {
        add(&self.loops, 1);
    }

    /// Counts rows that are looked up.
    pub(crate) fn looked_up(&self, rows: usize) {
        add(&self.lookups, rows as u64);
    }

    /// Counts rows read from a table, before conditions.
    pub(crate) fn read(&self, rows: usize) {
        add(&self.read, rows as u64);
    }

    /// Counts rows given to the operator above.
    pub(crate) fn given(&self, rows: usize) {
        add(&self.given, rows as u64);
    }

    /// Adds time spent, inputs included.
    pub(crate) fn spent(&self, time: Duration) {
        add(&self.nanos, time.as_nanos() as u64);
    }

    /// Notes the memory of rows that were sorted.
    pub(crate) fn kept(&self, bytes: usize) {
        let before = self.memory.load(Ordering::Relaxed);
        self.memory.store(before.max(bytes as u64), Ordering::Relaxed);
    }

    /// Counts a merge of sorted runs.
    pub(crate) fn merged(&self) {
        add(&self.merges, 1);
    }

    fn work(&self) -> Work {
        let value = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        Work {
            loops: value(&self.loops),
            lookups: value(&self.lookups),
            read: value(&self.read),
            given: value(&self.given),
            nanos: value(&self.nanos),
            memory: value(&self.memory),
            merges: value(&self.merges),
        }
    }
}

/// Cells of all operators of a plan.
#[derive(Debug)]
pub(crate) struct Tally {
    cells: Box<[WorkCell]>,
    /// Whether times are measured.
    pub(crate) timed: bool,
}

impl Tally {
    /// Cells for a plan; `None` if its work is not counted.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let cells = (0..plan.sizes.counted).map(|_| WorkCell::default());
        (plan.sizes.counted > 0).then(|| Self { cells: cells.collect(), timed: false })
    }

    /// The same cells, with times.
    pub(crate) fn timed(self) -> Self {
        Self { timed: true, ..self }
    }

    /// The cell of the operator with this number.
    #[inline]
    pub(crate) fn cell(&self, number: u32) -> Option<&WorkCell> {
        self.cells.get(number as usize)
    }

    /// Present counts of an operator.
    pub(crate) fn work(&self, number: u32) -> Option<Work> {
        self.cell(number).map(WorkCell::work)
    }
}
