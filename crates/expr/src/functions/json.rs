//! JSON functions: shared parts. Documents are read as UTF-8; results are converted to the charset
//! of the function's type.

mod change;
mod compare;
mod make;
mod merge;
mod read;
mod rewrite;
mod search;

use selkie_types::error::catalogue::{
    ER_JSON_BAD_CHR, ER_JSON_DEPTH, ER_JSON_EOS, ER_JSON_NOT_JSON_CHR, ER_JSON_PATH_DEPTH,
    ER_JSON_PATH_EOS, ER_JSON_PATH_NO_WILDCARD, ER_JSON_PATH_SYNTAX, ER_JSON_SYNTAX,
};
use selkie_types::{Charset, CollationId, Column, Condition, SqlResult, SqlType, TypeKind};

use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel, MANY, Readings};
use crate::json::{ErrorKind, Json, JsonError, MAX_DEPTH, Path, PathError, parse, parse_first};
use crate::kernel::{BytesOut, Frame, NativeOut};
use crate::result_type::boolean_type;

pub(crate) use make::{prepare, quote_variable, unwrite};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("JSON_VALID", 1, 1, |b| truth(b, read::valid)),
    Function::new("JSON_EXTRACT", 2, MANY, |b| {
        let paths = b.len() as u64 - 1;
        let several = if paths > 1 { 2 * paths } else { 0 };
        let length = first_length(&b) * 2 * paths + several;
        like_first(b, length, read::extract)
    })
    .read_as(Readings {
        value: read::extract_value,
        number: read::extract_number,
        text: read::extract_text,
    }),
    Function::new("JSON_VALUE", 2, 2, |b| as_long(b, 1, read::value)),
    Function::new("JSON_QUERY", 2, 2, |b| as_long(b, 1, read::query)),
    Function::new("JSON_EXISTS", 2, 2, |b| truth(b, read::exists)),
    Function::new("JSON_UNQUOTE", 1, 1, make::bind_unquote),
    Function::new("JSON_QUOTE", 1, 1, make::bind_quote),
    Function::new("JSON_KEYS", 1, 2, |b| as_long(b, 1, read::keys)),
    Function::new("JSON_LENGTH", 1, 2, |b| measure(b, 10, read::length)),
    Function::new("JSON_DEPTH", 1, 1, |mut b| {
        b.utf8_text(0);
        b.strict(SqlType::new(TypeKind::Int, 10, 0), read::depth)
    }),
    Function::new("JSON_TYPE", 1, 1, |mut b| {
        b.utf8_text(0);
        b.maybe(SqlType::varchar(12, CollationId::UTF8MB3_GENERAL_CI), read::type_name)
    }),
    Function::new("JSON_CONTAINS", 2, 3, |b| truth(b, compare::contains)),
    Function::new("JSON_CONTAINS_PATH", 3, MANY, |b| truth(b, read::contains_path)),
    Function::new("JSON_EQUALS", 2, 2, |b| truth(b, compare::equals)),
    Function::new("JSON_OVERLAPS", 2, 2, |b| truth(b, compare::overlaps)),
    Function::new("JSON_SEARCH", 3, MANY, search::bind),
    Function::new("JSON_COMPACT", 1, 1, |b| as_long(b, 1, rewrite::compact)),
    Function::new("JSON_LOOSE", 1, 1, |b| as_long(b, 2, rewrite::loose)),
    Function::new("JSON_DETAILED", 1, 2, rewrite::bind_detailed),
    Function::new("JSON_PRETTY", 1, 2, rewrite::bind_detailed),
    Function::new("JSON_NORMALIZE", 1, 1, rewrite::bind_normalize),
    Function::new("JSON_ARRAY", 0, MANY, |b| make::bind(b, make::array)),
    Function::new("JSON_OBJECT", 0, MANY, make::bind_object).pairs_after(0),
    Function::new("JSON_SET", 3, MANY, |b| change::bind(b, change::set)).pairs_after(1),
    Function::new("JSON_INSERT", 3, MANY, |b| change::bind(b, change::insert)).pairs_after(1),
    Function::new("JSON_REPLACE", 3, MANY, |b| change::bind(b, change::replace)).pairs_after(1),
    Function::new("JSON_ARRAY_APPEND", 3, MANY, |b| change::bind_array(b, change::array_append))
        .pairs_after(1),
    Function::new("JSON_ARRAY_INSERT", 3, MANY, |b| change::bind_array(b, change::array_insert))
        .pairs_after(1),
    Function::new("JSON_REMOVE", 2, MANY, |b| as_long(b, 1, change::remove)),
    Function::new("JSON_MERGE", 2, MANY, |b| merge::bind(b, merge::preserve)),
    Function::new("JSON_MERGE_PRESERVE", 2, MANY, |b| merge::bind(b, merge::preserve)),
    Function::new("JSON_MERGE_PATCH", 2, MANY, |b| merge::bind(b, merge::patch)),
];

/// Length of the first argument in characters.
fn first_length(b: &Binding<'_>) -> u64 {
    crate::cast::text_length(&b.args[0].ty).into()
}

/// A function with a text in the first argument's charset, whose length is `times` that argument's.
fn as_long(b: Binding<'_>, times: u64, kernel: Kernel) -> SqlResult<Expr> {
    let length = first_length(&b) * times;
    like_first(b, length, kernel)
}

/// A function of texts with a text in the first argument's charset.
fn like_first(mut b: Binding<'_>, length: u64, kernel: Kernel) -> SqlResult<Expr> {
    like_argument(&mut b, 0);
    (0..b.len()).for_each(|at| b.utf8_text(at));
    document(b, length, kernel)
}

