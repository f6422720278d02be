//! Text to times: `[D ]HH[:MM[:SS[.f]]]`, compact `HHMMSS[.f]`, or the time of a date and time.
//! Compat: the tests for "this is a date" are MariaDB's, odd cases included.

use super::parse_datetime::is_compact;
use super::scan::{Fraction, Scanner};
use super::{DateOptions, DateTime, MICROS_PER_SECOND, Moment, ParsedTemporal, Time};

/// Number of compact digits from which a text is a date and time.
const DATETIME_DIGITS: usize = 12;

/// The longest time that can be added: the distance from the first to the last date.
const MAX_ADDED: Time =
    Time((87_649_415 * 3600 + 59 * 60 + 59) * MICROS_PER_SECOND + (MICROS_PER_SECOND - 1));

/// The parts of a time, before minutes and seconds are checked.
#[derive(Default)]
struct Fields {
    days: u32,
    hour: u32,
    minute: u32,
    second: u32,
    fraction: Fraction,
}

impl Time {
    /// Reads a time.
    pub fn parse(text: &[u8], options: DateOptions) -> ParsedTemporal<Self> {
        Self::of_read(read(text, options, false), options, Self::MAX)
    }

    /// Reads an amount of time to add to a value: it may have many more hours, and must not be a
    /// date.
    pub fn parse_added(text: &[u8], options: DateOptions) -> ParsedTemporal<Self> {
        let parsed = Self::of_read(read(text, options, true), options, MAX_ADDED);
        if parsed.from_datetime { ParsedTemporal::INVALID } else { parsed }
    }

    fn of_read(read: Read, options: DateOptions, max: Self) -> ParsedTemporal<Self> {
        match read {
            Read::Nothing => ParsedTemporal::INVALID,
            Read::Dated(parsed) => {
                let parsed = parsed.and_then(|v| Some(v.time()));
                ParsedTemporal { from_datetime: true, ..parsed }
            }
            Read::Clock { fields, negative, garbage } => {
                let Some(micros) = fields.micros(options.round) else {
                    return ParsedTemporal::INVALID;
                };
                let inside = micros.min(max.0);
                let value = Self(if negative { -inside } else { inside });
                fields.finish((value, inside != micros), garbage)
            }
        }
    }

    /// Reads a time, or a date with a time, as EXTRACT does.
    pub(super) fn parse_moment(text: &[u8], options: DateOptions) -> ParsedTemporal<Moment> {
        let read = match looks_dated(text) {
            true => Read::Dated(DateTime::parse(text, options)),
            false => read(text, options, false),
        };
        Self::moment_of(read, options)
    }

    /// Like [`Time::parse_moment`] for units with days: digits alone are a date; invalid if they
    /// are not.
    pub(super) fn parse_day(text: &[u8], options: DateOptions) -> ParsedTemporal<Moment> {
        match digits_alone(text) {
            Some(true) => ParsedTemporal::INVALID,
            Some(false) => Self::moment_of(Read::Dated(DateTime::parse(text, options)), options),
            None => Self::parse_moment(text, options),
        }
    }

    /// Reads an amount of time; a part that could be one more number must not follow it.
    pub(super) fn parse_span(text: &[u8], options: DateOptions) -> ParsedTemporal<Moment> {
        let read = match looks_dated(text) {
            true => Read::Nothing,
            false => read(text, options, true),
        };
        Self::moment_of(read, options)
    }

    fn moment_of(read: Read, options: DateOptions) -> ParsedTemporal<Moment> {
        match read {
            Read::Nothing => ParsedTemporal::INVALID,
            Read::Dated(parsed) => {
                let parsed = parsed.and_then(|v| Some(Moment::At(v)));
                ParsedTemporal { from_datetime: true, ..parsed }
            }
            Read::Clock { fields, negative, garbage } => {
                let micros = fields.micros(options.round).map(|v| if negative { -v } else { v });
                let span = micros.and_then(Moment::span);
                span.map_or(ParsedTemporal::INVALID, |v| fields.finish((v, false), garbage))
            }
        }
    }
}

/// Content of a text, before its range is checked.
enum Read {
    Nothing,
    Dated(ParsedTemporal<DateTime>),
    Clock { fields: Fields, negative: bool, garbage: bool },
}

/// Reads a text. `added`: it is an amount of time to add and must not look like a date.
fn read(text: &[u8], options: DateOptions, added: bool) -> Read {
    let mut s = Scanner::new(text);
    let negative = s.peek() == Some(b'-');
    if matches!(s.peek(), Some(b'-' | b'+')) {
        s.advance(1);
        s.skip_spaces();
    }
    if !s.at_digit() {
        return Read::Nothing;
    }
    // The date only has to look like one.
    let dated = DateOptions { allow_invalid: true, round: options.round, ..Default::default() };
    if is_datetime(&s, added) {
        return match negative {
            true => Read::Nothing,
            false => Read::Dated(DateTime::parse(s.rest(), dated)),
        };
    }
    // Compat: a text as long as a date and time that looks like a bad date is no time either.
    if is_long_date(&s) && DateTime::parse(s.rest(), dated).value.is_none() {
        return Read::Nothing;
    }
    let fields = clock(&mut s);
    if added && s.peek() == Some(b'-') {
        return Read::Nothing;
    }
    s.skip_spaces();
    if has_exponent(&s) {
        return Read::Nothing;
    }
    Read::Clock { fields, negative, garbage: !s.is_at_end() }
}

