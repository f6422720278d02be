//! Parts of dates and times.
//! Parts of a date with zero parts are 0 or NULL, per function, as in MariaDB.

use selkie_types::temporal::WeekMode;
use selkie_types::{Column, Date, DateTime, SqlResult, SqlType, Time, TypeKind};

use crate::build;
use crate::cast::{self, DateRule};
use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel};
use crate::kernel::{Frame, map, map_rows, try_map};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("YEAR", 1, 1, |b| part(b, 5, |f| Ok(map(f, |d: Date| i64::from(d.year()))))),
    Function::new("MONTH", 1, 1, |b| part(b, 3, |f| Ok(map(f, |d: Date| i64::from(d.month()))))),
    Function::new("QUARTER", 1, 1, |b| part(b, 2, |f| Ok(map(f, quarter)))),
    Function::new("DAY", 1, 1, |b| part(b, 3, day)),
    Function::new("DAYOFMONTH", 1, 1, |b| part(b, 3, day)),
    Function::new("DAYOFWEEK", 1, 1, |b| {
        day_part(b, 1, |f| real(f, |d| i64::from((d.weekday() + 1) % 7 + 1)))
    }),
    Function::new("WEEKDAY", 1, 1, |b| day_part(b, 1, |f| real(f, |d| i64::from(d.weekday())))),
    Function::new("DAYOFYEAR", 1, 1, |b| {
        day_part(b, 4, |f| real(f, |d| i64::from(d.day_of_year())))
    }),
    Function::new("TO_DAYS", 1, 1, |b| day_part(b, 7, |f| real(f, Date::day_number))),
    Function::new("WEEKOFYEAR", 1, 1, |b| {
        day_part(b, 3, |f| real(f, |d| i64::from(d.week(WeekMode::ISO).0)))
    }),
    Function::new("WEEK", 1, 2, |b| week(b, 3, week_kernel)),
    Function::new("YEARWEEK", 1, 2, |b| week(b, 6, yearweek_kernel)),
    Function::new("HOUR", 1, 1, |b| clock(b, 3, |f| Ok(map(f, |t: Time| i64::from(t.hour()))))),
    Function::new("MINUTE", 1, 1, |b| clock(b, 3, |f| Ok(map(f, |t: Time| i64::from(t.minute()))))),
    Function::new("SECOND", 1, 1, |b| clock(b, 3, |f| Ok(map(f, |t: Time| i64::from(t.second()))))),
    Function::new("MICROSECOND", 1, 1, |mut b| {
        let is_text = b.args[0].ty.is_string();
        b.time(0);
        if is_text {
            // Compat: a time beyond the range has the parts of 838:59:59.999999.
            b.args[0].ty.decimals = 6;
        }
        clock(b, 7, |f| Ok(map(f, |t: Time| i64::from(t.micros()))))
    }),
    Function::new("TO_SECONDS", 1, 1, to_seconds),
];

fn part(mut b: Binding<'_>, length: u32, kernel: Kernel) -> SqlResult<Expr> {
    b.date_by(0, DateRule::Existing);
    b.maybe(SqlType::new(TypeKind::Int, length, 0).never_negative(), kernel)
}

/// A property that only an existing day has.
fn day_part(mut b: Binding<'_>, length: u32, kernel: Kernel) -> SqlResult<Expr> {
    b.date_by(0, DateRule::Real);
    b.maybe(SqlType::new(TypeKind::Int, length, 0).never_negative(), kernel)
}

fn clock(mut b: Binding<'_>, length: u32, kernel: Kernel) -> SqlResult<Expr> {
    b.time(0);
    // The fraction is cut off and must not round the other parts up.
    b.maybe(SqlType::new(TypeKind::Int, length, 0).never_negative(), kernel)
}

fn day(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map(frame, |d: Date| i64::from(d.day())))
}

fn quarter(d: Date) -> i64 {
    i64::from(d.month().div_ceil(3))
}

/// Applies `f` to days that exist; NULL for dates with zero parts.
fn real(frame: &Frame<'_>, f: impl Fn(Date) -> i64) -> SqlResult<Column> {
    try_map(frame, |d: Date| Ok((!d.has_zero_part()).then(|| f(d))))
}

fn week(mut b: Binding<'_>, length: u32, kernel: Kernel) -> SqlResult<Expr> {
    b.date_by(0, DateRule::Real);
    if b.len() < 2 {
        let default = if length == 3 { b.types.default_week_format.into() } else { 0 };
        b.args.push(Expr::int(default));
    }
    b.int(1);
    // Compat: a mode that is NULL counts as mode 0.
    if b.args[1].nullable {
        let mode = std::mem::replace(&mut b.args[1], Expr::int(0));
        b.args[1] = build::coalesce("coalesce", vec![mode, Expr::int(0)], b.types)?;
        b.int(1);
    }
    let mut ty = SqlType::new(TypeKind::Int, length, 0);
    // Compat: the length of WEEK has room for a sign, that of YEARWEEK has none.
    ty.non_negative = length == 3;
    b.maybe(ty, kernel)
}

fn mode(frame: &Frame<'_>, row: usize) -> WeekMode {
    WeekMode::new((frame.view::<i64>(1).value(row) & 7) as u32)
}

fn week_kernel(frame: &Frame<'_>) -> SqlResult<Column> {
    let dates = frame.view::<Date>(0);
    map_rows(frame, |row| {
        let date = dates.value(row);
        let value = || i64::from(date.week(mode(frame, row)).0);
        Ok((!date.has_zero_part()).then(value))
    })
}

fn yearweek_kernel(frame: &Frame<'_>) -> SqlResult<Column> {
    let dates = frame.view::<Date>(0);
    map_rows(frame, |row| {
        let date = dates.value(row);
        if date.has_zero_part() {
            return Ok(None);
        }
        let (week, year) = date.week(mode(frame, row).with_week_year());
        // Compat: computed in 32 bits, because year 0 minus one wraps.
        Ok(Some(i64::from(year.wrapping_mul(100).wrapping_add(week))))
    })
}

fn to_seconds(mut b: Binding<'_>) -> SqlResult<Expr> {
    cast::local(&mut b.args[0]);
    b.datetime_by(0, DateRule::Real);
    b.maybe(SqlType::new(TypeKind::BigInt, 12, 0), |f| {
        try_map(f, |v: DateTime| {
            let seconds = || v.linear_micros() / selkie_types::temporal::MICROS_PER_SECOND;
            Ok((!v.date().has_zero_part()).then(seconds))
        })
    })
}
