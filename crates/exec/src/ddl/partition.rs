//! ADD, DROP and TRUNCATE PARTITION: the storage of the named leaves is made or removed, and the
//! definition changes with it in one dictionary transaction (P3). No row is read.

use std::sync::Arc;

use selkie_catalog::{Snapshot, TableInfo};
use selkie_engine::TableId;
use selkie_plan::define::define_partition_change;
use selkie_sql::ast::{AlterAction, PartitionMaintenance};
use selkie_types::SqlResult;

use super::Ddl;
use super::alter::nothing_copied;
use super::change::with_new_leaves;
use crate::Outcome;

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
        let Some(new) = new else { return Ok(nothing_copied()) };
        // The table's own id changes, too: the dictionary remembers the highest id of a table.
        let (new, added) = with_new_leaves(self.instance, new)?;
        let left = new.storage_ids();
        let dropped: Vec<TableId> =
            old.storage_ids().into_iter().filter(|id| !left.contains(id)).collect();
        let mut change = self.begin_change()?;
        change.create_leaves(&new, &added)?;
        let _readers = self.lock_out_readers(old)?;
        change.remove_table(old.def.id)?;
        change.put_table(&new)?;
        change.drop_leaves(old, &dropped)?;
        change.commit(|snapshot| snapshot.put_table(Arc::new(new)))?;
        Ok(match action {
            // Compat: no count of rows.
            AlterAction::MaintainPartitions { action: PartitionMaintenance::Truncate, .. } => {
                Outcome::ok()
            }
            _ => nothing_copied(),
        })
    }
}
