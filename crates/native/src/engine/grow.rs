//! Builds an index while transactions change the table: rows are read through short snapshots,
//! sorted, and filled in where no writer has been ([`Growing`]).
//!
//! Must not block a writer longer than it takes to fill in one entry.

use super::shared::Shared;
use super::sort::Sorter;
use crate::btree::Hint;
use crate::page::get_u64;
use crate::sync::atomic::Ordering;
use crate::sync::sleep;
use crate::table::{Growing, NativeTable, TableFiles, sweep_marks};
use crate::trx::NativeTrx;
use selkie_engine::{
    BuildStage, EngineError, EngineResult, IndexId, NoWait, StatementContext, TableDef, TableId,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Memory for sorting; entries beyond it go to a temporary file. A run is sorted without a pause,
/// so it is not long.
const SORT_BYTES: usize = 16 << 20;

/// Entries between two looks at the clock.
const STRIDE: u64 = 64;

/// Time of work between two pauses, about.
const SLICE: Duration = Duration::from_millis(2);

/// Longest pause between two slices.
const REST: Duration = Duration::from_millis(200);

/// Time after a commit of another transaction for which the build goes on slowly.
const BUSY: Duration = Duration::from_millis(100);

/// Pause before doubtful keys are looked at again.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(20);

impl Shared {
    /// Creates the tree of an index, which all changes of rows that begin from now on keep.
    pub(super) fn start_index(
        self: &Arc<Self>,
        trx: &NativeTrx,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()> {
        let files = self.table_files(def.id)?;
        let tree = self.new_growing_index(trx, &files, def.indexes[position].id)?;
        files.start_growing(Arc::new(Growing::new(def.clone(), position, tree)));
        Ok(())
    }

    /// Fills a started index and makes its rules hold. The caller has waited for all transactions
    /// that may have changed rows without it.
    pub(super) fn fill_index(
        self: &Arc<Self>,
        context: &dyn StatementContext,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()> {
        self.undo_losers(context)?;
        let files = self.table_files(def.id)?;
        let id = def.indexes[position].id;
        let lost = || EngineError::Corrupt(format!("the build of an index of {} is lost", def.id));
        let index = files.growing(id).ok_or_else(lost)?;
        let sorter = scan(self, &files, context, &index)?;
        fill(self, context, &index, sorter)?;
        self.enforce(context, &index)
    }

    fn enforce(&self, context: &dyn StatementContext, index: &Growing) -> EngineResult<()> {
        context.building(BuildStage::Check, 0, 1);
        let begun = Instant::now();
        let mut pause = SHORTEST;
        while !index.enforce(self)? {
            context.check_killed()?;
            if begun.elapsed() > context.lock_wait_timeout() {
                return Err(EngineError::LockWaitTimeout);
            }
            sleep(pause);
            pause = LONGEST.min(pause * 2);
        }
        Ok(())
    }

    /// Lets snapshots from now on read an index, which is complete. What purge has left in it for
    /// its growth is removed.
    pub(super) fn index_published(&self, table: TableId, id: IndexId) {
        let Ok(files) = self.table_files(table) else { return };
        let Some(tree) = files.indexes.read().get(&id).cloned() else { return };
        crate::failpoint::reached("index published");
        let position = self.snapshots.now(self.storage.log());
        self.snapshots.last_index.fetch_max(position, Ordering::AcqRel);
        tree.gate.publish(position);
        if !tree.gate.is_growing() {
            return;
        }
        {
            // A mark that purge still leaves there is swept.
            let _quiet = self.purge.pause();
            tree.gate.settle();
        }
        if tree.gate.has_kept_marks()
            && let Err(error) = sweep_marks(self, &NoWait, &tree, |_| ())
        {
            tracing::warn!("delete marks of an index stay: {error}");
        }
    }
}

/// Leaves half of its thread's time to writers, as long as there are any.
struct Pace<'s> {
    shared: &'s Shared,
    begun: Instant,
    last_commit: u64,
    busy_until: Instant,
}

impl<'s> Pace<'s> {
    fn new(shared: &'s Shared) -> Pace<'s> {
        let (begun, last_commit) = (Instant::now(), shared.snapshots.last_commit());
        Pace { shared, begun, last_commit, busy_until: begun }
    }

    /// Pauses as long as the work since the last pause took.
    fn keep(&mut self) {
        let worked = self.begun.elapsed();
        if worked < SLICE {
            return;
        }
        let now = self.shared.snapshots.last_commit();
        if now != self.last_commit {
            self.last_commit = now;
            self.busy_until = Instant::now() + BUSY;
        }
        if Instant::now() < self.busy_until {
            sleep(worked.min(REST));
        }
        self.begun = Instant::now();
    }
}

/// Sorts the entries of all rows, each as a short snapshot sees it.
pub(super) fn scan(
    shared: &Shared,
    files: &TableFiles,
    context: &dyn StatementContext,
    index: &Growing,
) -> EngineResult<Sorter> {
    // Whoever had a handle without an earlier index has ended too.
    files.forget_grown();
    let mut sorter = Sorter::new(SORT_BYTES, &shared.temporary);
    let (rows, mut read, mut pace) = (files.rows(), 0, Pace::new(shared));
    NativeTable::each_visible_entry(shared, files, context, index, |entry| {
        read += 1;
        if read % STRIDE == 0 {
            context.check_killed()?;
            context.building(BuildStage::Read, read, rows.max(read));
            pace.keep();
        }
        sorter.push(entry)
    })?;
    Ok(sorter)
}

fn fill(
    shared: &Shared,
    context: &dyn StatementContext,
    index: &Growing,
    sorter: Sorter,
) -> EngineResult<()> {
    let (entries, mut filled, mut pace) = (sorter.len(), 0, Pace::new(shared));
    let mut hint = Hint::default();
    sorter.drain(|entry| {
        debug_assert_eq!(get_u64(entry.value, 0), 0, "visible to all readers");
        filled += 1;
        if filled % STRIDE == 0 {
            context.check_killed()?;
            index.check_refused()?;
            context.building(BuildStage::Fill, filled, entries);
            pace.keep();
        }
        index.fill(shared, &mut hint, (entry.key, entry.value), entry.unique)
    })
}
