//! JSON documents written again: with single spaces, without any, or with one line per value.
//! Strings and numbers are copied as written; only the text between them changes.

use selkie_meter::{demand, tick};
use selkie_types::stack;

use super::Json;

/// Text between the parts of a document.
struct Style {
    comma: &'static [u8],
    colon: &'static [u8],
}

/// Appends a document with a space after every comma and colon.
pub(crate) fn write_loose(out: &mut Vec<u8>, json: &Json<'_>) {
    write(out, json, &Style { comma: b", ", colon: b": " });
}

/// Appends a document without spaces.
pub(crate) fn write_compact(out: &mut Vec<u8>, json: &Json<'_>) {
    write(out, json, &Style { comma: b",", colon: b":" });
}

fn write_scalar(out: &mut Vec<u8>, json: &Json<'_>) {
    match json {
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(digits) => out.extend_from_slice(digits),
        Json::String(inside) => quoted(out, inside),
        _ => out.extend_from_slice(b"null"),
    }
}

fn quoted(out: &mut Vec<u8>, inside: &[u8]) {
    demand(inside.len());
    out.push(b'"');
    out.extend_from_slice(inside);
    out.push(b'"');
}

fn write(out: &mut Vec<u8>, json: &Json<'_>, style: &Style) {
    tick(32);
    stack::ensure();
    match json {
        Json::Array(items, _) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.extend_from_slice(style.comma);
                }
                write(out, item, style);
            }
            out.push(b']');
        }
        Json::Object(members, _) => {
            out.push(b'{');
            for (i, (name, value)) in members.iter().enumerate() {
                if i > 0 {
                    out.extend_from_slice(style.comma);
                }
                quoted(out, name);
                out.extend_from_slice(style.colon);
                write(out, value, style);
            }
            out.push(b'}');
        }
        scalar => write_scalar(out, scalar),
    }
}

/// Appends a document with one line per value and `indent` spaces per level.
///
/// Compat: an array of at most one scalar is on one line; an empty object is not.
pub(crate) fn write_detailed(out: &mut Vec<u8>, json: &Json<'_>, indent: usize) {
    detailed(out, json, indent, 0);
}

fn new_line(out: &mut Vec<u8>, indent: usize, depth: usize) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', indent * depth));
}

fn detailed(out: &mut Vec<u8>, json: &Json<'_>, indent: usize, depth: usize) {
    tick(32);
    stack::ensure();
    match json {
        Json::Array(items, _) => {
            let short = match &items[..] {
                [] => true,
                [only] => only.is_scalar(),
                _ => false,
            };
            if short {
                return write_loose(out, json);
            }
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                new_line(out, indent, depth + 1);
                detailed(out, item, indent, depth + 1);
            }
            new_line(out, indent, depth);
            out.push(b']');
        }
        Json::Object(members, _) => {
            out.push(b'{');
            for (i, (name, value)) in members.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                new_line(out, indent, depth + 1);
                quoted(out, name);
                out.extend_from_slice(b": ");
                if !value.is_scalar() {
                    new_line(out, indent, depth + 1);
                }
                detailed(out, value, indent, depth + 1);
            }
            new_line(out, indent, depth);
            out.push(b'}');
        }
        scalar => write_scalar(out, scalar),
    }
}
