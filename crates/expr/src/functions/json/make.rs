//! JSON functions that make documents from SQL values, or a text from a JSON string.
//! Values that are documents already are inserted, not quoted (`json::is_json`).

use selkie_types::{CollationId, Column, JsonRole, SqlResult, SqlType, TypeKind};

use super::{condition, document, first_length, strict_texts, texts};
use crate::cast;
use crate::collate::{self, Coercibility};
use crate::context::TypeContext;
use crate::expr::{Expr, ExprKind};
use crate::function::{Binding, Kernel};
use crate::json::{ErrorKind, JsonError, is_json, put_sql_value, put_string, unescape};
use crate::kernel::{Frame, bytes_to_bytes};

/// The result is a text made of all arguments. Compat: numbers have the coercibility of literals.
pub(super) fn like_all(b: &mut Binding<'_>) -> SqlResult<()> {
    if b.args.is_empty() {
        b.connection_collation();
        return Ok(());
    }
    let mut texts = b.args.clone();
    texts.iter_mut().for_each(|e| cast::to_text(e, b.types));
    let name = b.function.name().to_ascii_lowercase();
    let views: Vec<&Expr> = texts.iter().collect();
    let claim = collate::aggregate(&views, &name, false)?;
    let coercibility = match claim.coercibility {
        Coercibility::Numeric => Coercibility::Coercible,
        other => other,
    };
    b.claim(claim.collation, coercibility);
    Ok(())
}

/// Length in characters of a document made of the arguments.
///
/// Compat: texts count twice because of escapes; every value counts at least as `null`.
pub(super) fn length(b: &Binding<'_>) -> u64 {
    let one = |e: &Expr| {
        let length = match e.ty.json {
            JsonRole::Truth => 5,
            _ => u64::from(cast::text_length(&e.ty)),
        };
        let quoted = !e.ty.is_numeric() && !is_json(e) && e.ty.kind != TypeKind::Null;
        (if quoted { length * 2 } else { length }).max(4) + 4
    };
    if b.args.is_empty() { 0 } else { b.args.iter().map(one).sum::<u64>() + 2 }
}

/// Functions that only write a document in another form.
const REWRITERS: [&str; 4] = ["JSON_COMPACT", "JSON_LOOSE", "JSON_DETAILED", "JSON_PRETTY"];

/// Removes the call of such a function: inside another document, its argument is inserted
/// unchanged.
pub(crate) fn unwrite(e: &mut Expr) {
    let ExprKind::Call(call) = &mut e.kind else { return };
    if !REWRITERS.contains(&call.function.name()) {
        return;
    }
    *e = std::mem::replace(&mut call.args[0], Expr::null());
    if e.ty.is_string() {
        let ty = SqlType { json: JsonRole::Document, ..e.ty.clone() };
        cast::retype(e, ty);
    }
}

/// Makes each byte the character with its number. Compat: binary strings have no other text form
/// here.
pub(super) fn bytes_to_characters(e: &mut Expr) {
    if e.ty.is_string() && e.ty.collation.is_binary() {
        let ty = SqlType { collation: CollationId::UTF8MB4_GENERAL_CI, ..e.ty.clone() };
        cast::wrap(e, ty, false, |frame| {
            bytes_to_bytes(frame, |bytes, out| {
                let text: String = bytes.iter().map(|b| char::from(*b)).collect();
                out.extend_from_slice(text.as_bytes());
                true
            })
        });
    }
}

/// Converts texts to UTF-8 and keeps the kind of other values; binary strings keep their bytes.
///
/// Compat: only columns and literals keep leading zeros of a number here.
pub(crate) fn prepare(e: &mut Expr) {
    cast::local(e);
    unwrite(e);
    e.ty.zerofill &= matches!(e.kind, ExprKind::Column(_) | ExprKind::Literal(_));
    if e.ty.is_string() && e.ty.collation.is_binary() {
        let ty = SqlType { collation: CollationId::UTF8MB4_BIN, ..e.ty.clone() };
        cast::retype(e, ty);
    } else if e.ty.is_string() && e.ty.collation.charset() != selkie_types::Charset::Utf8mb4 {
        cast::to_charset(e, CollationId::UTF8MB4_GENERAL_CI);
    }
}

