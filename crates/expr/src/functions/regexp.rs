//! REGEXP and its functions, by PCRE2 as in MariaDB.
//! Matching can take exponential time: every match must go through `pattern.rs`, which can stop it.

mod pattern;
mod utf8;
mod watched;

use std::sync::Arc;

use selkie_meter::tick;
use selkie_types::charset::Charset;
use selkie_types::error::catalogue::{ER_REGEXP_ERROR, ER_UNKNOWN_ERROR};
use selkie_types::{CollationId, Column, Condition, Level, SqlResult, SqlType, TypeKind, Value};

use self::pattern::{Groups, Pattern};
use self::watched::Failure;
use crate::expr::{CallOption, Expr, ExprKind};
use crate::function::{Binding, Function, string_type};
use crate::kernel::{BytesOut, Frame, NativeOut};
use crate::result_type::boolean_type;

pub(crate) static REGEXP: Function = Function::new("REGEXP", 2, 2, |mut b| {
    bind(&mut b, 2)?;
    b.strict(boolean_type(), regexp)
});

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("REGEXP_INSTR", 2, 2, |mut b| {
        bind(&mut b, 2)?;
        b.strict(SqlType::new(TypeKind::Int, 11, 0), regexp_instr)
    }),
    Function::new("REGEXP_SUBSTR", 2, 2, |mut b| {
        let collation = bind(&mut b, 2)?;
        let ty = string_type(b.args[0].ty.length.into(), collation, b.types);
        b.strict(ty, regexp_substr)
    }),
    Function::new("REGEXP_REPLACE", 3, 3, |mut b| {
        let collation = bind(&mut b, 3)?;
        let ty = string_type(u32::MAX.into(), collation, b.types);
        b.strict(ty, regexp_replace)
    }),
    Function::new("REGEXP_REPLACE_ORACLE", 3, 3, |mut b| {
        let empty = crate::expr::Expr::string(b"", b.args[2].ty.collation);
        let given = std::mem::replace(&mut b.args[2], empty.clone());
        b.args[2] = crate::build::coalesce("ifnull", vec![given, empty], b.types)?;
        let collation = bind(&mut b, 3)?;
        let ty = string_type(u32::MAX.into(), collation, b.types);
        b.strict(ty, regexp_replace)
    }),
];

/// Patterns and subjects are matched as UTF-8, binary strings as bytes. Returns the collation of
/// the result.
fn bind(b: &mut Binding<'_>, count: usize) -> SqlResult<CollationId> {
    b.option = CallOption::Number(b.types.regex_flags.into());
    let bytes: Vec<Option<crate::expr::Expr>> =
        b.args[..count].iter().map(|e| e.ty.collation.is_binary().then(|| e.clone())).collect();
    let result = b.unify(0..count, true)?.collation;
    let charset = b.collation.charset();
    if charset != Charset::Binary && !matches!(charset, Charset::Utf8mb4 | Charset::Utf8mb3) {
        let bin = b.collation.info().is_case_sensitive();
        let utf8 = if bin { CollationId::UTF8MB4_BIN } else { CollationId::UTF8MB4_GENERAL_CI };
        (0..count).for_each(|at| crate::cast::to_charset(&mut b.args[at], utf8));
        b.collation = utf8;
    }
    if charset != Charset::Binary {
        taken_as_text(b, bytes);
    }
    // Compat: an invalid pattern that is known is an error even if nothing is matched.
    if let Some(Value::Bytes(pattern)) = b.constant(1) {
        compile(&pattern, b.collation, b.types.regex_flags)?;
    }
    Ok(result)
}

/// Whether a pattern is the same for all rows: made of constants and variables.
fn is_fixed(pattern: &Expr) -> bool {
    let is_variable = |e: &Expr| matches!(e.kind, ExprKind::UserVariable(..));
    !pattern.any(&mut |e| !e.is_constant_over_constants() && !is_variable(e))
}

/// Compat: binary strings beside texts are taken as text without conversion.
fn taken_as_text(b: &mut Binding<'_>, bytes: Vec<Option<crate::expr::Expr>>) {
    for (at, original) in bytes.into_iter().enumerate() {
        let Some(original) = original.filter(|e| e.ty.is_string()) else { continue };
        b.args[at] = original;
        let ty = SqlType { collation: b.collation, ..b.args[at].ty.clone() };
        crate::cast::retype(&mut b.args[at], ty);
    }
}

