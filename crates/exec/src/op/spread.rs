//! The rows of one side of a join, spread over parts of a file by their keys. Behind each row is
//! its number, by which the output of all parts is brought into one order.

use std::sync::Arc;

use selkie_plan::physical::{ColumnType, JoinKey};
use selkie_types::{Batch, Column, SqlResult, SqlType};

use super::Operator;
use super::hash_table::{KeyKind, hashes};
use super::key_sorter::without_last;
use super::overflow::{InOrder, Overflow, Parts, number_at, numbers};
use super::probe::{KeySide, key_columns, key_columns_again};
use crate::run::Env;
use crate::run::spill::{Reader, Written};

/// Rows that are being spread.
pub(super) struct Spread<'r> {
    env: Env<'r>,
    keys: &'r [JoinKey],
    kinds: Vec<KeyKind>,
    side: KeySide,
    overflow: Overflow,
    /// Number of the next row; `None` if rows have numbers already.
    next: Option<u64>,
}

impl<'r> Spread<'r> {
    /// No rows yet, of rows that were spread `level` times. The first time gives them numbers.
    pub(super) fn begin(
        env: Env<'r>,
        keys: &'r [JoinKey],
        side: KeySide,
        level: u32,
    ) -> SqlResult<Self> {
        let kinds = keys.iter().map(KeyKind::of_join).collect();
        let overflow = Overflow::begin(env, level)?;
        Ok(Self { env, keys, kinds, side, overflow, next: (level == 0).then_some(0) })
    }

    /// Adds rows. Keys of rows that have numbers were evaluated before.
    pub(super) fn put(&mut self, batch: &Batch) -> SqlResult<()> {
        if self.next.is_none() {
            return self.put_again(batch);
        }
        let columns = key_columns(self.env.eval, self.keys.iter().map(self.side), batch)?;
        self.put_with(batch, &columns)
    }

    /// Adds rows whose keys were evaluated before.
    pub(super) fn put_again(&mut self, batch: &Batch) -> SqlResult<()> {
        let columns = key_columns_again(self.env.eval, self.keys.iter().map(self.side), batch)?;
        self.put_with(batch, &columns)
    }

    fn put_with(&mut self, batch: &Batch, columns: &[Arc<Column>]) -> SqlResult<()> {
        let hashes = hashes(&self.kinds, columns, batch.rows());
        self.env.check()?;
        let Some(next) = &mut self.next else { return self.overflow.put(batch, &hashes) };
        let rows = batch.rows();
        let numbers = numbers((*next..).take(rows));
        *next += rows as u64;
        self.overflow.put(&batch.clone().zip(&Batch::new(vec![numbers], rows)), &hashes)
    }

    /// Adds all rows of an operator and ends.
    pub(super) fn read(mut self, op: &mut dyn Operator) -> SqlResult<Parts> {
        while let Some(batch) = op.next()? {
            self.put(&batch)?;
        }
        self.overflow.end()
    }
}

/// Types of columns of rows with numbers.
pub(super) fn numbered(types: &[ColumnType]) -> Vec<ColumnType> {
    let number = ColumnType { ty: SqlType::bigint_unsigned(), nullable: false };
    types.iter().cloned().chain([number]).collect()
}

/// Gives the rows of a part.
pub(super) struct PartRows(Reader<Box<Written>>);

impl PartRows {
    pub(super) fn new(part: Written) -> Self {
        Self(Reader::new(Box::new(part)))
    }
}

impl Operator for PartRows {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        self.0.next()
    }
}

/// Adds rows whose last column is their numbers.
pub(super) fn put_numbered(batch: Batch, all: &mut InOrder<'_>) -> SqlResult<()> {
    let Some(numbers) = batch.columns().last().cloned() else { return Ok(()) };
    let batch = without_last(batch);
    all.put(&batch, (0..batch.rows()).map(|row| number_at(&numbers, row)))
}
