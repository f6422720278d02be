//! `INTERVAL` values, adding them to dates, and differences in units.
//! Months and microseconds stay apart, since a month has no fixed length.

use super::{
    Date, DateTime, MICROS_PER_DAY, MICROS_PER_SECOND, Time, calendar::MAX_DAY, days_in_month,
};
use crate::decimal::Decimal;

/// The unit after `INTERVAL n`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum IntervalUnit {
    /// `YEAR`
    Year,
    /// `QUARTER`
    Quarter,
    /// `MONTH`
    Month,
    /// `WEEK`
    Week,
    /// `DAY`
    Day,
    /// `HOUR`
    Hour,
    /// `MINUTE`
    Minute,
    /// `SECOND`
    Second,
    /// `MICROSECOND`
    Microsecond,
    /// `YEAR_MONTH`: `'Y-M'`
    YearMonth,
    /// `DAY_HOUR`: `'D H'`
    DayHour,
    /// `DAY_MINUTE`: `'D H:M'`
    DayMinute,
    /// `DAY_SECOND`: `'D H:M:S'`
    DaySecond,
    /// `HOUR_MINUTE`: `'H:M'`
    HourMinute,
    /// `HOUR_SECOND`: `'H:M:S'`
    HourSecond,
    /// `MINUTE_SECOND`: `'M:S'`
    MinuteSecond,
    /// `DAY_MICROSECOND`: `'D H:M:S.f'`
    DayMicrosecond,
    /// `HOUR_MICROSECOND`: `'H:M:S.f'`
    HourMicrosecond,
    /// `MINUTE_MICROSECOND`: `'M:S.f'`
    MinuteMicrosecond,
    /// `SECOND_MICROSECOND`: `'S.f'`
    SecondMicrosecond,
}

use IntervalUnit::*;

const UNITS: [(IntervalUnit, &str); 20] = [
    (Year, "YEAR"),
    (Quarter, "QUARTER"),
    (Month, "MONTH"),
    (Week, "WEEK"),
    (Day, "DAY"),
    (Hour, "HOUR"),
    (Minute, "MINUTE"),
    (Second, "SECOND"),
    (Microsecond, "MICROSECOND"),
    (YearMonth, "YEAR_MONTH"),
    (DayHour, "DAY_HOUR"),
    (DayMinute, "DAY_MINUTE"),
    (DaySecond, "DAY_SECOND"),
    (HourMinute, "HOUR_MINUTE"),
    (HourSecond, "HOUR_SECOND"),
    (MinuteSecond, "MINUTE_SECOND"),
    (DayMicrosecond, "DAY_MICROSECOND"),
    (HourMicrosecond, "HOUR_MICROSECOND"),
    (MinuteMicrosecond, "MINUTE_MICROSECOND"),
    (SecondMicrosecond, "SECOND_MICROSECOND"),
];

impl IntervalUnit {
    /// The unit with this name; letter case does not count.
    pub fn from_name(name: &str) -> Option<Self> {
        UNITS.iter().find(|u| u.1.eq_ignore_ascii_case(name)).map(|u| u.0)
    }

    /// The name in upper case.
    pub fn name(self) -> &'static str {
        UNITS[self as usize].1
    }

    /// Whether a date plus this unit is a date (no part below a day).
    pub const fn is_date_unit(self) -> bool {
        matches!(self, Year | Quarter | Month | Week | Day | YearMonth)
    }

    /// Whether the unit has a part of microseconds.
    pub const fn has_micros(self) -> bool {
        matches!(
            self,
            Microsecond | DayMicrosecond | HourMicrosecond | MinuteMicrosecond | SecondMicrosecond
        )
    }

    /// Whether the value is a text with several numbers.
    pub const fn is_compound(self) -> bool {
        self as u8 >= YearMonth as u8
    }

    /// The units of the numbers of a compound value.
    const fn parts(self) -> &'static [IntervalUnit] {
        match self {
            YearMonth => &[Year, Month],
            DayHour => &[Day, Hour],
            DayMinute => &[Day, Hour, Minute],
            DaySecond => &[Day, Hour, Minute, Second],
            HourMinute => &[Hour, Minute],
            HourSecond => &[Hour, Minute, Second],
            MinuteSecond => &[Minute, Second],
            DayMicrosecond => &[Day, Hour, Minute, Second, Microsecond],
            HourMicrosecond => &[Hour, Minute, Second, Microsecond],
            MinuteMicrosecond => &[Minute, Second, Microsecond],
            SecondMicrosecond => &[Second, Microsecond],
            _ => &[],
        }
    }
}

/// An amount of time: months, and microseconds, both with the same sign.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Months.
    pub months: i64,
    /// Microseconds.
    pub micros: i128,
}

impl Interval {
    /// `n` units of a simple unit.
    pub fn new(unit: IntervalUnit, n: i64) -> Self {
        let micros = |unit: i64| Self { months: 0, micros: i128::from(n) * i128::from(unit) };
        let months = |unit: i64| Self { months: n.saturating_mul(unit), micros: 0 };
        match unit {
            Year => months(12),
            Quarter => months(3),
            Month => months(1),
            Week => micros(7 * MICROS_PER_DAY),
            Day => micros(MICROS_PER_DAY),
            Hour => micros(3600 * MICROS_PER_SECOND),
            Minute => micros(60 * MICROS_PER_SECOND),
            Second => micros(MICROS_PER_SECOND),
            Microsecond => micros(1),
            _ => Self::parse(unit, n.to_string().as_bytes()).unwrap_or_default(),
        }
    }

