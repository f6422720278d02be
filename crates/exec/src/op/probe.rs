//! The build side of a hash join: rows by key, and pairs with rows that probe it. Rows of a key
//! form a chain in input order. Keys are numbered by [`super::hash_table`]. Rows with NULL in a key
//! are left out unless the comparison is null-safe.

use std::sync::Arc;

use selkie_expr::{EvalContext, Expr};
use selkie_plan::physical::{ColumnType, JoinKey, KeyFill};
use selkie_types::{Batch, Column, SqlResult};

use super::hash_table::{KeyKind, KeyTable, NOT_FOUND};
use super::overflow::{Overflow, Parts};
use super::spread::Spread;
use super::{Operator, RowBuffer};
use crate::run::Env;
use crate::run::rows::at_once;
use crate::run::spill::is_full;
use crate::state::session::UseColumns;

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
    /// The kept column that is the only key, if its values are numbered at the end.
    key_column: Option<usize>,
}

/// Selects the expression of one side of a join's key.
pub(super) type KeySide = fn(&JoinKey) -> &Expr;

/// A build side that was read.
pub(super) enum Build {
    Kept(Box<BuildTable>),
    /// The rows without NULL in a key, numbered in their order.
    Spread(Parts),
}

/// Removes the filters of an earlier run.
pub(super) fn forget_filters(env: Env<'_>, fills: &[KeyFill]) {
    fills.iter().for_each(|fill| env.rt.set_join_keys(fill.slot, None));
}

/// Evaluates the join keys of one side.
pub(super) fn key_columns<'k>(
    eval: &EvalContext<'_>,
    exprs: impl Iterator<Item = &'k Expr>,
    batch: &Batch,
) -> SqlResult<Vec<Arc<Column>>> {
    exprs.map(|e| e.eval(eval, batch)).collect()
}

/// As [`key_columns`] for rows whose keys were evaluated before: conditions are not raised again.
pub(super) fn key_columns_again<'k>(
    eval: &EvalContext<'_>,
    exprs: impl Iterator<Item = &'k Expr>,
    batch: &Batch,
) -> SqlResult<Vec<Arc<Column>>> {
    let mark = eval.conditions.borrow().mark();
    let columns = key_columns(eval, exprs, batch);
    eval.conditions.borrow_mut().forget_since(mark);
    columns
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
        env: Env<'_>,
        op: &mut dyn Operator,
        types: &[ColumnType],
        keys: &[JoinKey],
        side: KeySide,
    ) -> SqlResult<Self> {
        let mut table = Self::new(types, keys, side);
        while let Some(batch) = op.next()? {
            let columns = key_columns(env.eval, keys.iter().map(side), &batch)?;
            table.read(&batch, columns, keys)?;
        }
        table.end()
    }

    /// As [`Self::build`], but if the rows, which were spread `level` times, do not fit into
    /// memory, all of them go to a file.
    pub(super) fn build_or_spread(
        env: Env<'_>,
        op: &mut dyn Operator,
        types: &[ColumnType],
        keys: &[JoinKey],
        side: KeySide,
        level: u32,
    ) -> SqlResult<Build> {
        let ceiling = env.rt.session.frame.settings.queries.ceilings.join;
        let mut table = Self::new(types, keys, side);
        while let Some(batch) = op.next()? {
            let columns = match level {
                0 => key_columns(env.eval, keys.iter().map(side), &batch)?,
                _ => key_columns_again(env.eval, keys.iter().map(side), &batch)?,
            };
            table.read(&batch, columns, keys)?;
            if is_full(env.rt, table.memory(), ceiling) && Overflow::is_possible(level) {
                let mut spread = Spread::begin(env, keys, side, level)?;
                table.rows.each(|batch| spread.put_again(batch))?;
                drop(table);
                return Ok(Build::Spread(spread.read(op)?));
            }
        }
        table.end().map(|table| Build::Kept(Box::new(table)))
    }

    fn read(
        &mut self,
        batch: &Batch,
        columns: Vec<Arc<Column>>,
        keys: &[JoinKey],
    ) -> SqlResult<()> {
        let null_safe: Vec<bool> = keys.iter().map(|k| k.null_safe).collect();
        self.add(batch, columns, &null_safe)?;
        selkie_meter::check()
    }

    fn end(mut self) -> SqlResult<Self> {
        self.number()?;
        if self.keys.len() == self.rows.len() {
            self.heads = Vec::new();
            self.next = Vec::new();
        }
        self.tails = Vec::new();
        self.keys.seal();
        self.rows.share_strings()?;
        Ok(self)
    }

    /// Size in memory, in bytes, with what [`Self::number`] needs.
    fn memory(&self) -> usize {
        self.rows.memory() + self.keys.memory() + self.rows.len() * 5 * size_of::<u32>()
    }

    /// Numbers the keys of the kept rows, if that was put off.
    fn number(&mut self) -> SqlResult<()> {
        let Some(at) = self.key_column.filter(|_| self.rows.len() > 0) else { return Ok(()) };
        let mut ids = Vec::new();
        let column = self.rows.column(at).clone();
        // For the numbers, and a table of at most four times as many.
        selkie_meter::ask(column.len() * 5 * size_of::<u32>())?;
        if !self.keys.number_words(&column, &mut ids) {
            self.keys.assign(&[column], self.rows.len(), &mut ids, &mut Vec::new())?;
        }
        if self.keys.len() < self.rows.len() {
            self.chain(&ids, 0);
        }
        Ok(())
    }

    fn new(types: &[ColumnType], keys: &[JoinKey], side: KeySide) -> Self {
        // A single key that is one of the kept columns is numbered when all its values are known.
        let key_column = match keys {
            [key] if !key.null_safe => side(key).as_column(),
            _ => None,
        };
        Self {
            keys: KeyTable::new(keys.iter().map(KeyKind::of_join).collect()),
            rows: RowBuffer::new(types),
            heads: Vec::new(),
            tails: Vec::new(),
            next: Vec::new(),
            has_null: false,
            key_column,
        }
    }

    fn add(
        &mut self,
        batch: &Batch,
        columns: Vec<Arc<Column>>,
        null_safe: &[bool],
    ) -> SqlResult<()> {
        let Some(rows) = rows_without_null(&columns, null_safe, batch.rows()) else {
            return self.add_all(batch, &columns);
        };
        self.has_null = true;
        let columns: Vec<_> = columns.iter().map(|c| Arc::new(c.gather(&rows))).collect();
        self.add_all(&batch.gather(&rows), &columns)
    }

    fn add_all(&mut self, batch: &Batch, columns: &[Arc<Column>]) -> SqlResult<()> {
        if self.key_column.is_none() {
            let (mut ids, mut new) = (Vec::with_capacity(batch.rows()), Vec::new());
            self.keys.assign(columns, batch.rows(), &mut ids, &mut new)?;
            self.chain(&ids, self.rows.len() as u32);
        }
        self.rows.append(batch)
    }

    /// Puts rows, of which the first has this number, behind earlier ones with the same keys.
    fn chain(&mut self, ids: &[u32], first: u32) {
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
    }

    /// Shows the keys to the scans of the other side, which make filters of them.
    pub(super) fn fill(&self, env: Env<'_>, fills: &[KeyFill]) {
        if env.rt.session.frame.settings.queries.columns == UseColumns::Off {
            return;
        }
        for fill in fills {
            env.rt.set_join_keys(fill.slot, Some(self.rows.column(fill.column).clone()));
        }
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

    /// Number of probing rows whose pairs were all given.
    pub(super) fn complete(&self) -> usize {
        self.row
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
