//! The clock, time zones and UNIX timestamps.
//! The time is that of the statement's start, except for SYSDATE.

use selkie_types::error::catalogue::{ER_TOO_BIG_PRECISION, ER_TRUNCATED_WRONG_VALUE};
use selkie_types::temporal::MICROS_PER_SECOND;
use selkie_types::{
    Charset, Column, DateTime, Decimal, SqlError, SqlResult, SqlType, TypeKind, Value,
};

use crate::cast::{self, DateRule};
use crate::context::EvalContext;
use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel, Nature};
use crate::kernel::{BytesOut, DecimalOut, Frame, NativeOut, map_rows, try_map};
use crate::timezone::TimeZone;

const fn now(name: &'static str, bind: fn(Binding<'_>) -> SqlResult<Expr>) -> Function {
    Function::new(name, 0, 1, bind).nature(Nature::Statement)
}

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    now("NOW", |b| clock(b, SqlType::datetime, |f| datetime(f, local_now))),
    now("CURRENT_TIMESTAMP", |b| clock(b, SqlType::datetime, |f| datetime(f, local_now))),
    now("LOCALTIME", |b| clock(b, SqlType::datetime, |f| datetime(f, local_now))),
    now("LOCALTIMESTAMP", |b| clock(b, SqlType::datetime, |f| datetime(f, local_now))),
    now("UTC_TIMESTAMP", |b| clock(b, SqlType::datetime, |f| datetime(f, utc_now))),
    now("CURTIME", |b| clock(b, SqlType::time, |f| time(f, local_now))),
    now("CURRENT_TIME", |b| clock(b, SqlType::time, |f| time(f, local_now))),
    now("UTC_TIME", |b| clock(b, SqlType::time, |f| time(f, utc_now))),
    now("CURDATE", |b| clock(b, |_| SqlType::date(), |f| date(f, local_now))),
    now("CURRENT_DATE", |b| clock(b, |_| SqlType::date(), |f| date(f, local_now))),
    now("UTC_DATE", |b| clock(b, |_| SqlType::date(), |f| date(f, utc_now))),
    Function::new("SYSDATE", 0, 1, |b| clock(b, SqlType::datetime, |f| datetime(f, system_now)))
        .nature(Nature::Volatile),
    Function::new("UNIX_TIMESTAMP", 0, 1, unix_timestamp).nature(Nature::Statement),
    Function::new("FROM_UNIXTIME", 1, 2, from_unixtime).nature(Nature::Statement),
    Function::new("CONVERT_TZ", 3, 3, |mut b| {
        b.datetime_by(0, DateRule::Real);
        b.ascii_text(1);
        b.ascii_text(2);
        let ty = SqlType::datetime(b.args[0].ty.decimals);
        b.maybe(ty, convert_tz)
    })
    .nature(Nature::Statement),
];

/// A clock whose only argument is a literal number of fraction digits.
fn clock(mut b: Binding<'_>, ty: fn(u8) -> SqlType, kernel: Kernel) -> SqlResult<Expr> {
    let digits = b.constant_int(0).unwrap_or(0);
    if !(0..=6).contains(&digits) {
        // Compat: the error uses one name for all synonyms of the current time.
        let name = match b.function.name() {
            "NOW" | "LOCALTIME" | "LOCALTIMESTAMP" => "current_timestamp".to_owned(),
            "CURRENT_TIME" => "curtime".to_owned(),
            other => other.to_ascii_lowercase(),
        };
        return Err(SqlError::new(&ER_TOO_BIG_PRECISION, &[&name, &6]));
    }
    b.args.clear();
    b.never_null(ty(digits as u8), kernel)
}

fn local_now(ctx: &EvalContext<'_>) -> DateTime {
    ctx.types.time_zone.local_from_micros(ctx.now_micros).unwrap_or_default()
}

fn utc_now(ctx: &EvalContext<'_>) -> DateTime {
    DateTime::from_unix_micros(ctx.now_micros).unwrap_or_default()
}

fn system_now(ctx: &EvalContext<'_>) -> DateTime {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let micros = since.map_or(0, |d| d.as_micros() as i64);
    ctx.types.time_zone.local_from_micros(micros).unwrap_or_default()
}

fn repeated(frame: &Frame<'_>, value: Value) -> SqlResult<Column> {
    Ok(crate::eval::constant(&value, frame.ty, frame.rows))
}

fn datetime(frame: &Frame<'_>, now: fn(&EvalContext<'_>) -> DateTime) -> SqlResult<Column> {
    repeated(frame, Value::DateTime(now(frame.ctx).truncate_to(frame.ty.decimals)))
}

fn time(frame: &Frame<'_>, now: fn(&EvalContext<'_>) -> DateTime) -> SqlResult<Column> {
    repeated(frame, Value::Time(now(frame.ctx).time().truncate_to(frame.ty.decimals)))
}

fn date(frame: &Frame<'_>, now: fn(&EvalContext<'_>) -> DateTime) -> SqlResult<Column> {
    repeated(frame, Value::Date(now(frame.ctx).date()))
}

