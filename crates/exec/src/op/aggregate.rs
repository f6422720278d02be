//! GROUP BY and aggregates. ROLLUP is in `rollup`. Hashes all input rows into groups before it
//! gives the first, in the order of each group's first row.

use selkie_plan::physical::{Aggregate as Plan, ColumnType, PlanNode};
use selkie_types::{BATCH_ROWS, Batch, SqlResult};

use super::group::{Grouping, Inputs};
use super::rollup::Rollup;
use super::rows::at_once;
use super::{BoxOperator, Operator, open as open_node, sliced};
use crate::run::Env;

pub(super) fn open<'r>(
    env: Env<'r>,
    plan: &'r Plan,
    node: &'r PlanNode,
) -> SqlResult<BoxOperator<'r>> {
    let types = &node.columns[..plan.groups.len()];
    if plan.rollup {
        return Ok(Box::new(Rollup::new(env, plan, types)));
    }
    Ok(Box::new(Aggregation { env, plan, types, result: None, given: 0 }))
}

/// The operator: it computes all groups on the first call, then gives them in batches.
struct Aggregation<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    types: &'r [ColumnType],
    result: Option<Batch>,
    given: usize,
}

impl Aggregation<'_> {
    fn compute(&mut self) -> SqlResult<Batch> {
        let inputs = Inputs::new(&self.plan.groups, &self.plan.aggregates);
        let mut grouping = Grouping::new(self.types, &self.plan.aggregates);
        let input = open_node(self.env, &self.plan.input)?;
        let mut input = sliced::for_values(input, inputs.exprs());
        while let Some(batch) = input.next()? {
            let keys = inputs.keys(self.env.eval, &batch)?;
            let args = inputs.args(self.env.eval, &batch)?;
            grouping.update(self.env.eval, &keys, &args, batch.rows())?;
            self.env.check()?;
        }
        grouping.finish(self.env.eval)
    }
}

impl Operator for Aggregation<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let result = match self.result.take() {
            Some(result) => result,
            None => self.compute()?,
        };
        let count = at_once(result.memory(), result.rows(), BATCH_ROWS);
        let (from, to) = (self.given, (self.given + count).min(result.rows()));
        let batch = (from < to).then(|| result.slice(from, to));
        self.given = to;
        self.result = Some(result);
        Ok(batch)
    }
}
