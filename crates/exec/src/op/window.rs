//! Window functions over sorted partitions. Reads and sorts all rows, then computes each call in
//! memory. Result columns follow the input columns.

mod frame;
mod percentile;
mod rank;
mod slide;
mod value;

use std::sync::Arc;

use selkie_plan::physical::{Window as Plan, WindowCall, WindowFunction};
use selkie_types::{BATCH_ROWS, Batch, ByteRows, Column, ColumnData, SqlResult};

use super::rows::at_once;
use super::sort_key::{memory_of, put_key, sorted};
use super::{BoxOperator, Operator, RowBuffer};
use crate::run::Env;
use crate::state::session::bump;

/// The operator: it sorts all input, then computes each call over each partition.
pub(super) struct Window<'r> {
    env: Env<'r>,
    input: BoxOperator<'r>,
    plan: &'r Plan,
    result: Option<Batch>,
    given: usize,
}

/// Sorted rows, with the bounds of partitions and peer groups.
pub(super) struct Sorted {
    /// All rows in order.
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
        Self { env, input, plan, result: None, given: 0 }
    }

    /// Appends the partition key and the full sort key of each row of a batch.
    fn put_keys(
        &self,
        batch: &Batch,
        partition: &mut ByteRows,
        all: &mut ByteRows,
    ) -> SqlResult<()> {
        let (eval, plan) = (self.env.eval, self.plan);
        let by: SqlResult<Vec<_>> = plan.partition.iter().map(|e| e.eval(eval, batch)).collect();
        let order: SqlResult<Vec<_>> =
            plan.order.iter().map(|k| k.expr.eval(eval, batch)).collect();
        let (by, order) = (by?, order?);
        // Partition keys are stored twice.
        selkie_meter::ask(2 * memory_of(&by) + memory_of(&order))?;
        let mut buffer = Vec::new();
        for row in 0..batch.rows() {
            buffer.clear();
            for (e, column) in plan.partition.iter().zip(&by) {
                put_key(&e.ty, false, column, row, &mut buffer);
            }
            partition.push(&buffer);
            for (key, column) in plan.order.iter().zip(&order) {
                put_key(&key.expr.ty, key.descending, column, row, &mut buffer);
            }
            all.push(&buffer);
            selkie_meter::spend(64 + 2 * buffer.len())?;
        }
        Ok(())
    }

    fn sort(&mut self) -> SqlResult<Sorted> {
        let mut rows = RowBuffer::default();
        let (mut partition, mut all) = (ByteRows::default(), ByteRows::default());
        while let Some(batch) = self.input.next()? {
            self.put_keys(&batch, &mut partition, &mut all)?;
            rows.append(&batch)?;
            self.env.check()?;
        }
        bump(&self.env.counters().sort_rows, rows.len() as u64);
        let order = sorted(&all)?;
        let count = order.len();
        let key = |at: usize| all.get(order[at] as usize);
        let part = |at: usize| partition.get(order[at] as usize);
        let partitions = (0..count).filter(|&at| at == 0 || part(at) != part(at - 1));
        let partitions: Vec<usize> = partitions.chain([count]).collect();
        let mut peer_start: Vec<usize> = (0..count).collect();
        let mut peer_end: Vec<usize> = (1..=count).collect();
        for at in 1..count {
            if key(at) == key(at - 1) {
                peer_start[at] = peer_start[at - 1];
            }
        }
        for at in (1..count).rev() {
            if peer_start[at] != at {
                peer_end[at - 1] = peer_end[at];
            }
        }
        selkie_meter::ask(rows.batch().memory())?;
        let rows = Batch::new(rows.gather(&order), count);
        Ok(Sorted { rows, partitions, peer_start, peer_end })
    }

    fn compute(&mut self) -> SqlResult<Batch> {
        let sorted = self.sort()?;
        if sorted.rows.rows() == 0 {
            return Ok(Batch::default());
        }
        let mut columns = sorted.rows.columns().to_vec();
        for call in &self.plan.calls {
            columns.push(Arc::new(self.call(call, &sorted)?));
        }
        Ok(Batch::new(columns, sorted.rows.rows()))
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