fn unix_timestamp(mut b: Binding<'_>) -> SqlResult<Expr> {
    let whole = SqlType::new(TypeKind::BigInt, 17, 0);
    if b.len() == 0 {
        return b.maybe(whole, |f| {
            repeated(f, Value::Int(f.ctx.now_micros.div_euclid(MICROS_PER_SECOND)))
        });
    }
    if b.args[0].ty.kind == TypeKind::Timestamp {
        // A TIMESTAMP is an instant already, so the time zone does not matter.
        let fsp = b.args[0].ty.decimals;
        return match fsp {
            0 => b.maybe(whole, |f| {
                try_map(f, |v: DateTime| {
                    let zero = v == DateTime::ZERO;
                    Ok(Some(if zero { 0 } else { v.unix_micros() / MICROS_PER_SECOND }))
                })
            }),
            _ => b.maybe(SqlType::decimal(16 + u32::from(fsp), fsp), |f| {
                decimals(f, |v| Some(if v == DateTime::ZERO { 0 } else { v.unix_micros() }))
            }),
        };
    }
    b.datetime_by(0, DateRule::Whole);
    let fsp = b.args[0].ty.decimals;
    if fsp == 0 {
        return b.maybe(whole, |f| {
            try_map(f, |v: DateTime| Ok(instant(f, v).map(|m| m / MICROS_PER_SECOND)))
        });
    }
    b.maybe(SqlType::decimal(16 + u32::from(fsp), fsp), |f| decimals(f, |v| instant(f, v)))
}

fn instant(frame: &Frame<'_>, local: DateTime) -> Option<i64> {
    if !local.date().is_in_calendar() {
        return None;
    }
    const LAST: i64 = (i32::MAX as i64 + 1) * MICROS_PER_SECOND;
    let micros = frame.ctx.types.time_zone.micros_from_local(local);
    (0..LAST).contains(&micros).then_some(micros)
}

fn decimals(frame: &Frame<'_>, f: impl Fn(DateTime) -> Option<i64>) -> SqlResult<Column> {
    let view = frame.view::<DateTime>(0);
    let mut out = DecimalOut::new(frame.ty.decimals, frame.rows);
    for row in 0..frame.rows {
        let micros = view.get(row).and_then(&f);
        let cut = |m: i64| Decimal::from_i128(m.into(), 6).truncate(frame.ty.decimals.into());
        out.push(micros.map(cut));
    }
    Ok(out.finish())
}

fn from_unixtime(mut b: Binding<'_>) -> SqlResult<Expr> {
    let fsp = match (b.args[0].as_literal(), cast::fsp_of(&b.args[0])) {
        // Compat: the fraction of a text has all six digits.
        (Some(Value::Bytes(_)), 1..) => 6,
        (_, fsp) => fsp,
    };
    b.decimal(0);
    if b.len() == 1 {
        return b.maybe(SqlType::datetime(fsp), |f| {
            let seconds = f.decimals(0);
            map_rows(f, |row| Ok(local_of(f, seconds.value(row))))
        });
    }
    let ty = super::date_format::formatted_type(&mut b, 1);
    b.maybe(ty, |f| {
        let (seconds, formats) = (f.decimals(0), f.bytes(1));
        let names = &f.ctx.types.time_locale.times;
        let charset = f.ty.collation.charset();
        let mut out = BytesOut::new(f.rows);
        for row in 0..f.rows {
            out.write(|buffer| {
                let Some(value) = seconds.get(row).and_then(|s| local_of(f, s)) else {
                    return false;
                };
                let Some(format) = formats.get(row) else { return false };
                let mut plain = Vec::new();
                let done = value.format(format, names, &mut plain).is_some();
                buffer.extend_from_slice(&Charset::Utf8mb4.convert(&plain, charset).0);
                done
            });
        }
        Ok(out.finish())
    })
}

fn local_of(frame: &Frame<'_>, seconds: Decimal) -> Option<DateTime> {
    const LAST: i64 = (i32::MAX as i64 + 1) * MICROS_PER_SECOND;
    let micros = seconds.truncate(6).round(6).small_unscaled();
    let micros = micros.and_then(|m| i64::try_from(m).ok());
    let Some(micros) = micros.filter(|m| (0..LAST).contains(m)) else {
        if !seconds.is_negative() {
            frame.ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&"unixtime", &seconds.normalised()]);
        }
        return None;
    };
    frame.ctx.types.time_zone.local_from_micros(micros)
}

/// Names of two time zones; the zones, if both exist.
type Zones = (Vec<u8>, Vec<u8>, Option<(TimeZone, TimeZone)>);

fn convert_tz(frame: &Frame<'_>) -> SqlResult<Column> {
    let values = frame.view::<DateTime>(0);
    let (from, to) = (frame.bytes(1), frame.bytes(2));
    let mut zones: Option<Zones> = None;
    let parse = |name: &[u8]| TimeZone::parse(std::str::from_utf8(name).ok()?);
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        if frame.any_null(row) {
            out.push(None);
            continue;
        }
        let (a, b) = (from.value(row), to.value(row));
        if zones.as_ref().is_none_or(|z| z.0 != a || z.1 != b) {
            zones = Some((a.to_vec(), b.to_vec(), parse(a).zip(parse(b))));
        }
        let pair = zones.as_ref().and_then(|z| z.2.as_ref());
        out.push(pair.and_then(|(from, to)| converted(values.value(row), from, to)));
    }
    Ok(out.finish())
}

/// Converts a time between zones; a time outside TIMESTAMP's range is unchanged.
fn converted(value: DateTime, from: &TimeZone, to: &TimeZone) -> Option<DateTime> {
    if value.date().has_zero_part() {
        return None;
    }
    match from.to_utc(value) {
        Some(utc) => to.local_from_micros(utc.unix_micros()),
        None => Some(value),
    }
}
