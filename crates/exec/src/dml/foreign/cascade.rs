//! Changes of a parent carried to its children: CASCADE, SET NULL, or an error.
//!
//! Must not run triggers: MariaDB's cascades run none.

use std::sync::Arc;

use selkie_catalog::{ForeignKeyAction, TableInfo};
use selkie_engine::{LockMode, RowSet};
use selkie_plan::physical::{ForeignLink, RowRules};
use selkie_types::error::catalogue::{ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO, ER_GET_ERRMSG};
use selkie_types::{ByteRows, Column, Condition, Level, SqlError, SqlResult, TypeKind, Value};

use super::change::{NewRows, Rows, referenced_error};
use super::{Chain, ForeignKeys, MOST_LEVELS};
use crate::dml::row::{RowMaker, Strictness};
use crate::run::history::is_current;
use crate::state::columns::column_of;
use crate::state::error::{corrupt, from_engine};

/// Children changed at a time.
const BATCH: usize = 1024;

impl ForeignKeys<'_> {
    /// Deletes the children of `row`, or sets their columns NULL.
    pub(super) fn cascade_delete(
        &self,
        link: &ForeignLink,
        columns: &[Arc<Column>],
        row: usize,
        chain: &Chain,
    ) -> SqlResult<()> {
        if link.key().on_delete == ForeignKeyAction::Cascade {
            return self.for_children(link, columns, row, |child, rows| {
                let chain = deeper(self, link, chain, false)?;
                child.delete_rows(rows, &chain).map(drop)
            });
        }
        let nulls: Vec<Value> = vec![Value::Null; link.child_columns.len()];
        self.assign_children(link, columns, row, &nulls, chain)
    }

    /// Gives the children of `row` its new values, or NULLs.
    pub(super) fn cascade_update(
        &self,
        link: &ForeignLink,
        (old, new): (&[Arc<Column>], &[Arc<Column>]),
        row: usize,
        chain: &Chain,
    ) -> SqlResult<()> {
        let values: Vec<Value> = match link.key().on_update {
            ForeignKeyAction::Cascade => {
                let parent = link.parent.iter().flat_map(|p| &p.columns);
                parent.map(|at| new[*at].value(row)).collect()
            }
            _ => vec![Value::Null; link.child_columns.len()],
        };
        self.assign_children(link, old, row, &values, chain)
    }

    fn assign_children(
        &self,
        link: &ForeignLink,
        columns: &[Arc<Column>],
        row: usize,
        values: &[Value],
        chain: &Chain,
    ) -> SqlResult<()> {
        self.for_children(link, columns, row, |child, rows| {
            // Compat: a cascade that would update a table a second time is refused.
            let again = chain.updated.contains(&link.child.def.id);
            if again || !fit(link, values) {
                return Err(referenced_error(link));
            }
            let chain = deeper(self, link, chain, true)?;
            child.assign(rows, link, values, &chain)
        })
    }

    /// Calls `change` with the children of `row`, batch by batch.
    fn for_children(
        &self,
        link: &ForeignLink,
        columns: &[Arc<Column>],
        row: usize,
        mut change: impl FnMut(&ForeignKeys<'_>, &Rows<'_>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let Some(scan) = self.children_scan(link, columns, row, LockMode::Exclusive)? else {
            return Ok(());
        };
        let scan = selkie_engine::Scan { want_keys: true, ..scan };
        let Some(child) = ForeignKeys::of(self.env, link.child.def.id)? else {
            return Err(SqlError::internal("a cascade reaches a table the plan does not know"));
        };
        let table = &child.open.handle.table;
        let error = |e| from_engine(e, table.def());
        let mut cursor = table.scan(child.open.trx, self.env.rt.control, &scan).map_err(error)?;
        let mut set = RowSet::default();
        while cursor.next_batch(&mut set, BATCH).map_err(error)? {
            keep_current(&child.keys.table, &mut set)?;
            let columns = decode(&child, &set.rows)?;
            change(&child, &Rows { keys: &set.keys, columns: &columns })?;
            set.clear();
        }
        Ok(())
    }

    /// Sets the columns of `link` in `rows`, and what follows from them.
    fn assign(
        &self,
        rows: &Rows<'_>,
        link: &ForeignLink,
        values: &[Value],
        chain: &Chain,
    ) -> SqlResult<()> {
        let count = rows.keys.len();
        let mut columns = rows.columns.to_vec();
        for (at, value) in link.child_columns.iter().zip(values) {
            let mut column = column_of(&self.keys.table.columns[*at].ty, count);
            (0..count).for_each(|_| column.push(value));
            columns[*at] = Arc::new(column);
        }
        let strictness = Strictness::of(self.env, false, false);
        let maker = RowMaker {
            env: self.env,
            table: &self.keys.table,
            strictness,
            pardons: false,
            view: None,
            told: Default::default(),
            file_columns: None,
            without_field: Default::default(),
        };
        let unversioned = RowRules { bounds: Vec::new(), ..RowRules::clone(&self.keys.rules) };
        let is_versioned = |at: &usize| self.keys.table.columns[*at].system.is_plain();
        let rules = match link.child_columns.iter().any(is_versioned) {
            true => &self.keys.rules,
            false => &unversioned,
        };
        maker.generate(rules, &mut columns, count, 1)?;
        let mut bytes = ByteRows::with_capacity(count);
        maker.encode(&columns, 0..count, &mut bytes);
        let new = NewRows { columns: &columns, rows: bytes };
        self.update_rows(rows, new, Some(link), chain).map(drop)
    }

    /// 1761: the new values of children repeat a unique key.
    pub(super) fn duplicate_child(
        &self,
        link: &ForeignLink,
        index: usize,
        rows: &ByteRows,
        row: usize,
    ) -> SqlError {
        let child = &self.keys.table;
        let value = |at: &usize| {
            let ty = &child.columns[*at].ty;
            let value = child.def.layout.value(rows.get(row), *at).unwrap_or_default();
            let mut text = Vec::new();
            selkie_expr::text::write_value(&mut text, &value, ty);
            selkie_expr::text::for_message(&text, ty.collation)
        };
        let record = link.child_columns.iter().map(value).collect::<Vec<_>>().join("-");
        let index = child.def.indexes.get(index).map_or("", |i| &*i.name);
        let parent = &link.key().referenced_table;
        let arguments: [&dyn std::fmt::Display; 4] = [parent, &record, &child.name(), &index];
        SqlError::new(&ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO, &arguments)
    }
}

