//! Rules of the sql mode about dates, and the report about a date that was read.
//! Must not warn or fail: the caller turns the report into a warning or an error.

use crate::sql_mode::SqlMode;

/// Rules for acceptable dates.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct DateOptions {
    /// `0000-00-00` is rejected.
    pub no_zero_date: bool,
    /// A zero month or day is rejected.
    pub no_zero_in_date: bool,
    /// Any day up to 31 is accepted in any month.
    pub allow_invalid: bool,
    /// Digits after the sixth of a fraction round; otherwise they are cut off.
    pub round: bool,
}

impl DateOptions {
    /// Accepts zero dates and zero parts, as comparisons and most functions do.
    pub const LENIENT: Self =
        Self { no_zero_date: false, no_zero_in_date: false, allow_invalid: false, round: false };

    /// Accepts only days that exist, as date arithmetic does.
    pub const REAL: Self =
        Self { no_zero_date: true, no_zero_in_date: true, allow_invalid: false, round: false };

    /// Whether year, month and day make an acceptable date.
    pub fn accepts(self, year: u32, month: u32, day: u32) -> bool {
        if year == 0 && month == 0 && day == 0 {
            return !self.no_zero_date;
        }
        if self.no_zero_in_date && (month == 0 || day == 0) {
            return false;
        }
        let last = super::days_in_month(year, month);
        // Compat: with a zero month any day up to 31 is accepted.
        year <= 9999
            && month <= 12
            && day <= 31
            && (self.allow_invalid || month == 0 || day <= last)
    }
}

impl From<SqlMode> for DateOptions {
    fn from(mode: SqlMode) -> Self {
        Self {
            no_zero_date: mode.contains(SqlMode::NO_ZERO_DATE),
            no_zero_in_date: mode.contains(SqlMode::NO_ZERO_IN_DATE),
            allow_invalid: mode.contains(SqlMode::ALLOW_INVALID_DATES),
            round: mode.contains(SqlMode::TIME_ROUND_FRACTIONAL),
        }
    }
}

/// A temporal value read from a text or number.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ParsedTemporal<T> {
    /// The value; `None` if there is none or the options reject it ("Incorrect ... value").
    pub value: Option<T>,
    /// The value is good, but text after it was ignored ("Truncated incorrect ... value").
    pub truncated: bool,
    /// Digits of the fraction after the sixth were dropped.
    pub fraction_cut: bool,
    /// There was no time of day; warnings then say "date value".
    pub date_only: bool,
    /// The time was taken from a text with a date.
    pub from_datetime: bool,
}

impl<T> ParsedTemporal<T> {
    /// No usable value.
    pub const INVALID: Self = Self {
        value: None,
        truncated: false,
        fraction_cut: false,
        date_only: false,
        from_datetime: false,
    };

    /// A good value.
    pub fn exact(value: T) -> Self {
        Self { value: Some(value), ..Self::INVALID }
    }

    /// The same report with a converted value.
    pub fn and_then<U>(self, convert: impl FnOnce(T) -> Option<U>) -> ParsedTemporal<U> {
        ParsedTemporal {
            value: self.value.and_then(convert),
            truncated: self.truncated,
            fraction_cut: self.fraction_cut,
            date_only: self.date_only,
            from_datetime: self.from_datetime,
        }
    }

    /// Name of the value's type in a warning about a cut value. `wanted` is "date", "time",
    /// "datetime" or "interval"; it is also the name of a value that could not be read.
    pub fn type_name(&self, wanted: &'static str) -> &'static str {
        match self.value {
            Some(_) if wanted == "interval" && !self.from_datetime => "time",
            Some(_) if wanted != "time" || self.from_datetime => {
                if self.date_only {
                    "date"
                } else {
                    "datetime"
                }
            }
            _ => wanted,
        }
    }
}
