//! Foreign keys in DDL: locks on parents, checks before a drop, references that follow a new name,
//! and the check of rows when a key is added. Changes of rows check keys elsewhere
//! ([`crate::dml`]).

use std::fmt::Display;
use std::sync::Arc;

use selkie_catalog::{ForeignKey, Snapshot, TableInfo};
use selkie_engine::{LockMode as RowLock, RowSet, Scan, Table, TableDef};
use selkie_plan::define::AlterPlan;
use selkie_sql::ast::{
    AlterAction, AlterTable, ColumnDef, CreateSource, CreateTable, TableElement, TableName,
};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_CANNOT_ADD_FOREIGN, ER_CANT_CREATE_TABLE, ER_DUP_KEY, ER_NO_REFERENCED_ROW_2,
    ER_ROW_IS_REFERENCED, ER_ROW_IS_REFERENCED_2, ER_TRUNCATE_ILLEGAL_FK,
};
use selkie_types::{BATCH_ROWS, ByteRows, Condition, Privileges, SqlError, SqlResult};

use super::Ddl;
use super::change::Change;
use crate::run::history::is_current;
use crate::state::error::{corrupt, from_engine};
use crate::state::metadata::{LockMode, LockTicket};
use crate::state::own_transaction::begin_in;
use crate::state::session::Privilege;

/// Tables that the keys of CREATE TABLE refer to.
fn parents_of_create(create: &CreateTable) -> Vec<&TableName> {
    let CreateSource::Elements(elements) = &create.source else { return Vec::new() };
    let parents = elements.iter().filter_map(|element| match element {
        TableElement::Column(column) => parent_of_column(column),
        TableElement::ForeignKey(key) => Some(&key.references.table),
        _ => None,
    });
    parents.collect()
}

/// Tables that new keys of ALTER TABLE refer to.
fn parents_of_alter(alter: &AlterTable) -> Vec<&TableName> {
    let parents = alter.actions.iter().filter_map(|action| match action {
        AlterAction::AddForeignKey(key) => Some(&key.references.table),
        AlterAction::AddColumn { column, .. }
        | AlterAction::ModifyColumn { column, .. }
        | AlterAction::ChangeColumn { column, .. } => parent_of_column(column),
        _ => None,
    });
    parents.collect()
}

fn parent_of_column(column: &ColumnDef) -> Option<&TableName> {
    column.references.as_ref().map(|references| &references.table)
}

/// Error 1451 as DDL reports it: it names no constraint.
fn is_referenced() -> SqlError {
    let text = SqlError::new(&ER_ROW_IS_REFERENCED, &[]);
    SqlError::with_message(&ER_ROW_IS_REFERENCED_2, text.message())
}

/// Renames the generated constraint names of a renamed table, and its references to itself; `from`
/// is the old name.
pub(super) fn follow_own_name(table: &mut TableInfo, from: (&str, &str)) {
    let to = (table.schema().to_owned(), table.name().to_owned());
    let generated = format!("{}_ibfk_", from.1);
    for key in &mut table.foreign_keys {
        if let Some(number) = key.name.strip_prefix(&generated) {
            key.name = format!("{}_ibfk_{number}", to.1);
        }
        follow_name(key, from, (&to.0, &to.1));
    }
    table.foreign_keys.sort_by(|a, b| a.name.cmp(&b.name));
}

/// Replaces the parent's name in `key` if it refers to `from`.
fn follow_name(key: &mut ForeignKey, from: (&str, &str), to: (&str, &str)) {
    if key.refers_to(from.0, from.1) {
        (key.referenced_schema, key.referenced_table) = (to.0.to_owned(), to.1.to_owned());
    }
}

/// Definitions of the children of `from` after it is renamed to `to` and its columns as `columns`
/// says.
pub(super) fn follow_in_children(
    snapshot: &Snapshot,
    from: (&str, &str),
    to: (&str, &str),
    columns: &[(String, String)],
) -> Vec<Arc<TableInfo>> {
    let mut out = Vec::new();
    for child in snapshot.children(from.0, from.1) {
        if (child.schema(), child.name()) == from {
            continue;
        }
        let mut child = TableInfo::clone(child);
        for key in child.foreign_keys.iter_mut().filter(|k| k.refers_to(from.0, from.1)) {
            for name in &mut key.referenced_columns {
                if let Some((_, to)) = columns.iter().find(|(from, _)| identifier_eq(from, name)) {
                    name.clone_from(to);
                }
            }
            follow_name(key, from, to);
        }
        out.push(Arc::new(child));
    }
    out
}

