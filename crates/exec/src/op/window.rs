//! Window functions over sorted partitions. Reads and sorts all rows, then computes each call over
//! whole partitions in memory ([`partitions`]). Result columns follow the input columns.

mod frame;
mod partitions;
mod percentile;
mod rank;
mod slide;
mod value;

use std::sync::Arc;

use selkie_plan::physical::{Window as Plan, WindowCall, WindowFunction};
use selkie_types::{BATCH_ROWS, Batch, ByteRows, Column, ColumnData, SqlResult};

use self::partitions::Partitions;
use super::key_sorter::KeySorter;
use super::sort_head::Equals;
use super::sort_key::{memory_of, put_key};
use super::{BoxOperator, Operator};
use crate::run::Env;
use crate::run::rows::at_once;
use crate::state::session::bump;

/// The operator: it sorts all input, then computes each call over each partition.
pub(super) struct Window<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    plan: &'r Plan,
    partitions: Option<Partitions<'r>>,
    result: Option<Batch>,
    given: usize,
}

/// Sorted rows of whole partitions, with the bounds of partitions and peer groups.
pub(super) struct Sorted {
    /// The rows in order.
    pub(super) rows: Batch,
    /// First row of each partition, then the number of rows.
    pub(super) partitions: Vec<usize>,
    /// First row of each row's peer group.
    pub(super) peer_start: Vec<usize>,
    /// Row after each row's peer group.
    pub(super) peer_end: Vec<usize>,
}

impl Sorted {
    /// Partitions as ranges.
    pub(super) fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        self.partitions.windows(2).map(|w| w[0]..w[1])
    }
}

impl<'r> Window<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>, plan: &'r Plan) -> Self {
        Self { env, input, plan, partitions: None, result: None, given: 0 }
    }

    /// Appends the sort key of each row of a batch. Returns the lengths of their first parts, which
    /// are the keys of the partitions.
    fn put_keys(&self, batch: &Batch, keys: &mut ByteRows) -> SqlResult<Column> {
        let (eval, plan) = (self.env.eval, self.plan);
        let by: SqlResult<Vec<_>> = plan.partition.iter().map(|e| e.eval(eval, batch)).collect();
        let order: SqlResult<Vec<_>> =
            plan.order.iter().map(|k| k.expr.eval(eval, batch)).collect();
        let (by, order) = (by?, order?);
        selkie_meter::ask(memory_of(&by) + memory_of(&order))?;
        let mut lengths = Vec::with_capacity(batch.rows());
        for row in 0..batch.rows() {
            let buffer = keys.buffer();
            let begin = buffer.len();
            for (e, column) in plan.partition.iter().zip(&by) {
                put_key(&e.ty, false, column, row, buffer);
            }
            lengths.push((buffer.len() - begin) as u64);
            for (key, column) in plan.order.iter().zip(&order) {
                put_key(&key.expr.ty, key.descending, column, row, buffer);
            }
            selkie_meter::spend(64 + 2 * (buffer.len() - begin))?;
            keys.end_row();
        }
        Ok(Column::from_data(ColumnData::UInt(lengths), None))
    }

    fn sort(&mut self) -> SqlResult<Partitions<'r>> {
        let mut sorter = KeySorter::new(self.env, Equals::Kept);
        while let Some(batch) = self.input.next()? {
            let mut keys = ByteRows::default();
            let lengths = Arc::new(self.put_keys(&batch, &mut keys)?);
            let batch = batch.clone().zip(&Batch::new(vec![lengths], batch.rows()));
            sorter.put(&batch, |_, all| {
                all.append(&keys);
                Ok(())
            })?;
        }
        let counters = self.env.counters();
        bump(&counters.rows_tmp_read, sorter.len() as u64);
        bump(&counters.sort_rows, sorter.len() as u64);
        Partitions::of(sorter.finish()?)
    }

    /// Rows and results of the next partitions; `None` after the last.
    fn compute(&mut self) -> SqlResult<Option<Batch>> {
        let mut partitions = match self.partitions.take() {
            Some(partitions) => partitions,
            None => self.sort()?,
        };
        let sorted = partitions.next()?;
        self.partitions = Some(partitions);
        let Some(sorted) = sorted else { return Ok(None) };
        let mut columns = sorted.rows.columns().to_vec();
        for call in &self.plan.calls {
            columns.push(Arc::new(self.call(call, &sorted)?));
        }
        Ok(Some(Batch::new(columns, sorted.rows.rows())))
    }

    fn call(&self, call: &WindowCall, sorted: &Sorted) -> SqlResult<Column> {
        use WindowFunction::*;
        let args: SqlResult<Vec<_>> =
            call.args.iter().map(|e| e.eval(self.env.eval, &sorted.rows)).collect();
        let args = args?;
        match &call.function {
            RowNumber | Rank | DenseRank | PercentRank | CumeDist | Ntile => {
                rank::compute(call, sorted, &args)
            }
            Lead | Lag => Ok(value::shifted(call, sorted, &args)),
            FirstValue | LastValue | NthValue => {
                let frames = frame::frames(self.env, self.plan, call, sorted)?;
                Ok(value::of_frame(call, &frames, &args))
            }
            PercentileCont | PercentileDisc => {
                percentile::compute(self.env, self.plan, call, sorted, &args)
            }
            Aggregate(aggregate) => {
                let frames = frame::frames(self.env, self.plan, call, sorted)?;
                let column = match slide::sums(self.env, aggregate, sorted, &frames)? {
                    Some(column) => column,
                    None => frame::aggregate(self.env, aggregate, sorted, &frames)?,
                };
                Ok(kept(column))
            }
        }
    }
}

/// Compat: MariaDB stores results of window functions in a temporary table, which has no infinite
/// doubles.
fn kept(mut column: Column) -> Column {
    if let ColumnData::Double(values) = column.data_mut() {
        values.iter_mut().for_each(|v| *v = v.clamp(f64::MIN, f64::MAX));
    }
    column
}

impl Operator for Window<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            let result = match self.result.take() {
                Some(result) => result,
                None => {
                    self.given = 0;
                    let Some(result) = self.compute()? else { return Ok(None) };
                    result
                }
            };
            let count = at_once(result.memory(), result.rows(), BATCH_ROWS);
            let (from, to) = (self.given, (self.given + count).min(result.rows()));
            if from < to {
                let batch = result.slice(from, to);
                self.given = to;
                self.result = Some(result);
                return Ok(Some(batch));
            }
        }
    }
}
