//! `STR_TO_DATE`: reads a text by a format.
//! The type of the result follows from the format alone, so it is known before a text is read.

use super::calendar::{day_number, from_day_number, weekday};
use super::parse_datetime::full_year;
use super::scan::Scanner;
use super::{Date, DateOptions, DateTime, Time, TimeNames};
use crate::pace::tick;

/// Parts that a format has; they decide the type of the result.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FormatKind {
    /// Only parts of a date.
    Date,
    /// Only parts of a time.
    Time,
    /// Both.
    DateTime,
}

impl FormatKind {
    /// The kind of a format, and whether it has microseconds. A day alone can be part of a time.
    pub fn of(format: &[u8]) -> (Self, bool) {
        tick(format.len() * 4);
        let directives = || format.iter().zip(format.iter().skip(1)).filter(|(b, _)| **b == b'%');
        let has = |set: &[u8]| directives().any(|(_, d)| set.contains(d));
        let micros = has(b"f");
        let kind = match (has(b"abcjMmUuVvWwXxYy"), has(b"fHIhiklrSsT")) {
            (true, true) => Self::DateTime,
            (false, true) => Self::Time,
            _ => Self::Date,
        };
        (kind, micros)
    }
}

/// A text read by a format.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FormattedValue {
    /// The date; zero if the format has none.
    pub date: Date,
    /// The time of day, or the time if the format has no date.
    pub time: Time,
    /// Text after the value was ignored.
    pub truncated: bool,
}

impl FormattedValue {
    /// Date and time of day together.
    pub fn datetime(self) -> DateTime {
        DateTime::from_date_and_micros(self.date, self.time.0)
    }
}

#[derive(Default)]
struct State {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    micros: u32,
    half: Option<u32>,
    twelve: bool,
    weekday: u32,
    year_day: u32,
    /// Week number, whether it belongs to a week year, and whether weeks start on Sunday.
    week: Option<(u32, bool, bool)>,
    /// Year of the week, and whether weeks start on Sunday.
    week_year: Option<(u32, bool)>,
}

/// Reads `text` by `format`; `None` if the text does not match or the date is not acceptable.
pub fn str_to_date(
    text: &[u8],
    format: &[u8],
    names: &TimeNames,
    options: DateOptions,
) -> Option<FormattedValue> {
    let mut state = State::default();
    let mut s = Scanner::new(text);
    state.read(&mut s, format, names)?;
    s.skip_spaces();
    let truncated = !s.is_at_end();
    state.resolve()?;
    if state.minute > 59 || state.second > 59 || state.hour > 23 {
        return None;
    }
    // Compat: the day is not checked against the length of the month.
    let options = DateOptions { allow_invalid: true, ..options };
    let (kind, _) = FormatKind::of(format);
    let (date, days) = match kind {
        FormatKind::Time => (Date::ZERO, state.day),
        _ => (Date::checked(state.year, state.month, state.day, options)?, 0),
    };
    let hour = days * 24 + state.hour;
    let time = Time::from_parts(false, hour, state.minute, state.second, state.micros);
    Some(FormattedValue { date, time, truncated })
}

impl State {
    fn read(&mut self, s: &mut Scanner<'_>, format: &[u8], names: &TimeNames) -> Option<()> {
        let mut f = format.iter().copied();
        while let Some(b) = f.next() {
            if s.is_at_end() {
                return Some(());
            }
            tick(32);
            s.skip_spaces();
            match b {
                b'%' => match f.next() {
                    Some(directive) => self.directive(s, directive, names)?,
                    None => return s.accept(b'%').then_some(()),
                },
                b if b.is_ascii_whitespace() => {}
                b => s.accept(b).then_some(())?,
            }
        }
        Some(())
    }

    fn directive(&mut self, s: &mut Scanner<'_>, directive: u8, names: &TimeNames) -> Option<()> {
        match directive {
            b'Y' | b'y' | b'm' | b'c' | b'd' | b'e' | b'D' | b'M' | b'b' => {
                self.date_directive(s, directive, names)
            }
            b'H' | b'k' | b'h' | b'I' | b'l' | b'i' | b'S' | b's' | b'f' | b'p' => {
                self.time_directive(s, directive)
            }
            b'W' | b'a' | b'w' | b'j' | b'U' | b'u' | b'V' | b'v' | b'X' | b'x' => {
                self.week_directive(s, directive, names)
            }
            b'r' => self.read(s, b"%I:%i:%S %p", names),
            b'T' => self.read(s, b"%H:%i:%S", names),
            b'.' => {
                s.advance(s.run(|b| b.is_ascii_punctuation()));
                Some(())
            }
            b'@' => {
                s.advance(s.run(|b| b.is_ascii_alphabetic()));
                Some(())
            }
            b'#' => {
                s.advance(s.run(|b| b.is_ascii_digit()));
                Some(())
            }
            _ => None,
        }
    }

