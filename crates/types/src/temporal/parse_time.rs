//! Text to times: `[D ]HH[:MM[:SS[.f]]]`, compact `HHMMSS[.f]`, or the time of a date and time.

use super::parse_datetime::is_compact;
use super::scan::{Fraction, Scanner};
use super::{DateOptions, DateTime, MICROS_PER_SECOND, ParsedTemporal, Time};

/// Compact digits from which on a text is a date and time.
const DATETIME_DIGITS: usize = 12;

/// What a time consists of, before minutes and seconds are checked.
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
        let mut s = Scanner::new(text);
        let negative = s.peek() == Some(b'-');
        if matches!(s.peek(), Some(b'-' | b'+')) {
            s.advance(1);
            s.skip_spaces();
        }
        if !s.at_digit() {
            return ParsedTemporal::INVALID;
        }
        // The day only has to look like one.
        let dated = DateOptions { allow_invalid: true, round: options.round, ..Default::default() };
        if is_datetime(&s) {
            if negative {
                return ParsedTemporal::INVALID;
            }
            let parsed = DateTime::parse(s.rest(), dated).and_then(|v| Some(v.time()));
            return ParsedTemporal { from_datetime: true, ..parsed };
        }
        // Compat: what is as long as a date and time and looks like a bad date is no time either.
        if is_long_date(&s) && DateTime::parse(s.rest(), dated).value.is_none() {
            return ParsedTemporal::INVALID;
        }
        let fields = read(&mut s);
        s.skip_spaces();
        if has_exponent(&s) {
            return ParsedTemporal::INVALID;
        }
        finish(&fields, negative, !s.is_at_end(), options.round)
    }
}

/// Whether a date and time stand here: three delimited numbers, a separator and more, or many
/// digits.
fn is_datetime(s: &Scanner<'_>) -> bool {
    let mut s = *s;
    let first = s.run(|b| b.is_ascii_digit());
    if first >= DATETIME_DIGITS || (first >= 6 && s.peek_at(first) == Some(b'T')) {
        return is_compact(&s);
    }
    for field in 0..3 {
        if s.number(usize::MAX).is_none() || (field < 2 && !s.accept_punctuation()) {
            return false;
        }
    }
    if !s.accept(b'T') {
        let before = s.rest().len();
        s.skip_spaces();
        if s.rest().len() == before {
            return false;
        }
    }
    s.rest().iter().any(|b| b.is_ascii_digit() || b.is_ascii_punctuation())
}

/// Whether just three numbers stand here that are not hours, minutes and seconds, in a long text.
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

/// Reads the numbers; what follows them is left.
fn read(s: &mut Scanner<'_>) -> Fields {
    let mut f = Fields::default();
    let compact = s.compact_number();
    let first = u32::try_from(compact).unwrap_or(u32::MAX);
    let mark = *s;
    s.skip_spaces();
    // Compat: one last digit after the space does not make the first number days.
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

/// Compat: a time is no floating-point number, so an exponent spoils it.
fn has_exponent(s: &Scanner<'_>) -> bool {
    if !matches!(s.peek(), Some(b'e' | b'E')) {
        return false;
    }
    let sign = usize::from(matches!(s.peek_at(1), Some(b'-' | b'+')));
    s.peek_at(1 + sign).is_some_and(|b| b.is_ascii_digit())
}

fn finish(f: &Fields, negative: bool, garbage: bool, round: bool) -> ParsedTemporal<Time> {
    if f.minute > 59 || f.second > 59 || f.hour == u32::MAX || f.days == u32::MAX {
        return ParsedTemporal::INVALID;
    }
    let hours = i64::from(f.days) * 24 + i64::from(f.hour);
    let seconds = hours * 3600 + i64::from(f.minute) * 60 + i64::from(f.second);
    let mut micros = seconds.min(1 << 40) * MICROS_PER_SECOND + i64::from(f.fraction.micros);
    micros += i64::from(round && f.fraction.rounds_up);
    let (value, clamped) = Time::clamped(if negative { -micros } else { micros });
    ParsedTemporal {
        value: Some(value),
        truncated: garbage || clamped,
        fraction_cut: f.fraction.cut,
        ..ParsedTemporal::INVALID
    }
}
