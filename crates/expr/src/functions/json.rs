//! JSON functions.

mod change;

use selkie_types::error::catalogue::{ER_JSON_EOS, ER_JSON_PATH_SYNTAX, ER_JSON_SYNTAX};
use selkie_types::{CollationId, Column, SqlResult, SqlType, TypeKind};

use crate::cast;
use crate::collate::Coercibility;
use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel, MANY};
use crate::json::{Json, Path, is_json, parse, put_sql_value, put_string, write_loose};
use crate::kernel::{BytesOut, Frame, NativeOut};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("JSON_VALID", 1, 1, |b| {
        let kernel: Kernel = |f| numbers(f, |_, text| Some(i64::from(parse(text).is_ok())));
        measure(b, 1, kernel)
    }),
    Function::new("JSON_EXTRACT", 2, MANY, |mut b| {
        (0..b.len()).for_each(|at| b.utf8_text(at));
        let paths = b.len() as u64 - 1;
        let several = if paths > 1 { 2 * paths } else { 0 };
        let length = u64::from(b.args[0].ty.length) * 2 * paths + several;
        result(b, length, extract)
    }),
    Function::new("JSON_VALUE", 2, 2, |b| as_long(b, 1, value)),
    Function::new("JSON_QUERY", 2, 2, |b| as_long(b, 1, query)),
    Function::new("JSON_EXISTS", 2, 2, |b| measure(b, 1, exists)),
    Function::new("JSON_UNQUOTE", 1, 1, |b| as_long(b, 1, unquote)),
    Function::new("JSON_QUOTE", 1, 1, |mut b| {
        b.utf8_text(0);
        let length = u64::from(b.args[0].ty.length) * 12 + 2;
        result(b, length, quote)
    }),
    Function::new("JSON_KEYS", 1, 2, |b| as_long(b, 1, keys)),
    Function::new("JSON_LENGTH", 1, 2, |b| measure(b, 10, length)),
    Function::new("JSON_DEPTH", 1, 1, |b| {
        measure(b, 10, |f| numbers(f, |f, text| read(f, 0, text).map(|j| depth(&j))))
    }),
    Function::new("JSON_TYPE", 1, 1, |mut b| {
        b.utf8_text(0);
        result(b, 12, type_name)
    }),
    Function::new("JSON_CONTAINS", 2, 3, |b| measure(b, 1, contains)),
    Function::new("JSON_CONTAINS_PATH", 3, MANY, |b| measure(b, 1, contains_path)),
    Function::new("JSON_COMPACT", 1, 1, |b| as_long(b, 1, |f| rewritten(f, write_compact))),
    Function::new("JSON_LOOSE", 1, 1, |b| as_long(b, 2, |f| rewritten(f, write_loose))),
    Function::new("JSON_DETAILED", 1, 2, spaced),
    Function::new("JSON_PRETTY", 1, 2, spaced),
    Function::new("JSON_ARRAY", 0, MANY, |b| build_from(b, array)),
    Function::new("JSON_OBJECT", 0, MANY, bind_object),
    Function::new("JSON_SET", 3, MANY, |b| change::bind(b, change::set)),
    Function::new("JSON_INSERT", 3, MANY, |b| change::bind(b, change::insert)),
    Function::new("JSON_REPLACE", 3, MANY, |b| change::bind(b, change::replace)),
    Function::new("JSON_ARRAY_APPEND", 3, MANY, |b| change::bind(b, change::array_append)),
    Function::new("JSON_REMOVE", 2, MANY, |b| as_long(b, 1, change::remove)),
    Function::new("JSON_MERGE", 2, MANY, |b| document(b, change::merge_preserve)),
    Function::new("JSON_MERGE_PRESERVE", 2, MANY, |b| document(b, change::merge_preserve)),
    Function::new("JSON_MERGE_PATCH", 2, MANY, |b| document(b, change::merge_patch)),
];

/// A function of texts in utf8 whose result is a text.
fn document(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    (0..b.len()).for_each(|at| b.utf8_text(at));
    let length: u64 = b.args.iter().map(|a| u64::from(a.ty.length) + 4).sum();
    result(b, length * 2, kernel)
}

/// A document with a line for every value.
fn spaced(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.utf8_text(0);
    let length = b.types.max_allowed_packet;
    result(b, length, |f| rewritten(f, detailed))
}