/// Leaves rows of history out.
fn keep_current(table: &TableInfo, set: &mut RowSet) -> SqlResult<()> {
    if table.system_time().is_none() {
        return Ok(());
    }
    let (mut rows, mut keys) = (ByteRows::default(), ByteRows::default());
    for (row, key) in set.rows.iter().zip(set.keys.iter()) {
        if is_current(table, row)? {
            rows.push(row);
            keys.push(key);
        }
    }
    (set.rows, set.keys) = (rows, keys);
    Ok(())
}

/// Whether the child's columns can hold the values.
fn fit(link: &ForeignLink, values: &[Value]) -> bool {
    link.child_columns.iter().zip(values).all(|(at, value)| {
        let column = &link.child.columns[*at];
        let characters = |bytes: &[u8]| column.ty.collation.charset().char_count(bytes);
        match value {
            Value::Null => column.nullable,
            Value::Bytes(bytes) if matches!(column.ty.kind, TypeKind::Char | TypeKind::VarChar) => {
                characters(bytes) <= column.ty.length as usize
            }
            _ => true,
        }
    })
}

/// The chain one cascade further, or the error that it is too long.
fn deeper(
    keys: &ForeignKeys<'_>,
    link: &ForeignLink,
    chain: &Chain,
    updates: bool,
) -> SqlResult<Chain> {
    if chain.level >= MOST_LEVELS {
        return Err(too_deep(keys, link));
    }
    let mut next = Chain { level: chain.level + 1, updated: chain.updated.clone() };
    if updates {
        next.updated.push(link.child.def.id);
    }
    Ok(next)
}

/// The error of a chain of cascades that is too long. Compat: it comes with a warning, which is the
/// error itself in a statement that warnings end.
fn too_deep(keys: &ForeignKeys<'_>, link: &ForeignLink) -> SqlError {
    let message = "InnoDB: Cannot delete/update rows with cascading foreign key constraints \
                   that exceed max depth of 15. Please drop extra constraints and try again";
    let eval = keys.env.eval;
    let refused = SqlError::new(&ER_GET_ERRMSG, &[&193, &link.text(), &link.child.engine.name]);
    if eval.is_strict_arithmetic() {
        eval.push(Condition::raw(Level::Error, 152, message.into()));
        eval.push(Condition::from_error(Level::Error, &refused));
        return SqlError::raw(152, *b"23000", message.into());
    }
    eval.push(Condition::raw(Level::Warning, 152, message.into()));
    refused
}

fn decode(child: &ForeignKeys<'_>, rows: &ByteRows) -> SqlResult<Vec<Arc<Column>>> {
    let layout = &child.keys.table.def.layout;
    let decode = |at| layout.decode(rows, at).map(Arc::new).map_err(corrupt);
    (0..child.keys.table.columns.len()).map(decode).collect()
}
