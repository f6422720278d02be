//! JSON functions that merge documents.
//! Documents are merged from left to right, as trees.

use selkie_meter::tick;
use selkie_types::{Column, SqlResult, stack};

use super::{document, loose, make, read, strict_texts, texts};
use crate::expr::Expr;
use crate::function::{Binding, Kernel};
use crate::json::{Json, same_text};
use crate::kernel::Frame;

pub(super) fn bind(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    let length = make::length(&b);
    make::like_all(&mut b)?;
    (0..b.len()).for_each(|at| b.utf8_text(at));
    document(b, length, kernel)
}

/// JSON_MERGE_PRESERVE: values of the same name, and documents that are not both objects, form
/// arrays.
pub(super) fn preserve(frame: &Frame<'_>) -> SqlResult<Column> {
    strict_texts(frame, |row| {
        let mut root = read(frame, 0, row)?;
        for at in 1..frame.args.len() {
            root = joined(root, read(frame, at, row)?);
        }
        Some(loose(&root))
    })
}

fn joined<'a>(a: Json<'a>, b: Json<'a>) -> Json<'a> {
    tick(32);
    stack::ensure();
    match (a, b) {
        (Json::Object(mut members, _), Json::Object(more, _)) => {
            let known = members.len();
            for (name, value) in more {
                tick(known * 8);
                let mut found = false;
                for (_, old) in members[..known].iter_mut().filter(|(n, _)| same_text(n, name)) {
                    let before = std::mem::replace(old, Json::Null);
                    *old = joined(before, value.clone());
                    found = true;
                }
                if !found {
                    members.push((name, value));
                }
            }
            Json::object(members)
        }
        (a, b) => {
            let items = |json| match json {
                Json::Array(items, _) => items,
                other => vec![other],
            };
            let mut all = items(a);
            all.extend(items(b));
            Json::array(all)
        }
    }
}

/// JSON_MERGE_PATCH, RFC 7396. Compat: after a NULL argument the result is NULL, until a document
/// that is no object replaces it.
pub(super) fn patch(frame: &Frame<'_>) -> SqlResult<Column> {
    texts(frame, |row| {
        let mut root = match frame.args[0].is_null(row) {
            true => None,
            false => Some(read(frame, 0, row)?),
        };
        for at in 1..frame.args.len() {
            if frame.args[at].is_null(row) {
                root = None;
                continue;
            }
            root = match (root, read(frame, at, row)?) {
                (None, Json::Object(..)) => None,
                (None, change) => Some(change),
                (Some(root), change) => Some(patched(root, change)),
            };
        }
        root.map(|root| loose(&root))
    })
}

fn patched<'a>(a: Json<'a>, b: Json<'a>) -> Json<'a> {
    tick(32);
    stack::ensure();
    let Json::Object(changes, _) = b else { return b };
    let mut members = match a {
        Json::Object(members, _) => members,
        _ => Vec::new(),
    };
    for (name, change) in changes {
        tick(members.len() * 8);
        let at = members.iter().position(|(n, _)| same_text(n, name));
        match (at, change) {
            (Some(at), Json::Null) => {
                members.remove(at);
            }
            (None, Json::Null) => {}
            (Some(at), change) => {
                let before = std::mem::replace(&mut members[at].1, Json::Null);
                members[at].1 = patched(before, change);
            }
            (None, change) => members.push((name, patched(Json::Null, change))),
        }
    }
    Json::object(members)
}
