//! The table that CREATE OR REPLACE replaces.
//!
//! Other sessions see the old table until the new one is complete; then one change of the
//! dictionary removes it and publishes the new one. A crash before that keeps the old table.

use std::sync::Arc;

use selkie_catalog::{Snapshot, TableInfo, TableKind};
use selkie_plan::physical::Plan;
use selkie_sql::ast::{Mention, Query};
use selkie_types::error::Severity;
use selkie_types::error::catalogue::{
    ER_CANT_REOPEN_TABLE, ER_DISK_FULL, ER_INVALID_ON_UPDATE, ER_IT_IS_A_VIEW,
    ER_LOCK_WAIT_TIMEOUT, ER_M_BIGGER_THAN_D, ER_QUERY_INTERRUPTED, ER_STATEMENT_TIMEOUT,
    ER_TOO_BIG_DISPLAYWIDTH, ER_TOO_BIG_PRECISION, ER_UPDATE_TABLE_USED, ER_VIEW_PREVENT_UPDATE,
};
use selkie_types::{SqlError, SqlResult};

use super::Ddl;
use super::change::{Change, is_temporary};
use super::temporary::DroppedOwn;
use crate::Outcome;

impl Ddl<'_> {
    /// The existing object of that name: a temporary table of the session, or a shared object.
    pub(super) fn existing_table(
        &self,
        snapshot: &Snapshot,
        temporary: bool,
        schema: &str,
        name: &str,
    ) -> Option<Arc<TableInfo>> {
        match temporary {
            true => self.session.frame.temporary.get(schema, name).cloned(),
            false => snapshot.table(schema, name).cloned(),
        }
    }

    /// Fails if `old` is a view, or a foreign key refers to it.
    pub(super) fn check_replaceable(&self, old: Option<&TableInfo>) -> SqlResult<()> {
        let Some(old) = old else { return Ok(()) };
        if is_temporary(old) {
            return self.check_not_in_use(old);
        }
        let (schema, name) = (old.schema(), old.name());
        if let TableKind::View(_) = old.kind {
            return Err(SqlError::new(&ER_IT_IS_A_VIEW, &[&format!("{schema}.{name}")]));
        }
        self.check_unreferenced((schema, name), &[])
    }

    /// Runs `create`, which replaces `old`.
    ///
    /// Compat: if the statement fails by its own fault, neither table remains, because MariaDB has
    /// dropped the old one by then. If it fails for outside reasons, such as KILL, or by the type
    /// of a column, which MariaDB looks at first, the old table remains.
    pub(super) fn replacing(
        &mut self,
        old: Option<Arc<TableInfo>>,
        create: impl FnOnce(&mut Self, Option<&Arc<TableInfo>>) -> SqlResult<Outcome>,
    ) -> SqlResult<Outcome> {
        let result = create(self, old.as_ref());
        if let (Some(old), Err(error)) = (old, &result)
            && !comes_from_outside(error)
            && !is_of_type(error)
        {
            self.drop_for_nothing(&old)?;
        }
        result
    }

    fn drop_for_nothing(&mut self, old: &TableInfo) -> SqlResult<()> {
        let (schema, name, temporary) = (old.schema(), old.name(), is_temporary(old));
        let snapshot = self.instance.catalog.snapshot();
        let now = self.existing_table(&snapshot, temporary, schema, name);
        if now.is_none_or(|now| now.def.id != old.def.id) {
            return Ok(());
        }
        if temporary {
            let mut dropped = DroppedOwn::default();
            self.drop_own(old, &mut dropped)?;
            self.log_dropped(("TABLE", " IF EXISTS"), &dropped)?;
        } else {
            self.say_not_replaced(schema, name);
            self.drop_one(schema, name, temporary)?;
            self.session.unlist(schema, name);
            self.end_lock_tables_without_tables();
        }
        Ok(())
    }

    /// Snapshot without `old`, against which its replacement is defined.
    pub(super) fn snapshot_without(&self, old: Option<&Arc<TableInfo>>) -> Arc<Snapshot> {
        let snapshot = self.instance.catalog.snapshot();
        match old.filter(|old| !is_temporary(old)) {
            None => snapshot,
            Some(old) => {
                let mut rest = (*snapshot).clone();
                rest.remove_table(old.schema(), old.name());
                Arc::new(rest)
            }
        }
    }

    /// Fails if the query, planned as `plan`, reads `old`, the table to replace.
    pub(super) fn check_not_read(
        &self,
        old: &TableInfo,
        query: &Query,
        plan: &Plan,
    ) -> SqlResult<()> {
        if !plan.tables.iter().any(|table| table.def.id == old.def.id) {
            return Ok(());
        }
        let name = old.name();
        if is_temporary(old) {
            return Err(SqlError::new(&ER_CANT_REOPEN_TABLE, &[&name]));
        }
        let is_view = |table: &&Arc<TableInfo>| matches!(table.kind, TableKind::View(_));
        let mut views = plan.tables.iter().filter(is_view);
        match views.find(|_| !self.names(query, old)) {
            Some(view) => {
                let arguments: [&dyn std::fmt::Display; 3] = [&view.name(), &"CREATE", &name];
                Err(SqlError::new(&ER_VIEW_PREVENT_UPDATE, &arguments))
            }
            None => Err(SqlError::new(&ER_UPDATE_TABLE_USED, &[&name, &"CREATE"])),
        }
    }

    /// Whether the query names `table` itself, rather than a view over it.
    fn names(&self, query: &Query, table: &TableInfo) -> bool {
        let mut found = false;
        query.clone().for_each_mention(&mut |mention| {
            if let Mention::Table(factor) = mention {
                let schema = factor.name.schema.as_ref().map(|schema| &*schema.value);
                found |= schema.or(self.session.frame.schema.as_deref()) == Some(table.schema())
                    && *factor.name.name.value == *table.name();
            }
        });
        found
    }

    /// Removes a table from the dictionary, with its triggers and its storage.
    pub(super) fn remove(&self, change: &mut Change<'_>, table: &TableInfo) -> SqlResult<()> {
        change.drop_storage(table)?;
        self.remove_definition(change, table)
    }

    /// Removes a table whose storage goes on elsewhere from the dictionary, with its triggers.
    pub(super) fn remove_definition(
        &self,
        change: &mut Change<'_>,
        table: &TableInfo,
    ) -> SqlResult<()> {
        change.remove_table(table.def.id)?;
        let snapshot = self.instance.catalog.snapshot();
        let mut triggers = snapshot.triggers(table.schema(), table.name()).iter();
        triggers.try_for_each(|trigger| change.remove_trigger(trigger))
    }
}

/// Whether a statement failed by the type of a column alone.
fn is_of_type(error: &SqlError) -> bool {
    let types = [
        ER_INVALID_ON_UPDATE.code,
        ER_M_BIGGER_THAN_D.code,
        ER_TOO_BIG_DISPLAYWIDTH.code,
        ER_TOO_BIG_PRECISION.code,
    ];
    types.contains(&error.code())
}

/// Whether a statement failed for outside reasons: a kill, a timeout, a full disk, or an error that
/// ends more than the statement.
fn comes_from_outside(error: &SqlError) -> bool {
    let circumstances = [
        ER_DISK_FULL.code,
        ER_LOCK_WAIT_TIMEOUT.code,
        ER_QUERY_INTERRUPTED.code,
        ER_STATEMENT_TIMEOUT.code,
    ];
    error.severity() != Severity::Statement || circumstances.contains(&error.code())
}
