//! GROUP BY and aggregates, with and without ROLLUP.

use std::sync::Arc;

use selkie_plan::physical::{Aggregate as Plan, ColumnType, PlanNode};
use selkie_types::{BATCH_ROWS, Batch, Column, SqlResult};

use super::group::{Grouping, Inputs};
use super::rows::at_once;
use super::{BoxOperator, Operator, open as open_node, scale_of, sliced};
use crate::run::Env;

pub(super) fn open<'r>(
    env: Env<'r>,
    plan: &'r Plan,
    node: &'r PlanNode,
) -> SqlResult<BoxOperator<'r>> {
    Ok(Box::new(Aggregation {
        env,
        plan,
        types: &node.columns[..plan.groups.len()],
        result: None,
        given: 0,
    }))
}

/// The operator: computes all groups at first, then gives them.
struct Aggregation<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    types: &'r [ColumnType],
    result: Option<Batch>,
    given: usize,
}

impl Aggregation<'_> {
    fn compute(&mut self) -> SqlResult<Batch> {
        if self.plan.rollup {
            return self.rollup();
        }
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

    /// One grouping for each number of keys, from none to all.
    fn rollup(&mut self) -> SqlResult<Batch> {
        let inputs = Inputs::new(&self.plan.groups, &self.plan.aggregates);
        let count = self.plan.groups.len();
        let level = |n: usize| Grouping::new(&self.types[..n], &self.plan.aggregates);
        let mut levels: Vec<Grouping> = (0..=count).map(level).collect();
        let mut parents: Vec<Vec<u32>> = vec![Vec::new(); count + 1];
        let input = open_node(self.env, &self.plan.input)?;
        let mut input = sliced::for_values(input, inputs.exprs());
        let mut any = false;
        while let Some(batch) = input.next()? {
            any = true;
            let keys = inputs.keys(self.env.eval, &batch)?;
            let args = inputs.args(self.env.eval, &batch)?;
            let mut above = vec![0; batch.rows()];
            for (n, grouping) in levels.iter_mut().enumerate() {
                let ids = grouping.update(self.env.eval, &keys[..n], &args, batch.rows())?;
                if n == 0 {
                    continue;
                }
                let ids = ids.to_vec();
                parents[n].resize(grouping.len(), u32::MAX);
                ids.iter().zip(&above).for_each(|(id, up)| parents[n][*id as usize] = *up);
                above = ids;
            }
            self.env.check()?;
        }
        if !any {
            return Ok(Batch::default());
        }
        self.interleave(levels, &parents)
    }

    /// Each group after the groups below it.
    fn interleave(&self, levels: Vec<Grouping>, parents: &[Vec<u32>]) -> SqlResult<Batch> {
        let count = levels.len() - 1;
        let mut first_rows = Vec::new();
        let mut columns: Vec<Column> = Vec::new();
        let mut total = 0;
        for (n, grouping) in levels.into_iter().enumerate() {
            first_rows.push(total as u32);
            let batch = self.pad(grouping.finish(self.env.eval)?, n);
            total += batch.rows();
            if columns.is_empty() {
                columns = batch.columns().iter().map(|c| c.expand()).collect();
            } else {
                columns.iter_mut().zip(batch.columns()).for_each(|(all, c)| all.append(c));
            }
        }
        let mut children = vec![Vec::new(); total];
        for n in 1..=count {
            for (id, up) in parents[n].iter().enumerate() {
                let parent = first_rows[n - 1] + up;
                children[parent as usize].push(first_rows[n] + id as u32);
            }
        }
        let mut order = Vec::with_capacity(total);
        post_order(0, &children, &mut order);
        let all = Batch::new(columns.into_iter().map(Arc::new).collect(), total);
        Ok(all.gather(&order))
    }

    /// The groups of `n` keys with NULLs for the others.
    fn pad(&self, batch: Batch, n: usize) -> Batch {
        let rows = batch.rows();
        let mut columns = batch.into_columns();
        let results = columns.split_off(n);
        for c in &self.types[n..] {
            columns.push(Arc::new(Column::nulls(c.ty.physical(), scale_of(&c.ty), rows)));
        }
        columns.extend(results);
        Batch::new(columns, rows)
    }
}

fn post_order(at: u32, children: &[Vec<u32>], order: &mut Vec<u32>) {
    selkie_types::stack::ensure();
    children[at as usize].iter().for_each(|&child| post_order(child, children, order));
    order.push(at);
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
