//! LEAD, LAG, FIRST_VALUE, LAST_VALUE and NTH_VALUE: each picks the argument of one other row, or
//! NULL if there is none.

use std::ops::Range;
use std::sync::Arc;

use selkie_plan::physical::{WindowCall, WindowFunction};
use selkie_types::{Column, NULL_ROW, Value};

use super::Sorted;

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int(v) => Some(*v),
        Value::UInt(v) => i64::try_from(*v).ok(),
        // Compat: an offset that is NULL counts as 0.
        _ => Some(0),
    }
}

/// LEAD and LAG: the argument's value in another row of the partition.
pub(super) fn shifted(call: &WindowCall, sorted: &Sorted, args: &[Arc<Column>]) -> Column {
    let forward = matches!(call.function, WindowFunction::Lead);
    let mut rows = Vec::with_capacity(sorted.rows.rows());
    for range in sorted.ranges() {
        for row in range.clone() {
            let by = args.get(1).map_or(Some(1), |a| integer(&a.value(row)));
            let by = by.and_then(|by| if forward { Some(by) } else { by.checked_neg() });
            let at = by.and_then(|by| row.checked_add_signed(by as isize));
            rows.push(at.filter(|at| range.contains(at)).map_or(NULL_ROW, |at| at as u32));
        }
    }
    args[0].gather(&rows)
}

/// FIRST_VALUE, LAST_VALUE and NTH_VALUE.
pub(super) fn of_frame(call: &WindowCall, frames: &[Range<usize>], args: &[Arc<Column>]) -> Column {
    let pick = |(row, frame): (usize, &Range<usize>)| {
        let at = match call.function {
            WindowFunction::FirstValue => Some(frame.start),
            WindowFunction::LastValue => frame.end.checked_sub(1),
            _ => {
                // Compat: NULL stands for the first row.
                let n = args.get(1).and_then(|a| match a.value(row) {
                    Value::Null => Some(1),
                    n => integer(&n),
                });
                let before = n.and_then(|n| usize::try_from(n.checked_sub(1)?).ok());
                before.and_then(|n| frame.start.checked_add(n))
            }
        };
        at.filter(|at| frame.contains(at)).map_or(NULL_ROW, |at| at as u32)
    };
    let rows: Vec<u32> = frames.iter().enumerate().map(pick).collect();
    args[0].gather(&rows)
}
