//! JSON functions that read a document.
//! Compat: some stop reading at the value they look for, so later errors do not matter.

use hashbrown::{HashMap, HashSet};
use selkie_meter::tick;
use selkie_types::error::catalogue::ER_JSON_ONE_OR_ALL;
use selkie_types::number::parse_f64;
use selkie_types::{Charset, Column, Condition, Level, SqlResult, Value};

use super::{
    condition, loose, numbers, read, read_first, read_path, read_plain_path, strict_texts,
};
use crate::json::{Json, Path, parse, parse_partly, unescape};
use crate::kernel::Frame;

/// JSON_VALID. Compat: the error is reported as a note.
pub(super) fn valid(frame: &Frame<'_>) -> SqlResult<Column> {
    numbers(frame, |row| match parse(frame.bytes(0).value(row)) {
        Ok(_) => Some(1),
        Err(error) => {
            let told = condition(frame, 0, error);
            frame.ctx.push(Condition { level: Level::Note, ..told });
            Some(0)
        }
    })
}

/// A document that is read only as far as needed.
///
/// Compat: an error after the value at the path is ignored.
struct Partly<'a> {
    root: Option<Json<'a>>,
    error: Option<crate::json::JsonError>,
}

impl<'a> Partly<'a> {
    fn read(frame: &Frame<'a>, row: usize) -> Self {
        let (root, error) = parse_partly(frame.bytes(0).value(row));
        Self { root, error }
    }

    /// The values at a path that were read to their end.
    fn complete(&self, path: &Path) -> Vec<&Json<'a>> {
        let mut found = self.root.as_ref().map_or(Vec::new(), |root| path.find(root));
        if self.error.is_some() {
            let mut spine = self.root.as_ref();
            while let Some(open) = spine.filter(|json| !json.is_scalar()) {
                found.retain(|json| !std::ptr::eq(*json, open));
                spine = open.last_child();
            }
        }
        found
    }

    /// Warns about the error, if there is one.
    fn report(&self, frame: &Frame<'_>) {
        if let Some(error) = self.error {
            frame.ctx.push(condition(frame, 0, error));
        }
    }
}

/// The result of JSON_EXTRACT as a value: without quotes; truth values are numbers.
pub(super) fn extract_value(frame: &Frame<'_>) -> SqlResult<Column> {
    extract_scalar(frame, |text| text)
}

/// The number at the start of this value.
pub(super) fn extract_number(frame: &Frame<'_>) -> SqlResult<Column> {
    extract_scalar(frame, |mut text| match parse_f64(&text).consumed {
        0 => b"0".to_vec(),
        digits => {
            text.truncate(digits);
            text
        }
    })
}

fn extract_scalar(frame: &Frame<'_>, made: impl Fn(Vec<u8>) -> Vec<u8>) -> SqlResult<Column> {
    let documents = extract(frame)?;
    strict_texts(frame, |row| {
        let text = match documents.value(row) {
            Value::Bytes(text) => text,
            _ => return None,
        };
        let charset = frame.ty.collation.charset();
        let text = charset.convert(&text, Charset::Utf8mb4).0;
        let value = match parse(&text) {
            Ok(Json::String(inside)) => {
                let mut plain = Vec::new();
                unescape(inside, &mut plain).ok()?;
                plain
            }
            Ok(Json::Bool(value)) => vec![b'0' + u8::from(value)],
            // Compat: a value that is no scalar is 0.
            Ok(Json::Null | Json::Array(..) | Json::Object(..)) => b"0".to_vec(),
            _ => text.to_vec(),
        };
        Some(made(value))
    })
}

/// The result of JSON_EXTRACT for a comparison with a text: strings lose their quotes.
pub(super) fn extract_text(frame: &Frame<'_>) -> SqlResult<Column> {
    let documents = extract(frame)?;
    let charset = frame.ty.collation.charset();
    strict_texts(frame, |row| {
        let Value::Bytes(text) = documents.value(row) else { return None };
        let converted = charset.convert(&text, Charset::Utf8mb4).0;
        match parse(&converted) {
            Ok(Json::String(inside)) => {
                let mut plain = Vec::new();
                unescape(inside, &mut plain).ok().map(|()| plain)
            }
            _ => Some(converted.to_vec()),
        }
    })
}

/// The values of all paths in document order; values at one place in the order of the paths.
pub(super) fn extract(frame: &Frame<'_>) -> SqlResult<Column> {
    strict_texts(frame, |row| {
        let root = read(frame, 0, row)?;
        let paths: Vec<Path> =
            (1..frame.args.len()).map(|at| read_path(frame, at, row)).collect::<Option<_>>()?;
        if let [path] = &paths[..]
            && !path.is_wild()
        {
            return path.find(&root).first().map(|json| loose(json));
        }
        let mut found: Vec<&Json<'_>> = paths.iter().flat_map(|path| path.find(&root)).collect();
        if found.is_empty() {
            return None;
        }
        if paths.len() > 1 {
            let mut places = HashMap::new();
            number_places(&root, &mut places);
            found.sort_by_key(|json| places.get(&std::ptr::from_ref(*json)).copied());
        }
        Some(loose(&Json::array(found.into_iter().cloned().collect())))
    })
}

/// Numbers all values of a document in document order.
fn number_places<'a>(json: &Json<'a>, places: &mut HashMap<*const Json<'a>, usize>) {
    tick(32);
    places.insert(std::ptr::from_ref(json), places.len());
    json.children().into_iter().for_each(|child| number_places(child, places));
}

