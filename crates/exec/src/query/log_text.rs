//! The text of a statement with the values of its placeholders in it: the binary log and
//! prepared programs have it.
//!
//! Must not change the statement's meaning: without a text that says the same there is none.

use std::borrow::Cow;

use selkie_expr::Argument;
use selkie_sql::{ParameterPlace, question_marks};
use selkie_types::{Charset, SqlMode, SqlType, TypeKind, Value};

use crate::query::running::{Fill, Running};

/// The text of a statement that changes rows.
pub(super) fn logged_text<'r>(running: Running<'r>, mode: SqlMode) -> Option<Cow<'r, [u8]>> {
    if running.bulk.is_some() {
        return None;
    }
    if running.fill == Fill::Literals {
        return Some(Cow::Borrowed(running.own_text()));
    }
    let own = running.own_text();
    let begin = own.as_ptr().addr().checked_sub(running.text.as_ptr().addr())?;
    let places = running.prepared?.places();
    let mut numbers: Vec<u32> = places.iter().map(|place| place.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let types = running.values.iter().map(|(_, ty)| ty);
    let row_at = |at: u32| SqlType::row_fields(types.clone(), at as usize);
    let fields: usize = numbers.iter().filter_map(|at| row_at(*at)).map(|row| row.len()).sum();
    if numbers.len() + fields != running.values.len() {
        return None;
    }
    let mut text = Vec::with_capacity(own.len() + 16 * places.len());
    let mut copied = 0;
    for place in places {
        let (from, to) = (place.span.start as usize, place.span.end as usize);
        let (from, to) = (from.checked_sub(begin)?, to.checked_sub(begin)?);
        let (before, name) = (own.get(copied..from)?, own.get(from..to)?);
        text.extend_from_slice(before);
        copied = to;
        if let Some(row) = row_at(place.number) {
            put_row(&running.values[row], mode, &mut text)?;
            continue;
        }
        put(
            running.fill,
            (place, name),
            running.values.get(place.number as usize)?,
            mode,
            &mut text,
        )?;
    }
    text.extend_from_slice(own.get(copied..)?);
    Some(Cow::Owned(text))
}

/// A statement's text with values in place of its question marks; `None` if one of them has no
/// literal.
pub(crate) fn with_values(
    text: &[u8],
    values: &[(Value, SqlType)],
    mode: SqlMode,
) -> Option<Vec<u8>> {
    let marks = question_marks(text, mode);
    if marks.len() != values.len() {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() + 16 * values.len());
    let mut copied = 0;
    for (mark, (value, ty)) in marks.iter().zip(values) {
        out.extend_from_slice(text.get(copied..mark.start as usize)?);
        // A sign before it must not make a comment of `--`, nor a word behind it a name.
        out.push(b' ');
        let start = out.len();
        put_literal(value, ty, None, mode, &mut out)?;
        if matches!(value, Value::Double(_)) && !out[start..].contains(&b'e') {
            out.extend_from_slice(b"e0");
        }
        out.push(b' ');
        copied = mark.end as usize;
    }
    out.extend_from_slice(text.get(copied..)?);
    Some(out)
}

/// Appends what stands for one placeholder, whose text is `name`.
fn put(
    fill: Fill,
    (place, name): (&ParameterPlace, &[u8]),
    (value, ty): &(Value, SqlType),
    mode: SqlMode,
    out: &mut Vec<u8>,
) -> Option<()> {
    match fill {
        Fill::Values if name != b"?" => None,
        Fill::Locals if !place.is_limit => {
            let name: Vec<u8> = name.iter().copied().filter(|byte| *byte != b'`').collect();
            out.extend_from_slice(b" NAME_CONST(");
            put_quoted(&name, mode, out);
            out.push(b',');
            put_literal(value, ty, Some(()), mode, out)?;
            out.push(b')');
            Some(())
        }
        _ => put_literal(value, ty, None, mode, out),
    }
}

/// The call of a stored function for some values, as a statement.
pub(crate) fn call_text(
    (schema, name): (&str, &str),
    args: &[Argument<(Value, SqlType)>],
    mode: SqlMode,
) -> Option<Vec<u8>> {
    let quoted = |name: &str| format!("`{}`", name.replace('`', "``"));
    let mut text = format!("SELECT {}.{}(", quoted(schema), quoted(name)).into_bytes();
    for (at, arg) in args.iter().enumerate() {
        text.extend_from_slice(if at > 0 { b"," } else { b"" });
        match arg {
            Argument::Value((value, ty)) => put_literal(value, ty, Some(()), mode, &mut text)?,
            Argument::Row(fields) => put_row(fields, mode, &mut text)?,
        }
    }
    text.push(b')');
    Some(text)
}

/// Appends a row of literals.
fn put_row(fields: &[(Value, SqlType)], mode: SqlMode, out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(b"ROW(");
    for (at, (value, ty)) in fields.iter().enumerate() {
        out.extend_from_slice(if at > 0 { b"," } else { b"" });
        put_literal(value, ty, Some(()), mode, out)?;
    }
    out.push(b')');
    Some(())
}

