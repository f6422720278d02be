//! Text to dates and instants.
//!
//! Two forms: delimited (`2024-1-31 10:11:12.5`, any punctuation between the numbers) and compact
//! (`20240131101112`, `240131`). The character after the first run of digits tells them apart.

use super::scan::{Fraction, Scanner};
use super::{Date, DateOptions, DateTime, ParsedTemporal};

/// The numbers of a date and time as they were read.
#[derive(Default)]
struct Fields {
    /// Year, month, day, hour, minute, second.
    values: [u32; 6],
    /// Number of values that were read.
    count: usize,
    /// The year had exactly two digits.
    short_year: bool,
    /// The numbers stopped at a character that does not belong there.
    broken: bool,
    fraction: Fraction,
}

impl DateTime {
    /// Reads a date with or without a time.
    pub fn parse(text: &[u8], options: DateOptions) -> ParsedTemporal<Self> {
        let mut s = Scanner::new(text);
        if s.accept(b'+') {
            s.skip_spaces();
        }
        if !s.at_digit() {
            return ParsedTemporal::INVALID;
        }
        let mut fields =
            if is_compact(&s) { compact_fields(&mut s) } else { delimited_fields(&mut s) };
        if fields.count < 3 {
            return ParsedTemporal::INVALID;
        }
        if !fields.broken && fields.count == 6 && s.accept(b'.') {
            fields.fraction = s.fraction();
        }
        s.skip_spaces();
        let value = fields.assemble(options);
        ParsedTemporal {
            value,
            truncated: !s.is_at_end(),
            fraction_cut: fields.fraction.cut,
            date_only: fields.count == 3,
            from_datetime: false,
        }
    }

    /// The instant one microsecond later.
    pub(super) fn next_micro(self) -> Option<Self> {
        if self.micros() < 999_999 {
            return Some(Self(self.0 + 1));
        }
        Self::from_linear_micros(self.linear_micros() + 1)
    }

    /// The instant of these numbers; `None` if one is out of range.
    pub(super) fn from_fields(v: [u32; 6], micros: u32, options: DateOptions) -> Option<Self> {
        let [year, month, day, hour, minute, second] = v;
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let date = Date::checked(year, month, day, options)?;
        Some(Self::from_parts(date, hour, minute, second, micros))
    }
}

impl Date {
    /// Reads a date; a time after it is parsed and dropped.
    pub fn parse(text: &[u8], options: DateOptions) -> ParsedTemporal<Self> {
        DateTime::parse(text, options).and_then(|v| Some(v.date()))
    }
}

/// The full year of a two-digit year.
pub(super) fn full_year(year: u32) -> u32 {
    if year < 70 { year + 2000 } else { year + 1900 }
}

/// Whether nothing that could belong to a date follows the digits (with a `T` among them) and a
/// fraction.
pub(super) fn is_compact(s: &Scanner<'_>) -> bool {
    let mut s = *s;
    let run = s.run(|b| b.is_ascii_digit() || b == b'T');
    s.advance(run);
    if s.accept(b'.') {
        s.advance(s.run(|b| b.is_ascii_digit()));
    }
    let belongs = |b: &u8| b.is_ascii_digit() || b.is_ascii_punctuation();
    run > 4 && !s.rest().iter().any(belongs)
}

fn compact_fields(s: &mut Scanner<'_>) -> Fields {
    let in_run = |b: &&u8| b.is_ascii_digit() || **b == b'T';
    let digits = s.rest().iter().take_while(in_run).filter(|b| b.is_ascii_digit()).count();
    let year_width = if digits == 8 || digits >= 14 { 4 } else { 2 };
    let mut f = Fields { short_year: year_width == 2, ..Fields::default() };
    for width in [year_width, 2, 2, 2, 2, 2] {
        if f.count == 3 {
            s.accept(b'T');
        }
        let Some((value, _)) = s.number(width) else { break };
        f.values[f.count] = value;
        f.count += 1;
    }
    if s.peek() == Some(b'.') && digits != 12 && digits != 14 {
        // Compat: a fraction is only allowed after all six numbers.
        f.count = 0;
    }
    f
}

fn delimited_fields(s: &mut Scanner<'_>) -> Fields {
    let mut f = Fields::default();
    loop {
        let Some((value, digits)) = s.number(usize::MAX) else {
            // A separator may end the text, but other text in place of a time is an error.
            f.broken = !s.is_at_end();
            return f;
        };
        f.values[f.count] = value;
        f.short_year |= f.count == 0 && digits == 2;
        f.count += 1;
        if f.count == 6 || s.is_at_end() {
            return f;
        }
        let mark = *s;
        let separated = if f.count == 3 { date_time_separator(s) } else { s.accept_punctuation() };
        if !separated || (f.count < 3 && !s.at_digit()) {
            *s = mark;
            f.broken = true;
            return f;
        }
    }
}

/// `T`, white space or one punctuation character.
fn date_time_separator(s: &mut Scanner<'_>) -> bool {
    let before = s.rest().len();
    if s.accept(b'T') {
        return true;
    }
    s.skip_spaces();
    s.rest().len() < before || s.accept_punctuation()
}

impl Fields {
    fn assemble(&self, options: DateOptions) -> Option<DateTime> {
        let mut v = self.values;
        if self.short_year && (v != [0; 6] || self.fraction.micros != 0) {
            v[0] = full_year(v[0]);
        }
        let value = DateTime::from_fields(v, self.fraction.micros, options)?;
        match options.round && self.fraction.rounds_up {
            true => value.next_micro(),
            false => Some(value),
        }
    }
}
