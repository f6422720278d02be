//! `ROWNUM()`: numbers the rows that pass conditions, from 1 on. A row is tested with the number
//! that it gets if it passes, so the test of a row depends on the rows before it.
//!
//! Must stop once a condition on the number alone is false: no later row has another number.

use std::sync::Arc;

use selkie_expr::{CompareOp, Expr};
use selkie_plan::physical::RowNumbers as Plan;
use selkie_types::{Batch, Column, ColumnData, SqlResult, Value};

use super::project::in_row_order;
use super::{BoxOperator, Operator, open as open_node};
use crate::run::Env;
use crate::run::row_filter::keep_rows;

pub(super) fn open<'r>(env: Env<'r>, plan: &'r Plan) -> SqlResult<BoxOperator<'r>> {
    let number = plan.input.columns.len();
    let alone = |e: &&Expr| {
        let is_fixed = e.is_deterministic() && !e.has_side_effects() && !e.has_subquery();
        is_fixed && e.columns().iter().all(|at| *at == number)
    };
    let (alone, mixed): (Vec<&Expr>, Vec<&Expr>) = plan.conditions.iter().partition(alone);
    let alone = alone.into_iter().cloned().collect();
    let mixed: Vec<Expr> = mixed.into_iter().cloned().collect();
    let last = last(env, plan)?;
    let wanted = last.filter(|_| mixed.is_empty()).and_then(|last| u32::try_from(last).ok());
    let input = open_node(Env { wanted, ..env }, &plan.input)?;
    let lazy = in_row_order(&mixed);
    let (next, rest) = (1, (Batch::default(), 0));
    let done = last == Some(0);
    Ok(Box::new(RowNumbers { env, input, alone, mixed, lazy, next, last, rest, done }))
}

/// The last number that can pass, if it is known.
fn last(env: Env<'_>, plan: &Plan) -> SqlResult<Option<u64>> {
    let Some((op, most)) = &plan.most else { return Ok(None) };
    let most = match most.eval_value(env.eval)? {
        Value::UInt(n) => n,
        Value::Int(n) => n.max(0) as u64,
        _ => return Ok(None),
    };
    Ok(Some(if *op == CompareOp::Lt { most.saturating_sub(1) } else { most }))
}

/// The operator.
struct RowNumbers<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    /// Conditions on the number alone.
    alone: Vec<Expr>,
    /// Conditions that read other columns too.
    mixed: Vec<Expr>,
    /// Whether rows are tested only when they are asked for, because tests have effects.
    lazy: bool,
    /// The number of the next row that passes.
    next: u64,
    /// The last number that can pass: no row is read behind it.
    last: Option<u64>,
    /// The current batch, and the first of its rows that is not tested.
    rest: (Batch, usize),
    done: bool,
}

impl RowNumbers<'_> {
    /// The rows of `batch` with rising numbers.
    fn zipped(&self, batch: Batch) -> Batch {
        let rows = batch.rows();
        let numbers = (self.next..).take(rows).collect();
        let numbers = Column::from_data(ColumnData::UInt(numbers), None);
        batch.zip(&Batch::new(vec![Arc::new(numbers)], rows))
    }

    /// The first rows of a batch, if no condition reads their columns: all up to the first number
    /// that does not pass.
    fn leading(&mut self, batch: Batch) -> SqlResult<Batch> {
        let all = self.zipped(batch);
        let passed = match keep_rows(self.env.eval, &self.alone, &all)? {
            None => all.rows(),
            Some(keep) => (0..all.rows()).take_while(|row| keep.get(*row)).count(),
        };
        self.done = passed < all.rows();
        self.next += passed as u64;
        Ok(if self.done { all.slice(0, passed) } else { all })
    }

    /// The rows of a batch that pass, one after the other.
    fn tested(&mut self, batch: Batch, from: usize) -> SqlResult<Batch> {
        let (mut passed, first) = (Vec::new(), self.next);
        for row in from..batch.rows() {
            let one = self.zipped(batch.slice(row, row + 1));
            if keep_rows(self.env.eval, &self.alone, &one)?.is_some() {
                self.done = true;
                break;
            }
            if keep_rows(self.env.eval, &self.mixed, &one)?.is_some() {
                continue;
            }
            passed.push(row as u32);
            self.next += 1;
            if self.lazy {
                self.rest = (batch.clone(), row + 1);
                break;
            }
        }
        let numbers = (first..self.next).collect();
        let numbers = Column::from_data(ColumnData::UInt(numbers), None);
        let rows = passed.len();
        Ok(batch.gather(&passed).zip(&Batch::new(vec![Arc::new(numbers)], rows)))
    }
}

impl Operator for RowNumbers<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        while !self.done {
            let (batch, from) = std::mem::take(&mut self.rest);
            let (batch, from) = match from < batch.rows() {
                true => (batch, from),
                false => match self.input.next()? {
                    Some(batch) => (batch, 0),
                    None => return Ok(None),
                },
            };
            let passed = match self.mixed.is_empty() {
                true => self.leading(batch)?,
                false => self.tested(batch, from)?,
            };
            self.done |= self.last.is_some_and(|last| self.next > last);
            if passed.rows() > 0 {
                return Ok(Some(passed));
            }
            self.env.check()?;
        }
        Ok(None)
    }
}