/// JSON_VALUE: scalars only, without quotes. Compat: a malformed document gives no warning.
pub(super) fn value(frame: &Frame<'_>) -> SqlResult<Column> {
    strict_texts(frame, |row| {
        let path = read_plain_path(frame, 1, row)?;
        let document = Partly::read(frame, row);
        let scalar = document.complete(&path).into_iter().find(|json| json.is_scalar())?;
        match scalar {
            Json::String(inside) => {
                let mut text = Vec::new();
                unescape(inside, &mut text).ok().map(|()| text)
            }
            Json::Bool(value) => Some(vec![b'0' + u8::from(*value)]),
            Json::Number(digits) => Some(digits.to_vec()),
            _ => None,
        }
    })
}

/// JSON_QUERY: arrays and objects only, as written.
pub(super) fn query(frame: &Frame<'_>) -> SqlResult<Column> {
    strict_texts(frame, |row| {
        let path = read_path(frame, 1, row)?;
        let document = Partly::read(frame, row);
        document.complete(&path).into_iter().find_map(|json| match json {
            Json::Array(_, text) | Json::Object(_, text) => Some(text.to_vec()),
            _ => None,
        })
    })
}

/// JSON_EXISTS. Compat: a value exists once its start is read; the document itself always exists.
pub(super) fn exists(frame: &Frame<'_>) -> SqlResult<Column> {
    numbers(frame, |row| {
        let path = read_path(frame, 1, row)?;
        if path.is_root() {
            return Some(1);
        }
        let document = Partly::read(frame, row);
        if document.root.as_ref().is_some_and(|root| !path.find(root).is_empty()) {
            return Some(1);
        }
        document.report(frame);
        document.error.is_none().then_some(0)
    })
}

pub(super) fn contains_path(frame: &Frame<'_>) -> SqlResult<Column> {
    numbers(frame, |row| {
        let all = one_or_all(frame, row)?;
        let root = read(frame, 0, row)?;
        let mut hits = 0;
        for at in 2..frame.args.len() {
            hits += usize::from(!read_path(frame, at, row)?.find(&root).is_empty());
        }
        let wanted = if all { frame.args.len() - 2 } else { 1 };
        Some(i64::from(hits >= wanted))
    })
}

/// Whether the second argument is `all`; a warning if it is neither `all` nor `one`.
pub(super) fn one_or_all(frame: &Frame<'_>, row: usize) -> Option<bool> {
    let word = frame.bytes(1).value(row);
    if word.eq_ignore_ascii_case(b"all") {
        return Some(true);
    }
    if word.eq_ignore_ascii_case(b"one") {
        return Some(false);
    }
    frame.ctx.warn(&ER_JSON_ONE_OR_ALL, &[&super::name(frame)]);
    None
}

/// Applies `f` to the document, or to the first value at the path in argument 1.
///
/// Compat: text after the document is ignored.
fn with_place<R>(
    frame: &Frame<'_>,
    row: usize,
    f: impl FnOnce(&Json<'_>) -> Option<R>,
) -> Option<R> {
    if frame.args.len() < 2 {
        return f(&read_first(frame, 0, row)?);
    }
    let path = read_plain_path(frame, 1, row)?;
    let document = Partly::read(frame, row);
    match document.complete(&path).first() {
        Some(json) => f(json),
        None => {
            document.report(frame);
            None
        }
    }
}

/// JSON_KEYS: each name once.
pub(super) fn keys(frame: &Frame<'_>) -> SqlResult<Column> {
    strict_texts(frame, |row| {
        with_place(frame, row, |json| {
            let Json::Object(members, _) = json else { return None };
            tick(members.len() * 32);
            let mut seen = HashSet::new();
            let names = members.iter().map(|(name, _)| *name).filter(|name| seen.insert(*name));
            Some(loose(&Json::array(names.map(Json::String).collect())))
        })
    })
}

/// JSON_LENGTH. Compat: text after a scalar is ignored; for an array or an object the whole text
/// must be valid.
pub(super) fn length(frame: &Frame<'_>) -> SqlResult<Column> {
    numbers(frame, |row| {
        let path = match frame.args.len() {
            1 => Path::root(),
            _ => read_plain_path(frame, 1, row)?,
        };
        let document = Partly::read(frame, row);
        match document.complete(&path).first() {
            Some(json) if json.is_scalar() => Some(1),
            Some(json) if document.error.is_none() => Some(json.width() as i64),
            _ => {
                document.report(frame);
                None
            }
        }
    })
}

pub(super) fn depth(frame: &Frame<'_>) -> SqlResult<Column> {
    numbers(frame, |row| read(frame, 0, row).map(|json| json.depth()))
}

/// JSON_TYPE. Compat: a number is a double only if it has a point.
pub(super) fn type_name(frame: &Frame<'_>) -> SqlResult<Column> {
    strict_texts(frame, |row| {
        let name = match read(frame, 0, row)? {
            Json::Null => "NULL",
            Json::Bool(_) => "BOOLEAN",
            Json::Number(digits) if digits.contains(&b'.') => "DOUBLE",
            Json::Number(_) => "INTEGER",
            Json::String(_) => "STRING",
            Json::Array(..) => "ARRAY",
            Json::Object(..) => "OBJECT",
        };
        Some(name.as_bytes().to_vec())
    })
}
