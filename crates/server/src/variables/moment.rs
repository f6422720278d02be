//! `system_versioning_asof`: kept in UTC, given and shown in the time zone of the session.
//!
//! Must not know the clock: a value is an instant or DEFAULT, whatever the time is.

use selkie_expr::TimeZone;
use selkie_types::error::catalogue::ER_WRONG_VALUE_FOR_VAR;
use selkie_types::temporal::{DateOptions, DateTime};
use selkie_types::{SqlError, SqlResult};

use super::def::VarDef;
use super::rules::Rule;
use super::value::VarValue;

/// A value as the session with time zone `zone` sees it.
pub(crate) fn shown(def: &VarDef, value: VarValue, zone: &str) -> VarValue {
    if def.rule != Some(Rule::AsOf) {
        return value;
    }
    moved(&value, zone, |zone, moment| Some(zone.to_local(moment))).unwrap_or(value)
}

/// A value that a session with time zone `zone` has given; an error (1231) if it is no time that a
/// row can have.
pub(crate) fn kept(def: &VarDef, value: VarValue, zone: &str) -> SqlResult<VarValue> {
    if def.rule != Some(Rule::AsOf) || value.as_str().eq_ignore_ascii_case("DEFAULT") {
        return Ok(value);
    }
    let wrong = || SqlError::new(&ER_WRONG_VALUE_FOR_VAR, &[&def.name, &value.as_str()]);
    moved(&value, zone, TimeZone::to_utc).ok_or_else(wrong)
}

fn moved(
    value: &VarValue,
    zone: &str,
    change: impl Fn(&TimeZone, DateTime) -> Option<DateTime>,
) -> Option<VarValue> {
    let zone = TimeZone::parse(zone).unwrap_or_else(TimeZone::system);
    let moment = DateTime::parse(value.as_str().as_bytes(), DateOptions::REAL).value;
    let moment = change(&zone, moment?)?;
    let mut out = Vec::new();
    moment.write_to(&mut out, 6);
    Some(VarValue::text(String::from_utf8_lossy(&out)))
}
