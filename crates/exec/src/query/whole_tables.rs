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
use crate::state::metadata::{LockMode, LockTicket};
use crate::state::programs::ReachedTable;

/// Whether a table's rows are locked all together.
fn is_whole(table: &TableInfo) -> bool {
    // The tables of logs are written while others copy them.
    !table.engine.transactional
        && table.kind == TableKind::Base
        && table.has_storage()
        && table.schema() != "mysql"
}

impl Execution<'_> {
    /// Locks the rows of a table that an event of the primary changes, until the result is dropped;
    /// `None` if its rows are not locked all together.
    pub(crate) fn lock_event_rows(&self, table: &TableInfo) -> SqlResult<Option<LockTicket>> {
        let name = format!("{}\0", table.name());
        let lock = || self.lock_name((table.schema(), &name), LockMode::Alone);
        is_whole(table).then(lock).transpose()
    }

    /// Looks for the tables that the functions and triggers of a plan may use, if any table is
    /// locked as a whole or by LOCK TABLES. Whether they may change one that is locked as a whole.
    /// Fails if LOCK TABLES does not allow it.
    pub(super) fn find_reached(&mut self, plan: &Plan) -> SqlResult<bool> {
        let runs_programs = !plan.uses.functions.is_empty() || !plan.changes.triggers.is_empty();
        self.session.programs.reached.clear();
        // A statement inside of a function or trigger is part of the one that runs it.
        if !runs_programs || self.session.transaction.is_nested() {
            return Ok(false);
        }
        if self.session.lock_list.is_none() && !self.has_whole_tables() {
            return Ok(false);
        }
        let Self { instance, session, .. } = self;
        let mut reached = instance.programs.reached(instance, session, plan);
        // Whether it may be changed is checked where it is: its program may not come to it.
        let listed = |r: &ReachedTable| session.check_lock_named(&r.table, &r.alias, false);
        reached.iter().try_for_each(listed)?;
        reached.retain(|reached| is_whole(&reached.table));
        session.programs.reached = reached;
        Ok(session.programs.reached.iter().any(|reached| reached.is_changed))
    }

    /// Locks the definitions of the tables that were found, before their rows: a session that holds
    /// one by LOCK TABLES uses its rows, and would wait in a circle with one that has the rows and
    /// waits for the definition.
    pub(crate) fn lock_reached(&mut self) -> SqlResult<()> {
        let reached = std::mem::take(&mut self.session.programs.reached);
        let locked = reached.iter().try_for_each(|reached| {
            let mode = if reached.is_changed { LockMode::Write } else { LockMode::Read };
            self.lock_table(&reached.table, mode)
        });
        self.session.programs.reached = reached;
        locked
    }

    /// Whether any table of the server is locked as a whole.
    fn has_whole_tables(&self) -> bool {
        let snapshot = self.instance.catalog.snapshot();
        let known = &self.session.programs.whole_tables;
        if let Some((version, has_any)) = known.get()
            && version == snapshot.version
        {
            return has_any;
        }
        let mut tables = snapshot.schemas().flat_map(|schema| schema.tables.values());
        let has_any = tables.any(|table| is_whole(table));
        known.set(Some((snapshot.version, has_any)));
        has_any
    }

    /// Locks the rows of a plan's tables until the statement ends, and of those that its functions
    /// and triggers may use. The caller must not have a snapshot yet: it would lack what others
    /// change until the lock is granted.
    pub(super) fn lock_rows(&mut self, plan: &Plan) -> SqlResult<()> {
        let reached = std::mem::take(&mut self.session.programs.reached);
        if reached.is_empty() && !plan.tables.iter().any(|table| is_whole(table)) {
            return Ok(());
        }
        let is_changed = |r: &ReachedTable| r.is_changed;
        let changes = plan.changes_rows() || reached.iter().any(is_changed);
        let mut wanted = Vec::new();
        let mut want = |table: &Arc<TableInfo>, is_changed: bool| {
            if is_changed {
                wanted.push((Arc::clone(table), LockMode::Alone));
            } else if changes || !table.engine.rows.snapshots {
                wanted.push((Arc::clone(table), LockMode::Read));
            }
        };
        for table in plan.tables.iter().filter(|table| is_whole(table)) {
            want(table, dml::targets(plan).any(|target| Arc::ptr_eq(target, table)));
        }
        reached.iter().for_each(|reached| want(&reached.table, reached.is_changed));
        // In one order, so that two statements do not wait for each other; the strongest lock of a
        // table comes first.
        wanted.sort_by(|(a, one), (b, other)| {
            (a.schema(), a.name(), other).cmp(&(b.schema(), b.name(), one))
        });
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
