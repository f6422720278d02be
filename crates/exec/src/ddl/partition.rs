//! Changes of some leaves of a partitioned table: ADD, DROP, TRUNCATE, COALESCE, REORGANIZE and
//! REBUILD PARTITION. The storage of other leaves stays as it is. Storage and definition change in
//! one dictionary transaction (P3).

use std::sync::Arc;

use selkie_catalog::{Partitioning, Snapshot, TableInfo};
use selkie_engine::{EngineTrx, RowSet, Scan, Table, TableId};
use selkie_plan::define::{PartitionChange, define_partition_change};
use selkie_plan::partition::Router;
use selkie_sql::ast::{AlterAction, PartitionMaintenance};
use selkie_types::error::catalogue::ER_TABLE_DEF_CHANGED;
use selkie_types::{BATCH_ROWS, SqlResult};

use super::change::{create_leaves_now, drop_leaves_now, with_new_leaves};
use super::copy::{BATCHES_PER_COMMIT, Copied};
use super::create::set_auto_increment;
use super::{Ddl, change::Change};
use crate::Outcome;
use crate::run::rotation::history_count;
use crate::state::error::from_engine;
use crate::state::own_transaction::{begin_in, commit_now};
use crate::state::parts::PartSet;

impl Ddl<'_> {
    /// Makes a change of partitions that touches only the leaves it names.
    pub(super) fn change_partitions(
        &mut self,
        snapshot: &Snapshot,
        old: &Arc<TableInfo>,
        action: &AlterAction,
    ) -> SqlResult<Outcome> {
        let new =
            self.with_context(snapshot, |context| define_partition_change(context, old, action))?;
        let Some(PartitionChange { table: new, moves }) = new else {
            let warnings = self.session.diagnostics.warning_count();
            return Ok(Copied::default().outcome(warnings, false));
        };
        let (new, moves) = match action {
            AlterAction::AddPartition { .. } if self.has_late_history(old, &new)? => {
                (with_last_history_renewed(old, new), true)
            }
            _ => (new, moves),
        };
        // The table's own id changes, too: the dictionary remembers the highest id of a table.
        let (new, added) = with_new_leaves(self.instance, new)?;
        let left = new.storage_ids();
        let dropped: Vec<TableId> =
            old.storage_ids().into_iter().filter(|id| !left.contains(id)).collect();
        if moves {
            let begin = || self.begin_change();
            let rows = self.replace_leaves(old, new, (&added, &dropped), &begin)?;
            let warnings = self.session.diagnostics.warning_count();
            return Ok(Copied::checked(rows).outcome(warnings, true));
        }
        let emptied = matches!(
            action,
            AlterAction::MaintainPartitions { action: PartitionMaintenance::Truncate, .. }
        );
        let made = emptied && self.begin_at_kept_counter(old, &new, &added)?;
        let mut change = self.begin_change()?;
        if !made {
            change.create_leaves(&new, &added)?;
        }
        let _readers = self.lock_out_readers(old)?;
        publish_leaves(&mut change, old, &new, &dropped)?;
        change.commit(|snapshot| snapshot.put_table(Arc::new(new)))?;
        Ok(match action {
            // Compat: no count of rows.
            AlterAction::MaintainPartitions { action: PartitionMaintenance::Truncate, .. } => {
                Outcome::ok()
            }
            _ => Copied::default().outcome(0, false),
        })
    }

    /// Whether the last partition of history has rows that belong to partitions added behind it.
    pub(super) fn has_late_history(&self, old: &TableInfo, new: &TableInfo) -> SqlResult<bool> {
        let (Some(before), Some(after)) = (&old.partitions, &new.partitions) else {
            return Ok(false);
        };
        if before.history_ends().next().is_none() {
            return Ok(false);
        }
        let own = last_history_leaves(before);
        let router = Router::new(new, after)?;
        let source = self.instance.open_table(old)?;
        let failed = |e| from_engine(e, &old.def);
        let (engine, reader) = begin_in(self.instance, old)?;
        let leaves = own.clone().map(|leaf| leaf as u16).collect();
        let scan = Scan { parts: Some(leaves), ..Scan::default() };
        let any_late = |reader: &dyn EngineTrx| -> SqlResult<bool> {
            let mut cursor = source.table.scan(reader, self.control, &scan).map_err(failed)?;
            let mut set = RowSet::default();
            while cursor.next_batch(&mut set, BATCH_ROWS).map_err(failed)? {
                self.control.check()?;
                let routes = router.leaves(&new.def.layout, &set.rows)?;
                if routes.iter().flatten().any(|leaf| !own.contains(leaf)) {
                    return Ok(true);
                }
                set.clear();
            }
            Ok(false)
        };
        let mut late = any_late(&*reader)?;
        // The session's own rows are seen by its transaction alone.
        if let Some(reader) = self.session.transaction.part(&engine).filter(|_| !late) {
            late = match any_late(reader) {
                // Leaves that are younger than its snapshot may have rows of its own.
                Err(error) if error.is(&ER_TABLE_DEF_CHANGED) => true,
                found => found?,
            };
        }
        reader.rollback().map_err(failed)?;
        Ok(late)
    }

    /// Creates the leaves `added` of a table in partitions that is emptied, if the engine keeps the
    /// counter of AUTO_INCREMENT for these, with that of `old`. Returns whether it did.
    pub(super) fn begin_at_kept_counter(
        &self,
        old: &TableInfo,
        new: &TableInfo,
        added: &[TableId],
    ) -> SqlResult<bool> {
        let counts = old.partitions.is_some() && old.def.auto_increment.is_some();
        if !counts || !old.engine.rows.keeps_counter {
            return Ok(false);
        }
        let counter = self.instance.open_table(old)?.table.statistics().auto_increment;
        create_leaves_now(self.instance, new, added)?;
        set_auto_increment(self.instance, new, counter)?;
        Ok(true)
    }

    /// Moves the rows of the leaves `dropped` to the new leaves `added`, then replaces the former.
    /// Returns the number of rows. The change of the definition is one that `begin` begins.
    pub(super) fn replace_leaves<'c>(
        &self,
        old: &Arc<TableInfo>,
        new: TableInfo,
        (added, dropped): (&[TableId], &[TableId]),
        begin: &dyn Fn() -> SqlResult<Change<'c>>,
    ) -> SqlResult<u64> {
        create_leaves_now(self.instance, &new, added)?;
        let moved = self.move_rows(old, &new, dropped).and_then(|rows| {
            let counter = self.instance.open_table(old)?.table.statistics().auto_increment;
            set_auto_increment(self.instance, &new, counter)?;
            Ok((rows, self.lock_out_readers(old)?))
        });
        let (rows, _readers) = match moved {
            Ok(moved) => moved,
            Err(error) => {
                drop_leaves_now(self.instance, &new, added)?;
                return Err(error);
            }
        };
        let prepared = begin().and_then(|mut change| {
            publish_leaves(&mut change, old, &new, dropped)?;
            Ok(change)
        });
        let change = match prepared {
            Ok(change) => change,
            Err(error) => {
                drop_leaves_now(self.instance, &new, added)?;
                return Err(error);
            }
        };
        change.commit(|snapshot| snapshot.put_table(Arc::new(new)))?;
        Ok(rows)
    }

    /// Stores the rows of some leaves of `old` in `new`, where all of them belong to new leaves.
    /// Returns their number.
    fn move_rows(&self, old: &TableInfo, new: &TableInfo, from: &[TableId]) -> SqlResult<u64> {
        let leaves = old.storage_ids().into_iter().enumerate();
        let leaves: Arc<[u16]> =
            leaves.filter(|(_, id)| from.contains(id)).map(|(at, _)| at as u16).collect();
        let target = self.instance.parts_of(new)?;
        if new.rotation().is_none() {
            return self.move_leaves(old, new, (&target, leaves));
        }
        // The rows of a partition do not tell which it is.
        let (mut rows, each) = (0, target.router().leaves_each());
        for leaf in leaves.iter() {
            target.router().open_history(usize::from(*leaf) / each);
            rows += self.move_leaves(old, new, (&target, [*leaf].into()))?;
        }
        Ok(rows)
    }

    fn move_leaves(
        &self,
        old: &TableInfo,
        new: &TableInfo,
        (target, leaves): (&PartSet, Arc<[u16]>),
    ) -> SqlResult<u64> {
        let source = self.instance.open_table(old)?;
        let failed = |e| from_engine(e, &old.def);
        let (_engine, reader) = begin_in(self.instance, old)?;
        let scan = Scan { parts: Some(leaves), ..Scan::default() };
        let mut cursor = source.table.scan(&*reader, self.control, &scan).map_err(failed)?;
        let (mut set, mut rows, mut more) = (RowSet::default(), 0, true);
        while more {
            let (engine, writer) = begin_in(self.instance, new)?;
            for _ in 0..BATCHES_PER_COMMIT {
                set.clear();
                more = cursor.next_batch(&mut set, BATCH_ROWS).map_err(failed)?;
                if !more {
                    break;
                }
                self.control.check()?;
                let stored = target.insert(&*writer, self.control, &set.rows);
                rows += stored.map_err(|e| from_engine(e, &new.def))?.rows;
            }
            commit_now(&*engine, writer)?;
        }
        drop(cursor);
        reader.rollback().map_err(failed)?;
        Ok(rows)
    }
}

/// The leaves of the last partition of history.
fn last_history_leaves(partitions: &Partitioning) -> std::ops::Range<usize> {
    let (each, last) = (partitions.leaves_each(), history_count(partitions).saturating_sub(1));
    last * each..(last + 1) * each
}

/// `new` with new storage for the last partition of history that `old` had.
pub(super) fn with_last_history_renewed(old: &TableInfo, new: TableInfo) -> TableInfo {
    let (Some(before), Some(after)) = (&old.partitions, &new.partitions) else { return new };
    let mut after = (**after).clone();
    last_history_leaves(before).for_each(|leaf| after.set_storage(leaf, TableId(0)));
    TableInfo { partitions: Some(Arc::new(after)), ..new }
}

/// Writes the definition with other leaves.
pub(super) fn publish_leaves(
    change: &mut Change<'_>,
    old: &TableInfo,
    new: &TableInfo,
    dropped: &[TableId],
) -> SqlResult<()> {
    change.remove_table(old.def.id)?;
    change.put_table(new)?;
    change.drop_leaves(old, dropped)
}
