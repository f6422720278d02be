//! COUNT of rows, or of rows without NULL arguments.
//! Never NULL; DISTINCT is handled by the state around it (`distinct.rs`).

use std::sync::Arc;

use selkie_types::{Column, ColumnData, SqlResult};

use super::state::{Groups, State, same_kind};
use crate::context::EvalContext;

/// Number of rows without a NULL argument.
#[derive(Default)]
pub(super) struct Count {
    counts: Vec<i64>,
}

impl State for Count {
    fn resize(&mut self, groups: usize) {
        self.counts.resize(groups, 0);
    }

    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        _: &EvalContext<'_>,
    ) -> SqlResult<()> {
        if args.iter().any(|a| a.has_nulls()) {
            for row in 0..rows {
                if !args.iter().any(|a| a.is_null(row)) {
                    self.counts[groups.of(row)] += 1;
                }
            }
            return Ok(());
        }
        match groups {
            Groups::One => self.counts[0] += rows as i64,
            Groups::Sorted(_, sorted) => {
                sorted.groups().for_each(|(id, rows)| self.counts[id] += rows.len() as i64);
            }
            Groups::Ids(ids) => ids.iter().for_each(|&id| self.counts[id as usize] += 1),
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        map.iter().zip(&other.counts).for_each(|(&to, n)| self.counts[to as usize] += n);
        Ok(())
    }

    fn one(&self, group: usize) -> Option<Box<dyn State>> {
        Some(Box::new(Self { counts: vec![self.counts[group]] }))
    }

    fn finish(&mut self, _: &EvalContext<'_>) -> SqlResult<Column> {
        Ok(Column::from_data(ColumnData::Int(std::mem::take(&mut self.counts)), None))
    }
}
