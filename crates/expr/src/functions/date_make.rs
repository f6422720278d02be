//! Functions that make or combine dates and times.

use selkie_types::error::catalogue::ER_TRUNCATED_WRONG_VALUE;
use selkie_types::temporal::{DateOptions, MICROS_PER_SECOND};
use selkie_types::{Column, Date, DateTime, Decimal, Physical, SqlResult, SqlType, Time, TypeKind};

use crate::cast;
use crate::expr::Expr;
use crate::function::{Binding, Function};
use crate::kernel::{DecimalOut, Frame, map, map_rows, try_map, try_map2, write_rows};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("DATE", 1, 1, |mut b| {
        b.date(0);
        b.maybe(SqlType::date(), |f| Ok(map(f, |d: Date| d)))
    }),
    Function::new("TIME", 1, 1, |mut b| {
        b.time(0);
        let ty = SqlType::time(b.args[0].ty.decimals);
        b.maybe(ty, |f| Ok(map(f, |t: Time| t)))
    }),
    Function::new("TIMESTAMP", 1, 2, timestamp),
    Function::new("LAST_DAY", 1, 1, |mut b| {
        b.date(0);
        b.maybe(SqlType::date(), |f| {
            try_map(f, |d: Date| Ok(if d.is_zero() { None } else { d.last_day() }))
        })
    }),
    Function::new("FROM_DAYS", 1, 1, |mut b| {
        b.int(0);
        b.maybe(SqlType::date(), |f| {
            Ok(map(f, |n: i64| Date::from_day_number(n).unwrap_or_default()))
        })
    }),
    Function::new("MAKEDATE", 2, 2, |mut b| {
        b.int(0);
        b.int(1);
        b.maybe(SqlType::date(), |f| try_map2(f, |y: i64, d: i64| Ok(makedate(y, d))))
    }),
    Function::new("MAKETIME", 3, 3, maketime),
    Function::new("SEC_TO_TIME", 1, 1, sec_to_time),
    Function::new("TIME_TO_SEC", 1, 1, time_to_sec),
    Function::new("DATEDIFF", 2, 2, |mut b| {
        b.date(0);
        b.date(1);
        b.maybe(SqlType::new(TypeKind::Int, 8, 0), |f| {
            try_map2(f, |a: Date, b: Date| {
                let real = !a.has_zero_part() && !b.has_zero_part();
                Ok(real.then(|| a.day_number() - b.day_number()))
            })
        })
    }),
    Function::new("TIMEDIFF", 2, 2, timediff),
    Function::new("ADDTIME", 2, 2, addtime),
    Function::new("SUBTIME", 2, 2, addtime),
    Function::new("PERIOD_ADD", 2, 2, |mut b| {
        b.int(0);
        b.int(1);
        b.strict(SqlType::new(TypeKind::Int, 6, 0), |f| {
            try_map2(f, |p: i64, n: i64| Ok(Some(if p == 0 { 0 } else { period(months(p) + n) })))
        })
    }),
    Function::new("PERIOD_DIFF", 2, 2, |mut b| {
        b.int(0);
        b.int(1);
        b.strict(SqlType::new(TypeKind::Int, 6, 0), |f| {
            try_map2(f, |a: i64, b: i64| Ok(Some(months(a) - months(b))))
        })
    }),
];

fn timestamp(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.datetime(0);
    let mut fsp = b.args[0].ty.decimals;
    if b.len() == 1 {
        return b.maybe(SqlType::datetime(fsp), |f| Ok(map(f, |v: DateTime| v)));
    }
    b.time(1);
    fsp = fsp.max(b.args[1].ty.decimals);
    b.maybe(SqlType::datetime(fsp), |f| try_map2(f, |d: DateTime, t: Time| Ok(sum(d, t.0))))
}

fn sum(d: DateTime, micros: i64) -> Option<DateTime> {
    if d.date().has_zero_part() {
        return None;
    }
    DateTime::from_linear_micros(d.linear_micros().checked_add(micros)?)
}

/// Years of two digits are 1970 to 2069.
fn makedate(year: i64, day: i64) -> Option<Date> {
    let year = match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    };
    let year = u32::try_from(year).ok().filter(|y| *y <= 9999)?;
    if day < 1 {
        return None;
    }
    let first = Date::from_parts(year, 1, 1).day_number();
    Date::from_day_number(first.checked_add(day - 1)?)
}

fn maketime(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.int(0);
    b.int(1);
    let fsp = cast::fsp_of(&b.args[2]);
    b.decimal(2);
    b.maybe(SqlType::time(fsp), |f| {
        let (hours, minutes) = (f.view::<i64>(0), f.view::<i64>(1));
        let seconds = f.decimals(2);
        map_rows(f, |row| Ok(time_of(f, hours.value(row), minutes.value(row), seconds.value(row))))
    })
}

fn time_of(frame: &Frame<'_>, hour: i64, minute: i64, second: Decimal) -> Option<Time> {
    let micros = i64::try_from(second.truncate(6).round(6).small_unscaled()?).ok()?;
    if !(0..60).contains(&minute) || !(0..60 * MICROS_PER_SECOND).contains(&micros) {
        return None;
    }
    let size = hour.saturating_abs().min(10_000) * 3600 + minute * 60;
    let total = size * MICROS_PER_SECOND + micros;
    let (time, clamped) = Time::clamped(if hour < 0 { -total } else { total });
    if clamped {
        let sign = if hour < 0 { "-" } else { "" };
        let text = format!(
            "{sign}{:02}:{minute:02}:{:02}",
            hour.unsigned_abs(),
            micros / MICROS_PER_SECOND
        );
        frame.ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&"time", &text]);
    }
    Some(time.truncate_to(frame.ty.decimals))
}

