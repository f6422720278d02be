//! Deletes and updates rows of a table with foreign keys around it: children are checked or
//! changed with them.

use std::sync::Arc;

use selkie_engine::EngineError;
use selkie_plan::physical::ForeignLink;
use selkie_types::error::catalogue::ER_ROW_IS_REFERENCED_2;
use selkie_types::{ByteRows, Column, SqlError, SqlResult};

use super::{Chain, ForeignKeys};
use crate::dml::duplicate_error;
use crate::state::error::from_engine;

/// Rows of a table: their clustered keys and columns.
pub(in crate::dml) struct Rows<'a> {
    /// Clustered keys.
    pub(in crate::dml) keys: &'a ByteRows,
    /// All columns, one row per key.
    pub(in crate::dml) columns: &'a [Arc<Column>],
}

/// New versions of rows.
pub(super) struct NewRows<'a> {
    pub(super) columns: &'a [Arc<Column>],
    pub(super) rows: ByteRows,
}

pub(super) fn referenced_error(link: &ForeignLink) -> SqlError {
    SqlError::new(&ER_ROW_IS_REFERENCED_2, &[&link.text()])
}

/// Whether a value differs between versions of a row, compared byte by byte.
fn differs(old: &[Arc<Column>], new: &[Arc<Column>], at: usize, row: usize) -> bool {
    old[at].value(row) != new[at].value(row)
}

