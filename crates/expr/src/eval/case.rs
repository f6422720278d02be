//! CASE and COALESCE: each row takes its value from one of several expressions.
//! A result is evaluated only over the rows that chose it, so that other rows raise nothing.

use std::sync::Arc;

use selkie_meter::spend;
use selkie_types::{Batch, Bitmap, Column, NULL_ROW, SqlResult, SqlType};

use super::{bits, logic, subset};
use crate::context::EvalContext;
use crate::expr::{Case, Expr};
use crate::kernel::ColumnScale;

/// Values collected from several expressions over disjoint sets of rows.
struct Pieces {
    values: Column,
    /// Position of each row's value in `values`.
    places: Vec<u32>,
}

impl Pieces {
    fn new(ty: &SqlType, rows: usize) -> Self {
        let values = Column::new(ty.physical(), ty.decimals_of_column(), rows);
        Self { values, places: vec![NULL_ROW; rows] }
    }

    fn add(&mut self, column: &Column, rows: &[u32]) {
        let start = self.values.len() as u32;
        self.values.append(column);
        for (i, &row) in rows.iter().enumerate() {
            self.places[row as usize] = start + i as u32;
        }
    }

    fn finish(self) -> Column {
        self.values.gather(&self.places)
    }
}

/// The value of a CASE.
pub(super) fn eval(
    case: &Case,
    ty: &SqlType,
    ctx: &EvalContext<'_>,
    batch: &Batch,
) -> SqlResult<Column> {
    let rows = batch.rows();
    let mut open = Bitmap::ones(rows);
    let mut pieces = Pieces::new(ty, rows);
    for (when, then) in &case.whens {
        spend(64 + rows)?;
        let undecided = open.positions();
        if undecided.is_empty() {
            break;
        }
        let truth = logic::eval(when, ctx, &subset::select(when, ctx, batch, &undecided))?.yes;
        let taken: Vec<u32> = truth.iter_ones().map(|i| undecided[i]).collect();
        if taken.len() == rows {
            return Ok(Arc::unwrap_or_clone(then.eval(ctx, batch)?));
        }
        if !taken.is_empty() {
            pieces.add(&*subset::eval(then, ctx, batch, &taken)?, &taken);
            taken.iter().for_each(|&row| open.set(row as usize, false));
        }
    }
    if let Some(otherwise) = &case.otherwise {
        let rest = open.positions();
        if rest.len() == rows {
            return Ok(Arc::unwrap_or_clone(otherwise.eval(ctx, batch)?));
        }
        if !rest.is_empty() {
            pieces.add(&*subset::eval(otherwise, ctx, batch, &rest)?, &rest);
        }
    }
    Ok(pieces.finish())
}

/// The first value that is not NULL.
pub(super) fn coalesce(
    parts: &[Expr],
    ty: &SqlType,
    ctx: &EvalContext<'_>,
    batch: &Batch,
) -> SqlResult<Column> {
    let Some((first, rest)) = parts.split_first() else {
        return Ok(Column::nulls(ty.physical(), ty.decimals_of_column(), batch.rows()));
    };
    let column = first.eval(ctx, batch)?;
    if !column.has_nulls() {
        return Ok(Arc::unwrap_or_clone(column));
    }
    let rows = batch.rows();
    let mut pieces = Pieces::new(ty, rows);
    let mut open = logic::is_null(&column).yes;
    let all: Vec<u32> = (0..rows as u32).collect();
    pieces.add(&column, &all);
    for part in rest {
        spend(64 + rows)?;
        let undecided = open.positions();
        if undecided.is_empty() {
            break;
        }
        let column = subset::eval(part, ctx, batch, &undecided)?;
        pieces.add(&column, &undecided);
        let null = logic::is_null(&column).yes;
        let mut still = Bitmap::zeros(rows);
        null.iter_ones().for_each(|i| still.set(undecided[i] as usize, true));
        open = bits::or(&still, &Bitmap::zeros(rows));
    }
    Ok(pieces.finish())
}
