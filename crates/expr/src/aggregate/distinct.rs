//! DISTINCT: the distinct values of each group, passed to the inner state when the group is
//! finished.
//! So the inner state sees no row before the end, and its memory is the set's.

use std::sync::Arc;

use hashbrown::{HashSet, HashTable};
use selkie_types::{CollationId, Column, ColumnData, Physical, SqlResult};

use super::Aggregate;
use super::state::{Groups, State, same_kind};
use crate::context::EvalContext;
use crate::kernel::ColumnScale;
use crate::row_key::put_value;

/// Keeps the first of equal rows.
pub(super) struct Distinct {
    seen: HashTable<(u64, Box<[u8]>)>,
    /// Groups and values, if the only argument is a number of 64 bits.
    words: HashSet<(u32, u64), foldhash::fast::RandomState>,
    /// The distinct rows, and their groups.
    columns: Vec<Column>,
    groups: Vec<u32>,
    inner: Box<dyn State>,
    collations: Vec<CollationId>,
}

impl Distinct {
    pub(super) fn new(a: &Aggregate, inner: Box<dyn State>) -> Self {
        let column =
            |ty: &selkie_types::SqlType| Column::new(ty.physical(), ty.decimals_of_column(), 0);
        Self {
            seen: HashTable::new(),
            words: HashSet::default(),
            columns: a.args.iter().map(|e| column(&e.ty)).collect(),
            groups: Vec::new(),
            inner,
            collations: a.args.iter().map(|e| e.ty.collation).collect(),
        }
    }
}

/// Whether values are equal exactly if their [`word`]s are.
fn is_word(column: &Column) -> bool {
    use Physical::{Bytes, Decimal, Double};
    !matches!(column.physical(), Double | Decimal | Bytes)
}

/// The value of a physical row of a column that [`is_word`].
#[inline]
fn word(data: &ColumnData, row: usize) -> u64 {
    match data {
        ColumnData::Int(v) => v[row] as u64,
        ColumnData::UInt(v) => v[row],
        ColumnData::Date(v) => v[row].0.into(),
        ColumnData::Time(v) => v[row].0 as u64,
        ColumnData::DateTime(v) => v[row].0 as u64,
        ColumnData::Double(_) | ColumnData::Decimal(_) | ColumnData::Bytes(_) => {
            unreachable!("no word")
        }
    }
}

impl Distinct {
    /// The rows of a column of numbers that are the first of their value in their group.
    fn fresh_words(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        column: &Column,
    ) -> SqlResult<Vec<u32>> {
        let mut fresh = Vec::new();
        for row in (0..rows).filter(|row| !column.is_null(*row)) {
            let value = word(column.data(), column.physical_row(row));
            if self.words.insert((groups.of(row) as u32, value)) {
                fresh.push(row as u32);
            }
        }
        selkie_meter::spend(fresh.len() * size_of::<(u32, u64)>())?;
        Ok(fresh)
    }

    /// The rows without NULL that are the first of their values in their group.
    fn fresh_rows(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
    ) -> SqlResult<Vec<u32>> {
        let mut fresh = Vec::new();
        let mut key = Vec::new();
        for row in 0..rows {
            if args.iter().any(|a| a.is_null(row)) {
                continue;
            }
            key.clear();
            key.extend_from_slice(&(groups.of(row) as u32).to_le_bytes());
            for (column, collation) in args.iter().zip(&self.collations) {
                put_value(&mut key, column, row, *collation);
            }
            let hash = CollationId::BINARY.hash(&key, 0);
            let entry = self.seen.entry(hash, |(h, k)| *h == hash && **k == key[..], |(h, _)| *h);
            if let hashbrown::hash_table::Entry::Vacant(slot) = entry {
                selkie_meter::spend(key.len())?;
                slot.insert((hash, key[..].into()));
                fresh.push(row as u32);
            }
        }
        Ok(fresh)
    }
}

impl State for Distinct {
    fn resize(&mut self, groups: usize) {
        self.inner.resize(groups);
    }

    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        _: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let args = &args[..self.columns.len()];
        // Each row needs memory for a key and a value.
        selkie_meter::ask(args.iter().map(|a| 2 * a.memory()).sum())?;
        let fresh = match args {
            [column] if is_word(column) => self.fresh_words(groups, rows, column)?,
            _ => self.fresh_rows(groups, rows, args)?,
        };
        self.groups.extend(fresh.iter().map(|row| groups.of(*row as usize) as u32));
        for (to, from) in self.columns.iter_mut().zip(args) {
            to.append(&from.gather(&fresh));
        }
        Ok(())
    }

    fn merge(
        &mut self,
        other: Box<dyn State>,
        map: &[u32],
        ctx: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        let groups: Vec<u32> = other.groups.iter().map(|&g| map[g as usize]).collect();
        let columns: Vec<Arc<Column>> = other.columns.into_iter().map(Arc::new).collect();
        self.update(Groups::Ids(&groups), groups.len(), &columns, ctx)
    }

    fn finish(&mut self, ctx: &EvalContext<'_>) -> SqlResult<Column> {
        let columns: Vec<Arc<Column>> = self.columns.drain(..).map(Arc::new).collect();
        let groups = std::mem::take(&mut self.groups);
        self.inner.update(Groups::Ids(&groups), groups.len(), &columns, ctx)?;
        self.inner.finish(ctx)
    }
}
