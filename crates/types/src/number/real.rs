//! Doubles: reading, and rounding to decimal places.
//! Compat: rounds the binary value scaled by a power of ten, so results can differ from DECIMAL's.

use super::{Parsed, Rest, skip_spaces};

/// Reads a double from the start of a text, after leading spaces.
pub fn parse_f64(text: &[u8]) -> Parsed<f64> {
    let start = skip_spaces(text, 0);
    let end = number_end(text, start);
    let value = std::str::from_utf8(&text[start..end]).ok().and_then(|t| t.parse::<f64>().ok());
    match value {
        None => Parsed { value: 0.0, rest: Rest::Garbage, consumed: 0, overflow: false },
        Some(v) => Parsed {
            value: v.clamp(f64::MIN, f64::MAX),
            rest: Rest::of(text, end),
            consumed: end,
            overflow: v.is_infinite(),
        },
    }
}

/// End of the longest number that starts at `start`; `start` if there is none.
fn number_end(text: &[u8], start: usize) -> usize {
    let digits = |from: usize| -> usize {
        text[from..].iter().position(|b| !b.is_ascii_digit()).map_or(text.len(), |n| from + n)
    };
    let first = start + usize::from(matches!(text.get(start), Some(b'-' | b'+')));
    let mut end = digits(first);
    let mut count = end - first;
    if text.get(end) == Some(&b'.') {
        let after = digits(end + 1);
        count += after - end - 1;
        end = after;
    }
    if count == 0 {
        return start;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let first = end + 1 + usize::from(matches!(text.get(end + 1), Some(b'-' | b'+')));
        let after = if first <= text.len() { digits(first) } else { first };
        if after > first {
            end = after;
        }
    }
    end
}

/// `ROUND(v, places)`: rounded on the scaled binary value, ties to even.
pub fn round_f64_to(v: f64, places: i32) -> f64 {
    scaled(v, places, f64::round_ties_even)
}

/// `v` rounded to `places` digits after the point, as DOUBLE(n, places) keeps it.
/// Compat: only the part after the point is scaled, which keeps more digits than `ROUND()`.
pub fn round_fraction(v: f64, places: u8) -> f64 {
    match v.is_finite() {
        // Adding zero removes the sign of a negative zero.
        true => v.floor() + round_f64_to(v - v.floor(), places.into()) + 0.0,
        false => v,
    }
}

/// The largest value of DOUBLE(digits, places).
pub fn largest_of_digits(digits: u32, places: u8) -> f64 {
    let whole = digits.saturating_sub(places.into()) as i32;
    10f64.powi(whole) - 10f64.powi(-i32::from(places))
}

/// `TRUNCATE(v, places)`.
pub fn truncate_f64_to(v: f64, places: i32) -> f64 {
    scaled(v, places, f64::trunc)
}

fn scaled(v: f64, places: i32, round: impl Fn(f64) -> f64) -> f64 {
    let power = 10f64.powi(places.saturating_abs());
    if places < 0 {
        return if power.is_infinite() { 0.0 } else { round(v / power) * power };
    }
    let product = v * power;
    // Zero by infinity is no number.
    if product.is_finite() { round(product) / power } else { v }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading() {
        let p = parse_f64(b" -1.5e3abc");
        assert_eq!((p.value, p.rest, p.consumed), (-1500.0, Rest::Garbage, 7));
        assert_eq!(parse_f64(b"1e").value, 1.0);
        assert_eq!(parse_f64(b"1e+").consumed, 1);
        assert_eq!(parse_f64(b".5 ").rest, Rest::Spaces);
        assert_eq!(parse_f64(b"5.").rest, Rest::None);
        assert_eq!(parse_f64(b"inf").rest, Rest::Garbage);
        assert_eq!(parse_f64(b"").rest, Rest::Garbage);
        assert_eq!(parse_f64(b"-").rest, Rest::Garbage);
        let p = parse_f64(b"1e999");
        assert_eq!((p.value, p.overflow), (f64::MAX, true));
    }

    #[test]
    fn rounding() {
        assert_eq!(round_f64_to(0.0, 400), 0.0);
        assert_eq!(round_f64_to(2.5, 0), 2.0);
        assert_eq!(round_f64_to(1.275, 2), 1.27);
        assert_eq!(round_f64_to(1234.5, -2), 1200.0);
        assert_eq!(truncate_f64_to(-1.999, 2), -1.99);
        assert_eq!(round_f64_to(1.5, 400), 1.5);
        assert_eq!(round_f64_to(1.5, -400), 0.0);
    }
}
