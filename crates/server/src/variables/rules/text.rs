//! Variables whose values are texts: most accept any text, some require a form.
//!
//! Must not open files; it only checks that they could be opened.

use std::path::Path;

use selkie_fulltext::BooleanSyntax;
use selkie_types::error::catalogue::*;
use selkie_types::temporal::{DateOptions, DateTime};
use selkie_types::{SqlError, SqlResult, Value};

use super::super::assign::{text_of, wrong_type, wrong_value};
use super::super::def::VarDef;
use super::super::value::VarValue;
use super::Rule;

/// Longest name of a replication source, in bytes.
const LONGEST_SOURCE: usize = 191;
/// Longest path.
const LONGEST_PATH: usize = 511;

pub(super) fn assign(def: &VarDef, given: &Value) -> SqlResult<VarValue> {
    let text = match given {
        Value::Null => return null(def),
        _ => text_of(given).ok_or_else(|| wrong_type(def))?,
    };
    let good = match def.rule {
        Some(Rule::MasterName) => text.len() <= LONGEST_SOURCE,
        Some(Rule::Operators) => BooleanSyntax::new(&text).is_some(),
        Some(Rule::LogFile) => log_file(def, &text)?,
        Some(Rule::Directory) => Path::new(&text).is_dir(),
        // Compat: no table of stop words is available.
        Some(Rule::StopWords) => text.contains('/'),
        Some(Rule::Networks) => networks(def, &text)?,
        Some(Rule::NotEmpty) => !text.is_empty(),
        Some(Rule::TableList) => each(&text, |table| table.contains('.'))?,
        Some(Rule::Rewrites) => each(&text, |pair| pair.contains("->"))?,
        Some(Rule::AsOf) => return as_of(def, &text),
        _ => true,
    };
    if good { Ok(VarValue::text(text)) } else { Err(wrong_value(def, &text)) }
}

fn null(def: &VarDef) -> SqlResult<VarValue> {
    use Rule::{Directory, GtidState, Networks, NeverNull, Rewrites, StopWords, TableList};
    match def.rule {
        None | Some(Directory | StopWords | Networks) => Ok(VarValue::null()),
        Some(NeverNull | TableList | Rewrites) => Ok(VarValue::text("")),
        Some(GtidState) => Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"SET"])),
        Some(_) => Err(wrong_value(def, "NULL")),
    }
}

/// Fails (1210) unless every item of a list has the required form.
fn each(list: &str, good: impl Fn(&str) -> bool) -> SqlResult<bool> {
    match list.split(',').map(str::trim).filter(|item| !item.is_empty()).all(good) {
        true => Ok(true),
        false => Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"SET"])),
    }
}

/// A point in time, in MariaDB's format.
fn as_of(def: &VarDef, text: &str) -> SqlResult<VarValue> {
    match DateTime::parse(text.as_bytes(), DateOptions::REAL).value {
        Some(moment) => {
            let mut out = Vec::new();
            moment.write_to(&mut out, 6);
            Ok(VarValue::text(String::from_utf8_lossy(&out)))
        }
        None => Err(wrong_value(def, text)),
    }
}

/// Whether a log can be written to this file: a regular file, or a new one in an existing
/// directory.
fn log_file(def: &VarDef, text: &str) -> SqlResult<bool> {
    if text.len() > LONGEST_PATH {
        return Err(SqlError::new(&ER_PATH_LENGTH, &[&def.name]));
    }
    let path = Path::new(text);
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    if name.is_empty()
        || text.contains('\0')
        || name.ends_with("my.cnf")
        || name.ends_with("my.ini")
    {
        return Ok(false);
    }
    if let Ok(found) = std::fs::metadata(path) {
        return Ok(found.is_file() && !found.permissions().readonly());
    }
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    Ok(parent.is_none_or(Path::is_dir))
}

/// Whether the text is a list of addresses (with or without a prefix length), `localhost` or `*`,
/// separated by commas or spaces.
fn networks(def: &VarDef, text: &str) -> SqlResult<bool> {
    let one = |word: &str| {
        let (address, bits) = word.split_once('/').unwrap_or((word, ""));
        let known = address.parse::<std::net::IpAddr>();
        let most = if known.as_ref().is_ok_and(std::net::IpAddr::is_ipv4) { 32 } else { 128 };
        matches!(word, "*" | "localhost")
            || known.is_ok() && (bits.is_empty() || bits.parse::<u8>().is_ok_and(|b| b <= most))
    };
    let words = || text.split([',', ' ', '\t', '\n']).filter(|w| !w.is_empty());
    match words().find(|w| !one(w)) {
        None => Ok(true),
        Some(word) => Err(SqlError::with_message(
            &ER_PARSE_ERROR,
            format!("Error parsing {} parameter, near '{word}'", def.name),
        )),
    }
}
