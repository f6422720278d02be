//! JSON text: reading, writing and walking documents. JSON values are strings that are documents.

mod document;
mod path;

use selkie_types::{Physical, SqlType, Value};

pub(crate) use document::{Json, parse, put_string, write_loose};
pub(crate) use path::Path;

use crate::expr::{Expr, ExprKind};

/// Whether an expression's strings are JSON documents, not texts to be quoted.
pub(crate) fn is_json(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call(c) if c.function.is_implicit() => is_json(&c.args[0]),
        ExprKind::Call(c) => {
            let name = c.function.name();
            name.starts_with("JSON_")
                && !matches!(name, "JSON_UNQUOTE" | "JSON_VALUE" | "JSON_TYPE")
        }
        _ => false,
    }
}

/// Appends a SQL value as JSON.
pub(crate) fn put_sql_value(out: &mut Vec<u8>, value: &Value, ty: &SqlType, is_json: bool) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bytes(b) if is_json => out.extend_from_slice(b),
        Value::Bytes(b) => {
            let text = ty.collation.charset().convert(b, selkie_types::Charset::Utf8mb4).0;
            put_string(out, &text);
        }
        _ if matches!(ty.physical(), Physical::Date | Physical::Time | Physical::DateTime)
            || matches!(ty.kind, selkie_types::TypeKind::Enum | selkie_types::TypeKind::Set) =>
        {
            let mut text = Vec::new();
            crate::text::write_value(&mut text, value, ty);
            put_string(out, &text);
        }
        _ => crate::text::write_value(out, value, ty),
    }
}
