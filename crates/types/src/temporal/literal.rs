//! `DATE'..'`, `TIME'..'` and `TIMESTAMP'..'`. Unlike in a conversion, the whole text must be a
//! value of exactly that type.

use super::{Date, DateOptions, DateTime, ParsedTemporal, Time};

/// The value of a literal.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TemporalLiteral<T> {
    /// The value.
    pub value: T,
    /// Number of written fraction digits, at most six.
    pub fsp: u8,
    /// More than six digits are written.
    pub fraction_cut: bool,
}

impl<T> TemporalLiteral<T> {
    /// The parsed value of `text`, if nothing of the text was left over.
    fn whole(parsed: ParsedTemporal<T>, text: &[u8]) -> Option<Self> {
        let value = parsed.value.filter(|_| !parsed.truncated)?;
        let digits = fraction_digits(text);
        Some(Self { value, fsp: digits.min(6) as u8, fraction_cut: digits > 6 })
    }
}

impl Date {
    /// The date of `DATE'text'`; the text must have no time of day.
    pub fn parse_literal(text: &[u8], options: DateOptions) -> Option<TemporalLiteral<Self>> {
        let parsed = Self::parse(text, options);
        TemporalLiteral::whole(parsed, text).filter(|_| parsed.date_only)
    }
}

impl Time {
    /// The time of `TIME'text'`; the text must have no date.
    pub fn parse_literal(text: &[u8], options: DateOptions) -> Option<TemporalLiteral<Self>> {
        let parsed = Self::parse(text, options);
        TemporalLiteral::whole(parsed, text).filter(|_| !parsed.from_datetime)
    }
}

impl DateTime {
    /// The instant of `TIMESTAMP'text'`; the text must have a time of day.
    pub fn parse_literal(text: &[u8], options: DateOptions) -> Option<TemporalLiteral<Self>> {
        let parsed = Self::parse(text, options);
        TemporalLiteral::whole(parsed, text).filter(|_| !parsed.date_only)
    }
}

/// Number of digits after the last point.
fn fraction_digits(text: &[u8]) -> usize {
    let Some(point) = text.iter().rposition(|b| *b == b'.') else { return 0 };
    text[point + 1..].iter().take_while(|b| b.is_ascii_digit()).count()
}
