//! Converts the value of SET or of an option to the variable's kind, with MariaDB's errors and
//! warnings.
//!
//! Must not store values, and must not contain rules of single variables; those are in `rules`.

use selkie_types::error::catalogue::*;
use selkie_types::{Condition, SqlError, SqlResult, Value};

use super::def::{Kind, VarDef};
use super::rules;
use super::value::VarValue;

/// The right-hand side of an assignment.
#[derive(Clone, Debug)]
pub enum SetValue {
    /// The keyword DEFAULT.
    Default,
    /// The value of an expression.
    Value(Value),
}

/// A value that may be stored, with its warnings.
#[derive(Clone, Debug)]
pub struct Assigned {
    /// The value.
    pub value: VarValue,
    /// Warnings about a value that was cut to the variable's range.
    pub warnings: Vec<Condition>,
}

impl Assigned {
    fn exact(value: VarValue) -> Self {
        Self { value, warnings: Vec::new() }
    }
}

/// Values that flags are relative to.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// The present value of the variable.
    pub current: &'a VarValue,
    /// The variable's default.
    pub default: &'a VarValue,
}

/// The value that `SET def = given` stores.
pub fn assign(def: &VarDef, given: &Value, before: Before<'_>) -> SqlResult<Assigned> {
    let assigned = match &def.kind {
        Kind::Bool => assign_bool(def, given)?,
        Kind::Int { min, max, block } => {
            assign_integer(def, given, i128::from(*min), i128::from(*max), i128::from(*block))?
        }
        Kind::Uint { min, max, block } => {
            assign_integer(def, given, i128::from(*min), i128::from(*max), i128::from(*block))?
        }
        Kind::Double { min, max } => assign_double(def, given, *min, *max)?,
        Kind::Enum => assign_enum(def, given)?,
        Kind::Set => assign_set(def, given)?,
        Kind::Flags => assign_flags(def, given, before)?,
        Kind::Text => return rules::assign_text(def, given).map(Assigned::exact),
    };
    if !rules::is_good(def, &assigned.value) {
        return Err(wrong_value(def, &shown(given)));
    }
    Ok(assigned)
}

/// Error 1231.
pub(super) fn wrong_value(def: &VarDef, value: &str) -> SqlError {
    let value = value.replace('\0', "\\0000");
    SqlError::new(&ER_WRONG_VALUE_FOR_VAR, &[&def.name, &value])
}

/// Error 1232.
pub(super) fn wrong_type(def: &VarDef) -> SqlError {
    SqlError::new(&ER_WRONG_TYPE_FOR_VAR, &[&def.name])
}

