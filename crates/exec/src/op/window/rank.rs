//! ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST and NTILE. They ignore frames and depend
//! only on the positions of partitions and peers.

use std::sync::Arc;

use selkie_plan::physical::{WindowCall, WindowFunction};
use selkie_types::error::catalogue::ER_INVALID_NTILE_ARGUMENT;
use selkie_types::{Column, Physical, SqlError, SqlResult, Value};

use super::Sorted;
use crate::state::columns::column_of;

/// A ranking function for every row.
pub(super) fn compute(
    call: &WindowCall,
    sorted: &Sorted,
    args: &[Arc<Column>],
) -> SqlResult<Column> {
    let mut out = column_of(&call.ty, sorted.rows.rows());
    for range in sorted.ranges() {
        let mut dense = 0;
        for row in range.clone() {
            let peers = (sorted.peer_start[row], sorted.peer_end[row]);
            dense += i64::from(peers.0 == row);
            let value = match call.function {
                WindowFunction::Ntile => ntile(&args[0], row, &range)?,
                _ => rank(&call.function, row, &range, peers, dense),
            };
            out.push(&adapt(value, call.ty.physical()));
        }
    }
    Ok(out)
}

fn rank(
    function: &WindowFunction,
    row: usize,
    range: &std::ops::Range<usize>,
    (start, end): (usize, usize),
    dense: i64,
) -> Value {
    let rows = range.len();
    let rank = start - range.start + 1;
    match function {
        WindowFunction::RowNumber => Value::Int((row - range.start + 1) as i64),
        WindowFunction::Rank => Value::Int(rank as i64),
        WindowFunction::DenseRank => Value::Int(dense),
        WindowFunction::PercentRank if rows == 1 => Value::Double(0.0),
        WindowFunction::PercentRank => Value::Double((rank - 1) as f64 / (rows - 1) as f64),
        _ => Value::Double((end - range.start) as f64 / rows as f64),
    }
}

fn ntile(arg: &Column, row: usize, range: &std::ops::Range<usize>) -> SqlResult<Value> {
    let buckets = match arg.value(row) {
        Value::Int(n) if n > 0 => n as usize,
        // Compat: the number of buckets is read as a signed number.
        Value::UInt(n) if n > 0 && n <= i64::MAX as u64 => n as usize,
        _ => return Err(SqlError::new(&ER_INVALID_NTILE_ARGUMENT, &[])),
    };
    let (rows, at) = (range.len(), row - range.start);
    let (small, extra) = (rows / buckets, rows % buckets);
    // The first `extra` buckets have one more row.
    let in_large = extra * (small + 1);
    let bucket = match at < in_large {
        true => at / (small + 1),
        false => extra + (at - in_large) / small.max(1),
    };
    Ok(Value::Int(bucket as i64 + 1))
}

/// A count in the physical kind that the planner chose.
fn adapt(value: Value, physical: Physical) -> Value {
    match (value, physical) {
        (Value::Int(v), Physical::UInt) => Value::UInt(v as u64),
        (Value::Int(v), Physical::Double) => Value::Double(v as f64),
        (value, _) => value,
    }
}
