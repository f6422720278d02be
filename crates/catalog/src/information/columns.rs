//! COLUMNS. A column on which the session has no privilege is left out. The values that describe a
//! type are shared with ROUTINES and PARAMETERS.

use selkie_engine::IndexKind;
use selkie_types::{NOT_FIXED_DECIMALS, Privileges, SqlMode, SqlType, TypeKind, Value};

use super::{InformationRow, InformationSource, optional, text, unsigned, yes_no};
use crate::table::shown_type;
use crate::{ColumnInfo, DefaultValue, SystemRole, TableInfo, TableKind, default_text};

pub(super) fn columns(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let mut rows = Vec::new();
    for table in source.tables() {
        let before = rows.len();
        for (at, column) in table.columns.iter().enumerate().filter(|(_, c)| !c.is_hidden()) {
            let granted = (source.on_column)(table, &column.name) & Privileges::COLUMN;
            if !granted.is_empty() {
                rows.push(column_row(source, table, at, granted));
            }
        }
        // Compat: a view that cannot be opened has no columns.
        if let TableKind::View(view) = &table.kind
            && rows.len() > before
            && (source.view_fault)(table, view).is_some()
        {
            rows.truncate(before);
        }
    }
    rows
}

/// DATA_TYPE up to DTD_IDENTIFIER of a type.
pub(super) fn type_values(ty: &SqlType, mode: SqlMode) -> Vec<Value> {
    let has_charset = is_text(ty) && !ty.is_binary_string();
    vec![
        text(ty.name()),
        unsigned(characters(ty)),
        unsigned(octets(ty)),
        unsigned(numeric_precision(ty)),
        unsigned(numeric_scale(ty)),
        unsigned(fraction_digits(ty)),
        optional(has_charset.then(|| ty.collation.charset().name())),
        optional(has_charset.then(|| ty.collation.name())),
        text(shown_type(ty, mode)),
    ]
}

fn column_row(
    source: &InformationSource<'_>,
    table: &TableInfo,
    at: usize,
    granted: Privileges,
) -> InformationRow {
    let column = &table.columns[at];
    let ty = &column.ty;
    let privileges = (granted & Privileges::COLUMN).names().collect::<Vec<_>>().join(",");
    let mut row = vec![
        text("def"),
        text(table.schema()),
        text(table.name()),
        text(&column.name),
        Value::UInt(at as u64 + 1),
        column_default(source, table, column),
        yes_no(column.nullable),
    ];
    let mut values = type_values(ty, source.sql_mode);
    if let Some(last) = values.last_mut().filter(|_| column.compressed) {
        *last = text(column.type_text(source.sql_mode));
    }
    row.extend(values);
    row.extend([
        text(column_key(table, at)),
        text(extra(column)),
        text(privileges.to_lowercase()),
        text(&column.comment),
        text(if column.generated.is_some() { "ALWAYS" } else { "NEVER" }),
        optional(column.generated.as_ref().map(|g| &g.expression)),
    ]);
    row
}

/// Compat: without a default, a nullable column shows the text NULL. A NOT NULL column and every
/// column of a system table show SQL NULL.
fn column_default(source: &InformationSource<'_>, table: &TableInfo, column: &ColumnInfo) -> Value {
    if let Some(default) = default_text(column, source.zone) {
        return text(default);
    }
    let implicit = matches!(column.default, DefaultValue::Implicit | DefaultValue::Literal(_));
    let shown = implicit && column.nullable;
    optional((shown && table.kind != TableKind::System).then_some("NULL"))
}

/// The column's value of `Key`: PRI, UNI (alone in a unique key) or MUL (first part of another
/// key).
pub(crate) fn column_key(table: &TableInfo, at: usize) -> &'static str {
    let indexes = &table.def.indexes;
    if table.shown_primary().is_some_and(|i| i.parts.iter().any(|p| p.column == at)) {
        return "PRI";
    }
    let texts = || table.fulltext.iter().map(|index| &index.def);
    let leads = || {
        let first = |i: &&selkie_engine::IndexDef| i.parts.first().is_some_and(|p| p.column == at);
        indexes.iter().chain(texts()).filter(first)
    };
    let alone = |i: &selkie_engine::IndexDef| i.kind == IndexKind::Unique && i.parts.len() == 1;
    if leads().any(alone) {
        "UNI"
    } else if leads().next().is_some() {
        "MUL"
    } else {
        ""
    }
}

fn extra(column: &ColumnInfo) -> String {
    let mut out = Vec::new();
    if column.auto_increment {
        out.push("auto_increment".to_owned());
    }
    if column.on_update_now {
        let digits = column.ty.decimals;
        let argument = if digits > 0 { digits.to_string() } else { String::new() };
        out.push(format!("on update current_timestamp({argument})"));
    }
    if let Some(generated) = &column.generated {
        let kind = if generated.stored { "STORED" } else { "VIRTUAL" };
        out.push(format!("{kind} GENERATED"));
    }
    if column.invisible {
        out.push("INVISIBLE".to_owned());
    }
    if column.system == SystemRole::Unversioned {
        out.push("WITHOUT SYSTEM VERSIONING".to_owned());
    }
    out.join(", ")
}

fn is_text(ty: &SqlType) -> bool {
    ty.is_string() && ty.geometry.is_none() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set)
}

/// Length of the longest text of an ENUM or SET, in characters.
fn members_length(ty: &SqlType) -> u64 {
    let lengths = || ty.members.iter().flat_map(|m| m.iter()).map(|m| m.chars().count() as u64);
    match ty.kind {
        TypeKind::Enum => lengths().max().unwrap_or(0),
        _ => lengths().sum::<u64>() + lengths().count().saturating_sub(1) as u64,
    }
}

fn characters(ty: &SqlType) -> Option<u64> {
    if !is_text(ty) {
        return None;
    }
    if ty.members.is_some() {
        return Some(members_length(ty));
    }
    // Compat: a TEXT shows the number of characters that fit if each has the least number of bytes.
    let shortest = if ty.is_text_or_blob() { ty.collation.charset().min_len() as u64 } else { 1 };
    Some(u64::from(ty.length) / shortest)
}

fn octets(ty: &SqlType) -> Option<u64> {
    let characters = characters(ty)?;
    if ty.is_text_or_blob() {
        return Some(u64::from(ty.length));
    }
    Some(characters * ty.collation.charset().max_len() as u64)
}

fn numeric_precision(ty: &SqlType) -> Option<u64> {
    Some(match ty.kind {
        TypeKind::TinyInt => 3,
        TypeKind::SmallInt => 5,
        TypeKind::MediumInt => 7 + u64::from(ty.unsigned),
        TypeKind::Int => 10,
        TypeKind::BigInt => 19 + u64::from(ty.unsigned),
        TypeKind::Float | TypeKind::Double | TypeKind::Decimal | TypeKind::Bit => {
            u64::from(ty.length)
        }
        _ => return None,
    })
}

fn numeric_scale(ty: &SqlType) -> Option<u64> {
    match ty.kind {
        TypeKind::Decimal => Some(ty.decimals.into()),
        TypeKind::Float | TypeKind::Double => {
            (ty.decimals != NOT_FIXED_DECIMALS).then(|| ty.decimals.into())
        }
        _ => ty.is_integer().then_some(0),
    }
}

fn fraction_digits(ty: &SqlType) -> Option<u64> {
    let timed = matches!(ty.kind, TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp);
    timed.then(|| ty.decimals.into())
}
