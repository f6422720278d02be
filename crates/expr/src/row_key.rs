//! Values as bytes that are equal exactly if the values are: for DISTINCT, GROUP BY, hash joins.
//! In memory only; the bytes need not sort. Keys of indexes are in `selkie_types::key`.

use selkie_types::key;
use selkie_types::{CollationId, Column, ColumnData, DecimalValues};

/// Appends a value that is not NULL. Within a column, or within columns of one physical kind and
/// scale, bytes are equal exactly if the values are; strings compare under `collation`.
pub fn put_value(out: &mut Vec<u8>, column: &Column, row: usize, collation: CollationId) {
    let row = column.physical_row(row);
    match column.data() {
        ColumnData::Int(v) => out.extend_from_slice(&v[row].to_le_bytes()),
        ColumnData::UInt(v) => out.extend_from_slice(&v[row].to_le_bytes()),
        ColumnData::Double(v) => {
            let v = if v[row] == 0.0 { 0.0 } else { v[row] };
            out.extend_from_slice(&v.to_bits().to_le_bytes());
        }
        ColumnData::Decimal(d) => put_decimal(out, d.values(), row),
        ColumnData::Date(v) => out.extend_from_slice(&v[row].0.to_le_bytes()),
        ColumnData::Time(v) => out.extend_from_slice(&v[row].0.to_le_bytes()),
        ColumnData::DateTime(v) => out.extend_from_slice(&v[row].0.to_le_bytes()),
        ColumnData::Bytes(v) => key::put_text(out, collation, v.get(row)),
    }
}

/// The width of a decimal column depends on its values, so the bytes are those of the narrowest
/// width.
fn put_decimal(out: &mut Vec<u8>, values: &DecimalValues, row: usize) {
    let wide = match values {
        DecimalValues::I64(v) => return put_narrow(out, v[row]),
        DecimalValues::I128(v) => v[row].into(),
        DecimalValues::I256(v) => v[row],
    };
    match i64::try_from(wide) {
        Ok(narrow) => put_narrow(out, narrow),
        Err(_) => {
            out.push(1);
            let (high, low) = wide.into_words();
            out.extend_from_slice(&high.to_le_bytes());
            out.extend_from_slice(&low.to_le_bytes());
        }
    }
}

fn put_narrow(out: &mut Vec<u8>, v: i64) {
    out.push(0);
    out.extend_from_slice(&v.to_le_bytes());
}

/// Appends a value that may be NULL.
pub fn put_nullable(out: &mut Vec<u8>, column: &Column, row: usize, collation: CollationId) {
    if column.is_null(row) {
        return out.push(key::NULL);
    }
    out.push(key::NOT_NULL);
    put_value(out, column, row, collation);
}
