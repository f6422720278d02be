//! JSON text: reading, writing and walking documents. An SQL value of JSON is a string that holds a
//! document.
//!
//! Documents are in UTF-8. Strings and numbers keep their written form, escapes included: a
//! function returns parts of a document as they stand in its text.

mod document;
mod escape;
mod normal;
mod parse;
mod path;
mod path_parse;
mod write;

use selkie_types::{JsonRole, Physical, SqlType, TypeKind, Value, stack};

pub(crate) use document::Json;
pub(crate) use escape::{put_escaped, put_string, same_text, unescape};
pub(crate) use normal::normalize;
pub(crate) use parse::{
    ErrorKind, JsonError, MAX_DEPTH, parse, parse_first, parse_partly, string_at,
};
pub(crate) use path::{Last, Path, index};
pub(crate) use path_parse::PathError;
pub(crate) use write::{write_compact, write_detailed, write_loose};

use crate::expr::{Expr, ExprKind};

/// Functions whose result is a document, not a text to be quoted.
const DOCUMENTS: &[&str] = &[
    "JSON_ARRAY",
    "JSON_ARRAYAGG",
    "JSON_ARRAY_APPEND",
    "JSON_ARRAY_INSERT",
    "JSON_COMPACT",
    "JSON_DETAILED",
    "JSON_EXTRACT",
    "JSON_INSERT",
    "JSON_LOOSE",
    "JSON_MERGE",
    "JSON_MERGE_PATCH",
    "JSON_MERGE_PRESERVE",
    "JSON_NORMALIZE",
    "JSON_OBJECT",
    "JSON_OBJECTAGG",
    "JSON_PRETTY",
    "JSON_QUERY",
    "JSON_REMOVE",
    "JSON_REPLACE",
    "JSON_SEARCH",
    "JSON_SET",
];

/// Whether the function `name` makes documents.
pub(crate) fn makes_document(name: &str) -> bool {
    name.starts_with("JSON_") && DOCUMENTS.contains(&name)
}

/// Whether an expression's strings are JSON documents, not texts to be quoted.
pub(crate) fn is_json(e: &Expr) -> bool {
    stack::ensure();
    if e.ty.json == JsonRole::Document {
        return true;
    }
    match &e.kind {
        ExprKind::Call(c) if c.function.is_implicit() => is_json(&c.args[0]),
        ExprKind::Call(c) => makes_document(c.function.name()),
        ExprKind::Case(c) => {
            let results = c.whens.iter().map(|(_, then)| then).chain(&c.otherwise);
            let mut known = results.filter(|e| e.ty.kind != TypeKind::Null).peekable();
            known.peek().is_some() && known.all(is_json)
        }
        ExprKind::Coalesce(parts) => parts.iter().all(is_json),
        ExprKind::Hold(hold) => is_json(&hold.body),
        ExprKind::Held(held) => held.is_json,
        _ => false,
    }
}

/// Appends a SQL value as JSON.
pub(crate) fn put_sql_value(out: &mut Vec<u8>, value: &Value, ty: &SqlType, is_json: bool) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Int(v) if ty.json == JsonRole::Truth => {
            out.extend_from_slice(if *v == 0 { b"false" } else { b"true" });
        }
        Value::Bytes(b) if is_json => {
            let text = ty.collation.charset().convert(b, selkie_types::Charset::Utf8mb4).0;
            out.extend_from_slice(&text);
        }
        Value::Bytes(_) if ty.fixed_binary().is_some() => {
            let mut text = Vec::new();
            crate::text::write_value(&mut text, value, ty);
            put_string(out, &text);
        }
        // Compat: binary strings are not converted from another character set.
        Value::Bytes(b) if ty.collation.is_binary() => put_string(out, b),
        Value::Bytes(b) => {
            let text = ty.collation.charset().convert(b, selkie_types::Charset::Utf8mb4).0;
            put_string(out, &text);
        }
        _ if matches!(ty.physical(), Physical::Date | Physical::Time | Physical::DateTime)
            || matches!(ty.kind, TypeKind::Enum | TypeKind::Set) =>
        {
            let mut text = Vec::new();
            crate::text::write_value(&mut text, value, ty);
            put_string(out, &text);
        }
        _ if ty.kind == TypeKind::Bit => {
            let mut text = Vec::new();
            crate::text::write_value(&mut text, value, ty);
            put_escaped(out, &text);
        }
        _ => crate::text::write_value(out, value, ty),
    }
}