/// Appends a literal; with its collation if it is `exact`.
fn put_literal(
    value: &Value,
    ty: &SqlType,
    exact: Option<()>,
    mode: SqlMode,
    out: &mut Vec<u8>,
) -> Option<()> {
    let kind = match (value, ty.kind) {
        (Value::Date(_), _) => "DATE",
        (Value::Time(_), _) => "TIME",
        (Value::DateTime(_), TypeKind::Timestamp) => return None,
        (Value::DateTime(_), _) => "TIMESTAMP",
        (Value::Null, _) => {
            out.extend_from_slice(b"NULL");
            return Some(());
        }
        (Value::UInt(_), _) if ty.members.is_some() || ty.kind == TypeKind::Bit => return None,
        (Value::Bytes(bytes), _) => {
            put_string(bytes, ty, exact, mode, out);
            return Some(());
        }
        _ => {
            out.extend_from_slice(selkie_expr::text::display(value, ty).as_bytes());
            return Some(());
        }
    };
    out.extend_from_slice(kind.as_bytes());
    put_quoted(selkie_expr::text::display(value, ty).as_bytes(), mode, out);
    Some(())
}

/// Appends a text literal. Bytes that are no plain letters are written as digits, which no
/// character set can change.
fn put_string(bytes: &[u8], ty: &SqlType, exact: Option<()>, mode: SqlMode, out: &mut Vec<u8>) {
    let charset = ty.collation.charset();
    let is_plain = bytes.is_ascii() && charset.is_ascii_compatible();
    let is_utf8 = matches!(charset, Charset::Utf8mb4 | Charset::Utf8mb3)
        && std::str::from_utf8(bytes).is_ok();
    if exact.is_none() && (is_plain || is_utf8) && charset != Charset::Binary {
        return put_quoted(bytes, mode, out);
    }
    out.extend_from_slice(format!("_{}", charset.name()).as_bytes());
    if is_plain {
        put_quoted(bytes, mode, out);
    } else {
        out.extend_from_slice(b" X'");
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        out.extend_from_slice(digits.as_bytes());
        out.push(b'\'');
    }
    if exact.is_some() {
        let collation = format!(" COLLATE '{}'", ty.collation.name());
        out.extend_from_slice(collation.as_bytes());
    }
}

/// Appends bytes between quotes.
fn put_quoted(bytes: &[u8], mode: SqlMode, out: &mut Vec<u8>) {
    let escapes = !mode.contains(SqlMode::NO_BACKSLASH_ESCAPES);
    out.push(b'\'');
    for byte in bytes {
        match byte {
            b'\'' if !escapes => out.push(b'\''),
            b'\'' | b'"' | b'\\' if escapes => out.push(b'\\'),
            0 if escapes => {
                out.extend_from_slice(b"\\0");
                continue;
            }
            b'\n' if escapes => {
                out.extend_from_slice(b"\\n");
                continue;
            }
            b'\r' if escapes => {
                out.extend_from_slice(b"\\r");
                continue;
            }
            0x1a if escapes => {
                out.extend_from_slice(b"\\Z");
                continue;
            }
            _ => {}
        }
        out.push(*byte);
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use selkie_sql::{ParseOptions, parse};
    use selkie_types::{CollationId, Date, Decimal};

    use super::*;
    use crate::state::prepared::Prepared;

    fn filled(fill: Fill, text: &str, values: &[(Value, SqlType)]) -> Option<String> {
        let parsed = parse(text.as_bytes(), &ParseOptions::default()).unwrap();
        let prepared = Prepared::unplanned(parsed.statement, text.as_bytes().into(), values.len());
        let prepared = Some(&prepared);
        let running = Running { fill, prepared, ..Running::new(text.as_bytes(), values) };
        let made = logged_text(running, SqlMode::default())?;
        Some(String::from_utf8(made.into_owned()).unwrap())
    }

    fn text(bytes: &[u8], collation: CollationId) -> (Value, SqlType) {
        (Value::bytes(bytes), SqlType::varchar(20, collation))
    }

    #[test]
    fn values_stand_for_question_marks() {
        let values = [
            (Value::Int(-5), SqlType::bigint()),
            text(b"it's \"a\" \\", CollationId::UTF8MB4_GENERAL_CI),
            (Value::Null, SqlType::null()),
            (Value::Decimal(Decimal::parse(b"1.50").value), SqlType::decimal(3, 2)),
            (
                Value::Date(Date::parse(b"2024-02-03", Default::default()).value.unwrap()),
                SqlType::date(),
            ),
        ];
        assert_eq!(
            filled(Fill::Values, "INSERT INTO t VALUES (?, ?, ?, ?, ?, '?')", &values).unwrap(),
            r#"INSERT INTO t VALUES (-5, 'it\'s \"a\" \\', NULL, 1.50, DATE'2024-02-03', '?')"#
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_digits() {
        let sql = "DELETE FROM t WHERE a = ?";
        let binary = [text(b"\x00\xff", CollationId::BINARY)];
        let with = |value: &str| Some(format!("DELETE FROM t WHERE a = {value}"));
        assert_eq!(filled(Fill::Values, sql, &binary), with("_binary X'00ff'"));
        let letter = [text(b"\xe9", CollationId::LATIN1_SWEDISH_CI)];
        assert_eq!(filled(Fill::Values, sql, &letter), with("_latin1 X'e9'"));
        let utf8 = [text("é".as_bytes(), CollationId::UTF8MB4_GENERAL_CI)];
        assert_eq!(filled(Fill::Values, sql, &utf8), with("'é'"));
    }

    #[test]
    fn a_text_without_all_values_is_none() {
        let two = [(Value::Int(1), SqlType::int()), (Value::Int(2), SqlType::int())];
        assert_eq!(filled(Fill::Values, "DELETE FROM t WHERE a = ?", &two), None);
        let literal = filled(Fill::Literals, "DELETE FROM t WHERE a = 7", &two[..1]);
        assert_eq!(literal.unwrap(), "DELETE FROM t WHERE a = 7");
    }
}
