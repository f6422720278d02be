//! Conversions to and from INET4, INET6 and UUID.
//! Compat: these types never become numbers; each is zero where one is needed.

use selkie_types::error::catalogue::ER_TRUNCATED_WRONG_VALUE;
use selkie_types::{CollationId, Column, Condition, FixedBinary, SqlResult, SqlType, TypeKind};

use super::{fold_literal, retype_null, wrap};
use crate::context::TypeContext;
use crate::expr::Expr;
use crate::kernel::{Frame, bytes_to_bytes, from_bytes};
use crate::text::for_message;

/// Converts to a value of a fixed number of bytes; NULL, with warning 1292, for other texts.
pub fn to_fixed_binary(e: &mut Expr, kind: FixedBinary, types: &TypeContext) {
    let ty = SqlType::of_fixed_binary(kind);
    if e.ty.kind == kind.kind() || retype_null(e, &ty) {
        return;
    }
    super::to_text(e, types);
    match e.ty.collation.is_binary() {
        true => wrap(e, ty, true, |frame| convert(frame, FixedBinary::of_bytes)),
        false => {
            if e.ty.collation.charset().min_len() > 1 {
                super::to_charset(e, CollationId::UTF8MB4_GENERAL_CI);
            }
            wrap(e, ty, true, |frame| convert(frame, FixedBinary::of_text));
        }
    }
    fold_literal(e, types);
}

type Reading = fn(FixedBinary, &[u8]) -> Option<Box<[u8]>>;

fn convert(frame: &Frame<'_>, read: Reading) -> SqlResult<Column> {
    let kind = frame.ty.fixed_binary();
    let collation = frame.arg_type(0).collation;
    bytes_to_bytes(frame, |bytes, out| match kind.and_then(|kind| read(kind, bytes)) {
        Some(value) => {
            out.extend_from_slice(&value);
            true
        }
        None => {
            let text = for_message(bytes, collation);
            frame.ctx.push(incorrect(frame.ty.name(), &text));
            false
        }
    })
}

/// Warning 1292, in the wording of types that MariaDB loads as plugins.
#[cold]
fn incorrect(name: &str, text: &str) -> Condition {
    let def = &ER_TRUNCATED_WRONG_VALUE;
    let message = format!("Incorrect {name} value: '{text}'");
    let error = selkie_types::SqlError::raw(def.code, def.sqlstate, message);
    Condition::from_error(selkie_types::Level::Warning, &error)
}

/// Compat: as a number, such a value is zero. Other values are unchanged.
pub(super) fn to_zero(e: &mut Expr) {
    if e.ty.fixed_binary().is_some() {
        wrap(e, SqlType::bigint(), false, |frame| from_bytes(frame, |_| Ok(Some(0i64))));
    }
}

/// Makes such a value its text; other values are unchanged.
pub(super) fn to_text(e: &mut Expr, collation: CollationId) -> bool {
    let Some(kind) = e.ty.fixed_binary() else { return false };
    wrap(e, SqlType::varchar(kind.text_length(), collation), false, text);
    true
}

/// Like [`to_text`], in utf8mb4.
pub(crate) fn to_its_text(e: &mut Expr) {
    to_text(e, CollationId::UTF8MB4_GENERAL_CI);
}

fn text(frame: &Frame<'_>) -> SqlResult<Column> {
    let Some(kind) = frame.arg_type(0).fixed_binary() else {
        return Err(selkie_types::SqlError::internal("no value of a fixed number of bytes"));
    };
    let charset = frame.ty.collation.charset();
    let mut plain = Vec::new();
    bytes_to_bytes(frame, |value, out| {
        plain.clear();
        kind.write_text(value, &mut plain);
        out.extend_from_slice(&selkie_types::Charset::Utf8mb4.convert(&plain, charset).0);
        true
    })
}

/// Makes such a value its standard bytes; other values are unchanged.
pub(crate) fn to_its_bytes(e: &mut Expr) -> bool {
    let Some(kind) = e.ty.fixed_binary() else { return false };
    wrap(e, SqlType::varchar(kind.width() as u32, CollationId::BINARY), false, bytes);
    true
}

fn bytes(frame: &Frame<'_>) -> SqlResult<Column> {
    let kind = frame.arg_type(0).fixed_binary();
    bytes_to_bytes(frame, |value, out| {
        kind.into_iter().for_each(|kind| kind.write_bytes(value, out));
        true
    })
}

/// Makes such a value true if one of its bytes is not zero.
pub(super) fn to_truth(e: &mut Expr) {
    wrap(e, SqlType::new(TypeKind::Int, 1, 0), false, |frame| {
        from_bytes(frame, |value| Ok(Some(i64::from(value.iter().any(|byte| *byte != 0)))))
    });
}
