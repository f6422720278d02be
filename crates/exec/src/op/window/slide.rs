//! SUM and AVG of floating-point numbers over sliding frames.
//!
//! Compat: entering rows are added first, then leaving rows are subtracted, so that the last digits
//! equal MariaDB's. Must not change this order.

use std::ops::Range;

use selkie_expr::aggregate::{Aggregate, AggregateKind};
use selkie_types::{Column, ColumnData, Physical, SqlResult, Value};

use super::Sorted;
use crate::run::Env;
use crate::state::columns::column_of;

/// Results of SUM or AVG over doubles; `None` for any other aggregate.
pub(super) fn sums(
    env: Env<'_>,
    aggregate: &Aggregate,
    sorted: &Sorted,
    frames: &[Range<usize>],
) -> SqlResult<Option<Column>> {
    let is_sum = matches!(aggregate.kind, AggregateKind::Sum | AggregateKind::Avg);
    if !is_sum || aggregate.distinct || aggregate.ty.physical() != Physical::Double {
        return Ok(None);
    }
    let values = aggregate.args[0].eval(env.eval, &sorted.rows)?;
    let mut out = column_of(&aggregate.ty, frames.len());
    for partition in sorted.ranges() {
        let mut slide = Slide {
            values: &values,
            covered: partition.start..partition.start,
            sum: 0.0,
            count: 0,
        };
        for row in partition {
            slide.move_to(&frames[row]);
            out.push(&slide.value(aggregate.kind));
        }
    }
    Ok(Some(out))
}

/// Sum of the rows in `covered`.
struct Slide<'a> {
    values: &'a Column,
    covered: Range<usize>,
    sum: f64,
    count: u64,
}

impl Slide<'_> {
    fn double(&self, row: usize) -> Option<f64> {
        match self.values.data() {
            ColumnData::Double(v) if !self.values.is_null(row) => {
                Some(v[self.values.physical_row(row)])
            }
            _ => None,
        }
    }

    fn move_to(&mut self, frame: &Range<usize>) {
        for row in self.covered.end..frame.end {
            if let Some(v) = self.double(row) {
                self.sum += v;
                self.count += 1;
            }
        }
        self.covered.end = self.covered.end.max(frame.end);
        for row in self.covered.start..frame.start.min(self.covered.end) {
            if let Some(v) = self.double(row) {
                self.sum -= v;
                self.count -= 1;
            }
        }
        self.covered.start = self.covered.start.max(frame.start.min(self.covered.end));
    }

    fn value(&self, kind: AggregateKind) -> Value {
        match (self.count, kind) {
            (0, _) => Value::Null,
            (count, AggregateKind::Avg) => Value::Double(self.sum / count as f64),
            _ => Value::Double(self.sum),
        }
    }
}
