//! Changes of rows that come in their stored form, those of rows events: indexes, foreign keys and
//! generated columns follow as in DML.
//!
//! Must not find rows: callers know the keys of those that change.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_engine::EngineError;
use selkie_plan::physical::RowRules;
use selkie_types::{ByteRows, Column, SqlError, SqlResult, SqlType};

use super::duplicate_error;
use super::foreign::{ForeignKeys, Rows};
use super::row::{RowMaker, Strictness};
use crate::run::{Env, OpenTable};
use crate::state::error::{corrupt, from_engine};
use crate::state::session::bump;

/// Changes rows of one table of the plan.
pub(crate) struct RowChanger<'r> {
    env: Env<'r>,
    table: &'r Arc<TableInfo>,
    pub(crate) open: &'r OpenTable<'r>,
    maker: RowMaker<'r>,
    foreign: Option<ForeignKeys<'r>>,
}

/// Columns of a batch of rows.
type Columns = Vec<Arc<Column>>;

impl<'r> RowChanger<'r> {
    /// For a table of the running plan.
    pub(crate) fn new(env: Env<'r>, table: &'r Arc<TableInfo>) -> SqlResult<Self> {
        let maker = RowMaker {
            env,
            table,
            // Values that do not fit become the nearest ones: that they may be lost was allowed.
            strictness: Strictness::of(env, true, false),
            pardons: false,
            view: None,
            told: Default::default(),
            file_columns: None,
            without_field: Default::default(),
        };
        let (open, foreign) = (env.rt.table(table)?, ForeignKeys::of(env, table.def.id)?);
        Ok(Self { env, table, open, maker, foreign })
    }

    /// `values` of type `from` as column `at` keeps them. NULLs stay.
    pub(crate) fn convert(
        &self,
        at: usize,
        values: &Arc<Column>,
        from: &SqlType,
    ) -> SqlResult<Arc<Column>> {
        self.maker.convert(at, values, from, 1)
    }

    /// The rows with the generated columns of `rules` computed anew.
    pub(crate) fn generate(&self, rules: &RowRules, rows: &ByteRows) -> SqlResult<ByteRows> {
        let mut columns = self.decode(rows)?;
        self.maker.generate(rules, &mut columns, rows.len(), 1)?;
        let mut out = ByteRows::with_capacity(rows.len());
        self.maker.encode(&columns, 0..rows.len(), &mut out);
        Ok(out)
    }

    fn decode(&self, rows: &ByteRows) -> SqlResult<Columns> {
        let layout = &self.table.def.layout;
        let decode = |at| layout.decode(rows, at).map(Arc::new).map_err(corrupt);
        (0..self.table.columns.len()).map(decode).collect()
    }

    /// Inserts rows.
    pub(crate) fn insert(&self, rows: &ByteRows) -> SqlResult<()> {
        self.check_parents(rows)?;
        match self.open.insert(self.env.rt.control, rows) {
            Ok(_) => {
                bump(&self.env.counters().handler_write, rows.len() as u64);
                Ok(())
            }
            Err(EngineError::DuplicateKey { index, row, .. }) => {
                Err(self.duplicate(index, rows, row))
            }
            Err(error) => Err(from_engine(error, &self.table.def)),
        }
    }

    /// Inserts rows one after the other; what is in the way of one is deleted, or becomes the row
    /// if no other one can be in its way.
    pub(crate) fn put(&self, rows: &ByteRows) -> SqlResult<()> {
        for row in rows.iter() {
            let row = one(row);
            self.check_parents(&row)?;
            while !self.put_one(&row)? {
                self.env.check()?;
            }
        }
        Ok(())
    }

    /// Stores a row; false if another one was in its way and has gone.
    fn put_one(&self, row: &ByteRows) -> SqlResult<bool> {
        match self.open.insert(self.env.rt.control, row) {
            Ok(_) => {
                bump(&self.env.counters().handler_write, 1);
                Ok(true)
            }
            Err(EngineError::DuplicateKey { index, existing, .. }) => {
                let keys = one(&existing);
                let Some(old) = self.fetch(&keys)? else { return Ok(false) };
                let mut indexes = self.table.def.indexes.iter().skip(index);
                // Several rows may overlap the new one.
                let is_only = indexes.next().is_some_and(|index| !index.without_overlaps);
                let is_last = is_only && indexes.all(|index| !index.is_unique());
                let is_parent = self.foreign.as_ref().is_some_and(ForeignKeys::has_children);
                if is_last && !is_parent {
                    return self.update(&keys, &old, row).map(|()| true);
                }
                self.delete(&keys, &old).map(|()| false)
            }
            Err(error) => Err(from_engine(error, &self.table.def)),
        }
    }

    /// The row with a clustered key, locked to be changed.
    fn fetch(&self, keys: &ByteRows) -> SqlResult<Option<ByteRows>> {
        let scan = selkie_engine::Scan { lock: super::CHANGE, ..Default::default() };
        let mut set = selkie_engine::RowSet::default();
        let table = &self.open.handle.table;
        let found = table.lookup(self.open.trx, self.env.rt.control, &scan, keys, &mut set);
        found.map_err(|error| from_engine(error, table.def()))?;
        Ok(Some(set.rows).filter(|rows| !rows.is_empty()))
    }

    /// Replaces the rows with these clustered keys, which are `old`, by `new`.
    pub(crate) fn update(&self, keys: &ByteRows, old: &ByteRows, new: &ByteRows) -> SqlResult<()> {
        let changed = match &self.foreign {
            Some(foreign) => {
                let (before, after) = (self.decode(old)?, self.decode(new)?);
                let rows = Rows { keys, columns: &before };
                foreign.update(&rows, &after, new.clone())?
            }
            None => match self.open.update(self.env.rt.control, keys, new) {
                Ok(changed) => changed,
                Err(EngineError::DuplicateKey { index, row, .. }) => {
                    return Err(self.duplicate(index, new, row));
                }
                Err(error) => return Err(from_engine(error, &self.table.def)),
            },
        };
        bump(&self.env.counters().handler_update, changed);
        Ok(())
    }

    /// Deletes the rows with these clustered keys, which are `old`.
    pub(crate) fn delete(&self, keys: &ByteRows, old: &ByteRows) -> SqlResult<()> {
        let deleted = match &self.foreign {
            Some(foreign) => foreign.delete(&Rows { keys, columns: &self.decode(old)? })?,
            None => {
                let deleted = self.open.delete(self.env.rt.control, keys);
                deleted.map_err(|error| from_engine(error, &self.table.def))?
            }
        };
        bump(&self.env.counters().handler_delete, deleted);
        Ok(())
    }

    fn duplicate(&self, index: usize, rows: &ByteRows, row: usize) -> SqlError {
        duplicate_error(self.table, index, rows, row, &self.env.eval.types.time_zone)
    }

    /// Fails with 1452 if a row has no parent among those that are there or come before it.
    fn check_parents(&self, rows: &ByteRows) -> SqlResult<()> {
        let Some(foreign) = &self.foreign else { return Ok(()) };
        match foreign.orphans(&self.decode(rows)?, 0..rows.len())?.first() {
            Some((_, link)) => Err(ForeignKeys::orphan_error(link)),
            None => Ok(()),
        }
    }
}

fn one(row: &[u8]) -> ByteRows {
    let mut out = ByteRows::with_capacity(1);
    out.push(row);
    out
}