/// Whether a date and time follow: three delimited numbers, a separator and more, or many digits.
/// Three numbers with colons are a time of day unless a number follows; with `added` they are none.
fn is_datetime(s: &Scanner<'_>, added: bool) -> bool {
    let mut s = *s;
    let mut colons = !added;
    let first = s.run(|b| b.is_ascii_digit());
    if first >= DATETIME_DIGITS || (first >= 6 && s.peek_at(first) == Some(b'T')) {
        return is_compact(&s);
    }
    for field in 0..3 {
        if s.number(usize::MAX).is_none() {
            return false;
        }
        colons &= field == 2 || s.peek() == Some(b':');
        if field < 2 && !s.accept_punctuation() {
            return false;
        }
    }
    if s.accept(b'T') {
        return true;
    }
    let before = s.rest().len();
    s.skip_spaces();
    if s.rest().len() == before {
        return false;
    }
    match colons {
        true => s.at_digit(),
        false => s.rest().iter().any(|b| b.is_ascii_digit() || b.is_ascii_punctuation()),
    }
}

/// `Some` if the text begins with digits and nothing makes them a time; true if they cannot be a
/// date.
fn digits_alone(text: &[u8]) -> Option<bool> {
    let mut s = Scanner::new(text);
    let negative = s.accept(b'-');
    let digits = s.run(|b| b.is_ascii_digit());
    if digits == 0 {
        return None;
    }
    s.advance(digits);
    let exponent = has_exponent(&s);
    let mark = s.rest().len();
    s.skip_spaces();
    let next = s.peek();
    let spaced = s.rest().len() < mark;
    let alone = next.is_none_or(|b| b.is_ascii_alphabetic() && (b != b'T' || spaced));
    (alone && digits < DATETIME_DIGITS).then_some(negative || exponent)
}

/// Whether a text begins with three numbers that are not hours, minutes and seconds.
fn looks_dated(text: &[u8]) -> bool {
    let mut s = Scanner::new(text);
    s.number(usize::MAX).is_some()
        && !matches!(s.peek(), Some(b':' | b'.'))
        && s.accept_punctuation()
        && s.number(usize::MAX).is_some()
        && s.accept_punctuation()
        && s.at_digit()
}

/// Whether exactly three numbers follow, in a long text, that are not hours, minutes and seconds.
fn is_long_date(s: &Scanner<'_>) -> bool {
    let mut s = *s;
    if s.rest().len() < DATETIME_DIGITS || s.number(usize::MAX).is_none() {
        return false;
    }
    !matches!(s.peek(), Some(b':' | b'.'))
        && s.accept_punctuation()
        && s.number(usize::MAX).is_some()
        && s.accept_punctuation()
        && s.number(usize::MAX).is_some()
        && !s.rest().iter().any(|b| b.is_ascii_digit() || b.is_ascii_punctuation())
}

/// Reads the numbers; the rest of the text stays.
fn clock(s: &mut Scanner<'_>) -> Fields {
    let mut f = Fields::default();
    let compact = s.compact_number();
    let first = u32::try_from(compact).unwrap_or(u32::MAX);
    let mark = *s;
    s.skip_spaces();
    // Compat: a single last digit after the space does not make the first number days.
    let alone = !s.rest().iter().skip(1).any(|b| b.is_ascii_digit() || b.is_ascii_punctuation());
    if s.rest().len() < mark.rest().len() && s.at_digit() && !alone {
        f.days = first;
        f.hour = s.number(usize::MAX).unwrap_or_default().0;
        let _ = after_colon(s, &mut f.minute) && after_colon(s, &mut f.second);
    } else if after_colon(s, &mut f.minute) {
        f.hour = first;
        after_colon(s, &mut f.second);
    } else {
        *s = mark;
        f.hour = u32::try_from(compact / 10_000).unwrap_or(u32::MAX);
        (f.minute, f.second) = ((compact / 100 % 100) as u32, (compact % 100) as u32);
    }
    if s.accept(b'.') {
        f.fraction = s.fraction();
    }
    f
}

/// A colon with a number after it.
fn after_colon(s: &mut Scanner<'_>, value: &mut u32) -> bool {
    let found = s.peek() == Some(b':') && s.peek_at(1).is_some_and(|b| b.is_ascii_digit());
    if found {
        s.advance(1);
        *value = s.number(usize::MAX).unwrap_or_default().0;
    }
    found
}

/// Compat: a time must not have an exponent like a floating-point number.
fn has_exponent(s: &Scanner<'_>) -> bool {
    if !matches!(s.peek(), Some(b'e' | b'E')) {
        return false;
    }
    let sign = usize::from(matches!(s.peek_at(1), Some(b'-' | b'+')));
    s.peek_at(1 + sign).is_some_and(|b| b.is_ascii_digit())
}

impl Fields {
    /// Microseconds without the sign; `None` if minutes or seconds are out of range.
    fn micros(&self, round: bool) -> Option<i64> {
        let overflow = self.hour == u32::MAX || self.days == u32::MAX;
        if self.minute > 59 || self.second > 59 || overflow {
            return None;
        }
        let hours = i64::from(self.days) * 24 + i64::from(self.hour);
        let seconds = hours * 3600 + i64::from(self.minute) * 60 + i64::from(self.second);
        let micros = seconds.min(1 << 40) * MICROS_PER_SECOND + i64::from(self.fraction.micros);
        Some(micros + i64::from(round && self.fraction.rounds_up))
    }

    /// The report about a value and about whether it was limited to the range.
    fn finish<T>(&self, (value, clamped): (T, bool), garbage: bool) -> ParsedTemporal<T> {
        ParsedTemporal {
            value: Some(value),
            truncated: garbage || clamped,
            fraction_cut: self.fraction.cut,
            ..ParsedTemporal::INVALID
        }
    }
}
