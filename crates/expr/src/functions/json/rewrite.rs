//! JSON functions that write a document in another form.
//! As arguments of other JSON functions they have no effect (`make::unwrite`).

use selkie_types::{CollationId, Column, SqlResult};

use super::{document, first_length, like_argument, read, strict_texts};
use crate::expr::Expr;
use crate::function::Binding;
use crate::json::{Json, normalize, write_compact, write_detailed, write_loose};
use crate::kernel::Frame;

fn rewritten(
    frame: &Frame<'_>,
    write: impl Fn(usize, &mut Vec<u8>, &Json<'_>),
) -> SqlResult<Column> {
    strict_texts(frame, |row| {
        let root = read(frame, 0, row)?;
        let mut out = Vec::new();
        write(row, &mut out, &root);
        Some(out)
    })
}

pub(super) fn compact(frame: &Frame<'_>) -> SqlResult<Column> {
    rewritten(frame, |_, out, json| write_compact(out, json))
}

pub(super) fn loose(frame: &Frame<'_>) -> SqlResult<Column> {
    rewritten(frame, |_, out, json| write_loose(out, json))
}

/// Default and greatest number of spaces per level.
const INDENT: i64 = 4;
const MAX_INDENT: i64 = 8;

/// JSON_DETAILED: one line per value; the second argument is the indentation per level.
pub(super) fn bind_detailed(mut b: Binding<'_>) -> SqlResult<Expr> {
    like_argument(&mut b, 0);
    b.utf8_text(0);
    if b.len() == 1 {
        b.args.push(Expr::int(INDENT));
    }
    b.int(1);
    let length = u32::MAX.into();
    document(b, length, |frame| {
        let indents = frame.view::<i64>(1);
        rewritten(frame, |row, out, json| {
            write_detailed(out, json, indents.value(row).clamp(0, MAX_INDENT) as usize);
        })
    })
}

pub(super) fn bind_normalize(mut b: Binding<'_>) -> SqlResult<Expr> {
    let length = first_length(&b) * 5;
    b.utf8_text(0);
    b.collation = CollationId::UTF8MB4_BIN;
    document(b, length, |frame| rewritten(frame, |_, out, json| normalize(out, json)))
}