impl Ddl<'_> {
    /// Locks the tables that new keys of CREATE TABLE refer to.
    pub(super) fn lock_parents_of_create(
        &self,
        create: &CreateTable,
    ) -> SqlResult<Vec<LockTicket>> {
        let (schema, _) = self.resolve(&create.name)?;
        self.lock_parents(&schema, parents_of_create(create))
    }

    /// Locks the tables that new keys of ALTER TABLE refer to.
    pub(super) fn lock_parents_of_alter(&self, alter: &AlterTable) -> SqlResult<Vec<LockTicket>> {
        let (schema, _) = self.resolve(&alter.table)?;
        self.lock_parents(&schema, parents_of_alter(alter))
    }

    /// Locks `parents` against changes of rows and definitions, in the order of their names; the
    /// account must be allowed to refer to them. A statement that changed a parent meanwhile would
    /// not know of the new key.
    fn lock_parents(&self, schema: &str, parents: Vec<&TableName>) -> SqlResult<Vec<LockTicket>> {
        let name = |parent: &TableName| {
            let schema = parent.schema.as_ref().map_or(schema, |s| &*s.value);
            (schema.to_owned(), parent.name.value.to_string())
        };
        let mut names: Vec<(String, String)> = parents.into_iter().map(name).collect();
        names.sort();
        names.dedup();
        let mut tickets = Vec::with_capacity(names.len());
        for (schema, table) in &names {
            self.check_referred(schema, table)?;
            tickets.push(self.lock_as(schema, table, LockMode::Upgradable)?);
        }
        Ok(tickets)
    }

    /// Compat: an account that may read or change a whole table may refer to it.
    fn check_referred(&self, schema: &str, table: &str) -> SqlResult<()> {
        let any = Privileges::COLUMN | Privileges::DELETE;
        let permissions: &dyn selkie_plan::Permissions = &*self.session;
        match permissions.granted(None, schema, table).has_any(any) {
            true => Ok(()),
            false => self.check(Privilege::References, schema, table),
        }
    }

    /// Locks the children of a table, because they follow its new name or column names.
    pub(super) fn lock_children(&self, schema: &str, table: &str) -> SqlResult<Vec<LockTicket>> {
        let snapshot = self.instance.catalog.snapshot();
        let others = |t: &&Arc<TableInfo>| (t.schema(), t.name()) != (schema, table);
        let children = snapshot.children(schema, table).filter(others);
        children.map(|child| self.lock(child.schema(), child.name())).collect()
    }

    /// Adds the warning that follows an error about a foreign key of `table`.
    pub(super) fn explain_foreign<T>(&self, table: &str, result: SqlResult<T>) -> SqlResult<T> {
        if let Err(error) = &result
            && error.code() == ER_CANT_CREATE_TABLE.code
        {
            let duplicate = error.message().contains("(errno: 121 ");
            let def = if duplicate { &ER_DUP_KEY } else { &ER_CANNOT_ADD_FOREIGN };
            self.session.diagnostics.after_error(Condition::warning(def, &[&table]));
        }
        result
    }

    /// Fails with 1451 if another table refers to this one; those of `going` do not count.
    pub(super) fn check_unreferenced(
        &self,
        (schema, table): (&str, &str),
        going: &[Arc<TableInfo>],
    ) -> SqlResult<()> {
        if !self.session.frame.settings.planning.foreign_key_checks {
            return Ok(());
        }
        let snapshot = self.instance.catalog.snapshot();
        let mut children = snapshot.children(schema, table);
        let stays = |child: &Arc<TableInfo>| {
            (child.schema(), child.name()) != (schema, table)
                && !going.iter().any(|gone| gone.def.id == child.def.id)
        };
        if children.any(stays) { Err(is_referenced()) } else { Ok(()) }
    }

    /// Fails with 1701 if another table refers to this one.
    pub(super) fn check_truncate(&self, table: &TableInfo) -> SqlResult<()> {
        let me = (table.schema(), table.name());
        if !self.session.frame.settings.planning.foreign_key_checks
            || super::change::is_temporary(table)
        {
            return Ok(());
        }
        let snapshot = self.instance.catalog.snapshot();
        for child in snapshot.children(me.0, me.1).filter(|c| (c.schema(), c.name()) != me) {
            if let Some(key) = child.foreign_keys.iter().find(|k| k.refers_to(me.0, me.1)) {
                let text = key.in_truncate_error(child);
                return Err(SqlError::new(&ER_TRUNCATE_ILLEGAL_FK, &[&text]));
            }
        }
        Ok(())
    }

    /// Stores and returns the children with the new names of a table and its columns, as part of
    /// `change`.
    pub(super) fn put_children(
        &self,
        change: &Change<'_>,
        from: (&str, &str),
        to: (&str, &str),
        columns: &[(String, String)],
    ) -> SqlResult<Vec<Arc<TableInfo>>> {
        if from == to && columns.is_empty() {
            return Ok(Vec::new());
        }
        let snapshot = self.instance.catalog.snapshot();
        let children = follow_in_children(&snapshot, from, to, columns);
        children.iter().try_for_each(|child| change.put_table(child))?;
        Ok(children)
    }

    /// Checks the rows of `stored`, read with the columns of the plan's table, against the keys
    /// that ALTER TABLE adds. Returns the number of rows, or `None` if none was checked.
    pub(super) fn check_added_keys(
        &self,
        stored: &TableInfo,
        plan: &AlterPlan,
    ) -> SqlResult<Option<u64>> {
        if plan.added_foreign_keys.is_empty()
            || !self.session.frame.settings.planning.foreign_key_checks
        {
            return Ok(None);
        }
        let added = |key: &&ForeignKey| plan.added_foreign_keys.contains(&key.name);
        let mut rows = 0;
        for key in plan.table.foreign_keys.iter().filter(added) {
            rows = self.check_rows(stored, &plan.table, key)?;
        }
        Ok(Some(rows))
    }

    /// Whether a new self-referencing key must look rows up in an index that is new too.
    pub(super) fn refers_to_new_index(&self, old: &TableInfo, plan: &AlterPlan) -> bool {
        let table = &plan.table;
        let is_new = |key: &ForeignKey| {
            let referenced = table.column_positions(&key.referenced_columns);
            let index = referenced.and_then(|columns| table.index_over(&columns));
            index.is_some_and(|at| old.def.index_position(table.def.indexes[at].id).is_none())
        };
        let own = |key: &&ForeignKey| {
            plan.added_foreign_keys.contains(&key.name)
                && key.refers_to(table.schema(), table.name())
        };
        self.session.frame.settings.planning.foreign_key_checks
            && table.foreign_keys.iter().filter(own).any(is_new)
    }

    /// Checks all rows against one key and returns their number. `stored` is the table in the
    /// engine; `table` gives the columns and their names.
    fn check_rows(
        &self,
        stored: &TableInfo,
        table: &TableInfo,
        key: &ForeignKey,
    ) -> SqlResult<u64> {
        let snapshot = self.instance.catalog.snapshot();
        let own = key.refers_to(table.schema(), table.name());
        let parent = match snapshot.table(&key.referenced_schema, &key.referenced_table) {
            _ if own => stored,
            Some(parent) => parent,
            None => return Ok(0),
        };
        let named = if own { table } else { parent };
        let missing = || SqlError::internal("a foreign key over a column that is not there");
        let columns = table.column_positions(&key.columns).ok_or_else(missing)?;
        let referenced = named.column_positions(&key.referenced_columns).ok_or_else(missing)?;
        let index = named.index_over(&referenced);
        let index = index.and_then(|at| parent.def.index_position(named.def.indexes[at].id));
        let Some(index) = index else { return Ok(0) };
        let (rows_of, parents) = (self.rows_as(stored, table)?, self.instance.open_table(parent)?);
        let (_engine, trx) = begin_in(self.instance, stored)?;
        let error = |e| from_engine(e, &stored.def);
        let mut cursor = rows_of.scan(&*trx, self.control, &Scan::default()).map_err(error)?;
        let (mut set, mut found, mut rows) = (RowSet::default(), RowSet::default(), 0);
        // Rows of history are neither children nor parents.
        let covering = parent.system_time().is_none();
        let lookup =
            Scan { index: Some(index), covering, lock: RowLock::Shared, ..Scan::default() };
        while cursor.next_batch(&mut set, BATCH_ROWS).map_err(error)? {
            self.control.check()?;
            rows += set.rows.len() as u64;
            let mut keys = ByteRows::with_capacity(set.rows.len());
            for row in set.rows.iter() {
                if !is_current(table, row)? {
                    continue;
                }
                let values = columns.iter().map(|at| table.def.layout.value(row, *at));
                let values: Vec<_> = values.collect::<Result<_, _>>().map_err(corrupt)?;
                if values.iter().any(selkie_types::Value::is_null) {
                    continue;
                }
                parents.codecs[index].key_of_values(&values, keys.buffer());
                keys.end_row();
            }
            found.clear();
            let looked = parents.table.lookup(&*trx, self.control, &lookup, &keys, &mut found);
            looked.map_err(error)?;
            let mut has_parent = vec![false; keys.len()];
            for (at, key) in found.found_by.iter().enumerate() {
                has_parent[*key as usize] |= covering || is_current(parent, found.rows.get(at))?;
            }
            if has_parent.contains(&false) {
                return Err(self.orphan_in_copy(stored, key));
            }
            set.clear();
        }
        drop(cursor);
        trx.rollback().map_err(error)?;
        Ok(rows)
    }

    /// The rows of `stored` with the columns of `table`.
    fn rows_as(&self, stored: &TableInfo, table: &TableInfo) -> SqlResult<Arc<dyn Table>> {
        let mut def = TableDef { id: stored.def.id, ..(*table.def).clone() };
        // Indexes that are not built yet have no trees.
        def.indexes.retain(|index| stored.def.index_position(index.id).is_some());
        let engine = self.instance.engine_of(stored)?;
        engine.open_table(&Arc::new(def)).map_err(|e| from_engine(e, &stored.def))
    }

    /// Error 1452. Compat: it names the temporary copy that MariaDB would fill.
    fn orphan_in_copy(&self, table: &TableInfo, key: &ForeignKey) -> SqlError {
        let copy = format!("#sql-alter-{:x}-{:x}", std::process::id(), self.session.core.id);
        let text = key.in_error(table.schema(), &copy);
        let arguments: [&dyn Display; 1] = [&text];
        SqlError::new(&ER_NO_REFERENCED_ROW_2, &arguments)
    }
}
