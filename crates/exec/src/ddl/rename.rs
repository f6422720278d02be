//! RENAME TABLE: several renames, one after the other, as one change. Later renames see the earlier
//! ones. All names are locked before the first rename, and an error undoes all.

use std::sync::Arc;

use selkie_catalog::{Snapshot, TableInfo, TableKind, TemporaryTables, Trigger, new_version};
use selkie_engine::TableDef;
use selkie_sql::ast::{RenameTables, TableName};
use selkie_types::error::catalogue::{
    ER_FORBID_SCHEMA_CHANGE, ER_NO_SUCH_TABLE, ER_TABLE_EXISTS_ERROR,
};
use selkie_types::{Condition, SqlError, SqlResult};

use super::Ddl;
use super::change::Change;
use super::foreign::{follow_in_children, follow_own_name};
use super::statistics::Followed;
use crate::Outcome;
use crate::state::metadata::LockTicket;

/// A renamed table and its former name.
struct Renamed {
    /// Former schema.
    schema: Box<str>,
    /// Former name.
    name: String,
    table: Arc<TableInfo>,
    statistics: Option<Followed>,
    triggers: Vec<Arc<Trigger>>,
    /// Tables whose foreign keys refer to it.
    children: Vec<Arc<TableInfo>>,
}

impl Renamed {
    fn publish(&self, snapshot: &mut Snapshot) {
        let table = &self.table;
        snapshot.remove_table(&self.schema, &self.name);
        snapshot.set_triggers(&self.schema, &self.name, Vec::new());
        snapshot.set_triggers(table.schema(), table.name(), self.triggers.clone());
        snapshot.put_table(table.clone());
        self.children.iter().for_each(|child| snapshot.put_table(child.clone()));
    }
}

