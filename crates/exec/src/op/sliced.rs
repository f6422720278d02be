//! Fewer rows at once for those that compute large values of them.
//!
//! Must not change rows or their order.

use selkie_expr::{Expr, ExprKind};
use selkie_meter::Mark;
use selkie_types::{Batch, Physical, SqlResult};

use super::rows::GOAL;
use super::{BoxOperator, Operator};

/// Rows given at first.
const FIRST: usize = 1;

/// A slice has at most this many times the rows of the one before.
const FASTER: usize = 8;

/// A type of values that may be large, in characters.
const LARGE: u32 = 1 << 16;

/// The rows of an operator in slices. How many a slice has follows from what the work on the one
/// before took.
struct Sliced<'r> {
    input: BoxOperator<'r>,
    batch: Batch,
    at: usize,
    most: usize,
    given: Option<(usize, Mark)>,
}

/// `input` for whoever computes `exprs` of its rows.
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

/// Whether a function makes values without a small bound.
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
        // One that took little says little.
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
