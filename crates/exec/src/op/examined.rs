//! LIMIT ROWS EXAMINED: counts rows read from tables and ends the result at the limit.
//!
//! A statement without this clause must not pay more than one check of a cell per batch.

use selkie_plan::physical::PlanNode;
use selkie_types::error::catalogue::{ER_FILSORT_ABORT, ER_QUERY_RESULT_INCOMPLETE};
use selkie_types::{Batch, SqlError, SqlResult};

use super::{BoxOperator, Operator, open, source};
use crate::run::Env;

/// Counts rows read. Above the limit it fails with the error that [`open_limited`] handles.
#[inline]
pub(super) fn examine(env: Env<'_>, rows: usize) -> SqlResult<()> {
    match env.rt.examined.left.get() {
        None => Ok(()),
        Some(left) => {
            let after = left.checked_sub(rows as u64);
            env.rt.examined.left.set(Some(after.unwrap_or(0)));
            after.map(drop).ok_or_else(spent)
        }
    }
}

#[cold]
fn spent() -> SqlError {
    SqlError::new(&ER_QUERY_RESULT_INCOMPLETE, &[&"LIMIT ROWS EXAMINED", &0])
}

fn is_spent(error: &SqlError) -> bool {
    error.code() == ER_QUERY_RESULT_INCOMPLETE.code
}

/// Compat: a sort whose input is incomplete gives no rows and another error.
pub(super) fn unsorted(error: SqlError) -> SqlError {
    match is_spent(&error) {
        true => SqlError::with_message(&ER_FILSORT_ABORT, "Sort aborted: LIMIT ROWS EXAMINED"),
        false => error,
    }
}

/// Opens a statement's rows; they end when the statement has examined too many rows.
pub(crate) fn open_limited<'r>(env: Env<'r>, node: &'r PlanNode) -> SqlResult<BoxOperator<'r>> {
    if env.rt.plan.rows_examined.is_none() {
        return open(env, node);
    }
    let limit = super::limit::row_count(env, env.rt.plan.rows_examined.as_ref())?;
    env.rt.examined.begin(limit);
    let input = match open(env, node) {
        Err(error) if is_spent(&error) => {
            env.rt.examined.incomplete.set(true);
            Box::new(source::Empty)
        }
        opened => opened?,
    };
    Ok(Box::new(Limited { env, input }))
}

/// Limits the output of a grouping. Compat: a grouping whose input is incomplete gives no groups,
/// so a sort above it has nothing to sort.
pub(super) fn grouped<'r>(env: Env<'r>, input: BoxOperator<'r>) -> BoxOperator<'r> {
    match env.rt.examined.is_limited() {
        true => Box::new(Limited { env, input }),
        false => input,
    }
}

struct Limited<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
}

impl Operator for Limited<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        match self.input.next() {
            Err(error) if is_spent(&error) => {
                self.env.rt.examined.incomplete.set(true);
                self.input = Box::new(source::Empty);
                Ok(None)
            }
            given => given,
        }
    }
}

/// Raises warning 1931 if rows are missing.
pub(crate) fn tell(env: Env<'_>) -> SqlResult<()> {
    if env.rt.examined.incomplete.get() {
        let limit = super::limit::row_count(env, env.rt.plan.rows_examined.as_ref())?;
        let limit = limit.unwrap_or_default();
        env.eval.warn(&ER_QUERY_RESULT_INCOMPLETE, &[&"LIMIT ROWS EXAMINED", &limit]);
    }
    Ok(())
}

/// Rows of a computed table; under a limit they are counted and given one by one.
pub(super) fn counted<'r>(env: Env<'r>, input: BoxOperator<'r>) -> BoxOperator<'r> {
    match env.rt.examined.is_limited() {
        true => Box::new(Counted { env, input, batch: Batch::default(), given: 0 }),
        false => input,
    }
}

struct Counted<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    batch: Batch,
    given: usize,
}

impl Operator for Counted<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        while self.given == self.batch.rows() {
            let Some(batch) = self.input.next()? else { return Ok(None) };
            (self.batch, self.given) = (batch, 0);
        }
        examine(self.env, 1)?;
        self.given += 1;
        Ok(Some(self.batch.slice(self.given - 1, self.given)))
    }
}
