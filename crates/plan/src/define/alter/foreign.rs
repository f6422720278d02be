//! Foreign keys in ALTER TABLE: changes to them, and checks that keys to and from this table still
//! work. Errors name the key as InnoDB does.

use std::fmt::Display;

use selkie_catalog::{ColumnInfo, ForeignKey, ForeignKeyAction, TableInfo, TableKind};
use selkie_engine::IndexDef;
use selkie_sql::ast::{AlterAlgorithm, ForeignKeyDef, Ident};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_ALTER_OPERATION_NOT_SUPPORTED_REASON, ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_FK_CHECK,
    ER_DROP_INDEX_FK, ER_DUP_KEYNAME, ER_ERROR_ON_RENAME, ER_FK_COLUMN_CANNOT_CHANGE,
    ER_FK_COLUMN_CANNOT_CHANGE_CHILD, ER_FK_COLUMN_CANNOT_DROP, ER_FK_COLUMN_CANNOT_DROP_CHILD,
    ER_FK_COLUMN_NOT_NULL, ER_ROW_IS_REFERENCED,
};
use selkie_types::{SqlError, SqlResult, SqlType, TypeKind, filename};

pub(super) use super::super::foreign::ForeignSpec;
use super::super::foreign::{self, Defined, unchanged};
use super::super::indexes::KeySpec;
use super::{ColumnSource, Draft};

/// The table after the change, as foreign keys need it.
pub(super) struct After<'a> {
    pub(super) columns: &'a [ColumnInfo],
    pub(super) sources: &'a [ColumnSource],
    pub(super) indexes: &'a [IndexDef],
}

impl<'a> Draft<'a> {
    pub(super) fn add_foreign_key(&mut self, def: &'a ForeignKeyDef) -> SqlResult<()> {
        let spec = ForeignSpec::of(def)?;
        let exists = |name: &str| self.table.foreign_keys.iter().any(|k| k.name == name);
        if let (true, Some(name)) = (def.if_not_exists, spec.name)
            && exists(name)
        {
            self.context.eval.note(&ER_DUP_KEYNAME, &[&name]);
            return Ok(());
        }
        self.added.push(KeySpec::of_foreign(&spec));
        self.added_foreign.push(spec);
        Ok(())
    }

    fn find_foreign_key(&self, name: &str) -> Option<usize> {
        self.table.foreign_keys.iter().position(|key| identifier_eq(&key.name, name))
    }

    pub(super) fn drop_foreign_key(&mut self, name: &Ident, if_exists: bool) -> SqlResult<()> {
        match self.find_foreign_key(&name.value) {
            Some(at) => {
                self.table.foreign_keys.remove(at);
                Ok(())
            }
            None => self.cannot_drop("FOREIGN KEY", &name.value, if_exists),
        }
    }

    /// `DROP CONSTRAINT`: drops a CHECK, a foreign key or a key.
    pub(super) fn drop_constraint(&mut self, name: &Ident, if_exists: bool) -> SqlResult<()> {
        if let Some(at) = self.table.checks.iter().position(|c| identifier_eq(&c.name, &name.value))
        {
            self.table.checks.remove(at);
            return Ok(());
        }
        if let Some(at) = self.find_foreign_key(&name.value) {
            self.table.foreign_keys.remove(at);
            return Ok(());
        }
        match self.find_key(&name.value).filter(|at| self.keys[*at].def.is_unique()) {
            Some(at) => {
                self.keys.remove(at);
                Ok(())
            }
            None if let Err(error) = self.period.refuse_constraint(&name.value) => Err(error),
            None => self.cannot_drop("CONSTRAINT", &name.value, if_exists),
        }
    }

    /// Applies new column names to this table's keys and to its references to itself.
    pub(super) fn rename_in_foreign_keys(&mut self) {
        let (schema, name) = (self.old.schema(), self.old.name());
        let renamed = &self.renamed_columns;
        let follow = |list: &mut Vec<String>| {
            for column in list {
                let new = renamed.iter().find(|(from, _)| identifier_eq(from, column));
                *column = new.map_or_else(|| column.clone(), |(_, to)| to.clone());
            }
        };
        for key in &mut self.table.foreign_keys {
            follow(&mut key.columns);
            if key.refers_to(schema, name) {
                follow(&mut key.referenced_columns);
            }
        }
    }

