//! Parts of strings: LEFT, SUBSTRING, TRIM and similar.
//! Positions count characters, from 1; a result is a part of the argument.

use selkie_meter::tick;
use selkie_types::charset::Charset;
use selkie_types::{Column, SqlResult};

use crate::expr::Expr;
use crate::function::{Binding, Function};
use crate::kernel::{Frame, write_rows};

pub(crate) static TRIM: Function = Function::new("TRIM", 1, 2, |b| bind_trim(b, true, true));
pub(crate) static LTRIM: Function = Function::new("LTRIM", 1, 2, |b| bind_trim(b, true, false));
pub(crate) static RTRIM: Function = Function::new("RTRIM", 1, 2, |b| bind_trim(b, false, true));

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("LEFT", 2, 2, |b| ends(b, |f| end_part(f, true))),
    Function::new("RIGHT", 2, 2, |b| ends(b, |f| end_part(f, false))),
    Function::new("SUBSTRING", 2, 3, substring),
    Function::new("SUBSTR", 2, 3, substring),
    Function::new("MID", 3, 3, substring),
    Function::new("SUBSTRING_INDEX", 3, 3, |mut b| {
        b.unify(0..2, true)?;
        b.int(2);
        let ty = b.string_type(b.args[0].ty.length.into());
        b.strict(ty, substring_index)
    }),
    Function::new("TRIM", 1, 1, |b| bind_trim(b, true, true)),
    Function::new("LTRIM", 1, 1, |b| bind_trim(b, true, false)),
    Function::new("RTRIM", 1, 1, |b| bind_trim(b, false, true)),
    Function::new("SUBSTR_ORACLE", 2, 3, |b| substring(b).map(Expr::or_null)),
    Function::new("TRIM_ORACLE", 1, 2, |b| bind_trim(b, true, true).map(Expr::or_null)),
    Function::new("LTRIM_ORACLE", 1, 2, |b| bind_trim(b, true, false).map(Expr::or_null)),
    Function::new("RTRIM_ORACLE", 1, 2, |b| bind_trim(b, false, true).map(Expr::or_null)),
];

impl Expr {
    /// The same expression, which may be NULL.
    pub(super) fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }
}

/// Whether an empty result is NULL, as `sql_mode=ORACLE` has it.
pub(super) fn has_no_empty(frame: &Frame<'_>) -> bool {
    frame.call.function.name().ends_with("_ORACLE")
}

fn ends(mut b: Binding<'_>, kernel: crate::function::Kernel) -> SqlResult<Expr> {
    b.subject(0);
    b.int(1);
    let mut length = u64::from(b.args[0].ty.length);
    if let Some(n) = b.constant_int(1) {
        length = length.min(n.max(0) as u64);
    }
    let ty = b.string_type(length);
    b.strict(ty, kernel)
}

fn charset(frame: &Frame<'_>) -> Charset {
    frame.call.collation.charset()
}

fn count(n: i64) -> usize {
    usize::try_from(n.max(0)).unwrap_or(usize::MAX)
}

fn end_part(frame: &Frame<'_>, left: bool) -> SqlResult<Column> {
    let (texts, counts) = (frame.bytes(0), frame.view::<i64>(1));
    let charset = charset(frame);
    write_rows(frame, |row, out| {
        let (text, n) = (texts.value(row), count(counts.value(row)));
        let part = if left {
            charset.prefix(text, n)
        } else {
            let skip = charset.char_count(text).saturating_sub(n);
            &text[charset.char_offset(text, skip)..]
        };
        out.extend_from_slice(part);
        true
    })
}

fn substring(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.subject(0);
    b.int(1);
    // Compat: the result may have as many characters as the argument has bytes.
    let width = b.args[0].ty.collation.charset().max_len() as i64;
    let mut length = i64::from(b.args[0].ty.length) * width;
    if let Some(start) = b.constant_int(1) {
        length = match start {
            0 if b.function.name() == "SUBSTR_ORACLE" => length,
            0 => 0,
            1.. => (length - start + 1).max(0),
            _ => length.min(start.saturating_neg()),
        };
    }
    if b.len() == 3 {
        b.int(2);
        if let Some(n) = b.constant_int(2) {
            length = length.min(n.max(0));
        }
    }
    let ty = b.string_type(length as u64);
    b.strict(ty, substring_kernel)
}