/// A part of the subject, converted to the charset of the result.
fn converted(frame: &Frame<'_>, text: Option<Vec<u8>>) -> Option<Vec<u8>> {
    let (from, to) = (frame.call.collation.charset(), frame.ty.collation.charset());
    text.map(|text| from.convert(&text, to).0.into_owned())
}

/// Letters of the bits of `default_regex_flags` in a pattern; the fifth, EXTRA, has none.
const FLAGS: [(u8, &str); 6] = [(1, "s"), (2, "J"), (4, "x"), (8, "xx"), (32, "m"), (64, "U")];

/// The bit of EXTRA.
const EXTRA: u8 = 16;

/// A pattern with the options of `flags` inserted after its leading verbs; also the number of bytes
/// added.
fn with_flags(pattern: &str, flags: u8) -> (String, usize) {
    let letters: String =
        FLAGS.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, letter)| *letter).collect();
    if letters.is_empty() {
        return (pattern.to_owned(), 0);
    }
    let mut verbs = 0;
    while pattern[verbs..].starts_with("(*")
        && let Some(end) = pattern[verbs..].find(')')
    {
        verbs += end + 1;
    }
    let options = format!("(?{letters})");
    (format!("{}{options}{}", &pattern[..verbs], &pattern[verbs..]), options.len())
}

/// A pattern as text; if it is not valid, its non-ASCII bytes are written as numbers.
fn as_text(pattern: &[u8], utf: bool) -> std::borrow::Cow<'_, str> {
    match std::str::from_utf8(pattern) {
        Ok(text) if utf || text.is_ascii() => text.into(),
        _ => {
            let shown = |b: &u8| match b.is_ascii() {
                true => char::from(*b).to_string(),
                false => format!("\\x{b:02X}"),
            };
            pattern.iter().map(shown).collect::<String>().into()
        }
    }
}

fn compile(pattern: &[u8], collation: CollationId, flags: u8) -> SqlResult<Pattern> {
    let utf = !collation.is_binary();
    let (text, added) = with_flags(&as_text(pattern, utf), flags);
    Pattern::new(text, added, utf, !collation.info().is_case_sensitive())
}

/// PCRE2's text of an error, without the additions of the Rust binding.
fn message(e: &pcre2::Error) -> String {
    let text = e.to_string();
    if let Some(text) = text.strip_prefix("PCRE2: error matching: ") {
        return text.to_owned();
    }
    text.rsplit_once(": ").map_or(text.clone(), |(_, m)| m.to_owned())
}

/// Compiled patterns of a call: a literal pattern is cached in the call, else the last one here.
struct Patterns<'a> {
    frame: &'a Frame<'a>,
    last: Option<(Vec<u8>, Arc<SqlResult<Pattern>>)>,
}

impl<'a> Patterns<'a> {
    fn new(frame: &'a Frame<'a>) -> Self {
        Self { frame, last: None }
    }

    fn get(&mut self, pattern: &[u8]) -> SqlResult<Arc<SqlResult<Pattern>>> {
        if let Some((text, regex)) = &self.last
            && text == pattern
        {
            return Ok(regex.clone());
        }
        let call = self.frame.call;
        let literal = matches!(call.args[1].kind, ExprKind::Literal(_));
        let flags = match call.option {
            CallOption::Number(flags) => flags as u8,
            _ => 0,
        };
        if flags & EXTRA != 0 {
            let text = "PCRE2 doesn't support the EXTRA flag. Ignored.";
            self.frame.ctx.push(Condition::raw(Level::Warning, ER_UNKNOWN_ERROR.code, text.into()));
        }
        let regex = call.cache.get_or(literal, || compile(pattern, call.collation, flags));
        if let Err(e) = &*regex
            && is_fixed(&call.args[1])
        {
            return Err(e.clone());
        }
        self.last = Some((pattern.to_vec(), regex.clone()));
        Ok(regex)
    }
}

/// Applies `f` to each row's compiled pattern and subject.
fn each<R>(
    frame: &Frame<'_>,
    mut f: impl FnMut(usize, &Pattern, &[u8]) -> SqlResult<R>,
    mut push: impl FnMut(Option<R>),
) -> SqlResult<()> {
    let (values, patterns) = (frame.bytes(0), frame.bytes(1));
    let mut compiled = Patterns::new(frame);
    for row in 0..frame.rows {
        if frame.any_null(row) {
            push(None);
            continue;
        }
        let regex = compiled.get(patterns.value(row))?;
        match &*regex {
            Ok(regex) => push(Some(f(row, regex, values.value(row))?)),
            // Compat: an invalid pattern that is not constant gives NULL.
            Err(_) => push(None),
        }
    }
    Ok(())
}