    /// Checks that the remaining keys to and from this table are still valid.
    pub(super) fn check_foreign_keys(&self, after: &After<'_>) -> SqlResult<()> {
        self.check_engine()?;
        for key in &self.table.foreign_keys {
            self.check_own(key, after)?;
        }
        if self.old.kind == TableKind::Temporary {
            // Keys refer to the table of this name that it hides.
            return Ok(());
        }
        let snapshot = self.context.names.snapshot;
        for child in snapshot.children(self.old.schema(), self.old.name()) {
            let refers = |k: &&ForeignKey| k.refers_to(self.old.schema(), self.old.name());
            if child.def.id == self.old.def.id {
                continue;
            }
            for key in child.foreign_keys.iter().filter(refers) {
                self.check_child(child, key, after)?;
            }
        }
        Ok(())
    }

    /// Adds the new keys to the otherwise complete table; returns their names.
    pub(super) fn add_foreign_keys(&mut self) -> SqlResult<Vec<String>> {
        let specs = std::mem::take(&mut self.added_foreign);
        let in_place = !matches!(self.algorithm, AlterAlgorithm::Default | AlterAlgorithm::Copy);
        if !specs.is_empty() && in_place && self.context.foreign_key_checks {
            return Err(self.needs_copy());
        }
        let mut keys = std::mem::take(&mut self.table.foreign_keys);
        let before: Vec<String> = keys.iter().map(|k| k.name.clone()).collect();
        let defined = Defined {
            schema: self.old.schema(),
            table: &self.table,
            itself: self.old,
            verb: "Alter ",
            copied: self.algorithm == AlterAlgorithm::Copy,
            highest: foreign::highest_number(self.old.name(), &self.old.foreign_keys),
        };
        foreign::add(self.context, &defined, &mut keys, &specs)?;
        let added = keys.iter().map(|k| k.name.clone()).filter(|n| !before.contains(n)).collect();
        self.table.foreign_keys = keys;
        Ok(added)
    }

    fn needs_copy(&self) -> SqlError {
        let asked = match self.algorithm {
            AlterAlgorithm::Instant => "ALGORITHM=INSTANT",
            AlterAlgorithm::Nocopy => "ALGORITHM=NOCOPY",
            _ => "ALGORITHM=INPLACE",
        };
        let why = SqlError::new(&ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_FK_CHECK, &[]);
        let arguments: [&dyn Display; 3] = [&asked, &why.message(), &"ALGORITHM=COPY"];
        SqlError::new(&ER_ALTER_OPERATION_NOT_SUPPORTED_REASON, &arguments)
    }

    /// An error if an engine without foreign keys, or a partitioned table, would be at either end
    /// of one.
    fn check_engine(&self) -> SqlResult<()> {
        if self.old.kind == TableKind::Temporary {
            return Ok(());
        }
        let able = self.table.engine.statements.foreign_keys && self.partitions.is_none();
        let (schema, name) = (self.old.schema(), self.old.name());
        let mut children = self.context.names.snapshot.children(schema, name);
        if !able && (!self.table.foreign_keys.is_empty() || children.next().is_some()) {
            return Err(SqlError::new(&ER_ROW_IS_REFERENCED, &[]));
        }
        Ok(())
    }

    fn check_own(&self, key: &ForeignKey, after: &After<'_>) -> SqlResult<()> {
        let was = self.old.foreign_keys.iter().find(|k| k.name == key.name);
        let before = was.and_then(|k| self.old.column_positions(&k.columns)).unwrap_or_default();
        let now = after.positions(&key.columns);
        let is_new = |at: &usize| after.sources[*at] == ColumnSource::Default;
        if let Some(again) = now.iter().flatten().find(|at| is_new(at)) {
            let constraint = format!("{}/{}", self.old.schema(), key.name);
            let name = &after.columns[*again].name;
            return Err(SqlError::new(&ER_FK_COLUMN_CANNOT_DROP, &[name, &constraint]));
        }
        if self.context.foreign_key_checks
            && let Some(index) = self.lost_index(&before, now.as_deref(), after)
        {
            return Err(SqlError::new(&ER_DROP_INDEX_FK, &[&index.name]));
        }
        let Some(now) = now else {
            let missing = key.columns.iter().find(|c| after.position(c).is_none());
            let missing = missing.map_or("", String::as_str);
            let constraint = format!("{}/{}", self.old.schema(), key.name);
            return Err(SqlError::new(&ER_FK_COLUMN_CANNOT_DROP, &[&missing, &constraint]));
        };
        let itself = key.refers_to(self.old.schema(), self.old.name());
        let parent = snapshot_table(self, key).filter(|_| !itself);
        if parent.is_some_and(|parent| !is_served(parent, &key.referenced_columns)) {
            self.check_renamed()?;
        }
        let nulls = [key.on_delete, key.on_update].contains(&ForeignKeyAction::SetNull);
        for (from, to) in before.iter().zip(now) {
            let (from, to) = (&self.old.columns[*from], &after.columns[to]);
            if !unchanged(&from.ty, &to.ty) {
                let name = self.changed_key(key, (&from.ty, &to.ty), self.old.schema());
                let arguments: [&dyn Display; 2] = [&from.name, &name];
                return Err(SqlError::new(&ER_FK_COLUMN_CANNOT_CHANGE, &arguments));
            }
            if nulls && !to.nullable {
                return Err(not_null(key, to));
            }
        }
        if foreign::refuses_nulls(self.context, key) {
            self.check_cascaded_null(key, after)?;
        }
        Ok(())
    }

