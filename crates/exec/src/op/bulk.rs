//! Source of rows of values computed from rows of parameters, for an INSERT run in bulk.
//!
//! Must not depend on how rows are stored: it gives batches like any other source.

use std::sync::Arc;

use selkie_expr::{Expr, ExprKind};
use selkie_plan::physical::{BulkValues as Plan, PlanNode};
use selkie_types::{BATCH_ROWS, Batch, Column, SqlError, SqlResult, Value};

use super::Operator;
use crate::run::Env;
use crate::state::bulk::{Argument, BulkRows, ParameterRows};
use crate::state::columns::column_of;

/// The operator.
pub(super) struct BulkValues<'r> {
    env: Env<'r>,
    node: &'r PlanNode,
    plan: &'r Plan,
    bulk: BulkRows<'r>,
    /// Whether some value is an expression over parameters, which must be set in the context then.
    computes: bool,
    /// Rows per batch.
    step: usize,
    /// Rows given so far.
    done: usize,
}

impl<'r> BulkValues<'r> {
    pub(super) fn new(env: Env<'r>, node: &'r PlanNode, plan: &'r Plan) -> SqlResult<Self> {
        let bulk = env.rt.bulk.and_then(ParameterRows::listed);
        let bulk = bulk.ok_or_else(|| SqlError::internal("a bulk without rows"))?;
        let is_plain = |e: &Expr| matches!(e.kind, ExprKind::Parameter(_) | ExprKind::Literal(_));
        let computes = plan.by_row || !plan.templates.iter().flatten().all(is_plain);
        let step = if env.rt.row_by_row() || plan.by_row { 1 } else { BATCH_ROWS };
        Ok(Self { env, node, plan, bulk, computes, step, done: 0 })
    }

    /// Appends row `number`, counted over all rows of parameters.
    fn push(&self, number: usize, columns: &mut [Column]) -> SqlResult<()> {
        let (row, line) = (number / self.plan.height, number % self.plan.height);
        let arguments = &self.bulk.rows[row];
        if line == 0 && self.computes {
            self.begin_row(arguments);
        }
        self.env.eval.set_row(number as u64 + 1);
        let template = self.bulk.patterns[row] as usize * self.plan.height + line;
        for (column, e) in columns.iter_mut().zip(&self.plan.templates[template]) {
            match given(e, arguments) {
                Some(value) => column.push(value),
                None => {
                    if !self.computes {
                        self.begin_row(arguments);
                    }
                    column.push(&e.eval_value(self.env.eval)?);
                }
            }
        }
        Ok(())
    }

    /// Sets a row's arguments as the statement's parameters.
    fn begin_row(&self, arguments: &[Argument]) {
        self.env.eval.set_parameters(arguments.iter().map(|a| a.value().clone()));
        if self.plan.by_row {
            self.env.rt.forget_results();
        }
    }
}

/// Value of an expression that is a bare parameter, if the column can take the value unchanged.
fn given<'a>(e: &Expr, arguments: &'a [Argument]) -> Option<&'a Value> {
    let ExprKind::Parameter(slot) = e.kind else { return None };
    let value = arguments.get(slot)?.value();
    value.physical().is_none_or(|physical| physical == e.ty.physical()).then_some(value)
}

impl Operator for BulkValues<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let left = self.bulk.rows.len() * self.plan.height - self.done;
        if left == 0 {
            return Ok(None);
        }
        let count = left.min(self.step);
        selkie_meter::spend(count)?;
        let types = self.node.columns.iter();
        let mut columns: Vec<_> = types.map(|c| column_of(&c.ty, count)).collect();
        for number in self.done..self.done + count {
            self.push(number, &mut columns)?;
        }
        self.env.eval.set_row(self.done as u64 + 1);
        self.done += count;
        Ok(Some(Batch::new(columns.into_iter().map(Arc::new).collect(), count)))
    }
}
