//! `time_zone`: SYSTEM, a name, or an offset from UTC in MariaDB's format.
//!
//! Must not compute times.

use selkie_types::error::catalogue::ER_UNKNOWN_TIME_ZONE;
use selkie_types::{SqlError, SqlResult, Value};

use super::super::assign::{text_of, wrong_type, wrong_value};
use super::super::def::VarDef;
use super::super::value::VarValue;

/// Maximum offset from UTC in minutes, to the east and to the west.
const FURTHEST: (i32, i32) = (13 * 60, 12 * 60 + 59);

pub(super) fn assign(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    let text = match given {
        Value::Null => return Err(wrong_value(def, "NULL")),
        _ => text_of(given).ok_or_else(|| wrong_type(def))?,
    };
    if text.eq_ignore_ascii_case("SYSTEM") {
        return Ok(VarValue::text("SYSTEM"));
    }
    if let Some(minutes) = offset(&text) {
        let sign = if minutes < 0 { '-' } else { '+' };
        let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
        return Ok(VarValue::text(format!("{sign}{hours:02}:{minutes:02}")));
    }
    match jiff::tz::TimeZone::get(&text).is_ok() {
        true => Ok(VarValue::text(&text)),
        false => Err(SqlError::new(&ER_UNKNOWN_TIME_ZONE, &[&text])),
    }
}

/// The minutes of `+h:m` or `-h:m`; `None` if it is not a valid offset.
fn offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+')?),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |s: &str| s.bytes().all(|b| b.is_ascii_digit()).then(|| s.parse::<i32>().ok())?;
    let minute = number(minutes).filter(|m| *m < 60)?;
    let total = sign * number(hours).filter(|h| *h < 24)?.checked_mul(60)?.checked_add(minute)?;
    (-FURTHEST.1..=FURTHEST.0).contains(&total).then_some(total)
}
