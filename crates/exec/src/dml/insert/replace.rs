//! REPLACE: a row in the way of a new one is deleted or overwritten.
//!
//! Compat: the row is deleted and the new one tried again, unless nothing but the new row can tell
//! the difference: then it becomes the new one in place, and if it is the new one already, some
//! engines do not touch it and nobody counts it.

use std::sync::Arc;

use selkie_engine::{EngineError, RowSet, Scan};
use selkie_plan::physical::InsertMode;
use selkie_types::{ByteRows, Column, SqlResult};

use super::{Inserter, NewRows};
use crate::dml::CHANGE;
use crate::dml::foreign::{ForeignKeys, Rows};
use crate::dml::on_duplicate::fetch;
use crate::state::error::from_engine;
use crate::state::session::bump;

/// Fate of a row that had another one in its way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The way is free now.
    Again,
    /// It took the place of the other one.
    Stored,
    /// It is not stored.
    LeftOut,
}

impl Inserter<'_> {
    /// Whether the row with the clustered key `existing` still has the key of `row` in index
    /// `index`. It is locked then, so that this stays so: another session may have given it a new
    /// key since it was found.
    pub(super) fn is_in_the_way(
        &self,
        row: &[u8],
        index: usize,
        existing: &[u8],
    ) -> SqlResult<bool> {
        let (table, control) = (&self.open.handle.table, self.env.rt.control);
        let def = table.def();
        let is_clustered = index == 0 && def.primary().is_some();
        // A row that overlaps another one need not have the same key. No row changes its clustered
        // key: it would be another one.
        if is_clustered || def.indexes.get(index).is_none_or(|index| index.without_overlaps) {
            return Ok(true);
        }
        let scan = Scan { lock: CHANGE, ..Scan::default() };
        let (mut set, failed) = (RowSet::default(), |e| from_engine(e, def));
        table.lookup(self.open.trx, control, &scan, &one(existing), &mut set).map_err(failed)?;
        if set.rows.is_empty() {
            return Ok(false);
        }
        let (codec, mut keys) = (&self.open.handle.codecs[index], ByteRows::with_capacity(2));
        for row in [row, set.rows.get(0)] {
            codec.key_of_row(&def.layout, row, keys.buffer()).map_err(failed)?;
            keys.end_row();
        }
        Ok(keys.get(0) == keys.get(1))
    }

    /// Makes way for row `row` of `new`, whose key in index `index` the row `existing` has.
    pub(super) fn replace(
        &mut self,
        new: &NewRows<'_>,
        row: usize,
        index: usize,
        existing: &[u8],
    ) -> SqlResult<Fate> {
        if !self.in_place || !self.is_last_key(index) {
            self.delete_existing(existing)?;
            return Ok(Fate::Again);
        }
        let Some(old) = fetch(self.env, self.open, existing)? else { return Ok(Fate::Again) };
        let (mut before, mut after) = (ByteRows::with_capacity(1), ByteRows::with_capacity(1));
        self.maker.encode(&old, 0..1, &mut before);
        after.push(new.rows.get(row));
        let same = before.get(0) == after.get(0) && self.plan.table.engine.rows.spares_equal;
        if !same {
            let old = Rows { keys: &one(existing), columns: &old };
            if !self.put_over(&old, new, row, after)? {
                return Ok(Fate::Again);
            }
            self.duplicates += 1;
            self.deleted += 1;
            self.affected += 1;
        }
        bump(&self.env.counters().handler_update, 1);
        self.count_stored(new, row..row + 1);
        Ok(Fate::Stored)
    }

    /// Whether a row in the way may become the new one: it is not referred to, whether or not
    /// foreign keys are checked, no trigger is to see it go, and it leaves no history.
    pub(super) fn replaces_in_place(&self) -> bool {
        if self.plan.mode != InsertMode::Replace || self.delete_triggers.is_some() {
            return false;
        }
        let (table, snapshot) = (&self.plan.table, self.env.rt.instance.catalog.snapshot());
        table.system_time().is_none()
            && snapshot.children(table.schema(), table.name()).next().is_none()
    }

    /// Whether no unique key is tried after index `at`.
    fn is_last_key(&self, at: usize) -> bool {
        self.plan.table.def.indexes.iter().skip(at + 1).all(|index| !index.is_unique())
    }

    /// False if another row is in the way of the new one by now.
    fn put_over(
        &self,
        old: &Rows<'_>,
        new: &NewRows<'_>,
        row: usize,
        bytes: ByteRows,
    ) -> SqlResult<bool> {
        if let Some(foreign) = &self.foreign {
            let columns: Vec<_> =
                new.columns.iter().map(|c| Arc::new(c.gather(&[row as u32]))).collect();
            return foreign.update(old, &columns, bytes).map(|_| true);
        }
        match self.open.update(self.env.rt.control, old.keys, &bytes) {
            Err(EngineError::DuplicateKey { .. }) => Ok(false),
            updated => updated.map(|_| true).map_err(|e| from_engine(e, &self.plan.table.def)),
        }
    }

    fn delete_existing(&mut self, existing: &[u8]) -> SqlResult<()> {
        let at = one(existing);
        let old = match &self.delete_triggers {
            Some(_) => self.fetch_computed(existing)?,
            None => None,
        };
        if let (Some(triggers), Some(old)) = (&self.delete_triggers, &old) {
            triggers.before(old, &mut [], 1)?;
        }
        let deleted = match self.foreign.filter(ForeignKeys::has_children) {
            Some(foreign) => match fetch(self.env, self.open, existing)? {
                Some(columns) => foreign.delete(&Rows { keys: &at, columns: &columns })?,
                None => 0,
            },
            None => self
                .open
                .delete(self.env.rt.control, &at)
                .map_err(|e| from_engine(e, &self.plan.table.def))?,
        };
        bump(&self.env.counters().handler_delete, deleted);
        self.duplicates += 1;
        self.affected += deleted;
        self.deleted += deleted;
        if let (Some(triggers), Some(old)) = (&self.delete_triggers, &old) {
            triggers.after_one(old, &[])?;
        }
        Ok(())
    }

    /// A stored row with all its columns.
    fn fetch_computed(&self, key: &[u8]) -> SqlResult<Option<Vec<Arc<Column>>>> {
        let Some(mut row) = fetch(self.env, self.open, key)? else { return Ok(None) };
        self.maker.compute(&self.plan.rules, &mut row, 1)?;
        Ok(Some(row))
    }
}

fn one(key: &[u8]) -> ByteRows {
    let mut keys = ByteRows::with_capacity(1);
    keys.push(key);
    keys
}
