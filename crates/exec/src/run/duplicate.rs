//! The text of duplicate key errors (1062): the key's values as MariaDB prints them, cut at its
//! length.

use selkie_catalog::{TableInfo, shown_prefix};
use selkie_expr::TimeZone;
use selkie_types::{ByteRows, SqlError, TypeKind, Value};

/// 1062 for a stored row that repeats a key of index `index`.
pub(crate) fn duplicate_error(
    table: &TableInfo,
    index: usize,
    rows: &ByteRows,
    row: usize,
    zone: &TimeZone,
) -> SqlError {
    let def = &table.def;
    let Some(index) = def.indexes.get(index) else { return SqlError::duplicate_entry("", "") };
    let bytes = if row < rows.len() { rows.get(row) } else { &[] };
    let shown_parts = index.parts.iter().filter(|part| !table.columns[part.column].is_hidden());
    let parts = shown_parts.map(|part| {
        let ty = &def.columns[part.column].ty;
        let value = def.layout.value(bytes, part.column).unwrap_or_default();
        let value = match (value, shown_prefix(ty, index, part)) {
            (Value::Bytes(b), Some(n)) => {
                Value::bytes(ty.collation.charset().prefix(&b, n as usize))
            }
            (Value::DateTime(v), _) if ty.kind == TypeKind::Timestamp => {
                Value::DateTime(zone.to_local(v))
            }
            (value, _) => value,
        };
        shown(ty, &value)
    });
    let mut entry = String::new();
    for part in parts {
        // Compat: not behind parts that are all empty.
        if !entry.is_empty() {
            entry.push('-');
        }
        entry.push_str(&part);
    }
    SqlError::duplicate_entry(entry, &index.name)
}

fn shown(ty: &selkie_types::SqlType, value: &Value) -> String {
    if value.is_null() {
        return "NULL".into();
    }
    let mut text = Vec::new();
    selkie_expr::text::write_value(&mut text, value, ty);
    if ty.kind == TypeKind::Char && ty.is_binary_string() {
        // Compat: what BINARY was filled up with is not shown.
        let end = text.iter().rposition(|&b| b != 0).map_or(0, |at| at + 1);
        text.truncate(end);
    }
    if ty.fixed_binary().is_some() {
        return String::from_utf8_lossy(&text).into_owned();
    }
    selkie_expr::text::for_message(&text, ty.collation)
}
