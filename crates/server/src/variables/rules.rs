//! Rules of single variables: names that must exist, combinations, values that are refused.
//!
//! Must not depend on the session beyond the value itself.

use selkie_types::error::catalogue::*;
use selkie_types::{Charset, CollationId, Locale, SqlError, SqlMode, SqlResult, Value};

use super::assign::{text_of, wrong_type, wrong_value};
use super::def::VarDef;
use super::value::VarValue;

/// Names of engines that can be a default.
const ENGINES: &[(&str, &str)] = &[
    ("InnoDB", "innodb"),
    ("MEMORY", "memory"),
    ("MEMORY", "heap"),
    ("MyISAM", "myisam"),
    ("Aria", "aria"),
    ("Aria", "maria"),
    ("CSV", "csv"),
];

/// The value `SET def = given` stores in a variable of kind text.
pub(super) fn assign_text(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    match def.name {
        "character_set_client"
        | "character_set_connection"
        | "character_set_database"
        | "character_set_filesystem"
        | "character_set_results"
        | "character_set_server" => charset(def, given),
        "collation_connection" | "collation_database" | "collation_server" => collation(def, given),
        "default_storage_engine"
        | "default_tmp_storage_engine"
        | "enforce_storage_engine"
        | "storage_engine" => engine(def, given),
        "lc_time_names" | "lc_messages" => locale(def, given),
        "session_track_system_variables" => tracked(def, given),
        "time_zone" => time_zone(def, given),
        _ => plain(def, given),
    }
}

/// The value an option gives to a variable of kind text; the error is a sentence for the log.
pub(super) fn option_text(def: &VarDef, text: &str) -> Result<VarValue, String> {
    if text.is_empty() {
        return Ok(VarValue::text(""));
    }
    match def.name {
        "character_set_system" => Ok(VarValue::text(text)),
        _ => assign_text(def, &Value::bytes(text)).map_err(|e| e.message().to_owned()),
    }
}

/// Refuses values of the right kind that the variable cannot have.
pub(super) fn check(def: &VarDef, value: &VarValue) -> SqlResult<()> {
    match (def.name, value) {
        ("log_output", VarValue::Uint(0)) => Err(wrong_value(def, "")),
        _ => Ok(()),
    }
}

/// Bits implied by others: combination modes of `sql_mode`, the opposite values of `log_output`.
pub(super) fn complete_set(def: &VarDef, bits: u64) -> u64 {
    match def.name {
        "sql_mode" => SqlMode::from_bits(bits).map_or(bits, |m| m.bits()),
        // Compat: NONE wins over everything beside it.
        "log_output" if bits & 1 != 0 => 1,
        _ => bits,
    }
}

fn plain(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    match given {
        // Compat: a variable that is never NULL becomes empty.
        Value::Null if def.default.is_some() => Ok(VarValue::text("")),
        Value::Null => Ok(VarValue::null()),
        Value::Bytes(_) => Ok(VarValue::text(text_of(given).unwrap_or_default())),
        _ => Err(wrong_type(def)),
    }
}

fn charset(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    let found = match given {
        Value::Null if def.name == "character_set_results" => return Ok(VarValue::null()),
        Value::Null => return Err(wrong_value(def, "NULL")),
        Value::Int(id) => collation_by_number(*id).map(CollationId::charset),
        Value::UInt(id) => collation_by_number(*id as i64).map(CollationId::charset),
        Value::Bytes(_) => Charset::from_name(&text_of(given).unwrap_or_default()),
        _ => return Err(wrong_type(def)),
    };
    let shown = shown(given);
    let charset = found.ok_or_else(|| SqlError::new(&ER_UNKNOWN_CHARACTER_SET, &[&shown]))?;
    // Compat: client text must be readable by the parser, so wide sets are refused.
    let wide = matches!(charset.name(), "ucs2" | "utf16" | "utf16le" | "utf32");
    if def.name == "character_set_client" && wide {
        return Err(wrong_value(def, &shown));
    }
    Ok(VarValue::text(charset.name()))
}

fn collation(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    let found = match given {
        Value::Null => return Err(wrong_value(def, "NULL")),
        Value::Int(id) => collation_by_number(*id),
        Value::UInt(id) => collation_by_number(*id as i64),
        Value::Bytes(_) => CollationId::from_name(&text_of(given).unwrap_or_default()),
        _ => return Err(wrong_type(def)),
    };
    let found = found.ok_or_else(|| SqlError::new(&ER_UNKNOWN_COLLATION, &[&shown(given)]))?;
    Ok(VarValue::text(found.name()))
}

fn collation_by_number(id: i64) -> Option<CollationId> {
    u16::try_from(id).ok().and_then(CollationId::from_number)
}

fn shown(given: &Value) -> String {
    match given {
        Value::Int(v) => v.to_string(),
        Value::UInt(v) => v.to_string(),
        _ => text_of(given).unwrap_or_else(|| "NULL".to_owned()),
    }
}

