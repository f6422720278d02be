//! Groups of rows that are sorted by their keys, made of one stretch of rows after another.
//!
//! Only the first group of a stretch can go on one of an earlier stretch, and only the last can go
//! on in a later one: all between are complete. Must not be used where equal keys may lie apart, or
//! for aggregates whose result depends on the order of additions.

use std::collections::VecDeque;

use selkie_expr::EvalContext;
use selkie_expr::aggregate::Aggregate;
use selkie_plan::physical::ColumnType;
use selkie_types::{Batch, SqlError, SqlResult};

use super::group::Grouping;

/// The groups of a stretch of sorted rows.
pub(super) struct Run {
    /// The first group.
    first: Grouping,
    /// The results of the groups between the first and the last.
    between: Option<Batch>,
    /// The last group, if there are several.
    last: Option<Grouping>,
}

impl Run {
    /// The run of the groups of a stretch; `None` if it has no rows.
    pub(super) fn of(
        eval: &EvalContext<'_>,
        groups: Grouping,
        (types, aggregates): (&[ColumnType], &[Aggregate]),
    ) -> SqlResult<Option<Self>> {
        let one = |at| {
            let group = groups.one(at, types, aggregates)?;
            group.ok_or_else(|| SqlError::internal("an aggregate cannot be split by groups"))
        };
        let end = match groups.len() {
            0 => return Ok(None),
            1 => return Ok(Some(Self { first: groups, between: None, last: None })),
            groups => groups - 1,
        };
        let (first, last) = (one(0)?, Some(one(end)?));
        let between = match end {
            1 => None,
            _ => Some(groups.finish(eval, aggregates)?.slice(1, end)),
        };
        Ok(Some(Self { first, between, last }))
    }
}

/// Runs that follow each other.
#[derive(Default)]
pub(super) struct Runs {
    /// The last group so far, which the next run may go on.
    open: Option<Grouping>,
}

impl Runs {
    /// Adds the next run. Appends the results of the groups that are complete then.
    pub(super) fn add(
        &mut self,
        eval: &EvalContext<'_>,
        aggregates: &[Aggregate],
        run: Run,
        complete: &mut VecDeque<Batch>,
    ) -> SqlResult<()> {
        let mut first = run.first;
        if let Some(mut open) = self.open.take() {
            if open.has_first(first.keys.batch().columns()) {
                open.merge(eval, first)?;
                first = open;
            } else {
                complete.push_back(open.finish(eval, aggregates)?);
            }
        }
        let Some(last) = run.last else {
            self.open = Some(first);
            return Ok(());
        };
        complete.push_back(first.finish(eval, aggregates)?);
        complete.extend(run.between);
        self.open = Some(last);
        Ok(())
    }

    /// The results of the last group; `None` if there were no rows.
    pub(super) fn end(
        &mut self,
        eval: &EvalContext<'_>,
        aggregates: &[Aggregate],
    ) -> SqlResult<Option<Batch>> {
        self.open.take().map(|open| open.finish(eval, aggregates)).transpose()
    }
}