fn substring_kernel(frame: &Frame<'_>) -> SqlResult<Column> {
    let (texts, starts) = (frame.bytes(0), frame.view::<i64>(1));
    let counts = (frame.args.len() == 3).then(|| frame.view::<i64>(2));
    let charset = charset(frame);
    let no_empty = has_no_empty(frame);
    write_rows(frame, |row, out| {
        let n = counts.map_or(usize::MAX, |c| count(c.value(row)));
        let start = match starts.value(row) {
            0 if no_empty => 1,
            start => start,
        };
        let part = part(charset, texts.value(row), start, n);
        out.extend_from_slice(part);
        !(no_empty && part.is_empty())
    })
}

/// `count` characters from position `start`; it counts from 1, or if negative from the end.
fn part(charset: Charset, text: &[u8], start: i64, count: usize) -> &[u8] {
    let skip = match start {
        0 => return b"",
        1.. => usize::try_from(start - 1).unwrap_or(usize::MAX),
        _ => {
            let back = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
            match charset.char_count(text).checked_sub(back) {
                Some(skip) => skip,
                None => return b"",
            }
        }
    };
    charset.substring(text, skip, count)
}

fn substring_index(frame: &Frame<'_>) -> SqlResult<Column> {
    let (texts, delimiters) = (frame.bytes(0), frame.bytes(1));
    let counts = frame.view::<i64>(2);
    let charset = charset(frame);
    write_rows(frame, |row, out| {
        let (text, delimiter) = (texts.value(row), delimiters.value(row));
        out.extend_from_slice(index_part(charset, text, delimiter, counts.value(row)));
        true
    })
}

/// The text before the `count`-th delimiter; if negative, the text after it, counted from the end.
///
/// Compat: delimiters are compared byte by byte, whatever the collation is.
fn index_part<'t>(charset: Charset, text: &'t [u8], delimiter: &[u8], count: i64) -> &'t [u8] {
    if delimiter.is_empty() || count == 0 {
        return b"";
    }
    let places = occurrences(charset, text, delimiter);
    if count > 0 {
        let nth = usize::try_from(count - 1).unwrap_or(usize::MAX);
        return places.get(nth).map_or(text, |&at| &text[..at]);
    }
    let back = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    match places.len().checked_sub(back) {
        Some(nth) => &text[places[nth] + delimiter.len()..],
        None => text,
    }
}

/// Offsets at which a byte string occurs in a text: at starts of characters, without overlaps.
pub(super) fn occurrences(charset: Charset, text: &[u8], needle: &[u8]) -> Vec<usize> {
    if charset.is_self_synchronizing() {
        return memchr::memmem::find_iter(text, needle).inspect(|_| tick(8)).collect();
    }
    let mut places = Vec::new();
    let mut at = 0;
    while at + needle.len() <= text.len() {
        tick(needle.len().min(64));
        if text[at..].starts_with(needle) {
            places.push(at);
            at += needle.len();
        } else {
            at += charset.char_len(&text[at..]).max(1);
        }
    }
    places
}

fn bind_trim(mut b: Binding<'_>, left: bool, right: bool) -> SqlResult<Expr> {
    if b.len() == 2 {
        b.unify_searched()?;
    } else {
        b.subject(0);
    }
    let ty = b.string_type(b.args[0].ty.length.into());
    match (left, right) {
        (true, true) => b.strict(ty, |f| trim(f, true, true)),
        (true, false) => b.strict(ty, |f| trim(f, true, false)),
        _ => b.strict(ty, |f| trim(f, false, true)),
    }
}

fn trim(frame: &Frame<'_>, left: bool, right: bool) -> SqlResult<Column> {
    let texts = frame.bytes(0);
    let what = (frame.args.len() == 2).then(|| frame.bytes(1));
    let space = charset(frame).space();
    let no_empty = has_no_empty(frame);
    write_rows(frame, |row, out| {
        let mut text = texts.value(row);
        let what = what.map_or(space, |w| w.value(row));
        if !what.is_empty() {
            while left && text.starts_with(what) {
                text = &text[what.len()..];
            }
            while right && text.ends_with(what) {
                text = &text[..text.len() - what.len()];
            }
        }
        out.extend_from_slice(text);
        !(no_empty && text.is_empty())
    })
}