fn engine(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    let nullable = !matches!(def.name, "default_storage_engine" | "storage_engine");
    match given {
        Value::Null if nullable => Ok(VarValue::null()),
        Value::Null => Err(wrong_value(def, "NULL")),
        Value::Bytes(_) => {
            let name = text_of(given).unwrap_or_default();
            let found = ENGINES.iter().find(|(_, key)| key.eq_ignore_ascii_case(&name));
            found
                .map(|(shown, _)| VarValue::text(shown))
                .ok_or_else(|| SqlError::new(&ER_UNKNOWN_STORAGE_ENGINE, &[&name]))
        }
        _ => Err(wrong_type(def)),
    }
}

fn locale(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    let found = match given {
        Value::Null => return Err(wrong_value(def, "NULL")),
        Value::Int(number) => u32::try_from(*number).ok().and_then(Locale::from_number),
        Value::UInt(number) => u32::try_from(*number).ok().and_then(Locale::from_number),
        Value::Bytes(_) => Locale::from_name(&text_of(given).unwrap_or_default()),
        _ => return Err(wrong_type(def)),
    };
    let found = found.ok_or_else(|| SqlError::new(&ER_UNKNOWN_LOCALE, &[&shown(given)]))?;
    Ok(VarValue::text(found.name))
}

fn tracked(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    let text = match given {
        Value::Null => return Err(wrong_value(def, "NULL")),
        _ => text_of(given).ok_or_else(|| wrong_type(def))?,
    };
    let names: Vec<String> =
        text.split(',').map(|n| n.trim().to_ascii_lowercase()).filter(|n| !n.is_empty()).collect();
    for name in names.iter().filter(|n| *n != "*") {
        if super::registry::registry().find(name).is_none() {
            return Err(SqlError::new(&ER_UNKNOWN_SYSTEM_VARIABLE, &[name]));
        }
    }
    Ok(VarValue::text(names.join(",")))
}

fn time_zone(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    let text = match given {
        Value::Null => return Err(SqlError::new(&ER_UNKNOWN_TIME_ZONE, &[&"NULL"])),
        _ => text_of(given).ok_or_else(|| wrong_type(def))?,
    };
    if text.eq_ignore_ascii_case("SYSTEM") {
        return Ok(VarValue::text("SYSTEM"));
    }
    let is_offset = text.starts_with(['+', '-']);
    let known = if is_offset { offset_is_valid(&text) } else { zone_exists(&text) };
    match known {
        true => Ok(VarValue::text(&text)),
        false => Err(SqlError::new(&ER_UNKNOWN_TIME_ZONE, &[&text])),
    }
}

fn zone_exists(name: &str) -> bool {
    jiff::tz::TimeZone::get(name).is_ok()
}

/// `+hh:mm` between -12:59 and +14:00.
fn offset_is_valid(text: &str) -> bool {
    let Some((hours, minutes)) = text[1..].split_once(':') else { return false };
    let short = |s: &str| (1..=2).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_digit());
    if !short(hours) || !short(minutes) {
        return false;
    }
    let minute: i32 = minutes.parse().unwrap_or(60);
    let total = hours.parse::<i32>().unwrap_or(99) * 60 + minute;
    minute < 60 && if text.starts_with('-') { total < 13 * 60 } else { total <= 14 * 60 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::registry;

    fn code(name: &str, value: Value) -> u16 {
        let def = registry().find(name).unwrap();
        assign_text(def, &value).err().map_or(0, |e| e.code())
    }

    #[test]
    fn names_must_exist() {
        assert_eq!(code("character_set_client", Value::bytes("foo")), 1115);
        assert_eq!(code("character_set_client", Value::bytes("utf16")), 1231);
        assert_eq!(code("character_set_client", Value::Null), 1231);
        assert_eq!(code("character_set_results", Value::Null), 0);
        assert_eq!(code("collation_connection", Value::bytes("foo")), 1273);
        assert_eq!(code("default_storage_engine", Value::bytes("foo")), 1286);
        assert_eq!(code("lc_time_names", Value::bytes("xx")), 1649);
        assert_eq!(code("session_track_system_variables", Value::bytes("a")), 1193);
        assert_eq!(code("init_connect", Value::Int(5)), 1232);
    }

    #[test]
    fn time_zones() {
        for good in ["+05:30", "-12:59", "+14:00", "SYSTEM", "UTC", "Europe/Berlin"] {
            assert_eq!(code("time_zone", Value::bytes(good)), 0, "{good}");
        }
        for bad in ["foo", "+15:00", "5:30", "+1", "+", "-13:00"] {
            assert_eq!(code("time_zone", Value::bytes(bad)), 1298, "{bad}");
        }
        assert_eq!(code("time_zone", Value::Int(5)), 1232);
    }
}
