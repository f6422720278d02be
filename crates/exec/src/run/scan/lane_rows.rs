//! The rows of a table's parts as lanes read them: parts that have no group, or not the columns of
//! the scan.
//!
//! Must give what the scan's own cursor gives. Whatever fails or raises a warning is left to the
//! scan, which reads the part again in its session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use selkie_catalog::TableInfo;
use selkie_engine::{EngineError, NoWait, PartRows, RowSet};
use selkie_expr::{EvalContext, Expr};
use selkie_types::{BATCH_ROWS, Batch, SqlResult};

use super::decode::Decoder;
use crate::state::error::from_engine;

/// Most bytes of the rows of a part. With more, the session reads all further parts.
const MOST_BYTES: usize = 16 << 20;

/// Number of rows that were read together, and those of them that passed.
pub(super) type RowsRead = (usize, Option<Batch>);

/// The rows of a table's parts.
pub(crate) struct LaneRows {
    parts: Arc<dyn PartRows>,
    table: Arc<TableInfo>,
    /// Positions in the table of the columns read.
    columns: Vec<usize>,
    /// The columns that the conditions read.
    filter_columns: Vec<bool>,
    /// Whether a part had more bytes than a lane may hold.
    are_long: AtomicBool,
}

impl LaneRows {
    pub(crate) fn new(
        parts: Arc<dyn PartRows>,
        table: &Arc<TableInfo>,
        columns: &[usize],
        filter_columns: &[bool],
    ) -> Self {
        Self {
            parts,
            table: table.clone(),
            columns: columns.to_vec(),
            filter_columns: filter_columns.to_vec(),
            are_long: AtomicBool::new(false),
        }
    }

    /// Whether lanes should read no more of them.
    pub(super) fn are_long(&self) -> bool {
        self.are_long.load(Ordering::Relaxed)
    }

    /// The rows of a part that pass `conditions`, and of them the columns `given`.
    pub(super) fn read(
        &self,
        eval: &EvalContext<'_>,
        (conditions, given): (&[Expr], &[usize]),
        part: usize,
    ) -> SqlResult<Vec<RowsRead>> {
        let decoder = Decoder::new(&self.table, &self.columns)
            .with_output(given)
            .with_filter(conditions, &self.filter_columns);
        let error = |e: EngineError| from_engine(e, &self.table.def);
        let mut cursor = self.parts.rows(part, &NoWait).map_err(error)?;
        let (mut all, mut bytes, mut set) = (Vec::new(), 0, RowSet::default());
        while cursor.next_batch(&mut set, BATCH_ROWS).map_err(error)? {
            selkie_meter::check()?;
            let passed = decoder.decode(eval, &set)?.map(|(batch, _)| batch);
            bytes += passed.as_ref().map_or(0, Batch::memory);
            if bytes > MOST_BYTES {
                self.are_long.store(true, Ordering::Relaxed);
                return Err(from_engine(EngineError::Unsupported("long rows"), &self.table.def));
            }
            all.push((set.count(), passed));
            set.clear();
        }
        Ok(all)
    }
}