/// A function that makes a document from SQL values.
pub(super) fn bind(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    let length = length(&b);
    like_all(&mut b)?;
    b.args.iter_mut().for_each(|e| quote_variable(e, b.types));
    b.args.iter_mut().for_each(prepare);
    document(b, length, kernel)
}

/// Compat: a number in a user variable is converted to the document's charset like a text, and so
/// becomes a text.
pub(crate) fn quote_variable(e: &mut Expr, types: &TypeContext) {
    let is_variable =
        matches!(e.kind, ExprKind::UserVariable(..) | ExprKind::AssignUserVariable(..));
    if is_variable && e.ty.is_numeric() && !types.collation_connection.is_binary() {
        cast::to_text(e, types);
        e.ty.json = JsonRole::Plain;
    }
}

/// Appends argument `at` as a JSON value.
pub(super) fn put_arg(frame: &Frame<'_>, at: usize, row: usize, out: &mut Vec<u8>) {
    let arg = &frame.call.args[at];
    put_sql_value(out, &frame.args[at].value(row), &arg.ty, is_json(arg));
}

/// The text; NULL if it is longer than a packet.
fn bounded(frame: &Frame<'_>, text: Vec<u8>) -> Option<Vec<u8>> {
    if frame.too_long(text.len()) { None } else { Some(text) }
}

pub(super) fn array(frame: &Frame<'_>) -> SqlResult<Column> {
    texts(frame, |row| {
        let mut out = vec![b'['];
        for at in 0..frame.args.len() {
            if at > 0 {
                out.extend_from_slice(b", ");
            }
            put_arg(frame, at, row, &mut out);
        }
        out.push(b']');
        bounded(frame, out)
    })
}

pub(super) fn bind_object(mut b: Binding<'_>) -> SqlResult<Expr> {
    let length = length(&b);
    like_all(&mut b)?;
    for at in (0..b.len()).step_by(2) {
        b.text(at);
        prepare(&mut b.args[at]);
    }
    b.args.iter_mut().for_each(|e| quote_variable(e, b.types));
    b.args.iter_mut().for_each(prepare);
    document(b, length, |frame| {
        texts(frame, |row| {
            let mut out = vec![b'{'];
            for at in (0..frame.args.len()).step_by(2) {
                if at > 0 {
                    out.extend_from_slice(b", ");
                }
                put_string(&mut out, frame.bytes(at).value(row));
                out.extend_from_slice(b": ");
                put_arg(frame, at + 1, row, &mut out);
            }
            out.push(b'}');
            bounded(frame, out)
        })
    })
}

/// JSON_QUOTE. Compat: a number gives NULL.
pub(super) fn bind_quote(mut b: Binding<'_>) -> SqlResult<Expr> {
    let length = first_length(&b) * 12 + 2;
    let number = b.args[0].ty.is_numeric();
    bytes_to_characters(&mut b.args[0]);
    b.utf8_text(0);
    b.collation = CollationId::UTF8MB4_BIN;
    if number {
        return document(b, length, |frame| texts(frame, |_| None));
    }
    document(b, length, |frame| {
        strict_texts(frame, |row| {
            let mut out = Vec::new();
            put_string(&mut out, frame.bytes(0).value(row));
            Some(out)
        })
    })
}

pub(super) fn bind_unquote(mut b: Binding<'_>) -> SqlResult<Expr> {
    let length = first_length(&b);
    b.utf8_text(0);
    b.collation = CollationId::UTF8MB4_BIN;
    document(b, length, unquote)
}

/// JSON_UNQUOTE: a text that is no JSON string is unchanged, with a warning if it begins like one.
fn unquote(frame: &Frame<'_>) -> SqlResult<Column> {
    strict_texts(frame, |row| {
        let text = frame.bytes(0).value(row);
        let start = text.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(text.len());
        if text.get(start) != Some(&b'"') {
            return Some(text.to_vec());
        }
        let mut plain = Vec::new();
        let error = match crate::json::string_at(text, start) {
            Ok(inside) => match unescape(inside, &mut plain) {
                Ok(()) => return Some(plain),
                Err(at) => JsonError { kind: ErrorKind::BadCharacter, position: start + 1 + at },
            },
            Err(error) => error,
        };
        frame.ctx.push(condition(frame, 0, error));
        Some(text.to_vec())
    })
}
