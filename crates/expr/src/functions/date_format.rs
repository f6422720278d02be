//! Dates and times as text in formats, and back.
//! The formatting itself is in `selkie_types::temporal`; here are types, locales and warnings.

use selkie_types::Locale;
use selkie_types::error::catalogue::{
    ER_TRUNCATED_WRONG_VALUE, ER_UNKNOWN_LOCALE, ER_WRONG_VALUE_FOR_TYPE,
};
use selkie_types::temporal::{DateOptions, FormatKind, TimeNames, str_to_date};
use selkie_types::{
    Charset, CollationId, Column, Date, DateTime, Physical, SqlResult, SqlType, Time, TypeKind,
    Value,
};

use crate::cast::DateRule;
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
        if b.len() == 3 {
            bind_locale(&mut b, 2)?;
        }
        // Compat: a time gets the zero date here, not the current date.
        if b.args[0].ty.kind == TypeKind::Time {
            return bind_format(b, |f| formatted_by(f, Time::format_dated));
        }
        b.datetime_by(0, DateRule::Existing);
        bind_format(b, formatted::<DateTime>)
    }),
    Function::new("TIME_FORMAT", 2, 2, |mut b| {
        b.time(0);
        bind_format(b, formatted::<Time>)
    }),
    Function::new("STR_TO_DATE", 2, 2, bind_str_to_date),
    Function::new("DAYNAME", 1, 1, |b| name(b, 1)),
    Function::new("MONTHNAME", 1, 1, |b| name(b, 0)),
];

fn bind_format(mut b: Binding<'_>, kernel: crate::function::Kernel) -> SqlResult<Expr> {
    let ty = formatted_type(&mut b, 1);
    b.maybe(ty, kernel)
}

/// Reads a format; returns the type of a formatted value: the greatest length of the directives in
/// a literal format.
///
/// Compat: every byte that another format may have stands for ten characters.
pub(super) fn formatted_type(b: &mut Binding<'_>, at: usize) -> SqlType {
    let written = &b.args[at].ty;
    let width = if written.is_string() { written.collation.charset().max_len() as u64 } else { 1 };
    let bytes = u64::from(written.length) * width;
    b.utf8_text(at);
    b.connection_collation();
    let length = match b.args[at].as_literal() {
        Some(Value::Bytes(format)) => format_length(format),
        _ => bytes * 10,
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

/// Values that can be formatted.
pub(super) trait Formatted: crate::kernel::Native {
    /// Appends the value; `None` if it cannot be written in this format.
    fn put(self, format: &[u8], names: &TimeNames, out: &mut Vec<u8>) -> Option<()>;
}

impl Formatted for DateTime {
    fn put(self, format: &[u8], names: &TimeNames, out: &mut Vec<u8>) -> Option<()> {
        self.format(format, names, out)
    }
}

impl Formatted for Time {
    fn put(self, format: &[u8], names: &TimeNames, out: &mut Vec<u8>) -> Option<()> {
        self.format(format, names, out)
    }
}

/// The locale named by argument `at`; the default, with warning 1649, for an unknown name.
pub(super) fn bind_locale(b: &mut Binding<'_>, at: usize) -> SqlResult<()> {
    b.ascii_text(at);
    if b.args[at].nullable || b.args[at].ty.kind == TypeKind::Null {
        // Compat: NULL counts as an unknown name.
        let name = std::mem::replace(&mut b.args[at], Expr::null());
        let none = Expr::string(b"NULL", CollationId::UTF8MB4_GENERAL_CI);
        b.args[at] = crate::build::function_call("COALESCE", vec![name, none], b.types)?;
    }
    Ok(())
}

pub(super) fn locale_of(frame: &Frame<'_>, at: usize, row: usize) -> &'static Locale {
    let name = String::from_utf8_lossy(frame.bytes(at).value(row));
    Locale::from_name(&name).unwrap_or_else(|| {
        frame.ctx.warn(&ER_UNKNOWN_LOCALE, &[&name]);
        Locale::english()
    })
}

/// A formatted value, with the names of the session's locale, or of the locale in the third
/// argument.
pub(super) fn formatted<T: Formatted>(frame: &Frame<'_>) -> SqlResult<Column> {
    formatted_by(frame, T::put)
}

fn formatted_by<T: crate::kernel::Native>(
    frame: &Frame<'_>,
    put: impl Fn(T, &[u8], &TimeNames, &mut Vec<u8>) -> Option<()>,
) -> SqlResult<Column> {
    let (values, formats) = (frame.view::<T>(0), frame.bytes(1));
    let charset = frame.ty.collation.charset();
    let mut plain = Vec::new();
    write_rows(frame, |row, out| {
        let format = formats.value(row);
        let locale = match frame.args.len() {
            3 => locale_of(frame, 2, row),
            _ => frame.ctx.types.time_locale,
        };
        plain.clear();
        let done = !format.is_empty()
            && put(values.value(row), format, &locale.times, &mut plain).is_some();
        out.extend_from_slice(&Charset::Utf8mb4.convert(&plain, charset).0);
        done
    })
}

/// `DAYNAME` (1) or `MONTHNAME` (0).
fn name(mut b: Binding<'_>, which: i64) -> SqlResult<Expr> {
    b.date_by(0, if which == 1 { DateRule::Real } else { DateRule::Existing });
    b.connection_collation();
    let times = &b.types.time_locale.times;
    let possible = if which == 1 { &times.days[..] } else { &times.months[..] };
    let longest = possible.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let ty = SqlType::varchar(longest as u32, b.collation);
    b.option = CallOption::Number(which);
    b.maybe(ty, names)
}

fn day_name(d: Date, names: &'static TimeNames) -> Option<&'static str> {
    (!d.has_zero_part()).then(|| names.days[d.weekday() as usize])
}

fn month_name(d: Date, names: &'static TimeNames) -> Option<&'static str> {
    names.months.get((d.month() as usize).checked_sub(1)?).copied()
}

fn names(frame: &Frame<'_>) -> SqlResult<Column> {
    let name = if frame.call.option == CallOption::Number(1) { day_name } else { month_name };
    let charset = frame.ty.collation.charset();
    let names = &frame.ctx.types.time_locale.times;
    to_bytes(frame, |d: Date, out| {
        let Some(text) = name(d, names) else { return false };
        let text = selkie_types::Charset::Utf8mb4.convert(text.as_bytes(), charset).0;
        out.extend_from_slice(&text);
        true
    })
}

/// The type of the result follows from a literal format: a date, a time or both.
fn bind_str_to_date(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.refuse_json("str_to_date", None)?;
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
    // Compat: the names are English, whatever `lc_time_names` is.
    let value = str_to_date(text, format, &TimeNames::ENGLISH, options);
    if value.is_none_or(|v| v.truncated) {
        let shown = crate::text::for_message(text, frame.arg_type(0).collation);
        let kind = match frame.ty.physical() {
            Physical::Time => "time",
            Physical::Date if value.is_some() => "date",
            _ => "datetime",
        };
        match value {
            Some(_) => frame.ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&kind, &shown]),
            None => frame.ctx.warn(&ER_WRONG_VALUE_FOR_TYPE, &[&kind, &shown, &"str_to_date"]),
        }
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
