//! Locks on all rows of tables whose engines cannot roll back, as MariaDB's engines of these names
//! have them: a statement is alone with what it changes (HELD-1).
//!
//! Must not be used for single rows, nor for engines with rollback, which lock rows themselves.

use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind};
use selkie_plan::physical::Plan;
use selkie_types::SqlResult;

use crate::dml;
use crate::query::execution::Execution;
use crate::state::metadata::LockMode;

/// Whether a table's rows are locked all together.
fn is_whole(table: &TableInfo) -> bool {
    // The tables of logs are written while others copy them.
    !table.engine.transactional
        && table.kind == TableKind::Base
        && table.has_storage()
        && table.schema() != "mysql"
}

impl Execution<'_> {
    /// Locks the rows of a plan's tables until the statement ends. The caller must not have a
    /// snapshot yet: it would lack what others change until the lock is granted.
    pub(super) fn lock_rows(&mut self, plan: &Plan) -> SqlResult<()> {
        if !plan.tables.iter().any(|table| is_whole(table)) {
            return Ok(());
        }
        let changes = dml::changes_rows(plan);
        let mut wanted = Vec::new();
        for table in plan.tables.iter().filter(|table| is_whole(table)) {
            if dml::targets(plan).any(|target| Arc::ptr_eq(target, table)) {
                wanted.push((table, LockMode::Alone));
            } else if changes || !table.engine.rows.snapshots {
                wanted.push((table, LockMode::Read));
            }
        }
        // In one order, so that two statements do not wait for each other.
        wanted.sort_by_key(|(table, _)| (table.schema(), table.name()));
        for (table, mode) in wanted {
            // No table has such a name: the lock is not one on the definition.
            let name = format!("{}\0", table.name());
            if !self.session.transaction.holds_rows(table.schema(), &name, mode) {
                let lock = self.lock_name((table.schema(), &name), mode)?;
                self.session.transaction.hold_rows(lock);
            }
        }
        Ok(())
    }
}