    /// ON UPDATE CASCADE can bring NULLs of the parent.
    fn check_cascaded_null(&self, key: &ForeignKey, after: &After<'_>) -> SqlResult<()> {
        let itself = key.refers_to(self.old.schema(), self.old.name());
        let parent = snapshot_table(self, key);
        for (own, other) in key.columns.iter().zip(&key.referenced_columns) {
            let parent_column = match (itself, parent) {
                (true, _) => after.position(other).map(|at| &after.columns[at]),
                (false, Some(parent)) => indexed_column(parent, &key.referenced_columns, other),
                (false, None) => None,
            };
            let nulls = parent_column.is_some_and(|c| c.nullable);
            let Some(now) = after.position(own).map(|at| &after.columns[at]) else { continue };
            if !nulls || now.nullable {
                continue;
            }
            let before = self.old.column_position(own).map(|at| &self.old.columns[at]);
            if before.is_some_and(|c| c.nullable) {
                return Err(not_null(key, now));
            }
            if itself {
                return Err(cannot_change(key, other, self.old));
            }
        }
        Ok(())
    }

    /// The index that served `before`, if no index serves `now`.
    fn lost_index(
        &self,
        before: &[usize],
        now: Option<&[usize]>,
        after: &After<'_>,
    ) -> Option<&IndexDef> {
        let old = &self.old.def.indexes[self.old.index_over(before)?];
        let served = now.is_some_and(|now| after.has_index(now));
        (!served).then_some(old)
    }

    fn check_child(&self, child: &TableInfo, key: &ForeignKey, after: &After<'_>) -> SqlResult<()> {
        let before = self.old.column_positions(&key.referenced_columns).unwrap_or_default();
        let now: Vec<Option<usize>> = before.iter().map(|at| after.new_position(*at)).collect();
        let of_child = format!("`{}`.`{}`", child.schema(), child.name());
        for (from, to) in before.iter().zip(&now) {
            let old = &self.old.columns[*from];
            let Some(to) = to else {
                let clustered = self.old.def.primary();
                let copied = clustered.is_some_and(|p| p.parts.iter().any(|p| p.column == *from));
                let constraint = match copied {
                    true => key.name.clone(),
                    false => format!("{}/{}", child.schema(), key.name),
                };
                let arguments: [&dyn Display; 3] = [&old.name, &constraint, &of_child];
                return Err(SqlError::new(&ER_FK_COLUMN_CANNOT_DROP_CHILD, &arguments));
            };
            let new = &after.columns[*to].ty;
            // Without an index the key finds nothing, so the type does not matter.
            if !unchanged(&old.ty, new) && self.old.index_over(&before).is_some() {
                let name = self.changed_key(key, (&old.ty, new), child.schema());
                let dot = if name == key.name { '.' } else { '/' };
                let of_child = format!("{}{dot}{}", child.schema(), child.name());
                let arguments: [&dyn Display; 3] = [&old.name, &name, &of_child];
                return Err(SqlError::new(&ER_FK_COLUMN_CANNOT_CHANGE_CHILD, &arguments));
            }
        }
        if !is_served(child, &key.columns) {
            self.check_renamed()?;
        }
        let now: Option<Vec<usize>> = now.into_iter().collect();
        let pairs = before.iter().zip(now.iter().flatten()).zip(&key.columns);
        for ((from, to), own) in pairs.filter(|_| foreign::refuses_nulls(self.context, key)) {
            let (old, new) = (&self.old.columns[*from], &after.columns[*to]);
            let refuses = indexed_column(child, &key.columns, own).is_some_and(|c| !c.nullable);
            if !old.nullable && new.nullable && refuses {
                return Err(cannot_change(key, &old.name, child));
            }
        }
        match self.lost_index(&before, now.as_deref(), after) {
            Some(index) if self.context.foreign_key_checks => Err(self.index_needed(index)),
            _ => Ok(()),
        }
    }

