//! BIT_AND, BIT_OR, BIT_XOR.
//! Never NULL: a group without values has the operator's neutral value.

use std::sync::Arc;

use selkie_types::{Column, ColumnData, SqlResult};

use super::AggregateKind;
use super::state::{Groups, State, same_kind};
use crate::context::EvalContext;
use crate::kernel::View;

/// Combined bits of all rows of each group.
pub(super) struct Bits {
    kind: AggregateKind,
    values: Vec<u64>,
}

impl Bits {
    pub(super) fn new(kind: AggregateKind) -> Self {
        Self { kind, values: Vec::new() }
    }

    fn combine(&mut self, group: usize, v: u64) {
        let value = &mut self.values[group];
        match self.kind {
            AggregateKind::BitAnd => *value &= v,
            AggregateKind::BitOr => *value |= v,
            _ => *value ^= v,
        }
    }
}

impl State for Bits {
    fn resize(&mut self, groups: usize) {
        let start = if self.kind == AggregateKind::BitAnd { u64::MAX } else { 0 };
        self.values.resize(groups, start);
    }

    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        _: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let view = View::<u64>::of(&args[0]);
        for row in 0..rows {
            if let Some(v) = view.get(row) {
                self.combine(groups.of(row), v);
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        map.iter().zip(&other.values).for_each(|(&to, &v)| self.combine(to as usize, v));
        Ok(())
    }

    fn finish(&mut self, _: &EvalContext<'_>) -> SqlResult<Column> {
        Ok(Column::from_data(ColumnData::UInt(std::mem::take(&mut self.values)), None))
    }
}