/// The text of a string value.
pub(super) fn text_of(given: &Value) -> Option<String> {
    match given {
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

/// A value as errors show it.
pub fn shown(given: &Value) -> String {
    match given {
        Value::Int(v) => v.to_string(),
        Value::UInt(v) => v.to_string(),
        Value::Double(v) => double_text(*v),
        Value::Decimal(v) => double_text(v.to_f64()),
        // Compat: a zero byte is shown by its number.
        _ => text_of(given).map_or_else(|| "NULL".to_owned(), |t| t.replace('\0', "\\0000")),
    }
}

fn double_text(v: f64) -> String {
    let mut text = Vec::new();
    selkie_types::number::write_f64(&mut text, v);
    String::from_utf8_lossy(&text).into_owned()
}

fn integer_of(given: &Value) -> Option<i128> {
    match given {
        Value::Int(v) => Some(i128::from(*v)),
        Value::UInt(v) => Some(i128::from(*v)),
        _ => None,
    }
}

/// A number without a fraction. Compat: a decimal with scale 0 is accepted too, and is cut to 64
/// bits with a warning.
fn whole_number(given: &Value) -> Option<(i128, Option<Condition>)> {
    match given {
        Value::Decimal(v) if v.scale() == 0 => {
            let (number, cut) = v.to_i64_clamped();
            let overflow = || {
                let mut text = Vec::new();
                v.write_to(&mut text);
                let text = String::from_utf8_lossy(&text).into_owned();
                Condition::warning(&ER_DATA_OVERFLOW, &[&text, &"INT"])
            };
            Some((i128::from(number), cut.then(overflow)))
        }
        _ => integer_of(given).map(|v| (v, None)),
    }
}

fn assign_bool(def: &VarDef, given: &Value) -> SqlResult<Assigned> {
    match (integer_of(given), text_of(given)) {
        (Some(v @ (0 | 1)), _) => Ok(Assigned::exact(VarValue::Bool(v == 1))),
        (Some(v), _) => Err(wrong_value(def, &v.to_string())),
        (_, Some(t)) if t.eq_ignore_ascii_case("on") => Ok(Assigned::exact(VarValue::Bool(true))),
        (_, Some(t)) if t.eq_ignore_ascii_case("off") => Ok(Assigned::exact(VarValue::Bool(false))),
        (_, Some(t)) => Err(wrong_value(def, &t)),
        _ if given.is_null() => Err(wrong_value(def, "NULL")),
        _ => Err(wrong_type(def)),
    }
}

fn assign_integer(
    def: &VarDef,
    given: &Value,
    min: i128,
    max: i128,
    block: i128,
) -> SqlResult<Assigned> {
    let (v, overflow) = whole_number(given).ok_or_else(|| wrong_type(def))?;
    // Compat: the warning about a signed variable shows a number that is too large as the largest
    // one.
    let v = if matches!(def.kind, Kind::Int { .. }) { v.min(i128::from(i64::MAX)) } else { v };
    let clamped = v.clamp(min, max);
    let rounded = (clamped - clamped.rem_euclid(block.max(1))).max(min);
    let cut = truncated(def, rounded != v, &v);
    Ok(Assigned {
        value: integer(def, rounded),
        warnings: overflow.into_iter().chain(cut).collect(),
    })
}

fn integer(def: &VarDef, v: i128) -> VarValue {
    match def.kind {
        Kind::Int { .. } => VarValue::Int(v as i64),
        _ => VarValue::Uint(v as u64),
    }
}

fn truncated(def: &VarDef, fixed: bool, v: &dyn std::fmt::Display) -> Option<Condition> {
    fixed.then(|| Condition::warning(&ER_TRUNCATED_WRONG_VALUE, &[&def.name, v]))
}

fn assign_double(def: &VarDef, given: &Value, min: f64, max: f64) -> SqlResult<Assigned> {
    let v = match given {
        Value::Int(v) => *v as f64,
        Value::UInt(v) => *v as f64,
        Value::Double(v) => *v,
        Value::Decimal(v) => v.to_f64(),
        _ => return Err(wrong_type(def)),
    };
    let clamped = v.clamp(min, max);
    let cut = truncated(def, clamped != v, &double_text(v));
    Ok(Assigned { value: VarValue::Double(clamped), warnings: cut.into_iter().collect() })
}

fn assign_enum(def: &VarDef, given: &Value) -> SqlResult<Assigned> {
    let at = match (integer_of(given), text_of(given)) {
        (Some(v), _) => usize::try_from(v)
            .ok()
            .filter(|at| *at < def.names.len())
            .ok_or_else(|| wrong_value(def, &v.to_string()))?,
        (_, Some(t)) => name_position(def, &t).ok_or_else(|| wrong_value(def, &t))?,
        _ if given.is_null() => return Err(wrong_value(def, "NULL")),
        _ => return Err(wrong_type(def)),
    };
    Ok(Assigned::exact(VarValue::Enum(at as u16)))
}

fn name_position(def: &VarDef, text: &str) -> Option<usize> {
    def.names.iter().position(|n| n.eq_ignore_ascii_case(text))
}

fn assign_set(def: &VarDef, given: &Value) -> SqlResult<Assigned> {
    let all = (1u128 << def.names.len()) - 1;
    let bits = match (integer_of(given), text_of(given)) {
        (Some(v), _) => u128::try_from(v)
            .ok()
            .filter(|bits| bits & !all == 0)
            .ok_or_else(|| wrong_value(def, &v.to_string()))? as u64,
        (_, Some(t)) => set_bits(def, &t)?,
        _ if given.is_null() => return Err(wrong_value(def, "NULL")),
        _ => return Err(wrong_type(def)),
    };
    Ok(Assigned::exact(VarValue::Uint(rules::complete_set(def, bits))))
}

/// Compat: spaces at the end of the list are ignored, others are not.
fn set_bits(def: &VarDef, text: &str) -> SqlResult<u64> {
    let mut bits = 0;
    for name in text.trim_end_matches(' ').split(',').filter(|n| !n.is_empty()) {
        let at = name_position(def, name).ok_or_else(|| wrong_value(def, name))?;
        bits |= 1 << at;
    }
    Ok(bits)
}

fn assign_flags(def: &VarDef, given: &Value, before: Before<'_>) -> SqlResult<Assigned> {
    let text = match (integer_of(given), text_of(given)) {
        (Some(v), _) => {
            let all = (1i128 << def.names.len()) - 1;
            let ok = v >= 0 && v <= all;
            return match ok {
                true => Ok(Assigned::exact(VarValue::Uint(v as u64))),
                false => Err(wrong_value(def, &v.to_string())),
            };
        }
        (_, Some(t)) => t,
        _ if given.is_null() => return Err(wrong_value(def, "NULL")),
        _ => return Err(wrong_type(def)),
    };
    let mut flags = FlagList { default: before.default.as_u64(), on: 0, off: 0, rest: None };
    // Compat: an error shows the whole text from the wrong item on.
    let mut rest = (!text.is_empty()).then_some(text.as_str());
    while let Some(from) = rest {
        let (item, behind) = match from.split_once(',') {
            Some((item, behind)) => (item, Some(behind)),
            None => (from, None),
        };
        flags.take(def, item).ok_or_else(|| wrong_value(def, from))?;
        rest = behind;
    }
    let rest = flags.rest.unwrap_or(before.current.as_u64());
    Ok(Assigned::exact(VarValue::Uint(rest & !flags.off | flags.on)))
}

/// A parsed list of flags.
struct FlagList {
    default: u64,
    on: u64,
    off: u64,
    /// Value of the flags that are not named, if the list contains `default`.
    rest: Option<u64>,
}

impl FlagList {
    /// Reads an item; each flag, and `default`, may occur once. Compat: spaces behind a word are
    /// ignored, others are not.
    fn take(&mut self, def: &VarDef, item: &str) -> Option<()> {
        let item = item.trim_end_matches(' ');
        if item.eq_ignore_ascii_case("default") {
            return self.rest.replace(self.default).is_none().then_some(());
        }
        let (name, state) = item.split_once('=')?;
        let name = name.trim_end_matches(' ');
        if name.eq_ignore_ascii_case("default") {
            return None;
        }
        let bit = 1u64 << name_position(def, name)?;
        let on = match state.to_ascii_lowercase().as_str() {
            "on" => true,
            "off" => false,
            "default" => self.default & bit != 0,
            _ => return None,
        };
        if (self.on | self.off) & bit != 0 {
            return None;
        }
        *(if on { &mut self.on } else { &mut self.off }) |= bit;
        Some(())
    }
}

/// The value of an option, or of a default in the table. The error is a sentence for the log. The
/// second part of the result is a note about a value that was adjusted.
pub fn parse_option(def: &VarDef, text: &str) -> Result<(VarValue, Option<String>), String> {
    match &def.kind {
        Kind::Bool => parse_bool(def, text),
        Kind::Int { .. } | Kind::Uint { .. } => parse_integer(def, text),
        Kind::Double { .. } => {
            let v: f64 = text.parse().map_err(|_| setting_failed(def, text))?;
            Ok((assigned_option(def, &Value::Double(v), text)?, None))
        }
        Kind::Enum | Kind::Set => {
            if let Some(value) = rules::only_by_option(def, text) {
                return Ok((value, None));
            }
            // Compat: startup options accept positions as well as names.
            let given = text.parse().map_or_else(|_| Value::bytes(text), Value::Int);
            Ok((assigned_option(def, &given, text)?, None))
        }
        Kind::Flags => Ok((assigned_option(def, &Value::bytes(text), text)?, None)),
        Kind::Text => Ok((rules::option_text(def, text)?, None)),
    }
}

fn setting_failed(def: &VarDef, text: &str) -> String {
    format!("Error while setting value '{text}' to '{}'", def.name)
}

fn assigned_option(def: &VarDef, given: &Value, text: &str) -> Result<VarValue, String> {
    let default = &default_flags(def);
    assign(def, given, Before { current: default, default })
        .map(|a| a.value)
        .map_err(|_| setting_failed(def, text))
}

/// The flags that are on by default.
fn default_flags(def: &VarDef) -> VarValue {
    let items = def.default.unwrap_or_default().split(',');
    let on = items
        .filter_map(|item| item.strip_suffix("=on"))
        .filter_map(|name| name_position(def, name))
        .fold(0, |bits, at| bits | 1 << at);
    VarValue::Uint(on)
}

fn parse_bool(def: &VarDef, text: &str) -> Result<(VarValue, Option<String>), String> {
    match text.to_ascii_lowercase().as_str() {
        "on" | "true" | "1" => Ok((VarValue::Bool(true), None)),
        "off" | "false" | "0" => Ok((VarValue::Bool(false), None)),
        _ => Ok((
            VarValue::Bool(false),
            Some(format!(
                "option '{}': boolean value '{text}' wasn't recognized. Set to OFF.",
                def.name
            )),
        )),
    }
}

fn parse_integer(def: &VarDef, text: &str) -> Result<(VarValue, Option<String>), String> {
    let unknown = |suffix: &str| {
        format!("Unknown suffix '{suffix}' used for variable '{}' (value '{text}')", def.name)
    };
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '-' && c != '+');
    let (number, suffix) = text.split_at(digits.unwrap_or(text.len()));
    let v: i128 = number.parse().map_err(|_| unknown(text))?;
    let shift = match suffix.to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        "P" => 50,
        "E" => 60,
        _ => return Err(unknown(suffix)),
    };
    let v = v.checked_mul(1 << shift).ok_or_else(|| setting_failed(def, text))?;
    let (min, max, block, word): (i128, i128, i128, _) = match def.kind {
        Kind::Int { min, max, block } => (min.into(), max.into(), block.into(), "signed"),
        Kind::Uint { min, max, block } => (i128::from(min), max.into(), block.into(), "unsigned"),
        _ => return Err(setting_failed(def, text)),
    };
    let clamped = v.clamp(min, max);
    let fixed = (clamped - clamped.rem_euclid(block.max(1))).max(min);
    let note = (fixed != v)
        .then(|| format!("option '{}': {word} value {v} adjusted to {fixed}", def.name));
    Ok((integer(def, fixed), note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::registry;

    fn set(name: &str, value: Value) -> SqlResult<Assigned> {
        let def = registry().find(name).unwrap();
        let default = &parse_option(def, def.default.unwrap_or_default()).unwrap().0;
        assign(def, &value, Before { current: default, default })
    }

    fn code(name: &str, value: Value) -> u16 {
        set(name, value).err().map_or(0, |e| e.code())
    }

    #[test]
    fn integers_are_clamped_with_a_warning() {
        let a = set("max_connections", Value::Int(5)).unwrap();
        assert_eq!(a.value, VarValue::Uint(10));
        assert_eq!(a.warnings[0].message, "Truncated incorrect max_connections value: '5'");
        assert!(set("max_connections", Value::Int(50)).unwrap().warnings.is_empty());
        let a = set("in_predicate_conversion_threshold", Value::Int(-3)).unwrap();
        let message = &a.warnings[0].message;
        assert_eq!(message, "Truncated incorrect in_predicate_conversion_thres... value: '-3'");
    }

    #[test]
    fn types_are_checked() {
        assert_eq!(code("max_connections", Value::bytes("5")), 1232);
        assert_eq!(code("max_connections", Value::Null), 1232);
        assert_eq!(code("autocommit", Value::Int(2)), 1231);
        assert_eq!(code("autocommit", Value::bytes("true")), 1231);
        assert_eq!(code("autocommit", Value::Double(1.0)), 1232);
        assert_eq!(code("tx_isolation", Value::bytes("foo")), 1231);
        assert_eq!(code("sql_mode", Value::bytes("foo")), 1231);
        assert_eq!(code("long_query_time", Value::bytes("a")), 1232);
    }

    #[test]
    fn flags_are_relative_to_the_current_value() {
        let def = registry().find("optimizer_switch").unwrap();
        let a = set("optimizer_switch", Value::bytes("mrr=on")).unwrap();
        assert!(a.value.show(def).contains("subquery_cache=on,mrr=on,"));
        assert_eq!(code("optimizer_switch", Value::bytes("mrr=on,mrr=off")), 1231);
        assert_eq!(code("optimizer_switch", Value::bytes("mrr=foo")), 1231);
    }

    #[test]
    fn option_texts() {
        let def = registry().find("innodb_buffer_pool_size").unwrap();
        assert_eq!(parse_option(def, "1G").unwrap().0, VarValue::Uint(1 << 30));
        assert!(parse_option(def, "1X").is_err());
        let def = registry().find("max_connections").unwrap();
        assert!(parse_option(def, "5").unwrap().1.unwrap().contains("adjusted to 10"));
    }

    #[test]
    fn every_default_is_a_value_that_prints_as_itself() {
        for def in registry().all() {
            let Some(text) = def.default else { continue };
            if let Ok((value, _)) = parse_option(def, text) {
                let shown = value.show(def);
                let numeric = matches!(def.kind, Kind::Double { .. });
                assert!(shown == text || numeric || text.is_empty(), "{}: {shown}", def.name);
            } else {
                assert!(text.is_empty(), "{}", def.name);
            }
        }
    }
}
