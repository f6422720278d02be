//! The trace of a session's last traced statement, for `optimizer_trace`.
//!
//! Must not make traces; the executor does.

use selkie_types::Value;

use crate::session::Shared;
use crate::tables::{Row, text};
use crate::variables::ids;

/// The trace of a statement.
#[derive(Debug)]
pub(crate) struct OptimizerTrace {
    query: Box<[u8]>,
    trace: String,
    /// Bytes left out because of `optimizer_trace_max_mem_size`.
    missing: usize,
}

/// Keeps a trace in place of the one before.
pub(crate) fn keep(shared: &Shared, query: &[u8], mut trace: String) {
    let most = shared.var(ids().optimizer_trace_max_mem_size).as_u64();
    let all = trace.len();
    let mut kept = usize::try_from(most).unwrap_or(usize::MAX).min(all);
    while !trace.is_char_boundary(kept) {
        kept -= 1;
    }
    trace.truncate(kept);
    let missing = all - kept;
    *shared.optimizer_trace.lock() = Some(OptimizerTrace { query: query.into(), trace, missing });
}

/// The row of `information_schema.OPTIMIZER_TRACE`.
pub(crate) fn rows(shared: &Shared) -> Vec<Row> {
    let kept = shared.optimizer_trace.lock();
    let row = |kept: &OptimizerTrace| {
        vec![
            ("QUERY", text(&kept.query)),
            ("TRACE", text(&kept.trace)),
            ("MISSING_BYTES_BEYOND_MAX_MEM_SIZE", Value::Int(kept.missing as i64)),
            ("INSUFFICIENT_PRIVILEGES", Value::Int(0)),
        ]
    };
    kept.iter().map(row).collect()
}
