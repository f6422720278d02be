//! LIMIT and OFFSET, and the single row of a scalar subquery. The values of LIMIT and OFFSET are
//! evaluated when the operator opens. Counts rows for FOUND_ROWS() if the plan asks for it.

use std::sync::Arc;

use selkie_expr::Expr;
use selkie_expr::aggregate::Aggregate;
use selkie_plan::physical::{Limit as Plan, Operator as Op, PlanNode, SortKey};
use selkie_types::error::catalogue::{
    ER_INVALID_VALUE_TO_LIMIT, ER_SUBQUERY_NO_1_ROW, ER_WRONG_ARGUMENTS,
};
use selkie_types::{Batch, ByteRows, Column, SqlError, SqlResult, Value, stack};

use super::sort_key::put_keys;
use super::{BoxOperator, Operator, open as open_node};
use crate::run::Env;
use crate::state::columns::scale_of;

/// The value of a LIMIT or OFFSET.
pub(crate) fn row_count(env: Env<'_>, e: Option<&Expr>) -> SqlResult<Option<u64>> {
    let Some(e) = e else { return Ok(None) };
    refuse_negative(env, e)?;
    Ok(Some(e.eval_count(env.eval)?))
}

/// Compat: EXECUTE refuses a negative placeholder in LIMIT. A negative variable of a program, or a
/// negative placeholder of the binary protocol, means no limit.
fn refuse_negative(env: Env<'_>, e: &Expr) -> SqlResult<()> {
    let Some(slot) = e.converted_parameter() else { return Ok(()) };
    if env.rt.session.programs.executing.is_empty() {
        return Ok(());
    }
    let negative = match env.eval.parameter(slot) {
        Value::Int(n) => n < 0,
        Value::Double(n) => n <= -0.5,
        Value::Decimal(n) => n.is_negative(),
        Value::Bytes(text) => text.trim_ascii_start().starts_with(b"-"),
        _ => false,
    };
    match negative {
        true => Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"EXECUTE"])),
        false => Ok(()),
    }
}

/// Checks the LIMIT of aggregates. Compat: it takes placeholders of integers only, unlike that of a
/// query.
pub(super) fn check_aggregates(env: Env<'_>, aggregates: &[Aggregate]) -> SqlResult<()> {
    let limits = aggregates.iter().filter_map(|aggregate| aggregate.limit.as_deref());
    for e in limits.flat_map(|(offset, count)| [offset, count]) {
        if e.parameter_within().is_some_and(|parameter| !parameter.ty.is_integer()) {
            return Err(SqlError::new(&ER_INVALID_VALUE_TO_LIMIT, &[]));
        }
        refuse_negative(env, e)?;
    }
    Ok(())
}

/// The LIMIT of the outermost block.
pub(crate) fn limit(env: Env<'_>, node: &PlanNode) -> SqlResult<Option<u64>> {
    stack::check()?;
    match &node.operator {
        Op::Project { input, .. } => limit(env, input),
        Op::Limit(limit) => row_count(env, limit.limit.as_ref()),
        Op::TopN(top) => row_count(env, Some(&top.limit)),
        _ => Ok(None),
    }
}

/// The OFFSET of the outermost block, unless it belongs to a UNION.
pub(crate) fn offset(env: Env<'_>, node: &PlanNode) -> SqlResult<u64> {
    stack::check()?;
    let offset = match &node.operator {
        Op::Project { input, .. } => return offset(env, input),
        Op::Limit(limit) if matches!(limit.input.operator, Op::SetOperation(_)) => None,
        Op::Limit(limit) => limit.offset.as_ref(),
        Op::TopN(top) => top.offset.as_ref(),
        _ => None,
    };
    Ok(row_count(env, offset)?.unwrap_or(0))
}

pub(super) fn open<'r>(env: Env<'r>, plan: &'r Plan) -> SqlResult<BoxOperator<'r>> {
    let limit = row_count(env, plan.limit.as_ref())?;
    let offset = row_count(env, plan.offset.as_ref())?.unwrap_or(0);
    let wanted = limit.and_then(|limit| u32::try_from(limit.saturating_add(offset)).ok());
    let input = open_node(Env { wanted: wanted.filter(|_| !plan.counted), ..env }, &plan.input)?;
    let left = limit.unwrap_or(u64::MAX);
    let ties = plan.ties.as_deref().filter(|_| left > 0).map(|keys| Ties { keys, last: None });
    Ok(Box::new(Limit { env, input, skip: offset, left, ties, count: plan.counted }))
}

/// Gives a part of the input's rows in input order.
struct Limit<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    skip: u64,
    left: u64,
    /// Set for WITH TIES.
    ties: Option<Ties<'r>>,
    /// Whether the rest of the rows is read and counted, for SQL_CALC_FOUND_ROWS.
    count: bool,
}

/// Rows with the sort key of the last row.
struct Ties<'r> {
    keys: &'r [SortKey],
    /// Sort key of the last row; `None` before that row.
    last: Option<Vec<u8>>,
}

impl Ties<'_> {
    /// End of the rows from `from` on whose key equals that of the row before them.
    fn end(&mut self, env: Env<'_>, batch: &Batch, from: usize) -> SqlResult<usize> {
        let mut keys = ByteRows::default();
        put_keys(env, self.keys, batch, &mut keys)?;
        let last = match &self.last {
            Some(last) => last,
            None => self.last.insert(keys.get(from - 1).to_vec()),
        };
        Ok((from..batch.rows()).find(|&row| keys.get(row) != last).unwrap_or(batch.rows()))
    }
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

    /// End of the rows to give from the last batch: `to`, or later if rows tie.
    fn last_rows(&mut self, batch: &Batch, to: usize) -> SqlResult<usize> {
        let Some(ties) = &mut self.ties else { return Ok(to) };
        let end = ties.end(self.env, batch, to)?;
        if end < batch.rows() {
            self.ties = None;
        }
        Ok(end)
    }

    /// Further rows that tie with the last one.
    fn tied(&mut self) -> SqlResult<Option<Batch>> {
        if self.ties.is_none() {
            return Ok(None);
        }
        let Some(batch) = self.input.next()? else { return Ok(None) };
        self.note(batch.rows() as u64);
        let end = self.last_rows(&batch, 0)?;
        Ok((end > 0).then(|| batch.slice(0, end)))
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
            let mut to = rows.min(from.saturating_add(self.left)) as usize;
            self.left -= to as u64 - from;
            if self.left == 0 {
                to = self.last_rows(&batch, to)?;
            }
            if self.left == 0 && self.ties.is_none() {
                self.count_rest()?;
            }
            return Ok(Some(batch.slice(from as usize, to)));
        }
        if let Some(batch) = self.tied()? {
            return Ok(Some(batch));
        }
        self.count_rest()?;
        Ok(None)
    }
}

/// Gives exactly one row: NULLs if the input is empty, an error if it has several rows.
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
