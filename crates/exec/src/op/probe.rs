//! The build side of a hash join: rows by key, and pairs with rows that probe it. Rows of a key
//! form a chain in input order. Keys are numbered by [`super::hash_table`]. Rows with NULL in a key
//! are left out unless the comparison is null-safe.

use std::sync::Arc;

use selkie_expr::{EvalContext, Expr};
use selkie_plan::physical::{ColumnType, JoinKey};
use selkie_types::{Batch, Column, SqlResult};

use super::hash_table::{KeyKind, KeyTable, NOT_FOUND};
use super::rows::at_once;
use super::{Operator, RowBuffer};

/// Pairs per batch.
const PAIRS: usize = 2048;

/// End of the chain of rows with one key.
const END: u32 = u32::MAX;

/// The rows of the build side by key.
pub(super) struct BuildTable {
    keys: KeyTable,
    pub(super) rows: RowBuffer,
    /// First row of each key; empty if every key has one row: row number and key number are equal
    /// then.
    heads: Vec<u32>,
    tails: Vec<u32>,
    /// Next row with the same key.
    next: Vec<u32>,
    /// Whether a row was left out because of NULL in a key.
    pub(super) has_null: bool,
}

/// Evaluates the join keys of one side.
pub(super) fn key_columns<'k>(
    eval: &EvalContext<'_>,
    exprs: impl Iterator<Item = &'k Expr>,
    batch: &Batch,
) -> SqlResult<Vec<Arc<Column>>> {
    exprs.map(|e| e.eval(eval, batch)).collect()
}

/// Rows without NULL in a key that is not null-safe; `None` if these are all rows.
pub(super) fn rows_without_null(
    columns: &[Arc<Column>],
    null_safe: &[bool],
    rows: usize,
) -> Option<Vec<u32>> {
    let strict = || columns.iter().zip(null_safe).filter(|(c, safe)| !**safe && c.has_nulls());
    strict().next()?;
    let keep = |row: &u32| strict().all(|(c, _)| !c.is_null(*row as usize));
    Some((0..rows as u32).filter(keep).collect())
}

impl BuildTable {
    /// Reads the build side; `side` selects its expression of a key.
    pub(super) fn build(
        eval: &EvalContext<'_>,
        op: &mut dyn Operator,
        types: &[ColumnType],
        keys: &[JoinKey],
        side: fn(&JoinKey) -> &Expr,
    ) -> SqlResult<Self> {
        let mut table = Self::new(types, keys);
        let null_safe: Vec<bool> = keys.iter().map(|k| k.null_safe).collect();
        while let Some(batch) = op.next()? {
            let columns = key_columns(eval, keys.iter().map(side), &batch)?;
            table.add(batch, columns, &null_safe)?;
            selkie_meter::check()?;
        }
        if table.keys.len() == table.rows.len() {
            table.heads = Vec::new();
            table.next = Vec::new();
        }
        table.tails = Vec::new();
        Ok(table)
    }

    fn new(types: &[ColumnType], keys: &[JoinKey]) -> Self {
        Self {
            keys: KeyTable::new(keys.iter().map(KeyKind::of_join).collect()),
            rows: RowBuffer::new(types),
            heads: Vec::new(),
            tails: Vec::new(),
            next: Vec::new(),
            has_null: false,
        }
    }

    fn add(
        &mut self,
        batch: Batch,
        columns: Vec<Arc<Column>>,
        null_safe: &[bool],
    ) -> SqlResult<()> {
        let Some(rows) = rows_without_null(&columns, null_safe, batch.rows()) else {
            return self.add_all(&batch, &columns);
        };
        self.has_null = true;
        let columns: Vec<_> = columns.iter().map(|c| Arc::new(c.gather(&rows))).collect();
        self.add_all(&batch.gather(&rows), &columns)
    }

    fn add_all(&mut self, batch: &Batch, columns: &[Arc<Column>]) -> SqlResult<()> {
        let (mut ids, mut new) = (Vec::with_capacity(batch.rows()), Vec::new());
        self.keys.assign(columns, batch.rows(), &mut ids, &mut new)?;
        let first = self.rows.len() as u32;
        self.heads.resize(self.keys.len(), END);
        self.tails.resize(self.keys.len(), END);
        for (at, &id) in ids.iter().enumerate() {
            let row = first + at as u32;
            self.next.push(END);
            let tail = std::mem::replace(&mut self.tails[id as usize], row);
            match tail {
                END => self.heads[id as usize] = row,
                tail => self.next[tail as usize] = row,
            }
        }
        self.rows.append(batch)
    }

    /// Whether no key has two rows.
    pub(super) fn is_unique(&self) -> bool {
        self.heads.is_empty()
    }

    /// Key number of each probing row, [`NOT_FOUND`] if there is none or a key is NULL.
    pub(super) fn find(
        &self,
        columns: &[Arc<Column>],
        null_safe: &[bool],
        rows: usize,
    ) -> Vec<u32> {
        let mut ids = Vec::with_capacity(rows);
        self.keys.find(columns, rows, &mut ids);
        for (column, safe) in columns.iter().zip(null_safe) {
            if !safe && column.has_nulls() {
                ids.iter_mut()
                    .enumerate()
                    .filter(|(row, _)| column.is_null(*row))
                    .for_each(|(_, id)| *id = NOT_FOUND);
            }
        }
        ids
    }

    fn head(&self, id: u32) -> u32 {
        match (id, self.is_unique()) {
            (NOT_FOUND, _) => END,
            (id, true) => id,
            (id, false) => self.heads[id as usize],
        }
    }

    fn following(&self, row: u32) -> u32 {
        if self.is_unique() { END } else { self.next[row as usize] }
    }
}

/// Pairs of one probing batch with build rows, in the order of the probing rows.
pub(super) struct Pairs {
    ids: Vec<u32>,
    row: usize,
    /// Pairs per batch.
    most: usize,
    /// Build row to pair next with `row`; `None` before its first pair.
    chain: Option<u32>,
}

impl Pairs {
    /// Pairs of the rows of `batch`, whose key numbers are `ids`. Large rows make a batch of pairs
    /// smaller.
    pub(super) fn new(ids: Vec<u32>, batch: &Batch, table: &BuildTable) -> Self {
        let most = at_once(batch.memory(), batch.rows(), table.rows.at_once(PAIRS));
        Self { ids, row: 0, most, chain: None }
    }

    /// Appends the next pairs; false if all were given.
    pub(super) fn next(
        &mut self,
        table: &BuildTable,
        probe: &mut Vec<u32>,
        build: &mut Vec<u32>,
    ) -> bool {
        probe.clear();
        build.clear();
        if self.row >= self.ids.len() {
            return false;
        }
        while self.row < self.ids.len() && probe.len() < self.most {
            let mut at = self.chain.take().unwrap_or_else(|| table.head(self.ids[self.row]));
            while at != END && probe.len() < self.most {
                probe.push(self.row as u32);
                build.push(at);
                at = table.following(at);
            }
            if at != END {
                self.chain = Some(at);
                break;
            }
            self.row += 1;
        }
        true
    }
}
