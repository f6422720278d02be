//! JSON functions that change documents.

use selkie_types::{CollationId, Column, SqlResult};

use super::{loose, put_arg, read, read_path, result, texts};
use crate::cast;
use crate::expr::Expr;
use crate::function::{Binding, Kernel};
use crate::json::{Json, parse};
use crate::kernel::Frame;

/// Arguments: the document, then pairs of a path and a value.
pub(super) fn bind(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    b.utf8_text(0);
    for at in (1..b.len()).step_by(2) {
        b.utf8_text(at);
    }
    for at in (2..b.len()).step_by(2) {
        let e = &mut b.args[at];
        cast::local(e);
        if e.ty.is_string() && e.ty.collation.charset() != selkie_types::Charset::Utf8mb4 {
            cast::to_charset(e, CollationId::UTF8MB4_GENERAL_CI);
        }
    }
    let length: u64 = b.args.iter().map(|e| u64::from(cast::text_length(&e.ty)) * 2 + 4).sum();
    result(b, length, kernel)
}

/// Applies `f` to the document for every pair of a path and a value.
fn pairs(frame: &Frame<'_>, f: impl Fn(&mut Json, &crate::json::Path, Json)) -> SqlResult<Column> {
    let mut out = crate::kernel::BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let paths_known = (1..frame.args.len()).step_by(2).all(|at| !frame.args[at].is_null(row));
        let text =
            (paths_known && !frame.args[0].is_null(row)).then(|| changed(frame, row, &f)).flatten();
        out.push(text.as_deref());
    }
    Ok(out.finish())
}

fn changed(
    frame: &Frame<'_>,
    row: usize,
    f: &impl Fn(&mut Json, &crate::json::Path, Json),
) -> Option<Vec<u8>> {
    let mut root = read(frame, 0, frame.bytes(0).value(row))?;
    for at in (1..frame.args.len()).step_by(2) {
        let path = read_path(frame, at, row)?;
        let mut text = Vec::new();
        put_arg(frame, at + 1, row, &mut text);
        f(&mut root, &path, parse(&text).ok()?);
    }
    Some(loose(&root))
}

pub(super) fn set(frame: &Frame<'_>) -> SqlResult<Column> {
    pairs(frame, |root, path, value| {
        if let Some(place) = path.find_mut(root, true) {
            *place = value;
        }
    })
}

pub(super) fn insert(frame: &Frame<'_>) -> SqlResult<Column> {
    pairs(frame, |root, path, value| {
        if path.find_mut(root, false).is_none()
            && let Some(place) = path.find_mut(root, true)
        {
            *place = value;
        }
    })
}

pub(super) fn replace(frame: &Frame<'_>) -> SqlResult<Column> {
    pairs(frame, |root, path, value| {
        if let Some(place) = path.find_mut(root, false) {
            *place = value;
        }
    })
}

pub(super) fn array_append(frame: &Frame<'_>) -> SqlResult<Column> {
    pairs(frame, |root, path, value| match path.find_mut(root, false) {
        Some(Json::Array(items)) => items.push(value),
        Some(other) => {
            let first = std::mem::replace(other, Json::Null);
            *other = Json::Array(vec![first, value]);
        }
        None => {}
    })
}

pub(super) fn remove(frame: &Frame<'_>) -> SqlResult<Column> {
    texts(frame, |row| {
        let mut root = read(frame, 0, frame.bytes(0).value(row))?;
        for at in 1..frame.args.len() {
            read_path(frame, at, row)?.remove(&mut root);
        }
        Some(loose(&root))
    })
}

fn merged(frame: &Frame<'_>, f: fn(Json, Json) -> Json) -> SqlResult<Column> {
    texts(frame, |row| {
        let mut root = read(frame, 0, frame.bytes(0).value(row))?;
        for at in 1..frame.args.len() {
            root = f(root, read(frame, at, frame.bytes(at).value(row))?);
        }
        Some(loose(&root))
    })
}

pub(super) fn merge_preserve(frame: &Frame<'_>) -> SqlResult<Column> {
    merged(frame, preserve)
}

fn preserve(a: Json, b: Json) -> Json {
    match (a, b) {
        (Json::Object(mut members), Json::Object(more)) => {
            for (name, value) in more {
                match members.iter_mut().find(|(n, _)| *n == name) {
                    Some((_, old)) => {
                        let before = std::mem::replace(old, Json::Null);
                        *old = preserve(before, value);
                    }
                    None => members.push((name, value)),
                }
            }
            Json::Object(members)
        }
        (a, b) => {
            let items = |j| match j {
                Json::Array(items) => items,
                other => vec![other],
            };
            let mut all = items(a);
            all.extend(items(b));
            Json::Array(all)
        }
    }
}

pub(super) fn merge_patch(frame: &Frame<'_>) -> SqlResult<Column> {
    merged(frame, patch)
}

fn patch(a: Json, b: Json) -> Json {
    let Json::Object(changes) = b else { return b };
    let mut members = match a {
        Json::Object(members) => members,
        _ => Vec::new(),
    };
    for (name, change) in changes {
        let at = members.iter().position(|(n, _)| *n == name);
        match (at, change) {
            (Some(at), Json::Null) => {
                members.remove(at);
            }
            (None, Json::Null) => {}
            (Some(at), change) => {
                let before = std::mem::replace(&mut members[at].1, Json::Null);
                members[at].1 = patch(before, change);
            }
            (None, change) => members.push((name, patch(Json::Null, change))),
        }
    }
    Json::Object(members)
}
