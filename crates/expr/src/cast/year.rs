//! Years from values, as a YEAR column stores them.
//! Also used for constants compared with YEAR columns; never warns.

use selkie_types::Value;
use selkie_types::number::parse_integer_rounded;

/// The year that a YEAR column would store for `value`; `None` if there is none.
pub(crate) fn year_of(value: &Value) -> Option<i64> {
    match value {
        Value::Bytes(b) => year_text(b),
        _ => year_number(value, false),
    }
}

pub(crate) fn year_number(value: &Value, zero_is_2000: bool) -> Option<i64> {
    let number = match value {
        Value::Decimal(d) if !d.is_negative() => d.to_i128()?,
        Value::Double(v) if v.fract() == 0.0 && v.abs() < 9e15 => *v as i128,
        Value::Int(v) => (*v).into(),
        Value::UInt(v) => (*v).into(),
        _ => return None,
    };
    full_year(number, zero_is_2000)
}

/// Compat: a text counts as the number it begins with; only `0000` is no year.
pub(crate) fn year_text(text: &[u8]) -> Option<i64> {
    let parsed = parse_integer_rounded(text);
    let has_year = parsed.consumed > 0 && text.iter().any(u8::is_ascii_digit);
    match parsed.value {
        _ if !has_year => None,
        0 => Some(if text.trim_ascii().len() == 4 { 0 } else { 2000 }),
        value => full_year(value, false),
    }
}

/// The year for a number; two digits are years 1970 to 2069.
pub(crate) fn full_year(value: i128, zero_is_2000: bool) -> Option<i64> {
    Some(match value {
        0 if !zero_is_2000 => 0,
        0..70 => value as i64 + 2000,
        70..100 => value as i64 + 1900,
        1901..=2155 => value as i64,
        _ => return None,
    })
}
