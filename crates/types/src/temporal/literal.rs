//! `DATE'..'`, `TIME'..'` and `TIMESTAMP'..'`: texts that must be exactly what the word before
//! says.

use super::{Date, DateOptions, DateTime, ParsedTemporal, Time};

/// The value of a literal.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TemporalLiteral<T> {
    /// The value.
    pub value: T,
    /// Digits of the fraction that are written, at most six.
    pub fsp: u8,
    /// More than six are written.
    pub fraction_cut: bool,
}

impl<T> TemporalLiteral<T> {
    /// What was read from `text`, if nothing of it was left over.
    fn whole(parsed: ParsedTemporal<T>, text: &[u8]) -> Option<Self> {
        let value = parsed.value.filter(|_| !parsed.truncated)?;
        let digits = fraction_digits(text);
        Some(Self { value, fsp: digits.min(6) as u8, fraction_cut: digits > 6 })
    }
}

impl Date {
    /// The date of `DATE'text'`, which has no time of day.
    pub fn parse_literal(text: &[u8], options: DateOptions) -> Option<TemporalLiteral<Self>> {
        let parsed = Self::parse(text, options);
        TemporalLiteral::whole(parsed, text).filter(|_| parsed.date_only)
    }
}

impl Time {
    /// The time of `TIME'text'`, which has no date.
    pub fn parse_literal(text: &[u8], options: DateOptions) -> Option<TemporalLiteral<Self>> {
        let parsed = Self::parse(text, options);
        TemporalLiteral::whole(parsed, text).filter(|_| !parsed.from_datetime)
    }
}

impl DateTime {
    /// The instant of `TIMESTAMP'text'`, which has a time of day.
    pub fn parse_literal(text: &[u8], options: DateOptions) -> Option<TemporalLiteral<Self>> {
        let parsed = Self::parse(text, options);
        TemporalLiteral::whole(parsed, text).filter(|_| !parsed.date_only)
    }
}

/// Digits after the last point.
fn fraction_digits(text: &[u8]) -> usize {
    let Some(point) = text.iter().rposition(|b| *b == b'.') else { return 0 };
    text[point + 1..].iter().take_while(|b| b.is_ascii_digit()).count()
}