/// Gives the result the text type of argument `at`. Compat: numbers and dates are latin1 texts.
fn like_argument(b: &mut Binding<'_>, at: usize) {
    let (ty, coercibility) = (&b.args[at].ty, b.args[at].coercibility);
    let is_text = !ty.is_numeric() && !ty.is_temporal();
    let collation = if is_text { ty.collation } else { CollationId::LATIN1_SWEDISH_CI };
    b.claim(collation, coercibility);
}

/// A function with a text in the call's collation.
fn document(b: Binding<'_>, length: u64, kernel: Kernel) -> SqlResult<Expr> {
    let ty = b.string_type(length);
    b.maybe(ty, kernel)
}

/// A function of texts whose result is a number.
fn measure(mut b: Binding<'_>, length: u32, kernel: Kernel) -> SqlResult<Expr> {
    (0..b.len()).for_each(|at| b.utf8_text(at));
    b.maybe(SqlType::new(TypeKind::Int, length, 0), kernel)
}

/// A function of texts with a truth value, which is one in JSON documents too.
fn truth(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    (0..b.len()).for_each(|at| b.utf8_text(at));
    b.maybe(boolean_type(), kernel)
}

/// The function's name in messages.
fn name(frame: &Frame<'_>) -> String {
    match frame.call.function.name() {
        "JSON_MERGE" => "json_merge_preserve".into(),
        "JSON_PRETTY" => "json_detailed".into(),
        name => name.to_ascii_lowercase(),
    }
}

/// The condition for an error in argument `at` (from 0).
fn condition(frame: &Frame<'_>, at: usize, error: JsonError) -> Condition {
    let (argument, name, place) = (at + 1, name(frame), error.position);
    match error.kind {
        ErrorKind::BadCharacter => {
            Condition::warning(&ER_JSON_BAD_CHR, &[&argument, &name, &place])
        }
        ErrorKind::NotAllowed => {
            Condition::warning(&ER_JSON_NOT_JSON_CHR, &[&argument, &name, &place])
        }
        ErrorKind::End => Condition::warning(&ER_JSON_EOS, &[&argument, &name]),
        ErrorKind::Syntax => Condition::warning(&ER_JSON_SYNTAX, &[&argument, &name, &place]),
        ErrorKind::Depth => {
            Condition::warning(&ER_JSON_DEPTH, &[&MAX_DEPTH, &argument, &name, &place])
        }
    }
}

/// The document in argument `at`; warns if it is malformed.
fn read<'a>(frame: &Frame<'a>, at: usize, row: usize) -> Option<Json<'a>> {
    match parse(frame.bytes(at).value(row)) {
        Ok(json) => Some(json),
        Err(error) => {
            frame.ctx.push(condition(frame, at, error));
            None
        }
    }
}

/// The document at the start of argument `at`; warns if there is none.
pub(super) fn read_first<'a>(frame: &Frame<'a>, at: usize, row: usize) -> Option<Json<'a>> {
    let first = parse_first(frame.bytes(at).value(row));
    first.inspect_err(|error| frame.ctx.push(condition(frame, at, *error))).ok()
}

fn warn_path(frame: &Frame<'_>, at: usize, error: PathError) {
    let (argument, name, place) = (at + 1, name(frame), error.position);
    match error.kind {
        ErrorKind::End => frame.ctx.warn(&ER_JSON_PATH_EOS, &[&argument, &name]),
        ErrorKind::Depth => {
            frame.ctx.warn(&ER_JSON_PATH_DEPTH, &[&MAX_DEPTH, &argument, &name, &place]);
        }
        _ => frame.ctx.warn(&ER_JSON_PATH_SYNTAX, &[&argument, &name, &place]),
    }
}

/// The path in argument `at`; warns if it is malformed.
fn read_path(frame: &Frame<'_>, at: usize, row: usize) -> Option<Path> {
    match Path::parse(frame.bytes(at).value(row)) {
        Ok(path) => Some(path),
        Err(error) => {
            warn_path(frame, at, error);
            None
        }
    }
}

/// The path in argument `at`; warns if it is malformed or can lead to several values.
fn read_plain_path(frame: &Frame<'_>, at: usize, row: usize) -> Option<Path> {
    let path = read_path(frame, at, row)?;
    if path.is_wild() {
        frame.ctx.warn(&ER_JSON_PATH_NO_WILDCARD, &[&(at + 1), &name(frame)]);
        return None;
    }
    Some(path)
}

/// A text in UTF-8 for each row; `None` is NULL.
fn texts(frame: &Frame<'_>, mut f: impl FnMut(usize) -> Option<Vec<u8>>) -> SqlResult<Column> {
    let charset = frame.ty.collation.charset();
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let text = f(row);
        let shown = text.as_deref().map(|text| Charset::Utf8mb4.convert(text, charset).0);
        let shown = shown.filter(|text| !frame.has_grown(row, text.len()));
        out.push(shown.as_deref());
    }
    Ok(out.finish())
}

/// Like [`texts`], but NULL if an argument is NULL.
fn strict_texts(
    frame: &Frame<'_>,
    mut f: impl FnMut(usize) -> Option<Vec<u8>>,
) -> SqlResult<Column> {
    texts(frame, |row| if frame.any_null(row) { None } else { f(row) })
}

/// A number for each row in which no argument is NULL.
fn numbers(frame: &Frame<'_>, mut f: impl FnMut(usize) -> Option<i64>) -> SqlResult<Column> {
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        out.push(if frame.any_null(row) { None } else { f(row) });
    }
    Ok(out.finish())
}

/// A document with a space after every comma and colon.
fn loose(json: &Json<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    crate::json::write_loose(&mut out, json);
    out
}
