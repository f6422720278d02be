//! Sources without input: one row, no row, literal rows. Expressions of literal rows are evaluated
//! in row order.

use std::sync::Arc;

use selkie_expr::Expr;
use selkie_plan::physical::PlanNode;
use selkie_types::{BATCH_ROWS, Batch, SqlResult};

use super::Operator;
use crate::run::Env;
use crate::state::columns::column_of;

/// Gives one row without columns.
#[derive(Default)]
pub(super) struct OneRow {
    done: bool,
}

impl Operator for OneRow {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        Ok((!std::mem::replace(&mut self.done, true)).then(Batch::one_row))
    }
}

/// Gives no row.
pub(super) struct Empty;

impl Operator for Empty {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        Ok(None)
    }
}

/// Gives rows of expressions.
pub(super) struct Values<'r> {
    env: Env<'r>,
    node: &'r PlanNode,
    rows: std::slice::Chunks<'r, Vec<Expr>>,
    done: u64,
}

impl<'r> Values<'r> {
    pub(super) fn new(env: Env<'r>, node: &'r PlanNode, rows: &'r [Vec<Expr>]) -> Self {
        let step = if env.rt.row_by_row() { 1 } else { BATCH_ROWS };
        Self { env, node, rows: rows.chunks(step), done: 0 }
    }

    /// A batch of one row: the columns are the results of its expressions.
    fn single(&self, row: &[Expr]) -> SqlResult<Batch> {
        let one = Batch::one_row();
        let mut columns = Vec::with_capacity(row.len());
        for e in row {
            columns.push(e.eval(self.env.eval, &one)?);
        }
        Ok(Batch::new(columns, 1))
    }

    fn several(&self, rows: &[Vec<Expr>]) -> SqlResult<Batch> {
        let types = &self.node.columns;
        let mut columns: Vec<_> = types.iter().map(|c| column_of(&c.ty, rows.len())).collect();
        for (at, row) in rows.iter().enumerate() {
            self.env.eval.set_row(self.done + at as u64 + 1);
            for (column, e) in columns.iter_mut().zip(row) {
                column.push(&e.eval_value(self.env.eval)?);
            }
        }
        self.env.eval.set_row(self.done + 1);
        Ok(Batch::new(columns.into_iter().map(Arc::new).collect(), rows.len()))
    }
}

impl Operator for Values<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let Some(rows) = self.rows.next() else { return Ok(None) };
        selkie_meter::spend(rows.len())?;
        self.env.eval.set_row(self.done + 1);
        let batch = match rows {
            [row] => self.single(row)?,
            rows => self.several(rows)?,
        };
        self.done += rows.len() as u64;
        Ok(Some(batch))
    }
}