impl Ddl<'_> {
    pub(super) fn rename_tables(&mut self, rename: &RenameTables) -> SqlResult<Outcome> {
        self.check_no_lock_tables()?;
        self.session.commit()?;
        let _locks = self.lock_renamed(rename)?;
        let is_of_own = self.say_rename(rename)?;
        // Each rename sees those before it, so they work on copies.
        let mut draft = Snapshot::clone(&self.instance.catalog.snapshot());
        let mut own = self.session.frame.temporary.clone();
        let mut change = self.begin_change()?;
        let mut renamed = Vec::new();
        for (from, to) in &rename.pairs {
            if self.rename_temporary(&mut own, from, to)? {
                continue;
            }
            if rename.if_exists && self.is_missing(&draft, from)? {
                continue;
            }
            let one = self.rename_one(&mut change, &draft, from, to)?;
            one.publish(&mut draft);
            renamed.push(one);
        }
        match renamed.is_empty() {
            true if is_of_own => self.log_renamed_own()?,
            true => {}
            false => {
                change.commit(|snapshot| renamed.iter().for_each(|one| one.publish(snapshot)))?;
            }
        }
        self.store_statistics(renamed.into_iter().filter_map(|one| one.statistics));
        self.session.frame.temporary = own;
        Ok(Outcome::ok())
    }

    /// Locks the old and new names of shared tables, and their children.
    fn lock_renamed(&self, rename: &RenameTables) -> SqlResult<Vec<LockTicket>> {
        let mut own = self.session.frame.temporary.clone();
        let mut locks = Vec::new();
        for (from, to) in &rename.pairs {
            if self.rename_temporary(&mut own, from, to)? {
                continue;
            }
            for name in [from, to] {
                let (schema, table) = self.resolve(name)?;
                locks.push(self.lock(&schema, table)?);
                locks.extend(self.lock_children(&schema, table)?);
            }
        }
        Ok(locks)
    }

    /// Chooses the text: replicas have only some of the temporary tables. True if those are all
    /// that is renamed.
    fn say_rename(&mut self, rename: &RenameTables) -> SqlResult<bool> {
        let mut own = self.session.frame.temporary.clone();
        let (mut pairs, mut has_shared, mut is_whole) = (Vec::new(), false, true);
        for (from, to) in &rename.pairs {
            let (schema, name) = self.resolve(from)?;
            let logged = own.get(&schema, name).map(|table| own.is_logged(table));
            self.rename_temporary(&mut own, from, to)?;
            has_shared |= logged.is_none();
            match logged {
                Some(false) => is_whole = false,
                _ => {
                    let (to_schema, to) = self.resolve(to)?;
                    let (from, to) = (self.in_text(&schema, name), self.in_text(&to_schema, to));
                    pairs.push(format!("{from} TO {to}"));
                }
            }
        }
        if !is_whole {
            let condition = if rename.if_exists { " IF EXISTS" } else { "" };
            self.say(format!("RENAME TABLE{condition} {}", pairs.join(", ")));
        }
        Ok(!has_shared && !pairs.is_empty())
    }

    /// Stores a table under its new name, with its triggers and children.
    fn rename_one(
        &self,
        change: &mut Change<'_>,
        draft: &Snapshot,
        from: &TableName,
        to: &TableName,
    ) -> SqlResult<Renamed> {
        let (schema, from) = self.resolve(from)?;
        let (to_schema, to) = self.resolve(to)?;
        let (old, new) = ((&*schema, from), (&*to_schema, to));
        let mut table = self.renamed(draft, old, new)?;
        let before = draft.table(old.0, old.1);
        let statistics = before
            .and_then(|before| self.follow_statistics(before, Arc::make_mut(&mut table), &[]));
        let triggers = self.rename_triggers(change, draft, old, new)?;
        change.put_table(&table)?;
        change.redefine(&table);
        let children = follow_in_children(draft, old, new, &[]);
        children.iter().try_for_each(|child| change.put_table(child))?;
        Ok(Renamed { name: from.to_owned(), schema, table, statistics, triggers, children })
    }

    /// Renames a temporary table in `own`; false if `from` is not one.
    fn rename_temporary(
        &self,
        own: &mut TemporaryTables,
        from: &TableName,
        to: &TableName,
    ) -> SqlResult<bool> {
        let (schema, from) = self.resolve(from)?;
        let Some(table) = own.get(&schema, from).cloned() else { return Ok(false) };
        let (to_schema, to) = self.resolve(to)?;
        if self.instance.catalog.snapshot().schema(&to_schema).is_none() {
            return Err(SqlError::unknown_database(&to_schema));
        }
        if own.get(&to_schema, to).is_some() {
            return Err(SqlError::new(&ER_TABLE_EXISTS_ERROR, &[&to]));
        }
        own.replace(&table, Arc::new(with_name(&table, (&to_schema, to))));
        Ok(true)
    }

    /// Whether no table has the name; adds a note then.
    fn is_missing(&self, draft: &Snapshot, name: &TableName) -> SqlResult<bool> {
        let (schema, table) = self.resolve(name)?;
        if draft.table(&schema, table).is_some() {
            return Ok(false);
        }
        self.note(Condition::note(&ER_NO_SUCH_TABLE, &[&schema, &table]));
        Ok(true)
    }

    /// The table `from` renamed to `to`; that name must be free.
    pub(super) fn renamed(
        &self,
        snapshot: &Snapshot,
        from: (&str, &str),
        to: (&str, &str),
    ) -> SqlResult<Arc<TableInfo>> {
        let old = snapshot
            .table(from.0, from.1)
            .ok_or_else(|| SqlError::no_such_table(from.0, from.1))?;
        if snapshot.schema(to.0).is_none() {
            return Err(SqlError::unknown_database(to.0));
        }
        if matches!(old.kind, TableKind::View(_)) && from.0 != to.0 {
            return Err(SqlError::new(&ER_FORBID_SCHEMA_CHANGE, &[&from.0, &to.0]));
        }
        if snapshot.table(to.0, to.1).is_some() {
            return Err(SqlError::new(&ER_TABLE_EXISTS_ERROR, &[&to.1]));
        }
        self.check_path(to.0, to.1)?;
        Ok(Arc::new(with_name(old, to)))
    }
}

/// `table` renamed to `schema`.`name`.
pub(super) fn with_name(table: &TableInfo, (schema, name): (&str, &str)) -> TableInfo {
    let def = TableDef { schema: schema.into(), name: name.into(), ..(*table.def).clone() };
    let mut renamed = TableInfo { def: Arc::new(def), version: new_version(), ..table.clone() };
    follow_own_name(&mut renamed, (table.schema(), table.name()));
    renamed
}
