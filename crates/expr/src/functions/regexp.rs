//! REGEXP and its functions, by PCRE2 as in MariaDB.

use std::sync::Arc;

use pcre2::bytes::{Regex, RegexBuilder};
use selkie_types::charset::Charset;
use selkie_types::error::catalogue::ER_REGEXP_ERROR;
use selkie_types::{CollationId, Column, SqlError, SqlResult, SqlType, TypeKind};

use crate::build;
use crate::expr::ExprKind;
use crate::function::{Binding, Function, string_type};
use crate::kernel::{BytesOut, Frame, NativeOut};

pub(crate) static REGEXP: Function = Function::new("REGEXP", 2, 2, |mut b| {
    bind(&mut b, 2)?;
    b.strict(build::boolean_type(), regexp)
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
];

/// Patterns and subjects are matched as UTF-8, binary strings as bytes. Gives the collation of the
/// result.
fn bind(b: &mut Binding<'_>, count: usize) -> SqlResult<CollationId> {
    let result = b.unify(0..count, true)?.collation;
    let charset = b.collation.charset();
    if charset != Charset::Binary && !matches!(charset, Charset::Utf8mb4 | Charset::Utf8mb3) {
        let bin = b.collation.info().is_case_sensitive();
        let utf8 = if bin { CollationId::UTF8MB4_BIN } else { CollationId::UTF8MB4_GENERAL_CI };
        (0..count).for_each(|at| crate::cast::to_charset(&mut b.args[at], utf8));
        b.collation = utf8;
    }
    Ok(result)
}

/// A part of the subject in the charset of the result.
fn converted(frame: &Frame<'_>, text: Option<Vec<u8>>) -> Option<Vec<u8>> {
    let (from, to) = (frame.call.collation.charset(), frame.ty.collation.charset());
    text.map(|text| from.convert(&text, to).0.into_owned())
}

fn compile(pattern: &[u8], collation: CollationId) -> SqlResult<Regex> {
    let text = std::str::from_utf8(pattern).map_or_else(
        |_| std::borrow::Cow::Owned(pattern.iter().map(|&b| char::from(b)).collect::<String>()),
        std::borrow::Cow::Borrowed,
    );
    let utf = !collation.is_binary();
    RegexBuilder::new()
        .utf(utf)
        .ucp(utf)
        .caseless(!collation.info().is_case_sensitive())
        .jit_if_available(pattern.len() > 8)
        .build(&text)
        .map_err(|e| {
            let text =
                format!("Regex error '{}' at offset {}", message(&e), e.offset().unwrap_or(0));
            SqlError::new(&ER_REGEXP_ERROR, &[&text])
        })
}

/// The text PCRE2 gives for an error, without what the binding adds.
fn message(e: &pcre2::Error) -> String {
    let text = e.to_string();
    text.rsplit_once(": ").map_or(text.clone(), |(_, m)| m.to_owned())
}

/// Compiled patterns of a call: one for literal and constant patterns, the last one otherwise.
struct Patterns<'a> {
    frame: &'a Frame<'a>,
    last: Option<(Vec<u8>, Arc<SqlResult<Regex>>)>,
}

impl<'a> Patterns<'a> {
    fn new(frame: &'a Frame<'a>) -> Self {
        Self { frame, last: None }
    }

    fn get(&mut self, pattern: &[u8]) -> SqlResult<Arc<SqlResult<Regex>>> {
        if let Some((text, regex)) = &self.last
            && text == pattern
        {
            return Ok(regex.clone());
        }
        let call = self.frame.call;
        let literal = matches!(call.args[1].kind, ExprKind::Literal(_));
        let regex = call.cache.get_or(literal, || compile(pattern, call.collation));
        if let (true, Err(e)) = (literal, &*regex) {
            return Err(e.clone());
        }
        self.last = Some((pattern.to_vec(), regex.clone()));
        Ok(regex)
    }
}

/// `f` over a compiled pattern and its subject.
fn each<R>(
    frame: &Frame<'_>,
    mut f: impl FnMut(usize, &Regex, &[u8]) -> SqlResult<R>,
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
            // Compat: a bad pattern that is not a constant gives NULL.
            Err(_) => push(None),
        }
    }
    Ok(())
}

fn run_error(e: &pcre2::Error) -> SqlError {
    SqlError::new(&ER_REGEXP_ERROR, &[&message(e)])
}

fn regexp(frame: &Frame<'_>) -> SqlResult<Column> {
    let mut out = NativeOut::new(frame.rows);
    each(
        frame,
        |_, regex, text| regex.is_match(text).map(i64::from).map_err(|e| run_error(&e)),
        |v| out.push(v),
    )?;
    Ok(out.finish())
}

fn regexp_instr(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = frame.call.collation.charset();
    let mut out = NativeOut::new(frame.rows);
    each(
        frame,
        |_, regex, text| {
            let found = regex.find(text).map_err(|e| run_error(&e))?;
            Ok(found.map_or(0, |m| charset.char_count(&text[..m.start()]) as i64 + 1))
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
            let found = regex.find(text).map_err(|e| run_error(&e))?;
            Ok(found.map_or(Vec::new(), |m| m.as_bytes().to_vec()))
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
            let mut result = Vec::with_capacity(text.len());
            let mut end = 0;
            for captures in regex.captures_iter(text) {
                let captures = captures.map_err(|e| run_error(&e))?;
                let Some(whole) = captures.get(0) else { continue };
                result.extend_from_slice(&text[end..whole.start()]);
                expand(replacements.value(row), &captures, &mut result);
                end = whole.end();
            }
            result.extend_from_slice(&text[end..]);
            Ok(result)
        },
        |v| out.push(converted(frame, v).as_deref()),
    )?;
    Ok(out.finish())
}

/// Appends a replacement, `\1` to `\9` being the groups of the match.
fn expand(replacement: &[u8], captures: &pcre2::bytes::Captures<'_>, out: &mut Vec<u8>) {
    let mut bytes = replacement.iter();
    while let Some(&b) = bytes.next() {
        if b != b'\\' {
            out.push(b);
            continue;
        }
        match bytes.next() {
            Some(d @ b'0'..=b'9') => {
                if let Some(group) = captures.get(usize::from(d - b'0')) {
                    out.extend_from_slice(group.as_bytes());
                }
            }
            Some(&other) => out.push(other),
            None => out.push(b'\\'),
        }
    }
}