    /// An interval of seconds with digits after the point.
    pub fn seconds(v: Decimal) -> Self {
        let micros = v.truncate(6).small_unscaled().unwrap_or(i128::MAX);
        Self { months: 0, micros }
    }

    /// A compound value from its text: numbers with any separators. If there are fewer numbers than
    /// units, they are the last units; `None` if there are more.
    pub fn parse(unit: IntervalUnit, text: &[u8]) -> Option<Self> {
        let parts = unit.parts();
        let start = crate::number::skip_spaces(text, 0);
        let negative = text.get(start) == Some(&b'-');
        let mut numbers: [(i64, u32); 5] = [(0, 0); 5];
        let mut count = 0;
        let mut rest = &text[start..];
        while count < parts.len() {
            let skip = rest.iter().position(u8::is_ascii_digit);
            let Some(skip) = skip else { break };
            rest = &rest[skip..];
            let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            numbers[count] = (number(&rest[..digits])?, digits as u32);
            count += 1;
            rest = &rest[digits..];
        }
        if rest.iter().any(u8::is_ascii_digit) {
            return None;
        }
        let mut sum = Self::default();
        for (&(value, digits), &part) in numbers[..count].iter().zip(&parts[parts.len() - count..])
        {
            // The last number of a value with microseconds is a fraction.
            let scaled = match part {
                Microsecond if digits < 6 => value * 10i64.pow(6 - digits),
                Microsecond => value / 10i64.pow(digits - 6),
                _ => value,
            };
            let one = Self::new(part, scaled);
            sum.months = sum.months.saturating_add(one.months);
            sum.micros += one.micros;
        }
        Some(if negative { -sum } else { sum })
    }
}

/// The number of these digits; `None` if there are too many.
fn number(digits: &[u8]) -> Option<i64> {
    let push = |v: i64, b: &u8| v.checked_mul(10)?.checked_add(i64::from(b - b'0'));
    digits.iter().try_fold(0, push)
}

impl std::ops::Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        Self { months: self.months.saturating_neg(), micros: -self.micros }
    }
}

impl DateTime {
    /// This instant plus an interval; `None` if a part of the date is zero or the result is outside
    /// the calendar.
    pub fn add_interval(self, interval: Interval) -> Option<Self> {
        let mut date = self.date();
        if date.has_zero_part() {
            return None;
        }
        if interval.months != 0 {
            date = date.add_months(interval.months)?;
            if interval.micros == 0 {
                return Some(Self::from_date_and_micros(date, self.micros_of_day()));
            }
        }
        let linear = Self::from_date_and_micros(date, self.micros_of_day()).linear_micros();
        let moved = i64::try_from(i128::from(linear).checked_add(interval.micros)?).ok()?;
        let day = moved.div_euclid(MICROS_PER_DAY);
        if !(0..=MAX_DAY).contains(&day) {
            return None;
        }
        Self::from_linear_micros(moved)
    }

    /// `TIMESTAMPDIFF(unit, self, later)`; `None` if a date is zero.
    pub fn diff(self, later: Self, unit: IntervalUnit) -> Option<i64> {
        if self.date().has_zero_part() || later.date().has_zero_part() {
            return None;
        }
        let micros = later.linear_micros() - self.linear_micros();
        Some(match unit {
            Year => months_between(self, later) / 12,
            Quarter => months_between(self, later) / 3,
            Month => months_between(self, later),
            Week => micros / (7 * MICROS_PER_DAY),
            Day => micros / MICROS_PER_DAY,
            Hour => micros / (3600 * MICROS_PER_SECOND),
            Minute => micros / (60 * MICROS_PER_SECOND),
            Second => micros / MICROS_PER_SECOND,
            _ => micros,
        })
    }
}

/// Whole months from one instant to another; negative if `to` is earlier.
fn months_between(from: DateTime, to: DateTime) -> i64 {
    if to < from {
        return -months_between(to, from);
    }
    let months = |v: DateTime| i64::from(v.year()) * 12 + i64::from(v.month());
    let rest = |v: DateTime| i64::from(v.day()) * MICROS_PER_DAY + v.micros_of_day();
    months(to) - months(from) - i64::from(rest(to) < rest(from))
}

impl Date {
    /// This date plus months; the last day of the month if the day does not exist.
    pub fn add_months(self, months: i64) -> Option<Self> {
        let month = i64::from(self.year()) * 12 + i64::from(self.month()) - 1;
        let moved = month.checked_add(months)?;
        let year = u32::try_from(moved.div_euclid(12)).ok().filter(|&y| y <= 9999)?;
        let month = moved.rem_euclid(12) as u32 + 1;
        Some(Self::from_parts(year, month, self.day().min(days_in_month(year, month))))
    }
}

impl Time {
    /// This time plus an interval without months; `None` outside the range.
    pub fn add_interval(self, interval: Interval) -> Option<Self> {
        if interval.months != 0 {
            return None;
        }
        let moved = i64::try_from(i128::from(self.0).checked_add(interval.micros)?).ok()?;
        let (value, clamped) = Self::clamped(moved);
        (!clamped).then_some(value)
    }
}
