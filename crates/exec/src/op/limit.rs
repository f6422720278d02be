//! LIMIT and OFFSET, and the single row of a scalar subquery.

use std::sync::Arc;

use selkie_expr::Expr;
use selkie_plan::physical::{Limit as Plan, Operator as Root, PlanNode};
use selkie_types::error::catalogue::ER_SUBQUERY_NO_1_ROW;
use selkie_types::{Batch, Column, SqlError, SqlResult, Value};

use super::{BoxOperator, Operator, open as open_node, scale_of};
use crate::run::Env;

/// The value of a LIMIT or OFFSET.
pub(super) fn row_count(env: Env<'_>, e: Option<&Expr>) -> SqlResult<Option<u64>> {
    let Some(e) = e else { return Ok(None) };
    Ok(Some(match e.eval_value(env.eval)? {
        Value::UInt(n) => n,
        Value::Int(n) => n.max(0) as u64,
        _ => 0,
    }))
}

pub(super) fn open<'r>(env: Env<'r>, plan: &'r Plan) -> SqlResult<BoxOperator<'r>> {
    let limit = row_count(env, plan.limit.as_ref())?;
    let offset = row_count(env, plan.offset.as_ref())?.unwrap_or(0);
    let is_root = matches!(&env.rt.plan.root.operator, Root::Limit(l) if std::ptr::eq(&**l, plan));
    let count = env.rt.plan.calc_found_rows && is_root;
    let input = open_node(env, &plan.input)?;
    Ok(Box::new(Limit { env, input, skip: offset, left: limit.unwrap_or(u64::MAX), count }))
}

/// Some rows, as they come.
struct Limit<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    skip: u64,
    left: u64,
    /// SQL_CALC_FOUND_ROWS: the rest of the rows is read and counted.
    count: bool,
}

impl Limit<'_> {
    fn count_rest(&mut self) -> SqlResult<()> {
        if !std::mem::take(&mut self.count) {
            return Ok(());
        }
        let mut more = 0;
        while let Some(batch) = self.input.next()? {
            more += batch.rows() as u64;
        }
        let found = &self.env.rt.found;
        found.set(found.get() + more);
        Ok(())
    }

    fn note(&self, rows: u64) {
        if self.count {
            let found = &self.env.rt.found;
            found.set(found.get() + rows);
        }
    }
}

impl Operator for Limit<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        while self.left > 0 {
            let Some(batch) = self.input.next()? else { return Ok(None) };
            let rows = batch.rows() as u64;
            self.note(rows);
            if self.skip >= rows {
                self.skip -= rows;
                continue;
            }
            let from = std::mem::take(&mut self.skip);
            let to = rows.min(from.saturating_add(self.left));
            self.left -= to - from;
            if self.left == 0 {
                self.count_rest()?;
            }
            return Ok(Some(batch.slice(from as usize, to as usize)));
        }
        self.count_rest()?;
        Ok(None)
    }
}

/// Exactly one row: of NULLs if the input has none, an error if it has more.
pub(super) struct SingleRow<'r> {
    input: BoxOperator<'r>,
    node: &'r PlanNode,
    done: bool,
}

impl<'r> SingleRow<'r> {
    pub(super) fn new(input: BoxOperator<'r>, node: &'r PlanNode) -> Self {
        Self { input, node, done: false }
    }
}

impl Operator for SingleRow<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let Some(batch) = self.input.next()? else {
            let null = |c: &selkie_plan::physical::ColumnType| {
                Arc::new(Column::nulls(c.ty.physical(), scale_of(&c.ty), 1))
            };
            return Ok(Some(Batch::new(self.node.columns.iter().map(null).collect(), 1)));
        };
        if batch.rows() > 1 || self.input.next()?.is_some() {
            return Err(SqlError::new(&ER_SUBQUERY_NO_1_ROW, &[]));
        }
        Ok(Some(batch))
    }
}
