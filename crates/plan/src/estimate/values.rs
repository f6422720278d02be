//! Maps values to numbers, so that the share of a range can be interpolated. Only for estimates:
//! different values may have the same number.

use selkie_types::{DateTime, Value};

/// A number that orders like `value` and is roughly linear in it; `None` for NULL.
pub(super) fn position(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Null => return None,
        Value::Int(v) => *v as f64,
        Value::UInt(v) => *v as f64,
        Value::Double(v) => *v,
        Value::Decimal(v) => v.to_f64(),
        Value::Date(v) => v.day_number() as f64,
        Value::Time(v) => v.0 as f64,
        Value::DateTime(v) => days(*v),
        Value::Bytes(bytes) => string_position(bytes),
    })
}

/// Days with fractions, so that dates and datetimes are comparable.
fn days(v: DateTime) -> f64 {
    const MICROS_PER_DAY: f64 = 86_400_000_000.0;
    v.date().day_number() as f64 + v.micros_of_day() as f64 / MICROS_PER_DAY
}

/// The first eight bytes as a fraction; letters without case.
fn string_position(bytes: &[u8]) -> f64 {
    let mut scale = 1.0;
    bytes.iter().take(8).fold(0.0, |sum, byte| {
        scale /= 256.0;
        sum + f64::from(byte.to_ascii_uppercase()) * scale
    })
}
