//! Weeks of the year in the eight modes of `WEEK()`.
//! Compat: MariaDB's results for the zero date and for year 0 are kept.

use super::Date;
use super::calendar::{day_number, weekday};

/// Rules for numbering weeks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WeekMode {
    /// Weeks start on Monday, not Sunday.
    monday_first: bool,
    /// Days before week 1 belong to the last week of the year before, not to week 0.
    week_year: bool,
    /// Week 1 is the first week that starts in the year; otherwise the first with four days in it.
    starts_inside: bool,
}

impl Default for WeekMode {
    /// Mode 0.
    fn default() -> Self {
        Self::new(0)
    }
}

impl WeekMode {
    /// ISO 8601, which is mode 3.
    pub const ISO: Self = Self::new(3);

    /// The mode with this number; only the low three bits count.
    pub const fn new(mode: u32) -> Self {
        let monday_first = mode & 1 != 0;
        let week_year = mode & 2 != 0;
        Self { monday_first, week_year, starts_inside: (mode & 4 != 0) == monday_first }
    }

    /// This mode, but days before week 1 belong to the year before, as in `YEARWEEK()`.
    pub const fn with_week_year(self) -> Self {
        Self { week_year: true, ..self }
    }

    /// The day number on which week 1 of a year starts.
    fn first_day(self, year: u32) -> i64 {
        self.first_day_from(day_number(year, 1, 1))
    }

    /// The day number on which week 1 starts in the year whose first day is `new_year`.
    fn first_day_from(self, new_year: i64) -> i64 {
        let since_start = i64::from((weekday(new_year) + u32::from(!self.monday_first)) % 7);
        let late = if self.starts_inside { since_start != 0 } else { since_start >= 4 };
        new_year - since_start + if late { 7 } else { 0 }
    }
}

impl Date {
    /// The number of the week, and the year it belongs to.
    pub fn week(self, mode: WeekMode) -> (u32, u32) {
        let (day, year) = (self.day_number(), self.year());
        // Compat: the zero date lies before its year; the week number wraps in 32 bits.
        let number = |first: i64| (day - first) as u32 / 7 + 1;
        let first = mode.first_day(year);
        let before = day < first;
        if before && self.month() > 0 {
            if !mode.week_year && first > day_number(year, 1, 1) {
                return (0, year);
            }
            // Compat: the year before year 0 has 365 days.
            let Some(last) = year.checked_sub(1) else {
                let new_year = day_number(year, 1, 1) - 365;
                return (number(mode.first_day_from(new_year)), u32::MAX);
            };
            return (number(mode.first_day(last)), last);
        }
        let next = mode.first_day(year + 1);
        if mode.week_year && (day >= next || before && next <= day_number(year + 1, 1, 1)) {
            return (1, year + 1);
        }
        (number(first), year)
    }
}
