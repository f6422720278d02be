//! Integers: reading, printing, and the conversion from doubles.
//! Out of range gives the nearest end with a flag, never a wrapped value.

use super::{Parsed, Rest, skip_spaces};
use crate::decimal::Decimal;

const MIN: i128 = i64::MIN as i128;
const MAX: i128 = u64::MAX as i128;

/// Reads digits only: `12.7` is 12 with a rest, as in `CAST('12.7' AS SIGNED)`.
///
/// The value lies between the smallest signed and the largest unsigned 64-bit integer.
pub fn parse_integer(text: &[u8]) -> Parsed<i128> {
    let mut at = skip_spaces(text, 0);
    let negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    let first = at;
    let mut value = 0i128;
    while let Some(b) = text.get(at).filter(|b| b.is_ascii_digit()) {
        value = (value * 10 + i128::from(b - b'0')).min(MAX + 1);
        at += 1;
    }
    if at == first {
        return Parsed { value: 0, rest: Rest::Garbage, consumed: 0, overflow: false };
    }
    clamp(if negative { -value } else { value }, Rest::of(text, at), at)
}

/// Reads a number with fraction and exponent and rounds it, as storing into an integer column does.
pub fn parse_integer_rounded(text: &[u8]) -> Parsed<i128> {
    let parsed = Decimal::parse(text);
    let past_end = if parsed.value.is_negative() { MIN - 1 } else { MAX + 1 };
    let value = match pointless(&text[..parsed.consumed], &text[parsed.consumed..]) {
        Some(digits) => digits,
        None => parsed.value.to_i128().unwrap_or(past_end),
    };
    clamp(value, parsed.rest, parsed.consumed)
}

/// Compat: before a second point the first one does not count, as in `1.2.3`, which is 12.
fn pointless(number: &[u8], rest: &[u8]) -> Option<i128> {
    let is_exact = !number.iter().any(|b| b.eq_ignore_ascii_case(&b'e'));
    if rest.first() != Some(&b'.') || !number.contains(&b'.') || !is_exact {
        return None;
    }
    let digits = number.iter().filter(|b| b.is_ascii_digit());
    let value = digits.fold(0, |value, b| (value * 10 + i128::from(b - b'0')).min(MAX + 1));
    Some(if number.contains(&b'-') { -value } else { value })
}

fn clamp(value: i128, rest: Rest, consumed: usize) -> Parsed<i128> {
    let overflow = !(MIN..=MAX).contains(&value);
    Parsed { value: value.clamp(MIN, MAX), rest, consumed, overflow }
}

/// The nearest integer (ties to even); out of range, the nearest end with `true`.
pub fn f64_to_i64(v: f64) -> (i64, bool) {
    let r = v.round_ties_even();
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&r);
    (r as i64, !fits)
}

/// The nearest unsigned integer (ties to even); out of range, the nearest end with `true`.
pub fn f64_to_u64(v: f64) -> (u64, bool) {
    let r = v.round_ties_even();
    let fits = (0.0..18_446_744_073_709_551_616.0).contains(&r);
    (r as u64, !fits)
}

/// Appends a signed integer.
pub fn write_i64(out: &mut Vec<u8>, v: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes());
}

/// Appends an unsigned integer.
pub fn write_u64(out: &mut Vec<u8>, v: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes());
}

/// Pads `out[start..]` with zeros on the left to `width` characters (`ZEROFILL`).
pub fn write_zerofill(out: &mut Vec<u8>, start: usize, width: usize) {
    let missing = width.saturating_sub(out.len() - start);
    out.splice(start..start, std::iter::repeat_n(b'0', missing));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_only() {
        let p = parse_integer(b" -12.7");
        assert_eq!((p.value, p.rest, p.consumed), (-12, Rest::Garbage, 4));
        let p = parse_integer(b"18446744073709551615");
        assert_eq!((p.value, p.overflow), (i128::from(u64::MAX), false));
        let p = parse_integer(b"18446744073709551616");
        assert_eq!((p.value, p.overflow), (i128::from(u64::MAX), true));
        assert_eq!(parse_integer(b"-9223372036854775809").value, i128::from(i64::MIN));
        assert_eq!(parse_integer(b"abc").rest, Rest::Garbage);
        assert_eq!(parse_integer(b"5 ").rest, Rest::Spaces);
    }

    #[test]
    fn rounded() {
        assert_eq!(parse_integer_rounded(b"1.5").value, 2);
        assert_eq!(parse_integer_rounded(b"-1.5").value, -2);
        assert_eq!(parse_integer_rounded(b"1.2e3").value, 1200);
        assert!(parse_integer_rounded(b"1e30").overflow);
        assert_eq!(parse_integer_rounded(b"255.1.2.3").value, 2551);
        assert_eq!(parse_integer_rounded(b" -1.5.").value, -15);
        assert_eq!(parse_integer_rounded(b".5.5").value, 5);
        assert_eq!(parse_integer_rounded(b"1.2e1.5").value, 12);
        assert_eq!(parse_integer_rounded(b"-1e90").value, i128::from(i64::MIN));
    }

    #[test]
    fn from_doubles() {
        assert_eq!(f64_to_i64(2.5), (2, false));
        assert_eq!(f64_to_i64(-1e30), (i64::MIN, true));
        assert_eq!(f64_to_u64(-0.4), (0, false));
        assert_eq!(f64_to_u64(-1.0), (0, true));
        assert_eq!(f64_to_u64(1e20), (u64::MAX, true));
    }

    #[test]
    fn zerofill() {
        let mut out = b"x".to_vec();
        write_i64(&mut out, 42);
        write_zerofill(&mut out, 1, 5);
        assert_eq!(out, b"x00042");
    }
}
