//! JSON_SEARCH: paths of the strings that match a LIKE pattern.
//! The document is walked once, with the path kept as text.

use hashbrown::HashSet;
use selkie_meter::tick;
use selkie_types::charset::LikePattern;
use selkie_types::error::catalogue::ER_WRONG_ARGUMENTS;
use selkie_types::{Column, SqlError, SqlResult, Value, stack};

use super::{condition, document, first_length, like_argument, read_path, texts};
use crate::cast;
use crate::expr::Expr;
use crate::function::Binding;
use crate::json::{Json, parse_partly, unescape};
use crate::kernel::Frame;

/// Arguments: document, `one` or `all`, pattern, escape character, paths.
///
/// Compat: the length is estimated from the document's length.
pub(super) fn bind(mut b: Binding<'_>) -> SqlResult<Expr> {
    let all =
        matches!(b.constant(1), Some(Value::Bytes(word)) if word.eq_ignore_ascii_case(b"all"));
    let length = first_length(&b) * if all { 30 } else { 10 };
    like_argument(&mut b, 0);
    (0..b.len()).for_each(|at| b.text(at));
    if let Some(Value::Bytes(escape)) = b.constant(3)
        && b.args[3].ty.collation.charset().char_count(&escape) > 1
    {
        return Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"ESCAPE"]));
    }
    let pattern = compared_in(&b)?;
    (0..b.len()).for_each(|at| b.utf8_text(at));
    cast::to_charset(&mut b.args[2], pattern);
    document(b, length, search)
}

/// The collation in which strings are compared with the pattern; its charset is one of UTF-8.
fn compared_in(b: &Binding<'_>) -> SqlResult<selkie_types::CollationId> {
    use selkie_types::{Charset, CollationId};
    let claim = crate::collate::aggregate(&[&b.args[0], &b.args[2]], "json_search", true)?;
    let collation = claim.collation;
    let utf8 = matches!(collation.charset(), Charset::Utf8mb4 | Charset::Utf8mb3);
    Ok(match collation.info().is_bin() {
        _ if utf8 => collation,
        true => CollationId::UTF8MB4_BIN,
        false => CollationId::UTF8MB4_GENERAL_CI,
    })
}

/// Paths of the matching strings and numbers: the first one or all.
fn search(frame: &Frame<'_>) -> SqlResult<Column> {
    let required = |at: usize| at != 3;
    texts(frame, |row| {
        if (0..frame.args.len()).any(|at| required(at) && frame.args[at].is_null(row)) {
            return None;
        }
        let all = super::read::one_or_all(frame, row)?;
        let (root, error) = parse_partly(frame.bytes(0).value(row));
        let root = root.unwrap_or(Json::Null);
        let mut within = HashSet::new();
        for at in 4..frame.args.len() {
            let path = read_path(frame, at, row)?;
            within.extend(path.find(&root).into_iter().map(std::ptr::from_ref));
        }
        let everywhere = frame.args.len() < 5;
        let escape = if frame.args.len() > 3 { frame.bytes(3).get(row) } else { None };
        let escape = escape.filter(|e| !e.is_empty()).map_or(u32::from(b'\\'), |e| {
            frame.arg_type(3).collation.charset().decode(e).map_or(0, |(code, _)| code)
        });
        let collation = frame.arg_type(2).collation;
        let pattern = LikePattern::new(collation, frame.bytes(2).value(row), Some(escape));
        let mut search = Search { pattern, all, within, path: b"$".to_vec(), found: Vec::new() };
        search.value(&root, everywhere);
        match error {
            // Compat: an error after the only value looked for is ignored.
            Some(error) if all || search.found.is_empty() => {
                frame.ctx.push(condition(frame, 0, error));
                None
            }
            _ => search.result(),
        }
    })
}

struct Search<'a> {
    pattern: LikePattern,
    all: bool,
    /// Values below which the search looks; elsewhere it does not.
    within: HashSet<*const Json<'a>>,
    /// Path of the current value.
    path: Vec<u8>,
    found: Vec<Vec<u8>>,
}

impl<'a> Search<'a> {
    fn value(&mut self, json: &Json<'a>, inside: bool) {
        tick(32);
        stack::ensure();
        let inside = inside || self.within.contains(&std::ptr::from_ref(json));
        if !self.all && !self.found.is_empty() {
            return;
        }
        let here = self.path.len();
        match json {
            Json::Array(items, _) => {
                for (at, item) in items.iter().enumerate() {
                    self.path.extend_from_slice(format!("[{at}]").as_bytes());
                    self.value(item, inside);
                    self.path.truncate(here);
                }
            }
            Json::Object(members, _) => {
                for (name, value) in members {
                    self.path.push(b'.');
                    self.path.extend_from_slice(name);
                    self.value(value, inside);
                    self.path.truncate(here);
                }
            }
            scalar if inside && self.matches(scalar) => self.found.push(self.path.clone()),
            _ => {}
        }
    }

    fn matches(&self, scalar: &Json<'_>) -> bool {
        let mut plain = Vec::new();
        match scalar {
            Json::String(inside) => {
                unescape(inside, &mut plain).is_ok() && self.pattern.matches(&plain)
            }
            other => {
                crate::json::write_compact(&mut plain, other);
                self.pattern.matches(&plain)
            }
        }
    }

    fn result(self) -> Option<Vec<u8>> {
        let quoted = |path: &Vec<u8>| [b"\"", &path[..], b"\""].concat();
        match &self.found[..] {
            [] => None,
            [path] => Some(quoted(path)),
            paths => {
                let list: Vec<_> = paths.iter().map(quoted).collect();
                Some([b"[", &list.join(&b", "[..])[..], b"]"].concat())
            }
        }
    }
}
