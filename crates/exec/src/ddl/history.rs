//! AUTO of partitions by SYSTEM_TIME: a statement that needs another history partition adds it
//! before it runs.
//!
//! Compat: no log has the change; a replica adds partitions when it applies the rows. LOCK TABLES
//! adds partitions, too.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_engine::TableId;
use selkie_plan::define::{PartitionChange, define_partition_change};
use selkie_plan::physical::Plan;
use selkie_sql::ast::AlterAction;
use selkie_types::error::catalogue::ER_VERS_HIST_PART_FAILED;
use selkie_types::{Condition, Level, SqlError, SqlResult};

use super::Ddl;
use super::change::{Change, with_new_leaves};
use super::online::is_lost;
use super::partition::{publish_leaves, with_last_history_renewed};
use crate::dml;
use crate::query::execution::{Execution, Scope};
use crate::run::rotation::{ends_rows, lacking};

fn has_auto(table: &Arc<TableInfo>) -> bool {
    table.rotation().is_some_and(|by| by.auto)
}

impl Execution<'_> {
    /// As [`Self::locked_plan`], with the history partitions that the plan needs.
    pub(crate) fn locked_change(
        &mut self,
        make: impl FnMut(Scope<'_>) -> SqlResult<Arc<Plan>>,
    ) -> SqlResult<Arc<Plan>> {
        self.locked_with_history(make, |plan| match ends_rows(plan) {
            true => dml::targets(plan).collect(),
            false => Vec::new(),
        })
    }

    /// As [`Self::locked_change`], for the plan of an event that updates or deletes rows.
    pub(crate) fn locked_event(
        &mut self,
        make: impl FnMut(Scope<'_>) -> SqlResult<Arc<Plan>>,
    ) -> SqlResult<Arc<Plan>> {
        self.locked_with_history(make, |plan| plan.tables.iter().collect())
    }

    fn locked_with_history(
        &mut self,
        mut make: impl FnMut(Scope<'_>) -> SqlResult<Arc<Plan>>,
        changed: impl Fn(&Plan) -> Vec<&Arc<TableInfo>>,
    ) -> SqlResult<Arc<Plan>> {
        let mut gives_up = false;
        loop {
            let plan = self.locked_plan(&mut make)?;
            // Most statements have no such table, and none of the work.
            if gives_up || !plan.tables.iter().any(has_auto) {
                return Ok(plan);
            }
            let lacking = self.lacks_history(changed(&plan))?;
            let Some(table) = lacking else { return Ok(plan) };
            gives_up = match self.add_history(&plan, &table) {
                Ok(added) => !added,
                // Compat: the statement goes on with the partitions there are.
                Err(error) if is_lost(&error) => {
                    let most = self.session.frame.settings.notes.max_error_count;
                    let error = Condition::from_error(Level::Error, &error);
                    self.session.diagnostics.push(error, most);
                    true
                }
                Err(error) => return Err(error),
            };
            self.control.check()?;
        }
    }

    /// Adds the history partitions that the tables of LOCK TABLES need, if they are written.
    pub(crate) fn complete_locked(&mut self) -> SqlResult<()> {
        let snapshot = self.instance.catalog.snapshot();
        let written = self.session.locked().iter().filter(|table| table.write && !table.is_implied);
        let tables: Vec<Arc<TableInfo>> =
            written.filter_map(|lock| snapshot.table(&lock.schema, &lock.table).cloned()).collect();
        for table in &tables {
            if self.lacks_history(vec![table])?.is_some() {
                Ddl::new(self).add_history(table)?;
            }
        }
        Ok(())
    }

    /// The first of the tables that needs another history partition.
    fn lacks_history(&self, changed: Vec<&Arc<TableInfo>>) -> SqlResult<Option<Arc<TableInfo>>> {
        for table in changed.into_iter().filter(|table| has_auto(table)) {
            if lacking(self.instance, self.session, table)? > 0 {
                return Ok(Some(table.clone()));
            }
        }
        Ok(None)
    }

    /// Adds partitions; false if that must not be now.
    fn add_history(&mut self, plan: &Plan, table: &TableInfo) -> SqlResult<bool> {
        crate::query::check_read_only(self.session, plan)?;
        // Another session may wait for the same change: neither keeps its use meanwhile.
        if !self.session.in_transaction() && self.session.locked_tables.is_none() {
            self.session.transaction.release_locks();
        }
        Ddl::new(self).add_history(table)
    }
}

impl Ddl<'_> {
    /// Adds the history partitions that a table needs now. False if rows of the last one would have
    /// to move which a transaction of the session may have changed.
    fn add_history(&self, table: &TableInfo) -> SqlResult<bool> {
        let (schema, name) = (table.schema(), table.name());
        let _users = self.lock(schema, name)?;
        let snapshot = self.instance.catalog.snapshot();
        // Whoever had the lock before may have dropped the table, or added them.
        let Some(old) = snapshot.table(schema, name) else { return Ok(true) };
        let count = lacking(self.instance, self.session, old)? as u64;
        if count == 0 {
            return Ok(true);
        }
        let action = AlterAction::AddPartition {
            if_not_exists: false,
            partitions: Vec::new(),
            count: Some(count),
        };
        let added =
            self.with_context(&snapshot, |context| define_partition_change(context, old, &action));
        match added {
            Ok(None) => Ok(true),
            Ok(Some(PartitionChange { table: new, .. })) => self.publish_history(old, new),
            Err(error) => {
                let most = self.session.frame.settings.notes.max_error_count;
                let cause = Condition::from_error(Level::Warning, &error);
                self.session.diagnostics.push(cause, most);
                let arguments: [&dyn std::fmt::Display; 2] = [&schema, &name];
                Err(SqlError::new(&ER_VERS_HIST_PART_FAILED, &arguments))
            }
        }
    }

    fn publish_history(&self, old: &Arc<TableInfo>, new: TableInfo) -> SqlResult<bool> {
        let late = self.has_late_history(old, &new)?;
        // A transaction that has begun may have rows of its own there, and does not see new leaves.
        let has_begun = self.session.transaction.part(self.instance.engine_of(old)?).is_some();
        if late && has_begun {
            return Ok(false);
        }
        let new = if late { with_last_history_renewed(old, new) } else { new };
        let (new, added) = with_new_leaves(self.instance, new)?;
        let begin = || Change::begin(self.instance, None);
        if late {
            let left = new.storage_ids();
            let moved: Vec<TableId> =
                old.storage_ids().into_iter().filter(|id| !left.contains(id)).collect();
            self.replace_leaves(old, new, (&added, &moved), &begin)?;
            return Ok(true);
        }
        let mut change = begin()?;
        change.create_leaves(&new, &added)?;
        publish_leaves(&mut change, old, &new, &[])?;
        change.commit(|snapshot| snapshot.put_table(Arc::new(new)))?;
        Ok(true)
    }
}
