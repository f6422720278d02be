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
        let Some(end) = groups.len().checked_sub(1) else { return Ok(None) };
        // Also of a single group: its key cannot be found in the table of sorted rows.
        let first = one(0)?;
        let last = if end > 0 { Some(one(end)?) } else { None };
        let between = match end {
            0 | 1 => None,
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use selkie_expr::aggregate::AggregateKind;
    use selkie_expr::{Expr, TypeContext};
    use selkie_types::{Bitmap, Column, ColumnData, SqlType, Value};

    use super::*;

    type Row = [Option<i64>; 2];

    fn aggregates() -> Vec<Aggregate> {
        use AggregateKind::*;
        let make = |kind| {
            let value = vec![Expr::column(1, SqlType::bigint(), true)];
            Aggregate::new(kind, false, value, &TypeContext::default()).expect("of numbers")
        };
        // An average shares the state of the sum.
        [Count, Sum, Avg, Min, Max].map(make).into()
    }

    fn types(keys: usize) -> Vec<ColumnType> {
        vec![ColumnType { ty: SqlType::bigint(), nullable: true }; keys]
    }

    fn column(rows: &[Row], at: usize) -> Arc<Column> {
        let valid: Bitmap = rows.iter().map(|row| row[at].is_some()).collect();
        let data = rows.iter().map(|row| row[at].unwrap_or_default()).collect();
        Arc::new(Column::from_data(ColumnData::Int(data), Some(valid)))
    }

    fn add(eval: &EvalContext<'_>, grouping: &mut Grouping, keys: usize, rows: &[Row]) {
        let args = vec![vec![column(rows, 1)]; 5];
        let keys = vec![column(rows, 0); keys];
        grouping.update(eval, &keys, &args, rows.len()).expect("no limit");
    }

    fn values(batches: &[Batch]) -> Vec<Vec<Value>> {
        let of = |batch: &Batch| {
            let row = |at| batch.columns().iter().map(|column| column.value(at)).collect();
            (0..batch.rows()).map(row).collect::<Vec<_>>()
        };
        batches.iter().flat_map(of).collect()
    }

    fn by_runs(eval: &EvalContext<'_>, keys: usize, stretches: &[Vec<Row>]) -> Vec<Batch> {
        let (types, aggregates) = (types(keys), aggregates());
        let (mut runs, mut complete) = (Runs::default(), VecDeque::new());
        for stretch in stretches {
            let mut grouping = Grouping::of_sorted(&types, &aggregates);
            // A stretch comes in batches.
            stretch.chunks(3).for_each(|batch| add(eval, &mut grouping, keys, batch));
            if let Some(run) = Run::of(eval, grouping, (&types, &aggregates)).expect("numbers") {
                runs.add(eval, &aggregates, run, &mut complete).expect("no limit");
            }
        }
        complete.extend(runs.end(eval, &aggregates).expect("no limit"));
        complete.into()
    }

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let (key, value) = (proptest::option::of(0..6_i64), proptest::option::of(any::<i64>()));
        proptest::collection::vec((key, value).prop_map(|(key, value)| [key, value]), 0..40)
    }

    proptest! {
        #[test]
        fn groups_of_runs_are_those_of_all_rows(
            keys in 1..3_usize,
            mut rows in rows(),
            cuts in proptest::collection::vec(0..40_usize, 0..6),
        ) {
            rows.sort_by_key(|row| row[0]);
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(rows.len())).collect();
            cuts.extend([0, rows.len()]);
            cuts.sort_unstable();
            let stretches: Vec<_> = cuts.windows(2).map(|cut| rows[cut[0]..cut[1]].to_vec()).collect();
            let eval = EvalContext::detached(&TypeContext::default());
            let mut whole = Grouping::new(&types(keys), &aggregates());
            if !rows.is_empty() {
                add(&eval, &mut whole, keys, &rows);
            }
            let whole = whole.finish(&eval, &aggregates()).expect("no limit");
            prop_assert_eq!(values(&by_runs(&eval, keys, &stretches)), values(&[whole]));
        }
    }
}
