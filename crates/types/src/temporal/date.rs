//! A calendar day.
//! Zero parts are values too: which of them are good depends on [`DateOptions`].

use std::fmt;

use super::calendar::{self, day_number, from_day_number};
use super::{DateOptions, DateTime, days_in_month, two_digits};

/// A day, packed as `year << 9 | month << 5 | day`; zero parts are values too.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Date(pub u32);

impl Date {
    /// `0000-00-00`.
    pub const ZERO: Self = Self(0);
    /// `9999-12-31`.
    pub const MAX: Self = Self::from_parts(9999, 12, 31);

    /// The date of year (to 9999), month (to 12) and day (to 31), which must be in range.
    pub const fn from_parts(year: u32, month: u32, day: u32) -> Self {
        Self(year << 9 | month << 5 | day)
    }

    /// The date of these parts, if the options accept it.
    pub fn checked(year: u32, month: u32, day: u32, options: DateOptions) -> Option<Self> {
        options.accepts(year, month, day).then(|| Self::from_parts(year, month, day))
    }

    /// The year, 0 to 9999.
    pub const fn year(self) -> u32 {
        self.0 >> 9
    }

    /// The month, 0 to 12.
    pub const fn month(self) -> u32 {
        self.0 >> 5 & 15
    }

    /// The day of the month, 0 to 31.
    pub const fn day(self) -> u32 {
        self.0 & 31
    }

    /// Whether this is `0000-00-00`.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether month or day is zero.
    pub const fn has_zero_part(self) -> bool {
        self.month() == 0 || self.day() == 0
    }

    /// Whether the calendar has this day: it has no zero part, and its month is long enough.
    pub const fn is_in_calendar(self) -> bool {
        self.day() != 0 && self.day() <= days_in_month(self.year(), self.month())
    }

    /// Whether the options accept this date.
    pub fn is_valid(self, options: DateOptions) -> bool {
        options.accepts(self.year(), self.month(), self.day())
    }

    /// The day number (`TO_DAYS`).
    pub fn day_number(self) -> i64 {
        day_number(self.year(), self.month(), self.day())
    }

    /// The date of a day number (`FROM_DAYS`), from 366 (0001-01-01).
    pub fn from_day_number(day: i64) -> Option<Self> {
        from_day_number(day).map(|(y, m, d)| Self::from_parts(y, m, d))
    }

    /// 0 for Monday to 6 for Sunday.
    pub fn weekday(self) -> u32 {
        calendar::weekday(self.day_number())
    }

    /// Day of the year, from 1.
    pub fn day_of_year(self) -> u32 {
        (self.day_number() - day_number(self.year(), 1, 1) + 1).max(0) as u32
    }

    /// Last day of the month; `None` if the month is zero.
    pub fn last_day(self) -> Option<Self> {
        let last = days_in_month(self.year(), self.month());
        (last > 0).then(|| Self::from_parts(self.year(), self.month(), last))
    }

    /// Midnight at the start of this day.
    pub const fn midnight(self) -> DateTime {
        DateTime::from_date(self)
    }

    /// Days since 1970-01-01.
    pub fn unix_day(self) -> i64 {
        self.day_number() - calendar::EPOCH_DAY
    }

    /// The number `20240131`.
    pub const fn to_number(self) -> u32 {
        self.year() * 10_000 + self.month() * 100 + self.day()
    }

    /// Appends `YYYY-MM-DD`.
    pub fn write_to(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.text());
    }

    /// `YYYY-MM-DD`.
    #[inline]
    pub(super) const fn text(self) -> [u8; 10] {
        let [c, y] = [two_digits(self.year() / 100), two_digits(self.year() % 100)];
        let [m, d] = [two_digits(self.month()), two_digits(self.day())];
        [c[0], c[1], y[0], y[1], b'-', m[0], m[1], b'-', d[0], d[1]]
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year(), self.month(), self.day())
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