    fn date_directive(&mut self, s: &mut Scanner<'_>, d: u8, names: &TimeNames) -> Option<()> {
        match d {
            b'Y' => {
                let (year, digits) = s.number(4)?;
                self.year = if digits <= 2 { full_year(year) } else { year };
            }
            b'y' => self.year = full_year(s.number(2)?.0),
            b'm' | b'c' => self.month = s.number(2)?.0,
            b'M' => self.month = name(s, &names.months)? + 1,
            b'b' => self.month = name(s, &names.months_short)? + 1,
            b'D' => {
                self.day = s.number(2)?.0;
                s.advance(2);
            }
            _ => self.day = s.number(2)?.0,
        }
        Some(())
    }

    fn time_directive(&mut self, s: &mut Scanner<'_>, d: u8) -> Option<()> {
        match d {
            b'H' | b'k' => self.hour = s.number(2)?.0,
            b'h' | b'I' | b'l' => {
                self.hour = s.number(2)?.0;
                self.twelve = true;
            }
            b'i' => self.minute = s.number(2)?.0,
            b'f' => {
                let (value, digits) = s.number(6)?;
                self.micros = value * 10u32.pow(6 - digits as u32);
            }
            b'p' => {
                let half = s.rest().get(..2)?;
                self.half = Some(match half.to_ascii_uppercase().as_slice() {
                    b"AM" => 0,
                    b"PM" => 12,
                    _ => return None,
                });
                s.advance(2);
            }
            _ => self.second = s.number(2)?.0,
        }
        Some(())
    }

    fn week_directive(&mut self, s: &mut Scanner<'_>, d: u8, names: &TimeNames) -> Option<()> {
        match d {
            b'W' => self.weekday = name(s, &names.days)? + 1,
            b'a' => self.weekday = name(s, &names.days_short)? + 1,
            b'w' => {
                let n = s.number(1)?.0;
                self.weekday = if n == 0 { 7 } else { n };
                (n < 7).then_some(())?;
            }
            b'j' => self.year_day = s.number(3)?.0,
            b'X' | b'x' => self.week_year = Some((s.number(4)?.0, d == b'X')),
            _ => {
                let n = s.number(2)?.0;
                let strict = d == b'V' || d == b'v';
                (u32::from(strict)..=53).contains(&n).then_some(())?;
                self.week = Some((n, strict, d == b'U' || d == b'V'));
            }
        }
        Some(())
    }

    /// Computes the hour of AM and PM, and dates given by the day or week of a year.
    fn resolve(&mut self) -> Option<()> {
        if let Some(half) = self.half {
            if !self.twelve || self.hour > 12 || self.hour == 0 {
                return None;
            }
            self.hour = self.hour % 12 + half;
        } else if self.twelve {
            (1..=12).contains(&self.hour).then_some(())?;
            self.hour %= 12;
        }
        let day = if self.year_day > 0 {
            day_number(self.year, 1, 1) + i64::from(self.year_day) - 1
        } else if let Some((week, strict, sunday_first)) = self.week
            && self.weekday > 0
        {
            self.day_of_week(week, strict, sunday_first)?
        } else {
            return Some(());
        };
        (self.year, self.month, self.day) = from_day_number(day)?;
        Some(())
    }

    fn day_of_week(&self, week: u32, strict: bool, sunday_first: bool) -> Option<i64> {
        if strict != self.week_year.is_some() {
            return None;
        }
        let year = match self.week_year {
            Some((year, sunday)) if sunday == sunday_first => year,
            Some(_) => return None,
            None => self.year,
        };
        let mut day = day_number(year, 1, 1);
        let first = i64::from((weekday(day) + u32::from(sunday_first)) % 7);
        let (week, in_week) = (i64::from(week), i64::from(self.weekday));
        if sunday_first {
            day += if first == 0 { 0 } else { 7 } - first + (week - 1) * 7 + in_week % 7;
        } else {
            day += if first <= 3 { 0 } else { 7 } - first + (week - 1) * 7 + in_week - 1;
        }
        Some(day)
    }
}

/// The position of the name at this place; letter case does not count. An abbreviation is accepted
/// if it fits only one name.
fn name(s: &mut Scanner<'_>, names: &[&str]) -> Option<u32> {
    let letters = s.run(|b| b.is_ascii_alphabetic() || b >= 0x80);
    let word = &s.rest()[..letters];
    let fits = |n: &&str| -> bool {
        let start = n.as_bytes().get(..letters);
        start.is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    let found = names.iter().position(|n| n.as_bytes().eq_ignore_ascii_case(word));
    let only = || (letters > 0 && names.iter().filter(|n| fits(n)).count() == 1).then_some(());
    let found = match found {
        Some(found) => found,
        None => {
            only()?;
            names.iter().position(fits)?
        }
    };
    s.advance(letters);
    Some(found as u32)
}