    /// Compat: the key is shown with its schema where InnoDB would change the column in place,
    /// which it could do if the column only became longer.
    fn changed_key(
        &self,
        key: &ForeignKey,
        (old, new): (&SqlType, &SqlType),
        schema: &str,
    ) -> String {
        let longer = old.kind == TypeKind::VarChar
            && new.kind == TypeKind::VarChar
            && old.collation == new.collation
            && new.length > old.length;
        let in_place = match self.algorithm {
            AlterAlgorithm::Default => longer && !self.force && !self.needs_copy,
            AlterAlgorithm::Copy => false,
            _ => true,
        };
        if in_place { format!("{schema}/{}", key.name) } else { key.name.clone() }
    }

    /// Compat: a missing clustered key that children need is only detected when the copied table
    /// takes the old name.
    fn index_needed(&self, index: &IndexDef) -> SqlError {
        if !index.kind.is_primary() {
            return SqlError::new(&ER_DROP_INDEX_FK, &[&index.name]);
        }
        self.rename_error()
    }

    /// An error if keys are checked and the table is copied. Compat: a key without an index is only
    /// detected then.
    fn check_renamed(&self) -> SqlResult<()> {
        match self.context.foreign_key_checks && self.algorithm == AlterAlgorithm::Copy {
            true => Err(self.rename_error()),
            false => Ok(()),
        }
    }

    fn rename_error(&self) -> SqlError {
        let schema = filename(self.old.schema());
        let from =
            format!("./{schema}/#sql-alter-{:x}-{:x}", std::process::id(), self.old.def.id.0);
        let to = format!("./{schema}/{}", filename(self.old.name()));
        SqlError::new(&ER_ERROR_ON_RENAME, &[&from, &to, &150])
    }
}

fn cannot_change(key: &ForeignKey, column: &str, child: &TableInfo) -> SqlError {
    let of = format!("{}.{}", child.schema(), child.name());
    SqlError::new(&ER_FK_COLUMN_CANNOT_CHANGE_CHILD, &[&column, &key.name, &of])
}

fn not_null(key: &ForeignKey, column: &ColumnInfo) -> SqlError {
    SqlError::new(&ER_FK_COLUMN_NOT_NULL, &[&column.name, &key.name])
}

fn snapshot_table<'s>(draft: &Draft<'s>, key: &ForeignKey) -> Option<&'s TableInfo> {
    let snapshot = draft.context.names.snapshot;
    snapshot.table(&key.referenced_schema, &key.referenced_table).map(|table| &**table)
}

/// Whether an index serves a key over `columns` of a table.
fn is_served(table: &TableInfo, columns: &[String]) -> bool {
    table.column_positions(columns).is_some_and(|at| table.index_over(&at).is_some())
}

/// The column `name` of a table, if an index over `columns` serves the key.
fn indexed_column<'t>(
    table: &'t TableInfo,
    columns: &[String],
    name: &str,
) -> Option<&'t ColumnInfo> {
    let at = table.column_position(name).filter(|_| is_served(table, columns))?;
    table.columns.get(at)
}

impl After<'_> {
    fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| identifier_eq(&c.name, name))
    }

    fn positions(&self, names: &[String]) -> Option<Vec<usize>> {
        names.iter().map(|name| self.position(name)).collect()
    }

    /// New position of a column of the old table.
    fn new_position(&self, at: usize) -> Option<usize> {
        self.sources.iter().position(|source| *source == ColumnSource::Old(at))
    }

    fn has_index(&self, columns: &[usize]) -> bool {
        self.indexes.iter().any(|index| {
            let parts = || index.parts.iter().zip(columns);
            !index.hashed
                && index.parts.len() >= columns.len()
                && parts().all(|(part, column)| part.column == *column && part.prefix.is_none())
        })
    }
}