impl ForeignKeys<'_> {
    /// Deletes rows; how many there were.
    pub(in crate::dml) fn delete(&self, rows: &Rows<'_>) -> SqlResult<u64> {
        self.delete_rows(rows, &Chain::default())
    }

    /// Replaces rows by `new`; how many there were.
    pub(in crate::dml) fn update(
        &self,
        old: &Rows<'_>,
        new: &[Arc<Column>],
        bytes: ByteRows,
    ) -> SqlResult<u64> {
        let chain = Chain { level: 0, updated: vec![self.keys.table.def.id] };
        self.update_rows(old, NewRows { columns: new, rows: bytes }, None, &chain)
    }

    pub(super) fn delete_rows(&self, rows: &Rows<'_>, chain: &Chain) -> SqlResult<u64> {
        let children = &self.keys.children;
        if (0..rows.keys.len()).all(|row| self.is_history(rows.columns, row)) {
            return self.remove(rows.keys, chain);
        }
        // Without cascades rows that go cannot change what the check of another finds, unless they
        // are of one table.
        let apart = |link: &ForeignLink| link.key().on_delete.refuses() && !link.is_own();
        if children.iter().all(apart) {
            for row in (0..rows.keys.len()).filter(|row| !self.is_history(rows.columns, *row)) {
                children.iter().try_for_each(|link| self.refuse_child(link, rows.columns, row))?;
            }
            return self.remove(rows.keys, chain);
        }
        let mut deleted = 0;
        for row in 0..rows.keys.len() {
            self.env.check()?;
            deleted += self.delete_row(rows, row, chain)?;
        }
        Ok(deleted)
    }

    fn delete_row(&self, rows: &Rows<'_>, row: usize, chain: &Chain) -> SqlResult<u64> {
        if self.is_history(rows.columns, row) {
            return self.remove(&one(rows.keys, row), chain);
        }
        self.take_out(rows, row, chain, || self.remove(&one(rows.keys, row), chain))
    }

    /// Takes a row from its children; `remove` takes it away, or makes it one of history.
    fn take_out(
        &self,
        rows: &Rows<'_>,
        row: usize,
        chain: &Chain,
        remove: impl FnOnce() -> SqlResult<u64>,
    ) -> SqlResult<u64> {
        let refuses = |link: &&ForeignLink| link.key().on_delete.refuses();
        let (own, others): (Vec<_>, Vec<_>) =
            self.keys.children.iter().partition(|link| link.is_own() && refuses(link));
        // Compat: a row that refers to itself is in its own way.
        own.into_iter().try_for_each(|link| self.refuse_child(link, rows.columns, row))?;
        if remove()? == 0 {
            return Ok(0);
        }
        for link in others {
            if refuses(&link) {
                self.refuse_child(link, rows.columns, row)?;
            } else {
                self.cascade_delete(link, rows.columns, row, chain)?;
            }
        }
        Ok(1)
    }

    /// Deletes rows. The binary log does not have those that go with others: a replica deletes them
    /// by itself.
    fn remove(&self, keys: &ByteRows, chain: &Chain) -> SqlResult<u64> {
        let (table, control) = (&self.open.handle.table, self.env.rt.control);
        let deleted = match chain.level {
            0 => self.open.delete(control, keys),
            _ => self.open.delete_unlogged(control, keys),
        };
        deleted.map_err(|e| from_engine(e, table.def()))
    }

    fn refuse_child(
        &self,
        link: &ForeignLink,
        columns: &[Arc<Column>],
        row: usize,
    ) -> SqlResult<()> {
        match self.has_child(link, columns, row)? {
            true => Err(referenced_error(link)),
            false => Ok(()),
        }
    }

    /// Whether a replicated change makes a current row one of history, which is how a primary logs
    /// that it was deleted.
    fn is_ended(&self, old: &[Arc<Column>], new: &[Arc<Column>], row: usize) -> bool {
        !self.is_history(old, row) && self.is_history(new, row)
    }

    /// Updates rows of which `via` is the key that is kept by the update, if it is a cascade.
    pub(super) fn update_rows(
        &self,
        old: &Rows<'_>,
        new: NewRows<'_>,
        via: Option<&ForeignLink>,
        chain: &Chain,
    ) -> SqlResult<u64> {
        let count = old.keys.len();
        let moves = |link: &ForeignLink, row: usize| {
            let columns = link.parent.iter().flat_map(|p| &p.columns);
            columns.into_iter().any(|at| differs(old.columns, new.columns, *at, row))
        };
        let ends = |row: usize| self.is_ended(old.columns, new.columns, row);
        let any = self.keys.children.iter().any(|link| (0..count).any(|row| moves(link, row)));
        if !any && !(0..count).any(ends) {
            let changed = self.store(old.keys, &new.rows, via)?;
            self.check_new_parents(old, new.columns, 0..count, via)?;
            return Ok(changed);
        }
        let mut changed = 0;
        for row in 0..count {
            self.env.check()?;
            if ends(row) {
                let store = || self.store(&one(old.keys, row), &one(&new.rows, row), via);
                changed += self.take_out(old, row, chain, store)?;
                continue;
            }
            let moved: Vec<&ForeignLink> =
                self.keys.children.iter().filter(|link| moves(link, row)).collect();
            // Compat: a row that refers to itself is in its own way, and no cascade updates the
            // table it comes from.
            for link in moved.iter().filter(|link| link.is_own()) {
                self.refuse_child(link, old.columns, row)?;
            }
            changed += self.store(&one(old.keys, row), &one(&new.rows, row), via)?;
            for link in moved.iter().filter(|link| !link.is_own()) {
                if link.key().on_update.refuses() {
                    self.refuse_child(link, old.columns, row)?;
                } else {
                    self.cascade_update(link, (old.columns, new.columns), row, chain)?;
                }
            }
            self.check_new_parents(old, new.columns, row..row + 1, via)?;
        }
        Ok(changed)
    }

    /// Replaces rows. The binary log does not have those that change with others.
    fn store(&self, keys: &ByteRows, rows: &ByteRows, via: Option<&ForeignLink>) -> SqlResult<u64> {
        let (table, control) = (&self.open.handle.table, self.env.rt.control);
        let updated = match via {
            None => self.open.update(control, keys, rows),
            Some(_) => self.open.update_unlogged(control, keys, rows),
        };
        match updated {
            Ok(changed) => Ok(changed),
            Err(EngineError::DuplicateKey { index, row, .. }) => match via {
                Some(link) => Err(self.duplicate_child(link, index, rows, row)),
                None => {
                    let zone = &self.env.eval.types.time_zone;
                    Err(duplicate_error(&self.keys.table, index, rows, row, zone))
                }
            },
            Err(error) => Err(from_engine(error, table.def())),
        }
    }

    /// Fails with 1452 if a changed key of a row has no parent.
    fn check_new_parents(
        &self,
        old: &Rows<'_>,
        new: &[Arc<Column>],
        rows: std::ops::Range<usize>,
        via: Option<&ForeignLink>,
    ) -> SqlResult<()> {
        for link in &self.keys.parents {
            let cause =
                |via: &ForeignLink| via.at == link.at && via.child.def.id == link.child.def.id;
            if via.is_some_and(cause) {
                continue;
            }
            let changed = |row: &u32| {
                link.entry_columns.iter().any(|at| differs(old.columns, new, *at, *row as usize))
            };
            let changed: Vec<u32> = (rows.start as u32..rows.end as u32).filter(changed).collect();
            if changed.is_empty() {
                continue;
            }
            let some: Vec<Arc<Column>> = new.iter().map(|c| Arc::new(c.gather(&changed))).collect();
            if !self.without_parent(link, &some, 0..changed.len())?.is_empty() {
                return Err(Self::orphan_error(link));
            }
        }
        Ok(())
    }
}

fn one(rows: &ByteRows, row: usize) -> ByteRows {
    let mut out = ByteRows::with_capacity(1);
    out.push(rows.get(row));
    out
}
