//! DROP TABLE and TRUNCATE. DROP TABLE locks all its tables and drops them in one change, but for
//! temporary ones, which go at once. TRUNCATE swaps in new, empty storage under a new table id.

use std::sync::Arc;

use selkie_catalog::{SERIES_ENGINE, TableInfo, TableKind};
use selkie_sql::ast::{self, DropTables, TableName};
use selkie_types::error::catalogue::{
    ER_BAD_TABLE_ERROR, ER_ILLEGAL_HA, ER_IT_IS_A_VIEW, ER_ROW_IS_REFERENCED_2,
    ER_TABLE_NOT_LOCKED, ER_UNKNOWN_VIEW, ER_VERS_NOT_SUPPORTED, ER_WRONG_OBJECT,
};
use selkie_types::{Condition, SqlError, SqlResult};

use super::Ddl;
use super::change::{create_storage_now, drop_storage_now, is_temporary, with_new_storage};
use super::temporary::DroppedOwn;
use crate::Outcome;
use crate::run::count_definition;
use crate::state::metadata::LockTicket;

/// Result of the search for the tables of DROP TABLE.
#[derive(Default)]
pub(super) struct Dropping {
    locks: Vec<LockTicket>,
    pub(super) tables: Vec<Arc<TableInfo>>,
    /// Schema and name of those not found.
    pub(super) missing: Vec<(Box<str>, Box<str>)>,
    own: DroppedOwn,
}

/// Warning 1347 for the object `schema.name`.
fn not_a_view(name: &str) -> Condition {
    let (schema, table) = name.split_once('.').unwrap_or(("", name));
    Condition::warning(&ER_WRONG_OBJECT, &[&schema, &table, &"VIEW"])
}

