//! JSON functions that change documents.
//! The document is changed as a tree and written with one space after commas and colons.

use selkie_meter::tick;
use selkie_types::error::catalogue::ER_JSON_PATH_EMPTY;
use selkie_types::{Column, SqlResult};

use super::{
    document, first_length, like_argument, loose, make, read, read_plain_path, strict_texts, texts,
};
use crate::cast;
use crate::expr::Expr;
use crate::function::{Binding, Kernel};
use crate::json::{Json, Last, Path, index, parse, same_text};
use crate::kernel::Frame;

/// Arguments: the document, then pairs of a path and a value.
///
/// Compat: the length is computed from the first half of the arguments, whatever they are.
pub(super) fn bind(b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    let of = |at: usize| u64::from(cast::text_length(&b.args[at].ty));
    let pairs = (b.len() - 1) / 2;
    let length = of(0) + (0..pairs).map(|at| of(at) + of(at + 1) + 10).sum::<u64>();
    bind_pairs(b, length, kernel)
}

/// Like [`bind`], for functions of arrays.
pub(super) fn bind_array(b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    let of = |at: usize| u64::from(cast::text_length(&b.args[at].ty));
    let length = first_length(&b) + (2..b.len()).step_by(2).map(|at| of(at) + 4).sum::<u64>();
    bind_pairs(b, length, kernel)
}

fn bind_pairs(mut b: Binding<'_>, length: u64, kernel: Kernel) -> SqlResult<Expr> {
    like_argument(&mut b, 0);
    b.utf8_text(0);
    (1..b.len()).step_by(2).for_each(|at| b.utf8_text(at));
    for at in (2..b.len()).step_by(2) {
        make::bytes_to_characters(&mut b.args[at]);
        make::prepare(&mut b.args[at]);
    }
    document(b, length, kernel)
}

/// Applies `f` to the document for each pair of path and value; `None` makes the result NULL.
fn pairs(
    frame: &Frame<'_>,
    f: impl for<'a> Fn(&mut Json<'a>, &'a Path, Json<'a>) -> Option<()>,
) -> SqlResult<Column> {
    let places = || (1..frame.args.len()).step_by(2);
    texts(frame, |row| {
        if frame.args[0].is_null(row) || places().any(|at| frame.args[at].is_null(row)) {
            return None;
        }
        let mut values = Vec::new();
        for at in places() {
            let mut text = Vec::new();
            make::put_arg(frame, at + 1, row, &mut text);
            values.push(text);
        }
        let paths: Vec<Path> =
            places().map(|at| read_plain_path(frame, at, row)).collect::<Option<_>>()?;
        let mut root = read(frame, 0, row)?;
        let mut wrong = false;
        for (path, text) in paths.iter().zip(&values) {
            let value = parse(text);
            wrong |= value.is_err();
            f(&mut root, path, value.unwrap_or(Json::Number(text)))?;
        }
        let changed = loose(&root);
        // An invalid value, such as a number with leading zeros, matters only if it is in the
        // result.
        if wrong && parse(&changed).is_err() { None } else { Some(changed) }
    })
}

/// Adds `value` at a `path` that leads to nothing, if its parent can take it.
///
/// Compat: a parent that is no array becomes one. If it may be `replaced`, a position from the end
/// means the parent itself.
fn add<'a>(root: &mut Json<'a>, path: &'a Path, value: Json<'a>, replaced: bool) {
    let Some((parent, last)) = path.split_last() else { return };
    match (parent.find_mut(root), last) {
        (Some(Json::Object(members, _)), Last::Member(name)) => members.push((name, value)),
        (Some(Json::Array(items, _)), Last::Item(_)) => items.push(value),
        (Some(other), Last::Item(..0)) if replaced => *other = value,
        (Some(other), Last::Item(_)) => {
            let first = std::mem::replace(other, Json::Null);
            *other = Json::array(vec![first, value]);
        }
        _ => {}
    }
}

pub(super) fn set(frame: &Frame<'_>) -> SqlResult<Column> {
    pairs(frame, |root, path, value| {
        match path.find_mut(root) {
            Some(old) => *old = value,
            None => add(root, path, value, true),
        }
        Some(())
    })
}

pub(super) fn insert(frame: &Frame<'_>) -> SqlResult<Column> {
    pairs(frame, |root, path, value| {
        if path.find_mut(root).is_none() {
            add(root, path, value, false);
        }
        Some(())
    })
}

pub(super) fn replace(frame: &Frame<'_>) -> SqlResult<Column> {
    pairs(frame, |root, path, value| {
        if let Some(old) = path.find_mut(root) {
            *old = value;
        }
        Some(())
    })
}

pub(super) fn array_append(frame: &Frame<'_>) -> SqlResult<Column> {
    pairs(frame, |root, path, value| {
        match path.find_mut(root)? {
            Json::Array(items, _) => items.push(value),
            other => {
                let first = std::mem::replace(other, Json::Null);
                *other = Json::array(vec![first, value]);
            }
        }
        Some(())
    })
}

/// Compat: a position from the end means the place after that item; one before the start means the
/// end.
pub(super) fn array_insert(frame: &Frame<'_>) -> SqlResult<Column> {
    pairs(frame, |root, path, value| {
        let (parent, Last::Item(n)) = path.split_last()? else { return None };
        if let Some(Json::Array(items, _)) = parent.find_mut(root) {
            let at = match n {
                0.. => index(n, items.len())?,
                _ => usize::try_from(items.len() as i64 + n + 1).unwrap_or(items.len()),
            };
            tick(items.len() * 8);
            items.insert(at.min(items.len()), value);
        }
        Some(())
    })
}

pub(super) fn remove(frame: &Frame<'_>) -> SqlResult<Column> {
    strict_texts(frame, |row| {
        let mut paths = Vec::new();
        for at in 1..frame.args.len() {
            let path = read_plain_path(frame, at, row)?;
            if path.is_root() {
                frame.ctx.warn(&ER_JSON_PATH_EMPTY, &[&(at + 1), &super::name(frame)]);
                return None;
            }
            paths.push(path);
        }
        let mut root = read(frame, 0, row)?;
        paths.iter().for_each(|path| remove_at(&mut root, path));
        Some(loose(&root))
    })
}

fn remove_at(root: &mut Json<'_>, path: &Path) {
    let Some((parent, last)) = path.split_last() else { return };
    match (parent.find_mut(root), last) {
        (Some(Json::Object(members, _)), Last::Member(name)) => {
            tick(members.len() * 8);
            if let Some(at) = members.iter().position(|(n, _)| same_text(n, name)) {
                members.remove(at);
            }
        }
        (Some(Json::Array(items, _)), Last::Item(n)) => {
            tick(items.len() * 8);
            if let Some(at) = index(n, items.len()).filter(|at| *at < items.len()) {
                items.remove(at);
            }
        }
        _ => {}
    }
}
