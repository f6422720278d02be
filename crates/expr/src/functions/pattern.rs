//! LIKE.
//! A pattern that is constant is prepared once per call; matching itself is in
//! `selkie_types::charset`.

use selkie_types::charset::LikePattern;
use selkie_types::error::catalogue::ER_WRONG_ARGUMENTS;
use selkie_types::{Charset, CollationId, Column, SqlError, SqlResult};

use crate::expr::{CallOption, Expr, ExprKind};
use crate::function::{Binding, Function};
use crate::kernel::{Frame, NativeOut};
use crate::result_type::boolean_type;

pub(crate) static LIKE: Function = Function::new("LIKE", 2, 2, bind);

/// Options of a call without an escape character: with and without an ESCAPE that is empty.
pub(crate) const EMPTY_ESCAPE: i64 = -1;
pub(crate) const NO_ESCAPE: i64 = -2;
/// An ESCAPE that is empty in the text of a definition, which has the charset of its table.
pub(crate) const STORED_ESCAPE: i64 = -3;

fn bind(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.unify(0..2, true)?;
    let written_in = match b.option {
        CallOption::Number(NO_ESCAPE) => Some(Charset::Latin1),
        CallOption::Number(EMPTY_ESCAPE) => Some(b.types.collation_connection.charset()),
        CallOption::Number(STORED_ESCAPE) => Some(b.collation.charset()),
        _ => None,
    };
    if let Some(charset) = written_in {
        b.option = CallOption::Number(without_escape(b.collation, charset).map_or(-1, i64::from));
    }
    b.strict(boolean_type(), like)
}

/// LIKE whose escape character is an argument.
pub(crate) static LIKE_ESCAPED: Function = Function::new("LIKE", 3, 3, |mut b| {
    b.unify(0..2, true)?;
    b.utf8_text(2);
    b.strict(boolean_type(), like)
});

/// The escape character if an empty text of some charset says that there is none. Compat: in
/// charsets with several bytes per character it is still a backslash, and in those of one byte
/// where the text has another charset.
fn without_escape(collation: CollationId, written_in: Charset) -> Option<u32> {
    let charset = collation.charset();
    let is_kept = charset == written_in || charset == Charset::Binary;
    (charset.max_len() > 1 || !is_kept).then_some(u32::from(b'\\'))
}

/// The escape character of a call; the argument is constant.
fn escape(frame: &Frame<'_>) -> SqlResult<Option<u32>> {
    let backslash = Some(u32::from(b'\\'));
    if let (3, true) = (frame.args.len(), frame.rows > 0) {
        let Some(text) = frame.bytes(2).get(0) else { return Ok(backslash) };
        let text = String::from_utf8_lossy(text);
        let mut chars = text.chars();
        let charset = frame.ctx.types.collation_connection.charset();
        let first = chars.next().map(u32::from);
        return match chars.next() {
            Some(_) => Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"ESCAPE"])),
            None => Ok(first.or_else(|| without_escape(frame.call.collation, charset))),
        };
    }
    Ok(match frame.call.option {
        CallOption::Number(code) => u32::try_from(code).ok(),
        _ => backslash,
    })
}

fn like(frame: &Frame<'_>) -> SqlResult<Column> {
    let (values, patterns) = (frame.bytes(0), frame.bytes(1));
    let (collation, escape) = (frame.call.collation, escape(frame)?);
    let mut out = NativeOut::new(frame.rows);
    if !patterns.is_constant() {
        for row in 0..frame.rows {
            let pair = values.get(row).zip(patterns.get(row));
            out.push(pair.map(|(v, p)| i64::from(collation.like(v, p, escape))));
        }
        return Ok(out.finish());
    }
    let Some(text) = patterns.get(0) else {
        (0..frame.rows).for_each(|_| out.push(None::<i64>));
        return Ok(out.finish());
    };
    let literal = frame.call.args[1..].iter().all(|e| matches!(e.kind, ExprKind::Literal(_)));
    let make = || LikePattern::new(collation, text, escape);
    let pattern = frame.call.cache.get_or(literal, make);
    (0..frame.rows).for_each(|row| {
        out.push(values.get(row).map(|v| i64::from(pattern.matches(v))));
    });
    Ok(out.finish())
}
