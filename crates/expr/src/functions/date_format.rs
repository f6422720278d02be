//! Dates and times as text in formats, and back.

use selkie_types::error::catalogue::ER_WRONG_VALUE_FOR_TYPE;
use selkie_types::temporal::{DateOptions, FormatKind, TimeNames, str_to_date};
use selkie_types::{Column, Date, DateTime, Physical, SqlResult, SqlType, Time, Value};

use crate::cast;
use crate::expr::{CallOption, Expr};
use crate::function::{Binding, Function};
use crate::kernel::{Frame, bytes_to_bytes, map_rows, to_bytes, write_rows};

pub(crate) static GET_FORMAT: Function = Function::new("GET_FORMAT", 1, 1, |mut b| {
    b.ascii_text(0);
    b.connection_collation();
    let ty = SqlType::varchar(17, b.collation);
    b.maybe(ty, get_format)
});

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("DATE_FORMAT", 2, 3, |mut b| {
        b.args.truncate(2);
        b.datetime(0);
        bind_format(b, |f| formatted::<DateTime>(f, english))
    }),
    Function::new("TIME_FORMAT", 2, 2, |mut b| {
        b.time(0);
        bind_format(b, |f| formatted::<Time>(f, english_time))
    }),
    Function::new("STR_TO_DATE", 2, 2, bind_str_to_date),
    Function::new("DAYNAME", 1, 1, |b| name(b, 1)),
    Function::new("MONTHNAME", 1, 1, |b| name(b, 0)),
];

fn bind_format(mut b: Binding<'_>, kernel: crate::function::Kernel) -> SqlResult<Expr> {
    b.text(1);
    b.connection_collation();
    let collation = b.collation;
    cast::to_charset(&mut b.args[1], collation);
    let ty = formatted_type(&b, 1);
    b.maybe(ty, kernel)
}

/// The type of a formatted value: what the directives of a literal format can grow to.
pub(super) fn formatted_type(b: &Binding<'_>, at: usize) -> SqlType {
    let length = match b.args[at].as_literal() {
        Some(Value::Bytes(format)) => format_length(format),
        _ => u64::from(b.args[at].ty.length) * 10,
    };
    b.string_type(length)
}

fn format_length(format: &[u8]) -> u64 {
    let mut length = 0;
    let mut bytes = format.iter();
    while let Some(&b) = bytes.next() {
        if b != b'%' {
            length += 1;
            continue;
        }
        length += match bytes.next() {
            Some(b'M' | b'W') => 64,
            Some(b'D' | b'Y' | b'x' | b'X') => 4,
            Some(b'a' | b'b') => 32,
            Some(b'j') => 3,
            Some(b'H' | b'k') => 7,
            Some(b'r') => 11,
            Some(b'T') => 8,
            Some(b'f') => 6,
            Some(b'w' | b'%') => 1,
            Some(_) => 2,
            None => 1,
        };
    }
    length
}

/// Appends a formatted instant; false if it has no such form.
pub(super) fn english(v: DateTime, format: &[u8], out: &mut Vec<u8>) -> bool {
    v.format(format, &TimeNames::ENGLISH, out).is_some()
}

fn english_time(v: Time, format: &[u8], out: &mut Vec<u8>) -> bool {
    v.format(format, &TimeNames::ENGLISH, out).is_some()
}

fn formatted<T: crate::kernel::Native>(
    frame: &Frame<'_>,
    write: fn(T, &[u8], &mut Vec<u8>) -> bool,
) -> SqlResult<Column> {
    let (values, formats) = (frame.view::<T>(0), frame.bytes(1));
    write_rows(frame, |row, out| {
        let format = formats.value(row);
        !format.is_empty() && write(values.value(row), format, out)
    })
}

/// `DAYNAME` (1) or `MONTHNAME` (0).
fn name(mut b: Binding<'_>, which: i64) -> SqlResult<Expr> {
    b.date(0);
    b.connection_collation();
    let ty = SqlType::varchar(9, b.collation);
    b.option = CallOption::Number(which);
    b.maybe(ty, names)
}