/// The same, the result being `times` as long as the first argument.
fn as_long(mut b: Binding<'_>, times: u64, kernel: Kernel) -> SqlResult<Expr> {
    (0..b.len()).for_each(|at| b.utf8_text(at));
    let length = u64::from(b.args[0].ty.length) * times;
    result(b, length, kernel)
}

fn result(mut b: Binding<'_>, length: u64, kernel: Kernel) -> SqlResult<Expr> {
    b.connection_collation();
    if b.collation.charset() != selkie_types::Charset::Utf8mb4 {
        b.collation = CollationId::UTF8MB4_GENERAL_CI;
    }
    let ty = b.string_type(length);
    let mut e = b.maybe(ty, kernel)?;
    e.coercibility = Coercibility::Coercible;
    Ok(e)
}

/// A function of texts in utf8 whose result is a number.
fn measure(mut b: Binding<'_>, length: u32, kernel: Kernel) -> SqlResult<Expr> {
    (0..b.len()).for_each(|at| b.utf8_text(at));
    b.maybe(SqlType::new(TypeKind::Int, length, 0), kernel)
}

/// A document in argument `at`, with a warning if it is none.
fn read(frame: &Frame<'_>, at: usize, text: &[u8]) -> Option<Json> {
    let position = match parse(text) {
        Ok(json) => return Some(json),
        Err(position) => position,
    };
    let name = frame.call.function.name().to_ascii_lowercase();
    if position >= text.len() {
        frame.ctx.warn(&ER_JSON_EOS, &[&(at + 1), &name]);
    } else {
        frame.ctx.warn(&ER_JSON_SYNTAX, &[&(at + 1), &name, &(position + 1)]);
    }
    None
}

/// A path in argument `at`, with a warning if it is none.
fn read_path(frame: &Frame<'_>, at: usize, row: usize) -> Option<Path> {
    match Path::parse(frame.bytes(at).value(row)) {
        Ok(path) => Some(path),
        Err(position) => {
            let name = frame.call.function.name().to_ascii_lowercase();
            frame.ctx.warn(&ER_JSON_PATH_SYNTAX, &[&(at + 1), &name, &position]);
            None
        }
    }
}

/// A text for each row; `None` is NULL.
fn texts(frame: &Frame<'_>, mut f: impl FnMut(usize) -> Option<Vec<u8>>) -> SqlResult<Column> {
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let text = if frame.any_null(row) { None } else { f(row) };
        out.push(text.as_deref());
    }
    Ok(out.finish())
}

fn numbers(frame: &Frame<'_>, f: impl Fn(&Frame<'_>, &[u8]) -> Option<i64>) -> SqlResult<Column> {
    let view = frame.bytes(0);
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        let text = view.get(row).filter(|_| !frame.any_null(row));
        out.push(text.and_then(|t| f(frame, t)));
    }
    Ok(out.finish())
}

fn row_numbers(frame: &Frame<'_>, f: impl Fn(usize) -> Option<i64>) -> SqlResult<Column> {
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        out.push(if frame.any_null(row) { None } else { f(row) });
    }
    Ok(out.finish())
}

fn loose(json: &Json) -> Vec<u8> {
    let mut out = Vec::new();
    write_loose(&mut out, json);
    out
}

fn extract(frame: &Frame<'_>) -> SqlResult<Column> {
    texts(frame, |row| {
        let root = read(frame, 0, frame.bytes(0).value(row))?;
        let mut found = Vec::new();
        let mut several = frame.args.len() > 2;
        for at in 1..frame.args.len() {
            let path = read_path(frame, at, row)?;
            several |= path.is_wild();
            found.extend(path.find(&root).into_iter().cloned());
        }
        match found.len() {
            0 => None,
            1 if !several => Some(loose(&found[0])),
            _ => Some(loose(&Json::Array(found))),
        }
    })
}

/// Scalars only, without quotes.
fn value(frame: &Frame<'_>) -> SqlResult<Column> {
    texts(frame, |row| {
        let root = read(frame, 0, frame.bytes(0).value(row))?;
        let path = read_path(frame, 1, row)?;
        let found = path.find(&root);
        found.into_iter().find_map(|j| match j {
            Json::String(s) => Some(s.clone()),
            Json::Bool(b) => Some(if *b { b"1".to_vec() } else { b"0".to_vec() }),
            Json::Number(n) => Some(n.clone()),
            _ => None,
        })
    })
}

