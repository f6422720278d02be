//! The value of the first row of each group, NULL included.
//!
//! Values stay in the form that they have in a column, so that strings which are entries of one
//! dictionary are not copied.

use std::sync::Arc;

use selkie_types::{Column, NULL_ROW, SqlResult};

use super::Aggregate;
use super::state::{Groups, State, same_kind};
use crate::context::EvalContext;
use crate::kernel::ColumnScale;

pub(super) struct First {
    /// The values in the order in which their groups began.
    values: Column,
    /// For each group the position of its value; [`NULL_ROW`] if it had no row.
    positions: Vec<u32>,
}

impl First {
    pub(super) fn new(a: &Aggregate) -> Self {
        let values = Column::new(a.ty.physical(), a.ty.decimals_of_column(), 0);
        Self { values, positions: Vec::new() }
    }

    /// Takes the value of a row for a group that has none; `more` are rows to append.
    #[inline]
    fn offer(&mut self, group: usize, row: u32, more: &mut Vec<u32>) {
        let position = &mut self.positions[group];
        if *position == NULL_ROW {
            *position = (self.values.len() + more.len()) as u32;
            more.push(row);
        }
    }

    fn append(&mut self, column: &Column, rows: &[u32]) {
        if !rows.is_empty() {
            self.values.append(&column.gather(rows));
        }
    }
}

impl State for First {
    fn resize(&mut self, groups: usize) {
        self.positions.resize(groups, NULL_ROW);
    }

    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        _: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let mut more = Vec::new();
        let rows = if matches!(groups, Groups::One) { rows.min(1) } else { rows };
        (0..rows).for_each(|row| self.offer(groups.of(row), row as u32, &mut more));
        self.append(&args[0], &more);
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        let mut more = Vec::new();
        for (&to, &row) in map.iter().zip(&other.positions) {
            if row != NULL_ROW {
                self.offer(to as usize, row, &mut more);
            }
        }
        self.append(&other.values, &more);
        Ok(())
    }

    fn finish(&mut self, _: &EvalContext<'_>) -> SqlResult<Column> {
        let in_order = self.positions.iter().zip(0..).all(|(at, row)| *at == row);
        Ok(match in_order && self.positions.len() == self.values.len() {
            true => self.values.clone(),
            false => self.values.gather(&self.positions),
        })
    }
}

#[cfg(test)]
mod tests {
    use selkie_types::{BytesColumn, ColumnData, Physical, Value};

    use super::*;
    use crate::TypeContext;

    fn coded(rows: &[u32], entries: &Arc<BytesColumn>) -> Arc<Column> {
        let values = BytesColumn::of_codes(rows.to_vec(), entries.clone());
        Arc::new(Column::from_data(ColumnData::Bytes(values), None))
    }

    fn entries(texts: &[&str]) -> Arc<BytesColumn> {
        let mut out = BytesColumn::default();
        texts.iter().for_each(|text| out.push(text.as_bytes()));
        Arc::new(out)
    }

    fn texts(column: &Column) -> Vec<Value> {
        (0..column.len()).map(|row| column.value(row)).collect()
    }

    fn first() -> First {
        let values = Column::new(Physical::Bytes, 0, 0);
        First { values, positions: Vec::new() }
    }

    fn feed(state: &mut First, groups: &[u32], all: usize, column: Arc<Column>) {
        let ctx = EvalContext::detached(&TypeContext::default());
        state.resize(all);
        state.update(Groups::Ids(groups), groups.len(), &[column], &ctx).unwrap();
    }

    #[test]
    fn groups_keep_the_value_of_their_first_row() {
        let ctx = EvalContext::detached(&TypeContext::default());
        let one = entries(&["a", "b", "c"]);
        let mut state = first();
        feed(&mut state, &[0, 1, 0, 2], 3, coded(&[2, 1, 0, 1], &one));
        feed(&mut state, &[1, 3], 4, coded(&[0, 0], &one));
        let out = state.finish(&ctx).unwrap();
        assert_eq!(texts(&out), ["c", "b", "b", "a"].map(Value::bytes));
        let ColumnData::Bytes(bytes) = out.data() else { panic!("strings") };
        assert!(bytes.codes().is_some(), "strings of one dictionary are not copied");
        // Another dictionary, and a group without a row.
        feed(&mut state, &[5], 6, coded(&[0], &entries(&["other"])));
        let out = texts(&state.finish(&ctx).unwrap());
        assert_eq!(out[3..], [Value::bytes("a"), Value::Null, Value::bytes("other")]);
    }

    #[test]
    fn groups_of_another_state_come_behind() {
        let ctx = EvalContext::detached(&TypeContext::default());
        let (mut state, mut other) = (first(), first());
        feed(&mut state, &[1], 2, coded(&[0], &entries(&["x"])));
        feed(&mut other, &[2, 0, 1], 3, coded(&[0, 1, 2], &entries(&["p", "q", "r"])));
        state.resize(4);
        state.merge(Box::new(other), &[1, 3, 0], &ctx).unwrap();
        let out = texts(&state.finish(&ctx).unwrap());
        let text = Value::bytes;
        assert_eq!(out, [text("p"), text("x"), Value::Null, text("r")]);
    }
}
