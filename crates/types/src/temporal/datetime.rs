//! A day with a time of day, without a zone.
//! Also the stored form of TIMESTAMP, which is then in UTC.

use std::fmt;

use super::calendar::EPOCH_DAY;
use super::{Date, MICROS_PER_DAY, MICROS_PER_SECOND, Time, clock_text, fsp_unit, write_fraction};

/// A day and time, packed so that integer order is time order:
/// `((year * 13 + month) << 5 | day) << 17 | hour << 12 | minute << 6 | second`, then 24 bits of
/// microseconds.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DateTime(pub i64);

impl DateTime {
    /// `0000-00-00 00:00:00`.
    pub const ZERO: Self = Self(0);
    /// `9999-12-31 23:59:59.999999`.
    pub const MAX: Self = Self::from_parts(Date::MAX, 23, 59, 59, 999_999);

    /// The instant of these parts, which must be in range.
    pub const fn from_parts(date: Date, hour: u32, minute: u32, second: u32, micros: u32) -> Self {
        let month = (date.year() * 13 + date.month()) as i64;
        let day = month << 5 | date.day() as i64;
        let clock = (hour << 12 | minute << 6 | second) as i64;
        Self((day << 17 | clock) << 24 | micros as i64)
    }

    /// Midnight of a day.
    pub const fn from_date(date: Date) -> Self {
        Self::from_parts(date, 0, 0, 0, 0)
    }

    const fn months(self) -> u32 {
        (self.0 >> 46) as u32
    }

    /// The year, 0 to 9999.
    pub const fn year(self) -> u32 {
        self.months() / 13
    }

    /// The month, 0 to 12.
    pub const fn month(self) -> u32 {
        self.months() % 13
    }

    /// The day of the month, 0 to 31.
    pub const fn day(self) -> u32 {
        (self.0 >> 41) as u32 & 31
    }

    /// The hour, 0 to 23.
    pub const fn hour(self) -> u32 {
        (self.0 >> 36) as u32 & 31
    }

    /// The minute.
    pub const fn minute(self) -> u32 {
        (self.0 >> 30) as u32 & 63
    }

    /// The second.
    pub const fn second(self) -> u32 {
        (self.0 >> 24) as u32 & 63
    }

    /// The microseconds of the second.
    pub const fn micros(self) -> u32 {
        self.0 as u32 & 0xff_ffff
    }

    /// The day.
    pub const fn date(self) -> Date {
        Date::from_parts(self.year(), self.month(), self.day())
    }

    /// The time of day in microseconds.
    pub const fn micros_of_day(self) -> i64 {
        let seconds = self.hour() * 3600 + self.minute() * 60 + self.second();
        seconds as i64 * MICROS_PER_SECOND + self.micros() as i64
    }

    /// The time of day.
    pub const fn time(self) -> Time {
        Time(self.micros_of_day())
    }

    /// A day and a time of day given in microseconds.
    pub const fn from_date_and_micros(date: Date, micros_of_day: i64) -> Self {
        let seconds = (micros_of_day / MICROS_PER_SECOND) as u32;
        let micros = (micros_of_day % MICROS_PER_SECOND) as u32;
        Self::from_parts(date, seconds / 3600, seconds / 60 % 60, seconds % 60, micros)
    }

    /// Microseconds since day zero; only meaningful if no part of the date is zero.
    pub fn linear_micros(self) -> i64 {
        self.date().day_number() * MICROS_PER_DAY + self.micros_of_day()
    }

    /// The instant this many microseconds after day zero, if it is in the calendar.
    pub fn from_linear_micros(micros: i64) -> Option<Self> {
        let date = Date::from_day_number(micros.div_euclid(MICROS_PER_DAY))?;
        Some(Self::from_date_and_micros(date, micros.rem_euclid(MICROS_PER_DAY)))
    }

    /// Microseconds since 1970-01-01 of an instant in UTC.
    pub fn unix_micros(self) -> i64 {
        self.linear_micros() - EPOCH_DAY * MICROS_PER_DAY
    }

    /// The instant in UTC of a number of microseconds since 1970-01-01.
    pub fn from_unix_micros(micros: i64) -> Option<Self> {
        Self::from_linear_micros(micros.checked_add(EPOCH_DAY * MICROS_PER_DAY)?)
    }

    /// The instant with the fraction cut off after `fsp` digits.
    pub const fn truncate_to(self, fsp: u8) -> Self {
        if fsp >= 6 {
            return self;
        }
        let micros = self.micros() as i64;
        Self(self.0 - micros % 10i64.pow(6 - fsp as u32))
    }

    /// The instant with the fraction rounded to `fsp` digits; `None` past the end of the calendar.
    pub fn round_to(self, fsp: u8) -> Option<Self> {
        let unit = fsp_unit(fsp);
        let rest = i64::from(self.micros()) % unit;
        let cut = Self(self.0 - rest);
        if rest * 2 < unit {
            return Some(cut);
        }
        let micros = cut.micros_of_day() + unit;
        if micros < MICROS_PER_DAY {
            return Some(Self::from_date_and_micros(cut.date(), micros));
        }
        Self::from_linear_micros(cut.linear_micros() + unit)
    }

    /// The number `20240131101112`, without the fraction.
    pub const fn to_number(self) -> i64 {
        let clock = self.hour() * 10_000 + self.minute() * 100 + self.second();
        self.date().to_number() as i64 * 1_000_000 + clock as i64
    }

    /// Appends `YYYY-MM-DD hh:mm:ss` and `fsp` digits of the fraction; with more than six digits,
    /// all or none.
    pub fn write_to(self, out: &mut Vec<u8>, fsp: u8) {
        let fsp = match fsp {
            0..=6 => fsp,
            _ if self.micros() == 0 => 0,
            _ => 6,
        };
        let mut text = [b' '; 19];
        text[..10].copy_from_slice(&self.date().text());
        text[11..].copy_from_slice(&clock_text(self.hour(), self.minute(), self.second()));
        out.extend_from_slice(&text);
        write_fraction(out, self.micros(), fsp);
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(26);
        self.write_to(&mut out, if self.micros() == 0 { 0 } else { 6 });
        f.write_str(std::str::from_utf8(&out).unwrap_or(""))
    }
}

impl fmt::Debug for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