fn sec_to_time(mut b: Binding<'_>) -> SqlResult<Expr> {
    let fsp = cast::fsp_of(&b.args[0]);
    b.decimal(0);
    b.maybe(SqlType::time(fsp), |f| {
        let seconds = f.decimals(0);
        map_rows(f, |row| {
            let value = seconds.value(row);
            let micros = value.truncate(6).round(6).small_unscaled();
            let micros = micros.and_then(|m| i64::try_from(m).ok()).unwrap_or(i64::MAX);
            let (time, clamped) = Time::clamped(micros);
            if clamped {
                f.ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&"seconds", &value]);
            }
            Ok(Some(time.truncate_to(f.ty.decimals)))
        })
    })
}

fn time_to_sec(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.time(0);
    let fsp = b.args[0].ty.decimals;
    if fsp == 0 {
        return b.maybe(SqlType::new(TypeKind::BigInt, 17, 0), |f| {
            Ok(map(f, |t: Time| t.0 / MICROS_PER_SECOND))
        });
    }
    b.maybe(SqlType::decimal(16 + u32::from(fsp), fsp), |f| {
        let view = f.view::<Time>(0);
        let mut out = DecimalOut::new(f.ty.decimals, f.rows);
        (0..f.rows).for_each(|row| {
            out.push(view.get(row).map(|t| Decimal::from_i128(t.0.into(), 6)));
        });
        Ok(out.finish())
    })
}

/// Both are times, or both are dates with times; a mixture is read as times.
fn timediff(mut b: Binding<'_>) -> SqlResult<Expr> {
    let full = |e: &Expr| match e.ty.kind {
        TypeKind::DateTime | TypeKind::Timestamp | TypeKind::Date => true,
        _ if e.ty.is_string() => match e.as_literal() {
            Some(selkie_types::Value::Bytes(text)) => {
                let parsed = DateTime::parse(text, DateOptions::LENIENT);
                parsed.value.is_some()
                    && !parsed.truncated
                    && text.contains(&b'-')
                    && !parsed.date_only
            }
            _ => false,
        },
        _ => false,
    };
    if full(&b.args[0]) && full(&b.args[1]) {
        b.datetime(0);
        b.datetime(1);
        let fsp = b.args[0].ty.decimals.max(b.args[1].ty.decimals);
        return b.maybe(SqlType::time(fsp), |f| {
            try_map2(f, |a: DateTime, b: DateTime| {
                Ok(Some(Time::clamped(a.linear_micros() - b.linear_micros()).0))
            })
        });
    }
    b.time(0);
    b.time(1);
    let fsp = b.args[0].ty.decimals.max(b.args[1].ty.decimals);
    b.maybe(SqlType::time(fsp), |f| {
        try_map2(f, |a: Time, b: Time| Ok(Some(Time::clamped(a.0 - b.0).0)))
    })
}

fn sign(frame: &Frame<'_>) -> i64 {
    if frame.call.function.name() == "SUBTIME" { -1 } else { 1 }
}

fn addtime(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.time(1);
    cast::local(&mut b.args[0]);
    let fsp = b.args[0].ty.decimals.min(6).max(b.args[1].ty.decimals);
    match b.args[0].ty.physical() {
        Physical::Date | Physical::DateTime => {
            b.datetime(0);
            b.maybe(SqlType::datetime(fsp), |f| {
                try_map2(f, |d: DateTime, t: Time| Ok(sum(d, sign(f) * t.0)))
            })
        }
        Physical::Time => b.maybe(SqlType::time(fsp), |f| {
            try_map2(f, |a: Time, t: Time| Ok(Some(Time::clamped(a.0 + sign(f) * t.0).0)))
        }),
        _ => {
            b.ascii_text(0);
            b.connection_collation();
            let mut ty = SqlType::new(TypeKind::Char, 26, 0);
            ty.collation = b.collation;
            b.maybe(ty, addtime_text)
        }
    }
}

fn addtime_text(frame: &Frame<'_>) -> SqlResult<Column> {
    let (texts, times) = (frame.bytes(0), frame.view::<Time>(1));
    let fsp = |micros: u32| if micros == 0 { 0 } else { 6 };
    write_rows(frame, |row, out| {
        let text = texts.value(row);
        let delta = sign(frame) * times.value(row).0;
        let full = DateTime::parse(text, DateOptions::LENIENT);
        if let (Some(d), true) = (full.value, text.contains(&b'-') && text.len() > 10) {
            let Some(result) = sum(d, delta) else { return false };
            result.write_to(out, fsp(result.micros()));
            return true;
        }
        let parsed = Time::parse(text, DateOptions::LENIENT);
        let Some(time) = parsed.value.filter(|_| !parsed.truncated) else {
            let shown = crate::text::for_message(text, frame.arg_type(0).collation);
            cast::incorrect(frame.ctx, "time", &shown);
            return false;
        };
        let result = Time::clamped(time.0 + delta).0;
        result.write_to(out, fsp(result.micros()));
        true
    })
}

/// Months of a period `YYMM` or `YYYYMM`.
fn months(period: i64) -> i64 {
    if period == 0 {
        return 0;
    }
    let year = match period / 100 {
        y @ 0..70 => y + 2000,
        y @ 70..100 => y + 1900,
        y => y,
    };
    year * 12 + period % 100 - 1
}

fn period(months: i64) -> i64 {
    if months == 0 {
        return 0;
    }
    let year = match months / 12 {
        y @ 0..70 => y + 2000,
        y @ 70..100 => y + 1900,
        y => y,
    };
    year * 100 + months % 12 + 1
}
