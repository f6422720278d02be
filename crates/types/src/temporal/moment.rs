//! Value that EXTRACT reads from texts and numbers: an instant, or an amount of time of many days.
//! Compat: the rules differ from those of [`Time`]: longer amounts are allowed.

use super::{DateOptions, DateTime, MICROS_PER_SECOND, ParsedTemporal, Time};
use crate::decimal::Decimal;

/// An instant or an amount of time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A date with a time of day.
    At(DateTime),
    /// Signed microseconds, at most [`Moment::LONGEST`].
    Span(i64),
}

/// The largest number that means hours, minutes and seconds.
const LAST_CLOCK: i64 = 876_494_155_959;

impl Default for Moment {
    fn default() -> Self {
        Self::Span(0)
    }
}

impl Moment {
    /// `87649415:59:59.999999`, one hour less than the days of the calendar.
    pub const LONGEST: i64 = (87_649_416 * 3600) * MICROS_PER_SECOND - 1;

    /// An amount of signed microseconds; `None` beyond the longest.
    pub(super) fn span(micros: i64) -> Option<Self> {
        (micros.abs() <= Self::LONGEST).then_some(Self::Span(micros))
    }

    /// Reads a text: a date with a time, or `[D ]HH:MM:SS[.f]`.
    pub fn parse(text: &[u8], options: DateOptions) -> ParsedTemporal<Self> {
        Time::parse_moment(text, options)
    }

    /// Like [`Moment::parse`] for units with days: digits alone are a date.
    pub fn parse_day(text: &[u8], options: DateOptions) -> ParsedTemporal<Self> {
        Time::parse_day(text, options)
    }

    /// Reads an amount of time.
    pub fn parse_span(text: &[u8], options: DateOptions) -> ParsedTemporal<Self> {
        Time::parse_span(text, options)
    }

    /// Reads a number: `HHMMSS`, or a date with a time if it is larger than every such number.
    ///
    /// Compat: a time at the last microsecond of a second is invalid.
    pub fn from_decimal(v: Decimal, options: DateOptions) -> ParsedTemporal<Self> {
        match Self::from_any_decimal(v, options) {
            ParsedTemporal { value: Some(Self::Span(n)), .. } if n.abs() % 1_000_000 == 999_999 => {
                ParsedTemporal::INVALID
            }
            parsed => parsed,
        }
    }

    /// Like [`Moment::from_decimal`], but the last microsecond is valid.
    pub fn from_any_decimal(v: Decimal, options: DateOptions) -> ParsedTemporal<Self> {
        let whole = v.abs().truncate(0).small_unscaled().and_then(|n| i64::try_from(n).ok());
        let Some(clock) = whole.filter(|n| *n <= LAST_CLOCK) else {
            return DateTime::from_decimal(v, options).and_then(|at| Some(Self::At(at)));
        };
        let (minute, second) = (clock / 100 % 100, clock % 100);
        let micros = v.abs().truncate(6).small_unscaled().map(|n| (n % 1_000_000) as i64);
        let (Some(micros), 0..60, 0..60) = (micros, minute, second) else {
            return ParsedTemporal::INVALID;
        };
        let seconds = clock / 10_000 * 3600 + minute * 60 + second;
        let span = seconds * MICROS_PER_SECOND + micros;
        let signed = if v.is_negative() { -span } else { span };
        Self::span(signed).map_or(ParsedTemporal::INVALID, ParsedTemporal::exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_many_days() {
        let span = |text: &str| Moment::parse(text.as_bytes(), DateOptions::LENIENT).value;
        assert_eq!(span("-00:00:01"), Some(Moment::Span(-1_000_000)));
        assert_eq!(span("3652058 23:59:59"), span("87649415:59:59"));
        assert_eq!(span("87649416:00:00"), None);
        assert!(matches!(span("2001-01-01 10:20:30"), Some(Moment::At(_))));
        let number = |n: i64| Moment::from_decimal(n.into(), DateOptions::LENIENT).value;
        assert_eq!(number(20_180_102), span("2018:01:02"));
        assert_eq!(number(876_494_160_000), None);
    }
}
