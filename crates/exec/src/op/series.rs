//! Rows of sequence tables such as `seq_1_to_10`, computed a batch at a time. Must not keep rows: a
//! table may have billions of them.

use std::sync::Arc;

use selkie_catalog::Series;
use selkie_plan::physical::SystemTableScan as Plan;
use selkie_types::{BATCH_ROWS, Batch, SqlResult, Value};

use super::Operator;
use crate::run::Env;
use crate::run::row_filter::RowFilter;
use crate::state::columns::column_of;

/// Counts, and gives the numbers that pass the filter.
pub(super) struct SeriesScan<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    series: Series,
    next: u64,
}

impl<'r> SeriesScan<'r> {
    pub(super) fn new(env: Env<'r>, plan: &'r Plan, series: Series) -> Self {
        Self { env, plan, series, next: 0 }
    }

    fn batch(&mut self) -> Batch {
        let end = self.series.count.min(self.next.saturating_add(BATCH_ROWS as u64));
        let rows = (end - self.next) as usize;
        let mut columns = Vec::new();
        if !self.plan.columns.is_empty() {
            let mut column = column_of(&self.plan.table.def.columns[0].ty, rows);
            (self.next..end).for_each(|at| column.push(&Value::UInt(self.series.at(at))));
            columns.push(Arc::new(column));
        }
        self.next = end;
        Batch::new(columns, rows)
    }
}

impl Operator for SeriesScan<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        while self.next < self.series.count {
            self.env.check()?;
            let batch = self.batch();
            if let Some(found) = RowFilter::new(&self.plan.filter).filter(self.env.eval, batch)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
