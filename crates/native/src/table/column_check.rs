//! Compares column groups with the rows they were read from, as one transaction sees them.
//!
//! A difference is a bug, not damage of the data: the group is dropped.

use super::cursor::NativeCursor;
use super::handle::NativeTable;
use crate::columns::{Built, Finder, Group};
use crate::trx::{NativeTrx, ViewSpec};
use selkie_column::BLOCK_ROWS;
use selkie_engine::{
    Bound, EngineError, EngineResult, RowSet, Scan, StatementContext, TouchedKeys,
};
use selkie_types::{Column, Value};
use std::sync::Arc;

/// A group under comparison, with the last decoded block of each column.
struct Comparison<'g> {
    built: &'g Built,
    touched: &'g TouchedKeys,
    finder: Finder<'g>,
    blocks: Vec<Option<(usize, Column)>>,
    /// Positions that were found among the rows.
    found: usize,
}

impl NativeTable {
    /// Describes each group that differs from what `trx` sees, and drops it.
    pub(crate) fn check_columns(
        &self,
        trx: &NativeTrx,
        context: &dyn StatementContext,
    ) -> EngineResult<Vec<String>> {
        let view = self.view_of(trx)?.spec();
        let directory = self.files.columns.directory();
        let mut wrong = Vec::new();
        for (at, region) in directory.regions().iter().enumerate() {
            let Some(group) = &region.group else { continue };
            let range = (&region.lower[..], directory.upper(at));
            if let Some(difference) = self.check_group(trx, context, (view, group), range)? {
                self.files.columns.remove(group);
                wrong.push(difference);
            }
        }
        Ok(wrong)
    }

    fn check_group(
        &self,
        trx: &NativeTrx,
        context: &dyn StatementContext,
        (view, group): (ViewSpec, &Arc<Group>),
        (lower, upper): (&[u8], Option<&[u8]>),
    ) -> EngineResult<Option<String>> {
        let Some(built) = group.built() else { return Ok(None) };
        let is_older = view.snapshot.is_some_and(|snapshot| snapshot < built.at);
        if is_older || group.version != self.def.layout.version() {
            return Ok(None);
        }
        let Some(touched) = group.take_touched(&built.keys) else { return Ok(None) };
        let blocks = vec![None; self.def.columns.len()];
        let finder = Finder::new(&built.keys);
        let mut comparison = Comparison { built, touched: &touched, finder, blocks, found: 0 };
        let scan = Scan {
            lower: Bound::Included(lower.into()),
            upper: upper.map_or(Bound::Unbounded, |key| Bound::Excluded(key.into())),
            want_keys: true,
            ..Scan::default()
        };
        let seen = view.view(&self.shared.undo);
        let mut cursor = NativeCursor::of_view(self, trx, context, &scan, Some(seen));
        let mut set = RowSet::default();
        while cursor.next_batch(&mut set, BLOCK_ROWS)? {
            for (key, row) in set.keys.iter().zip(set.rows.iter()) {
                if let Some(difference) = self.compare(&mut comparison, key, row)? {
                    return Ok(Some(difference));
                }
            }
            set.clear();
        }
        let live = built.keys.len() as usize - touched.dead.count_ones();
        Ok((comparison.found != live).then(|| {
            let (name, found) = (&self.def.name, comparison.found);
            format!("a column group of table {name} has {live} rows where there are {found}")
        }))
    }

    fn compare(
        &self,
        group: &mut Comparison<'_>,
        key: &[u8],
        row: &[u8],
    ) -> EngineResult<Option<String>> {
        let name = &self.def.name;
        let position = group.finder.find(key);
        let touched = &group.touched.keys;
        let is_touched = touched.binary_search_by(|touched| touched.key[..].cmp(key)).is_ok();
        let at = match position {
            Ok(at) if group.touched.is_dead(at) == is_touched => at,
            Ok(_) => return Ok(Some(format!("a touched row of table {name} is not dead"))),
            Err(_) if is_touched => return Ok(None),
            Err(_) => return Ok(Some(format!("a column group of table {name} lacks a row"))),
        };
        if is_touched {
            return Ok(None);
        }
        group.found += 1;
        for column in 0..group.blocks.len() {
            let Some(value) = group.value(column, at as usize)? else { continue };
            let stored = self.def.layout.value(row, column)?;
            if !is_same(&value, &stored) {
                let column = &self.def.columns[column].name;
                return Ok(Some(format!("column {column} of a group of table {name} differs")));
            }
        }
        Ok(None)
    }
}

impl Comparison<'_> {
    /// The value of a column at a position; `None` if the group does not have the column.
    fn value(&mut self, column: usize, at: usize) -> EngineResult<Option<Value>> {
        let Some(segment) = self.built.segments.get(column) else { return Ok(None) };
        let block = at / BLOCK_ROWS;
        let cached = &mut self.blocks[column];
        if cached.as_ref().is_none_or(|(known, _)| *known != block) {
            let decoded = segment.decode(block);
            *cached = Some((block, decoded.map_err(|e| EngineError::Corrupt(e.to_string()))?));
        }
        Ok(cached.as_ref().map(|(_, values)| values.value(at % BLOCK_ROWS)))
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Double(one), Value::Double(other)) => one.to_bits() == other.to_bits(),
        _ => one == other,
    }
}
