//! CHARACTER_SETS, COLLATIONS and which belongs to which.

use std::collections::BTreeMap;

use selkie_types::charset::Collation;
use selkie_types::{CollationId, Value};

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

/// Compat: charsets come in the order of their default collations' numbers.
fn listed() -> Vec<&'static Collation> {
    let mut all: Vec<&Collation> = CollationId::all().collect();
    all.sort_by_key(|c| (c.charset.default_collation().0, c.id.0));
    all
}

fn default_mark(collation: &Collation) -> Value {
    text(if collation.is_default() { "Yes" } else { "" })
}

pub(super) fn collations() -> Vec<InformationRow> {
    let row = |c: &'static Collation| {
        vec![
            text(c.name),
            text(c.charset.name()),
            Value::Int(c.id.0.into()),
            default_mark(c),
            text("Yes"),
            Value::Int(c.sort_len.into()),
        ]
    };
    listed().into_iter().map(row).collect()
}

pub(super) fn applicability() -> Vec<InformationRow> {
    let row = |c: &'static Collation| {
        vec![
            text(c.name),
            text(c.charset.name()),
            text(c.name),
            Value::Int(c.id.0.into()),
            default_mark(c),
        ]
    };
    listed().into_iter().map(row).collect()
}
