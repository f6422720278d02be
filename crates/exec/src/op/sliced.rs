//! Smaller batches for operators that compute large values.
//!
//! Must not change rows or their order.

use selkie_expr::{Expr, ExprKind};
use selkie_meter::Mark;
use selkie_types::{Batch, Physical, SqlResult};

use super::{BoxOperator, Operator};
use crate::run::rows::GOAL;

/// Rows of the first slice.
const FIRST: usize = 1;

/// A slice has at most this many times the rows of the slice before.
const FASTER: usize = 8;

/// Length in characters from which a type's values may be large.
const LARGE: u32 = 1 << 16;

/// Gives its input in slices. The size of a slice follows from the memory that the work on the
/// slice before it took.
struct Sliced<'r> {
    input: BoxOperator<'r>,
    batch: Batch,
    at: usize,
    most: usize,
    given: Option<(usize, Mark)>,
}

/// `input` for an operator that computes `exprs` over its rows.
pub(super) fn for_values<'r, 'e>(
    input: BoxOperator<'r>,
    mut exprs: impl Iterator<Item = &'e Expr>,
) -> BoxOperator<'r> {
    match exprs.any(makes_large_values) {
        true => {
            Box::new(Sliced { input, batch: Batch::default(), at: 0, most: FIRST, given: None })
        }
        false => input,
    }
}

/// Whether a function gives values without a small bound.
fn makes_large_values(expr: &Expr) -> bool {
    expr.any(&mut |e| {
        matches!(e.kind, ExprKind::Call(_))
            && e.ty.physical() == Physical::Bytes
            && e.ty.length >= LARGE
            && !e.is_constant()
    })
}

impl Sliced<'_> {
    /// Sets the size of the next slice from the memory that the last one took.
    fn learn(&mut self) {
        let Some((rows, mark)) = self.given.take() else { return };
        let fit = GOAL / (mark.most_since() / rows).max(1);
        // A slice that took little memory says little about the next.
        self.most = fit.clamp(1, rows * FASTER);
    }
}

impl Operator for Sliced<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        self.learn();
        if self.at == self.batch.rows() {
            let Some(batch) = self.input.next()? else { return Ok(None) };
            (self.batch, self.at) = (batch, 0);
        }
        let (from, rows) = (self.at, self.batch.rows());
        self.at = rows.min(from + self.most);
        let slice = match (from, self.at == rows) {
            (0, true) => self.batch.clone(),
            _ => self.batch.slice(from, self.at),
        };
        if slice.rows() > 0 {
            self.given = Some((slice.rows(), Mark::now()));
        }
        Ok(Some(slice))
    }
}