/// Arrays and objects only.
fn query(frame: &Frame<'_>) -> SqlResult<Column> {
    texts(frame, |row| {
        let root = read(frame, 0, frame.bytes(0).value(row))?;
        let path = read_path(frame, 1, row)?;
        let found = path.find(&root);
        let inner = found.into_iter().find(|j| matches!(j, Json::Array(_) | Json::Object(_)))?;
        let mut out = Vec::new();
        write_compact(&mut out, inner);
        Some(out)
    })
}

fn exists(frame: &Frame<'_>) -> SqlResult<Column> {
    row_numbers(frame, |row| {
        let root = read(frame, 0, frame.bytes(0).value(row))?;
        let path = read_path(frame, 1, row)?;
        Some(i64::from(!path.find(&root).is_empty()))
    })
}

fn unquote(frame: &Frame<'_>) -> SqlResult<Column> {
    texts(frame, |row| {
        let text = frame.bytes(0).value(row);
        Some(match (text.first(), parse(text)) {
            (Some(b'"'), Ok(Json::String(s))) => s,
            _ => text.to_vec(),
        })
    })
}

fn quote(frame: &Frame<'_>) -> SqlResult<Column> {
    texts(frame, |row| {
        let mut out = Vec::new();
        put_string(&mut out, frame.bytes(0).value(row));
        Some(out)
    })
}

/// The value of the document, or of what the path in argument `at` leads to.
fn at_path(frame: &Frame<'_>, at: usize, row: usize) -> Option<Json> {
    let root = read(frame, 0, frame.bytes(0).value(row))?;
    if frame.args.len() <= at {
        return Some(root);
    }
    let path = read_path(frame, at, row)?;
    path.find(&root).first().map(|j| (*j).clone())
}

fn keys(frame: &Frame<'_>) -> SqlResult<Column> {
    texts(frame, |row| match at_path(frame, 1, row)? {
        Json::Object(members) => {
            let mut names: Vec<Vec<u8>> = Vec::new();
            for (name, _) in members {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            Some(loose(&Json::Array(names.into_iter().map(Json::String).collect())))
        }
        _ => None,
    })
}

fn length(frame: &Frame<'_>) -> SqlResult<Column> {
    row_numbers(frame, |row| {
        Some(match at_path(frame, 1, row)? {
            Json::Array(items) => items.len() as i64,
            Json::Object(members) => members.len() as i64,
            _ => 1,
        })
    })
}

fn depth(json: &Json) -> i64 {
    1 + match json {
        Json::Array(items) => items.iter().map(depth).max().unwrap_or(0),
        Json::Object(members) => members.iter().map(|(_, v)| depth(v)).max().unwrap_or(0),
        _ => 0,
    }
}

fn type_name(frame: &Frame<'_>) -> SqlResult<Column> {
    texts(frame, |row| {
        let name = match read(frame, 0, frame.bytes(0).value(row))? {
            Json::Null => "NULL",
            Json::Bool(_) => "BOOLEAN",
            Json::Number(n) if n.iter().any(|b| matches!(b, b'.' | b'e' | b'E')) => "DOUBLE",
            Json::Number(_) => "INTEGER",
            Json::String(_) => "STRING",
            Json::Array(_) => "ARRAY",
            Json::Object(_) => "OBJECT",
        };
        Some(name.as_bytes().to_vec())
    })
}

fn contains(frame: &Frame<'_>) -> SqlResult<Column> {
    row_numbers(frame, |row| {
        let target = at_path(frame, 2, row)?;
        let candidate = read(frame, 1, frame.bytes(1).value(row))?;
        Some(i64::from(includes(&target, &candidate)))
    })
}

fn includes(target: &Json, candidate: &Json) -> bool {
    match (target, candidate) {
        (Json::Array(items), Json::Array(wanted)) => {
            wanted.iter().all(|w| items.iter().any(|i| includes(i, w)))
        }
        (Json::Array(items), other) => items.iter().any(|i| includes(i, other)),
        (Json::Object(members), Json::Object(wanted)) => {
            wanted.iter().all(|(name, w)| members.iter().any(|(n, v)| n == name && includes(v, w)))
        }
        (Json::Number(a), Json::Number(b)) => same_number(a, b),
        (a, b) => a == b,
    }
}

fn same_number(a: &[u8], b: &[u8]) -> bool {
    a == b || selkie_types::number::parse_f64(a).value == selkie_types::number::parse_f64(b).value
}

fn contains_path(frame: &Frame<'_>) -> SqlResult<Column> {
    row_numbers(frame, |row| {
        let root = read(frame, 0, frame.bytes(0).value(row))?;
        let all = frame.bytes(1).value(row).eq_ignore_ascii_case(b"all");
        let mut hits = 0;
        for at in 2..frame.args.len() {
            hits += usize::from(!read_path(frame, at, row)?.find(&root).is_empty());
        }
        let wanted = if all { frame.args.len() - 2 } else { 1 };
        Some(i64::from(hits >= wanted))
    })
}

fn rewritten(frame: &Frame<'_>, write: fn(&mut Vec<u8>, &Json)) -> SqlResult<Column> {
    texts(frame, |row| {
        let root = read(frame, 0, frame.bytes(0).value(row))?;
        let mut out = Vec::new();
        write(&mut out, &root);
        Some(out)
    })
}

/// Without any spaces.
fn write_compact(out: &mut Vec<u8>, json: &Json) {
    match json {
        Json::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_compact(out, item);
            }
            out.push(b']');
        }
        Json::Object(members) => {
            out.push(b'{');
            for (i, (name, value)) in members.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                put_string(out, name);
                out.push(b':');
                write_compact(out, value);
            }
            out.push(b'}');
        }
        scalar => write_loose(out, scalar),
    }
}

