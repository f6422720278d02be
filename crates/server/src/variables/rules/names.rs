//! Variables whose values are names: character sets, collations, locales, engines, other variables.
//!
//! Must not copy lists that another crate has.

use selkie_types::error::catalogue::*;
use selkie_types::{Charset, CollationId, Locale, SqlError, SqlResult, Value};

use super::super::assign::{shown as text_shown, text_of, wrong_type, wrong_value};
use super::super::def::VarDef;
use super::super::registry::registry;
use super::super::value::VarValue;
use super::Rule;

/// Names of engines that can be a default engine.
const ENGINES: &[(&str, &str)] = &[
    ("InnoDB", "innodb"),
    ("MEMORY", "memory"),
    ("MEMORY", "heap"),
    ("MyISAM", "myisam"),
    ("Aria", "aria"),
    ("Aria", "maria"),
    ("CSV", "csv"),
];

pub(super) fn charset(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    let found = match given {
        Value::Null if def.rule == Some(Rule::CharsetOrNull) => return Ok(VarValue::null()),
        Value::Null => return Err(wrong_value(def, "NULL")),
        Value::Int(id) => charset_by_number(*id),
        Value::UInt(id) => charset_by_number(*id as i64),
        Value::Bytes(_) => Charset::from_name(&text_of(given).unwrap_or_default()),
        _ => return Err(wrong_type(def)),
    };
    let shown = shown(given);
    let charset = found.ok_or_else(|| SqlError::new(&ER_UNKNOWN_CHARACTER_SET, &[&shown]))?;
    // Compat: the parser must be able to read client text, so wide character sets are refused.
    let wide = matches!(charset.name(), "ucs2" | "utf16" | "utf16le" | "utf32");
    if def.rule == Some(Rule::ClientCharset) && wide {
        return Err(wrong_value(def, &shown));
    }
    Ok(VarValue::text(charset.name()))
}

pub(super) fn collation(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
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

/// A character set by number: the number of its default collation.
fn charset_by_number(id: i64) -> Option<Charset> {
    let collation = collation_by_number(id)?;
    let charset = collation.charset();
    (charset.default_collation() == collation).then_some(charset)
}

/// A refused value as errors show it. Compat: only 32 bits of a number are shown.
fn shown(given: &Value) -> String {
    match given {
        Value::Int(v) => (*v as i32).to_string(),
        Value::UInt(v) => (*v as i32).to_string(),
        other => text_shown(other),
    }
}

fn collation_by_number(id: i64) -> Option<CollationId> {
    u16::try_from(id).ok().and_then(CollationId::from_number)
}

pub(super) fn engine(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    match given {
        Value::Null if def.rule == Some(Rule::EngineOrNull) => Ok(VarValue::null()),
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

pub(super) fn locale(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    let found = match given {
        Value::Null => return Err(wrong_value(def, "NULL")),
        Value::Int(number) => u32::try_from(*number).ok().and_then(Locale::from_number),
        Value::UInt(number) => u32::try_from(*number).ok().and_then(Locale::from_number),
        Value::Bytes(_) => {
            let name = text_of(given).unwrap_or_default();
            Locale::from_name(current_locale(&name))
        }
        _ => return Err(wrong_type(def)),
    };
    let found = found.ok_or_else(|| SqlError::new(&ER_UNKNOWN_LOCALE, &[&shown(given)]))?;
    Ok(VarValue::text(found.name))
}

/// The present name of a locale that older versions called otherwise.
pub(crate) fn current_locale(name: &str) -> &str {
    if name.eq_ignore_ascii_case(OLD_LOCALE.0) { OLD_LOCALE.1 } else { name }
}

/// A locale's name in older versions, and its present name.
pub(crate) const OLD_LOCALE: (&str, &str) = ("sr_YU", "sr_RS");

/// Names of variables, each once and in order. Compat: `*`, which means all, is allowed only at the
/// end.
pub(super) fn tracked(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    let text = match given {
        Value::Null => return Err(wrong_value(def, "NULL")),
        _ => text_of(given).ok_or_else(|| wrong_type(def))?,
    };
    let mut names = Vec::new();
    let mut rest = Some(text.as_str()).filter(|t| !t.is_empty());
    while let Some(list) = rest {
        let (said, more) = match list.split_once(',') {
            Some((name, more)) => (name.trim(), Some(more)),
            None => (list.trim(), None),
        };
        let name = said.to_ascii_lowercase();
        if name == "*" && more.is_none() {
            return Ok(VarValue::text("*"));
        }
        if registry().find(&name).is_none() {
            // Compat: if a name is missing, the error shows the rest of the list.
            let name = if name.is_empty() { list.trim() } else { said };
            return Err(SqlError::new(&ER_UNKNOWN_SYSTEM_VARIABLE, &[&name]));
        }
        names.push(name);
        rest = more;
    }
    names.sort();
    names.dedup();
    Ok(VarValue::text(names.join(",")))
}