fn day_name(d: Date) -> Option<&'static str> {
    (!d.has_zero_part()).then(|| TimeNames::ENGLISH.days[d.weekday() as usize])
}

fn month_name(d: Date) -> Option<&'static str> {
    TimeNames::ENGLISH.months.get((d.month() as usize).checked_sub(1)?).copied()
}

fn names(frame: &Frame<'_>) -> SqlResult<Column> {
    let name = if frame.call.option == CallOption::Number(1) { day_name } else { month_name };
    let charset = frame.ty.collation.charset();
    to_bytes(frame, |d: Date, out| {
        let Some(text) = name(d) else { return false };
        let text = selkie_types::Charset::Utf8mb4.convert(text.as_bytes(), charset).0;
        out.extend_from_slice(&text);
        true
    })
}

/// The type depends on what a literal format has: a date, a time or both.
fn bind_str_to_date(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.utf8_text(0);
    b.utf8_text(1);
    let ty = match b.args[1].as_literal() {
        Some(Value::Bytes(format)) => match FormatKind::of(format) {
            (FormatKind::Date, _) => SqlType::date(),
            (FormatKind::Time, micros) => SqlType::time(if micros { 6 } else { 0 }),
            (FormatKind::DateTime, micros) => SqlType::datetime(if micros { 6 } else { 0 }),
        },
        _ => SqlType::datetime(6),
    };
    match ty.physical() {
        Physical::Date => b.maybe(ty, |f| map_rows(f, |row| Ok(read(f, row).map(|v| v.0)))),
        Physical::Time => b.maybe(ty, |f| map_rows(f, |row| Ok(read(f, row).map(|v| v.1)))),
        _ => b.maybe(ty, |f| {
            map_rows(f, |row| {
                Ok(read(f, row).map(|(date, time)| DateTime::from_date_and_micros(date, time.0)))
            })
        }),
    }
}

fn read(frame: &Frame<'_>, row: usize) -> Option<(Date, Time)> {
    let (text, format) = (frame.bytes(0).value(row), frame.bytes(1).value(row));
    let mut options = DateOptions::from(frame.ctx.types.sql_mode);
    if frame.ty.physical() == Physical::Time {
        options = DateOptions::LENIENT;
    }
    let value = str_to_date(text, format, &TimeNames::ENGLISH, options);
    if value.is_none_or(|v| v.truncated) {
        let kind = if frame.ty.physical() == Physical::Time { "time" } else { "datetime" };
        let shown = crate::text::for_message(text, frame.arg_type(0).collation);
        frame.ctx.warn(&ER_WRONG_VALUE_FOR_TYPE, &[&kind, &shown, &"str_to_date"]);
    }
    value.map(|v| (v.date, v.time))
}

fn get_format(frame: &Frame<'_>) -> SqlResult<Column> {
    let CallOption::Name(kind) = &frame.call.option else {
        return bytes_to_bytes(frame, |_, _| false);
    };
    let column = match &**kind {
        "DATE" => 0,
        "TIME" => 1,
        _ => 2,
    };
    const FORMATS: &[(&str, [&str; 3])] = &[
        ("USA", ["%m.%d.%Y", "%h:%i:%s %p", "%Y-%m-%d %H.%i.%s"]),
        ("JIS", ["%Y-%m-%d", "%H:%i:%s", "%Y-%m-%d %H:%i:%s"]),
        ("ISO", ["%Y-%m-%d", "%H:%i:%s", "%Y-%m-%d %H:%i:%s"]),
        ("EUR", ["%d.%m.%Y", "%H.%i.%s", "%Y-%m-%d %H.%i.%s"]),
        ("INTERNAL", ["%Y%m%d", "%H%i%s", "%Y%m%d%H%i%s"]),
    ];
    bytes_to_bytes(frame, |name, out| {
        let found = FORMATS.iter().find(|(n, _)| n.as_bytes().eq_ignore_ascii_case(name));
        found.is_some_and(|(_, formats)| {
            out.extend_from_slice(formats[column].as_bytes());
            true
        })
    })
}