/// The result of a match. Compat: a match that failed counts as not found, with a warning.
fn tried<T>(frame: &Frame<'_>, result: Result<T, Failure>, otherwise: T) -> SqlResult<T> {
    match result {
        Ok(found) => Ok(found),
        Err(Failure::Ended(error)) => Err(error),
        Err(Failure::Told(message)) => {
            frame.ctx.warn(&ER_REGEXP_ERROR, &[&message]);
            Ok(otherwise)
        }
    }
}

/// Whether a subject is valid for the pattern. Compat: nothing matches in invalid text, and there
/// is a warning.
fn is_subject(frame: &Frame<'_>, text: &[u8]) -> bool {
    let wrong = match frame.call.collation.is_binary() {
        true => None,
        false => utf8::fault(text),
    };
    wrong.inspect(|fault| frame.ctx.warn(&ER_REGEXP_ERROR, &[fault])).is_none()
}

fn regexp(frame: &Frame<'_>) -> SqlResult<Column> {
    let mut out = NativeOut::new(frame.rows);
    each(
        frame,
        |_, regex, text| {
            let found = is_subject(frame, text) && tried(frame, regex.is_match(text), false)?;
            Ok(i64::from(found))
        },
        |v| out.push(v),
    )?;
    Ok(out.finish())
}

/// The start and end of the first match, in bytes.
fn find(frame: &Frame<'_>, regex: &Pattern, text: &[u8]) -> SqlResult<Option<(usize, usize)>> {
    if is_subject(frame, text) { tried(frame, regex.find(text), None) } else { Ok(None) }
}

fn regexp_instr(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = frame.call.collation.charset();
    let mut out = NativeOut::new(frame.rows);
    each(
        frame,
        |_, regex, text| {
            let found = find(frame, regex, text)?;
            Ok(found.map_or(0, |(start, _)| charset.char_count(&text[..start]) as i64 + 1))
        },
        |v| out.push(v),
    )?;
    Ok(out.finish())
}

fn regexp_substr(frame: &Frame<'_>) -> SqlResult<Column> {
    let mut out = BytesOut::new(frame.rows);
    each(
        frame,
        |_, regex, text| {
            let found = find(frame, regex, text)?;
            Ok(found.map_or(Vec::new(), |(start, end)| text[start..end].to_vec()))
        },
        |v| out.push(converted(frame, v).as_deref()),
    )?;
    Ok(out.finish())
}

fn regexp_replace(frame: &Frame<'_>) -> SqlResult<Column> {
    let replacements = frame.bytes(2);
    let mut out = BytesOut::new(frame.rows);
    each(
        frame,
        |row, regex, text| {
            if !is_subject(frame, text) {
                return Ok(Some(text.to_vec()));
            }
            let mut result = Vec::with_capacity(text.len());
            let mut matches = regex.matches(text);
            let mut end = 0;
            loop {
                // Each match begins with a look at the whole rest of the text.
                tick(100 + (text.len() - end) / 8);
                let Some(groups) = tried(frame, matches.at(end), None)? else { break };
                // Compat: the replacement stops at an empty match.
                let Some((from, to)) = groups[0].filter(|(from, to)| from < to) else { break };
                result.extend_from_slice(&text[end..from]);
                expand(replacements.value(row), text, &groups, &mut result);
                if frame.has_grown(row, result.len()) {
                    return Ok(None);
                }
                end = to;
            }
            result.extend_from_slice(&text[end..]);
            Ok(Some(result).filter(|made| !frame.has_grown(row, made.len())))
        },
        |v| out.push(converted(frame, v.flatten()).as_deref()),
    )?;
    Ok(out.finish())
}

/// Appends a replacement; `\1` to `\9` are the groups of the match.
fn expand(replacement: &[u8], text: &[u8], groups: &Groups, out: &mut Vec<u8>) {
    let mut bytes = replacement.iter();
    while let Some(&b) = bytes.next() {
        if b != b'\\' {
            out.push(b);
            continue;
        }
        match bytes.next() {
            Some(d @ b'0'..=b'9') => {
                let group = groups.get(usize::from(d - b'0')).copied().flatten();
                out.extend_from_slice(group.map_or(b"", |(from, to)| &text[from..to]));
            }
            Some(&other) => out.push(other),
            None => out.push(b'\\'),
        }
    }
}
