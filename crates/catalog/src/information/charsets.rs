//! CHARACTER_SETS, COLLATIONS and COLLATION_CHARACTER_SET_APPLICABILITY. They list the built-in
//! character sets and depend on no definition.

use std::collections::BTreeMap;

use selkie_types::charset::Collation;
use selkie_types::{Charset, CollationId, Value};

use super::{InformationRow, text};

pub(super) fn character_sets() -> Vec<InformationRow> {
    let charsets: BTreeMap<&str, _> =
        CollationId::all().map(|c| (c.charset.name(), c.charset)).collect();
    let row = |charset: &selkie_types::Charset| {
        vec![
            text(charset.name()),
            text(charset.default_collation().name()),
            text(charset.description()),
            Value::Int(charset.max_len() as i64),
        ]
    };
    let mut charsets: Vec<&selkie_types::Charset> = charsets.values().collect();
    charsets.sort_by_key(|charset| charset.default_collation().0);
    charsets.into_iter().map(row).collect()
}

/// Compat: character sets are ordered by the id of their default collation.
fn listed() -> Vec<&'static Collation> {
    let mut all: Vec<&Collation> = CollationId::all().collect();
    all.sort_by_key(|c| (c.charset.default_collation().0, c.id.0));
    all
}

fn default_mark(collation: &Collation) -> Value {
    text(if collation.is_default() { "Yes" } else { "" })
}

/// The name without character set, for a collation that all Unicode character sets share.
fn common_name(collation: &Collation) -> Option<&'static str> {
    let (_, name) = collation.name.split_once('_')?;
    name.starts_with("uca1400_").then_some(name)
}

/// Compat: a collation shared by all Unicode character sets is listed once, without its charset and
/// id.
pub(super) fn collations() -> Vec<InformationRow> {
    let row = |c: &'static Collation| {
        if let Some(name) = common_name(c) {
            let sort_len = Value::Int(c.sort_len.into());
            let unknown = || Value::Null;
            return vec![text(name), unknown(), unknown(), unknown(), text("Yes"), sort_len];
        }
        vec![
            text(c.name),
            text(c.charset.name()),
            Value::Int(c.id.0.into()),
            default_mark(c),
            text("Yes"),
            Value::Int(c.sort_len.into()),
        ]
    };
    let is_listed =
        |c: &&'static Collation| common_name(c).is_none() || c.charset == Charset::Utf8mb4;
    listed().into_iter().filter(is_listed).map(row).collect()
}

pub(super) fn applicability() -> Vec<InformationRow> {
    let row = |c: &'static Collation| {
        vec![
            text(common_name(c).unwrap_or(c.name)),
            text(c.charset.name()),
            text(c.name),
            Value::Int(c.id.0.into()),
            default_mark(c),
        ]
    };
    listed().into_iter().map(row).collect()
}