fn detailed(out: &mut Vec<u8>, json: &Json) {
    write_detailed(out, json, 0);
}

fn new_line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', 4 * depth));
}

fn write_detailed(out: &mut Vec<u8>, json: &Json, depth: usize) {
    match json {
        Json::Array(items) if !items.is_empty() => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                new_line(out, depth + 1);
                write_detailed(out, item, depth + 1);
            }
            new_line(out, depth);
            out.push(b']');
        }
        Json::Object(members) if !members.is_empty() => {
            out.push(b'{');
            for (i, (name, value)) in members.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                new_line(out, depth + 1);
                put_string(out, name);
                out.extend_from_slice(b": ");
                if matches!(value, Json::Array(_) | Json::Object(_)) {
                    new_line(out, depth + 1);
                }
                write_detailed(out, value, depth + 1);
            }
            new_line(out, depth);
            out.push(b'}');
        }
        other => write_loose(out, other),
    }
}

/// A function that makes a document of SQL values.
fn build_from(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    for e in &mut b.args {
        cast::local(e);
        if e.ty.is_string() && e.ty.collation.charset() != selkie_types::Charset::Utf8mb4 {
            cast::to_charset(e, CollationId::UTF8MB4_GENERAL_CI);
        }
    }
    let text =
        |e: &Expr| u64::from(cast::text_length(&e.ty)) * if e.ty.is_string() { 2 } else { 1 };
    let length: u64 = b.args.iter().map(|e| text(e) + 4).sum();
    result(b, length + 2, kernel)
}

/// Appends argument `at` as a JSON value.
fn put_arg(frame: &Frame<'_>, at: usize, row: usize, out: &mut Vec<u8>) {
    let arg = &frame.call.args[at];
    put_sql_value(out, &frame.args[at].value(row), &arg.ty, is_json(arg));
}

fn array(frame: &Frame<'_>) -> SqlResult<Column> {
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        out.write(|buffer| {
            buffer.push(b'[');
            for at in 0..frame.args.len() {
                if at > 0 {
                    buffer.extend_from_slice(b", ");
                }
                put_arg(frame, at, row, buffer);
            }
            buffer.push(b']');
            true
        });
    }
    Ok(out.finish())
}

fn bind_object(mut b: Binding<'_>) -> SqlResult<Expr> {
    if b.len() % 2 == 1 {
        let def = &selkie_types::error::catalogue::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT;
        return Err(selkie_types::SqlError::new(def, &[&"JSON_OBJECT"]));
    }
    (0..b.len()).step_by(2).for_each(|at| b.utf8_text(at));
    build_from(b, |frame| {
        let mut out = BytesOut::new(frame.rows);
        for row in 0..frame.rows {
            out.write(|buffer| {
                buffer.push(b'{');
                for at in (0..frame.args.len()).step_by(2) {
                    if at > 0 {
                        buffer.extend_from_slice(b", ");
                    }
                    put_string(buffer, frame.bytes(at).value(row));
                    buffer.extend_from_slice(b": ");
                    put_arg(frame, at + 1, row, buffer);
                }
                buffer.push(b'}');
                true
            });
        }
        Ok(out.finish())
    })
}