impl Ddl<'_> {
    pub(super) fn drop_tables(&mut self, drop: &DropTables) -> SqlResult<Outcome> {
        self.session.refuse_twice(&drop.names)?;
        if drop.kind == ast::TableKind::Sequence {
            return self.drop_sequences(drop);
        }
        if !drop.temporary {
            self.check_drop_listed(drop)?;
            self.session.commit()?;
        }
        let mut missing = Vec::new();
        let mut needed = None;
        let mut dropping = Dropping::default();
        for name in &drop.names {
            selkie_meter::spend(2048)?;
            let (schema, table) = self.resolve(name)?;
            match self.find_to_drop(drop, (&schema, table), &mut dropping) {
                Ok(true) => {}
                Ok(false) => {
                    dropping.missing.push((schema.clone(), table.into()));
                    missing.push(format!("{schema}.{table}"));
                }
                // Compat: a table that a foreign key refers to stays; the other tables of the list
                // are dropped.
                Err(error) if error.code() == ER_ROW_IS_REFERENCED_2.code => needed = Some(error),
                Err(error) => {
                    self.log_dropped_by(drop, &dropping.own)?;
                    return Err(error);
                }
            }
        }
        self.log_dropped_by(drop, &dropping.own)?;
        self.drop_found(drop, dropping)?;
        self.end_lock_tables_without_tables();
        if let Some(error) = needed {
            return Err(error);
        }
        if missing.is_empty() {
            return Ok(Outcome::ok());
        }
        if !drop.if_exists {
            return Err(self.missing_error(drop.kind, &missing));
        }
        match drop.kind {
            ast::TableKind::View => self.note_missing_views(&missing),
            _ => self.note_missing_tables(missing),
        }
        Ok(Outcome::ok())
    }

    fn missing_error(&self, kind: ast::TableKind, missing: &[String]) -> SqlError {
        match missing {
            _ if kind == ast::TableKind::View => {
                SqlError::new(&ER_UNKNOWN_VIEW, &[&missing.join(",")])
            }
            [name] if self.is_view(name) => SqlError::new(&ER_IT_IS_A_VIEW, &[name]),
            _ => SqlError::new(&ER_BAD_TABLE_ERROR, &[&missing.join(",")]),
        }
    }

    fn note_missing_views(&self, missing: &[String]) {
        let others = missing.iter().filter(|name| self.is_other(name));
        others.for_each(|name| self.note(not_a_view(name)));
        self.note(Condition::note(&ER_UNKNOWN_VIEW, &[&missing.join(",")]));
    }

    fn note_missing_tables(&self, missing: Vec<String>) {
        let (views, missing): (Vec<String>, Vec<String>) =
            missing.into_iter().partition(|name| self.is_view(name));
        views.iter().for_each(|name| self.note(Condition::note(&ER_IT_IS_A_VIEW, &[name])));
        if !missing.is_empty() {
            self.note(Condition::note(&ER_BAD_TABLE_ERROR, &[&missing.join(",")]));
        }
    }

    /// Compat: LOCK TABLES ends with the last of its tables.
    pub(super) fn end_lock_tables_without_tables(&mut self) {
        let left = self.session.locked().iter().any(|lock| !lock.is_view && !lock.is_implied);
        if self.session.locked_tables.is_some() && !left {
            self.session.end_lock_tables();
        }
    }

    fn check_drop_listed(&self, drop: &DropTables) -> SqlResult<()> {
        if drop.kind == ast::TableKind::View {
            return self.check_no_lock_tables();
        }
        for name in &drop.names {
            let (schema, table) = self.resolve(name)?;
            if self.session.frame.temporary.get(&schema, table).is_none() {
                self.check_listed(&schema, table)?;
            }
        }
        Ok(())
    }

    /// Whether the name belongs to an object that is not a view.
    fn is_other(&self, name: &str) -> bool {
        let Some((schema, table)) = name.split_once('.') else { return false };
        self.instance.catalog.snapshot().table(schema, table).is_some() && !self.is_view(name)
    }

    fn is_view(&self, name: &str) -> bool {
        let Some((schema, table)) = name.split_once('.') else { return false };
        let snapshot = self.instance.catalog.snapshot();
        snapshot.table(schema, table).is_some_and(|t| matches!(t.kind, TableKind::View(_)))
    }

    /// Locks a table or view to be dropped; false if there is none of the kind. A temporary table
    /// is dropped at once.
    fn find_to_drop(
        &mut self,
        drop: &DropTables,
        (schema, table): (&str, &str),
        dropping: &mut Dropping,
    ) -> SqlResult<bool> {
        let snapshot = self.instance.catalog.snapshot();
        let own = self.session.frame.temporary.get(schema, table).cloned();
        let view = drop.kind == ast::TableKind::View;
        if let Some(own) = own.filter(|_| !view) {
            self.drop_own(&own, &mut dropping.own)?;
            return Ok(true);
        }
        let is_view = |t: &Arc<TableInfo>| matches!(t.kind, TableKind::View(_));
        match snapshot.table(schema, table) {
            Some(found) if !drop.temporary && is_view(found) == view => {
                // A referenced table fails at once, not after waiting for its users.
                self.check_unreferenced((schema, table), &dropping.tables)?;
                dropping.locks.push(self.lock(schema, table)?);
                // The table may have been dropped while this waited for the lock.
                let snapshot = self.instance.catalog.snapshot();
                let Some(found) = snapshot.table(schema, table).filter(|t| is_view(t) == view)
                else {
                    return Ok(false);
                };
                self.check_unreferenced((schema, table), &dropping.tables)?;
                dropping.tables.push(Arc::clone(found));
                Ok(true)
            }
            _ => {
                if drop.if_exists && !drop.temporary && self.session.log().is_some() {
                    // Nobody must create it before the statement has its place in the log.
                    dropping.locks.push(self.lock(schema, table)?);
                    let snapshot = self.instance.catalog.snapshot();
                    if snapshot.table(schema, table).is_some_and(|t| is_view(t) == view) {
                        return self.find_to_drop(drop, (schema, table), dropping);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Drops the tables or views that were found, in one change.
    fn drop_found(&mut self, drop: &DropTables, dropping: Dropping) -> SqlResult<()> {
        self.say_drop(drop, &dropping);
        let Dropping { tables, locks: _locks, .. } = dropping;
        if tables.is_empty() {
            return self.log_absent(drop);
        }
        let mut change = self.begin_change()?;
        tables.iter().try_for_each(|table| self.remove(&mut change, table))?;
        change.commit(|snapshot| {
            for table in &tables {
                snapshot.remove_table(table.schema(), table.name());
                snapshot.set_triggers(table.schema(), table.name(), Vec::new());
            }
        })?;
        self.forget_statistics(&tables);
        for table in &tables {
            let (schema, name) = (table.schema(), table.name());
            self.session.frame.hooks.dropped(self.session, schema, name);
            self.session.unlist(schema, name);
        }
        Ok(())
    }

    /// Replaces a temporary table by another one, which may have another name.
    pub(super) fn replace_own(&mut self, old: &TableInfo, new: TableInfo) -> SqlResult<()> {
        self.session.frame.temporary.replace(old, Arc::new(new));
        self.instance.close_table(old.def.id);
        drop_storage_now(self.instance, old)
    }

    /// Drops an existing table whose name is locked.
    pub(super) fn drop_one(&mut self, schema: &str, name: &str, temporary: bool) -> SqlResult<()> {
        if temporary {
            let Some(table) = self.session.frame.temporary.remove(schema, name) else {
                return Ok(());
            };
            self.instance.close_table(table.def.id);
            return drop_storage_now(self.instance, &table);
        }
        let snapshot = self.instance.catalog.snapshot();
        let Some(table) = snapshot.table(schema, name) else { return Ok(()) };
        let mut change = self.begin_change()?;
        self.remove(&mut change, table)?;
        change.commit(|snapshot| {
            snapshot.remove_table(schema, name);
            snapshot.set_triggers(schema, name, Vec::new());
        })?;
        self.forget_statistics([table]);
        self.session.frame.hooks.dropped(self.session, schema, name);
        Ok(())
    }

    /// Replaces the storage by new, empty storage: the AUTO_INCREMENT counter starts again.
    pub(super) fn truncate(&mut self, name: &TableName) -> SqlResult<Outcome> {
        let (schema, name) = self.resolve(name)?;
        let temporary = self.session.frame.temporary.get(&schema, name).is_some();
        if !temporary {
            self.check_listed(&schema, name)?;
        }
        self.session.commit()?;
        let _lock = (!temporary).then(|| self.lock(&schema, name)).transpose()?;
        let snapshot = self.instance.catalog.snapshot();
        let old = self.base_table(&snapshot, &schema, name)?;
        if matches!(old.kind, TableKind::View(_)) && self.session.locked_tables.is_some() {
            return Err(SqlError::new(&ER_TABLE_NOT_LOCKED, &[&name]));
        }
        if matches!(old.kind, TableKind::View(_) | TableKind::System) {
            return Err(SqlError::no_such_table(&schema, name));
        }
        if old.is_sequence() {
            let arguments: [&dyn std::fmt::Display; 3] = [&SERIES_ENGINE.name, &schema, &name];
            return Err(SqlError::new(&ER_ILLEGAL_HA, &arguments));
        }
        if old.system_time().is_some() {
            return Err(SqlError::new(&ER_VERS_NOT_SUPPORTED, &[&"TRUNCATE TABLE"]));
        }
        self.check_truncate(&old)?;
        let new = with_new_storage(self.instance, (*old).clone())?;
        count_definition(self.session, &new);
        if is_temporary(&old) {
            create_storage_now(self.instance, &new)?;
            self.replace_own(&old, new)?;
            self.log_changed((&schema, name))?;
            return Ok(Outcome::ok());
        }
        let made = self.begin_at_kept_counter(&old, &new, &new.storage_ids())?;
        let mut change = self.begin_change()?;
        if !made {
            change.create_storage(&new)?;
        }
        change.remove_table(old.def.id)?;
        change.put_table(&new)?;
        change.drop_storage(&old)?;
        change.commit(|snapshot| snapshot.put_table(Arc::new(new)))?;
        Ok(Outcome::ok())
    }
}
