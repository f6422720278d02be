//! The order of values in ORDER BY.
//! NULL comes first; descending order is the caller's business.

use std::cmp::Ordering;

use selkie_types::{CollationId, Column, ColumnData, Value};

/// The order of two values of one type. NULL comes first; strings compare under `collation`.
pub fn compare_values(a: &Value, b: &Value, collation: CollationId) -> Ordering {
    match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
        (Value::Double(a), Value::Double(b)) => a.total_cmp(b),
        (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::Time(a), Value::Time(b)) => a.cmp(b),
        (Value::DateTime(a), Value::DateTime(b)) => a.cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) => collation.compare(a, b),
        _ => Ordering::Equal,
    }
}

/// The order of rows of two columns of one type; NULL comes first.
pub fn compare_rows(
    a: &Column,
    row_a: usize,
    b: &Column,
    row_b: usize,
    collation: CollationId,
) -> Ordering {
    match (a.is_null(row_a), b.is_null(row_b)) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Less,
        (false, true) => return Ordering::Greater,
        _ => {}
    }
    let (i, j) = (a.physical_row(row_a), b.physical_row(row_b));
    match (a.data(), b.data()) {
        (ColumnData::Int(a), ColumnData::Int(b)) => a[i].cmp(&b[j]),
        (ColumnData::UInt(a), ColumnData::UInt(b)) => a[i].cmp(&b[j]),
        (ColumnData::Double(a), ColumnData::Double(b)) => {
            a[i].partial_cmp(&b[j]).unwrap_or(Ordering::Equal)
        }
        (ColumnData::Decimal(a), ColumnData::Decimal(b)) => a.get(i).cmp(&b.get(j)),
        (ColumnData::Date(a), ColumnData::Date(b)) => a[i].cmp(&b[j]),
        (ColumnData::Time(a), ColumnData::Time(b)) => a[i].cmp(&b[j]),
        (ColumnData::DateTime(a), ColumnData::DateTime(b)) => a[i].cmp(&b[j]),
        (ColumnData::Bytes(a), ColumnData::Bytes(b)) => collation.compare(a.get(i), b.get(j)),
        _ => Ordering::Equal,
    }
}
