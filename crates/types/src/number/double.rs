//! Doubles as text, in MariaDB's notation.
//! The shortest text that reads back as the same value, except where a number of digits is given.

use std::io::Write;

/// Decimal exponents of numbers printed without an `e`.
const PLAIN: std::ops::RangeInclusive<i32> = -15..=14;

/// Appends the shortest text that reads back as `v`, in MariaDB's notation.
pub fn write_f64(out: &mut Vec<u8>, v: f64) {
    if v == v.trunc() && v.abs() < 1e15 {
        // The common case; also the place where negative zero loses its sign.
        return super::write_i64(out, v as i64);
    }
    if !v.is_finite() {
        // Compat: an aggregate's result beyond the range of doubles is shown as zero.
        return out.push(b'0');
    }
    write_shortest(out, ryu::Buffer::new().format_finite(v).as_bytes());
}

/// Appends `v` with exactly `decimals` digits after the point (`DOUBLE(M,D)`, `ROUND(v, D)`).
///
/// Digits beyond those of the shortest text that reads back as `v` are zeros. A value shown as zero
/// has no sign.
pub fn write_fixed(out: &mut Vec<u8>, v: f64, decimals: usize) {
    if !v.is_finite() {
        return out.push(b'0');
    }
    let start = out.len();
    write_signed(out, v, decimals);
    if out[start] == b'-' && !out[start..].iter().any(|b| matches!(b, b'1'..=b'9')) {
        out.remove(start);
    }
}

fn write_signed(out: &mut Vec<u8>, v: f64, decimals: usize) {
    // Up to 15 digits equal those of the shortest text.
    if decimals < 15 && v.abs() < POWERS[15 - decimals] {
        let _ = write!(out, "{v:.decimals$}");
        return;
    }
    let mut buffer = ryu::Buffer::new();
    let shortest = Digits::of(buffer.format_finite(v).as_bytes());
    let after_point = (shortest.digits.len() as i32 - 1 - shortest.exponent).max(0) as usize;
    if after_point > decimals {
        let _ = write!(out, "{v:.decimals$}");
        return;
    }
    if shortest.negative {
        out.push(b'-');
    }
    write_plain(out, &shortest.digits, shortest.exponent);
    if decimals > 0 {
        if after_point == 0 {
            out.push(b'.');
        }
        out.extend(std::iter::repeat_n(b'0', decimals - after_point));
    }
}

/// 10 to the power of the index.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// A number's digits without zeros at either end, and the power of ten of the first digit.
struct Digits {
    negative: bool,
    digits: smallvec::SmallVec<[u8; 32]>,
    exponent: i32,
}

impl Digits {
    fn of(text: &[u8]) -> Self {
        let negative = text.first() == Some(&b'-');
        let text = &text[usize::from(negative)..];
        let e = text.iter().position(|&b| b == b'e').unwrap_or(text.len());
        let power = std::str::from_utf8(text.get(e + 1..).unwrap_or_default());
        let power: i32 = power.ok().and_then(|t| t.parse().ok()).unwrap_or(0);
        let point = text[..e].iter().position(|&b| b == b'.').unwrap_or(e);
        let mut digits: smallvec::SmallVec<[u8; 32]> =
            text[..e].iter().copied().filter(|&b| b != b'.').collect();
        let zeros = digits.iter().take_while(|&&b| b == b'0').count();
        digits.drain(..zeros);
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        let exponent = power + point as i32 - 1 - zeros as i32;
        Self { negative, digits, exponent }
    }
}

/// Appends a number given as decimal text, without needless zeros, in MariaDB's notation.
pub(super) fn write_shortest(out: &mut Vec<u8>, text: &[u8]) {
    let Digits { negative, digits, exponent } = Digits::of(text);
    if negative {
        out.push(b'-');
    }
    // Compat: a number with sixteen digits before the point has no exponent if more digits follow
    // it.
    if PLAIN.contains(&exponent) || (exponent == 15 && digits.len() > 16) {
        return write_plain(out, &digits, exponent);
    }
    out.extend_from_slice(&digits[..1.min(digits.len())]);
    if digits.len() > 1 {
        out.push(b'.');
        out.extend_from_slice(&digits[1..]);
    }
    let _ = write!(out, "e{exponent}");
}

fn write_plain(out: &mut Vec<u8>, digits: &[u8], exponent: i32) {
    if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', (-exponent - 1) as usize));
        return out.extend_from_slice(digits);
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        out.extend_from_slice(digits);
        out.extend(std::iter::repeat_n(b'0', whole - digits.len()));
    } else {
        out.extend_from_slice(&digits[..whole]);
        out.push(b'.');
        out.extend_from_slice(&digits[whole..]);
    }
}

/// The digits of a positive number, at most `most`, and the position of the point among them.
fn digits_of(v: f64, most: usize) -> (Vec<u8>, i32) {
    let split = |text: String| {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
        let end = digits.iter().rposition(|d| *d != b'0').map_or(1, |at| at + 1);
        (digits[..end].to_vec(), exponent.parse::<i32>().unwrap_or(0) + 1)
    };
    let (digits, point) = split(format!("{v:e}"));
    match digits.len() > most {
        true => split(format!("{v:.*e}", most.max(1) - 1)),
        false => (digits, point),
    }
}

/// Appends a number in at most `room` characters, with as many digits as fit; false if not even one
/// digit fits.
///
/// Compat: the number has an exponent if it would not fit without one, or if it has more than 15
/// digits before the point or zeros after it.
pub fn write_f64_within(out: &mut Vec<u8>, v: f64, room: usize) -> bool {
    if v == 0.0 || !v.is_finite() {
        out.push(b'0');
        return v == 0.0;
    }
    let negative = v < 0.0;
    let v = v.abs();
    let width = room as i32 - i32::from(negative);
    let (digits, point) = digits_of(v, room);
    let count = digits.len() as i32;
    let exponential = !(-14..=15).contains(&point);
    let needed = match point {
        ..=0 => 2 - point + count,
        _ if point < count => count + 1,
        _ => point,
    };
    // Size with an exponent and one digit. If exactly that fits, the exponent is preferred.
    let shortest = 2 + exponent_digits(point) + i32::from(point < 1);
    let almost = point <= width && (point >= -1 || (point == -2 && shortest != width));
    let sign: &[u8] = if negative { b"-" } else { b"" };
    match !exponential && (needed <= width || almost) {
        true => plain_within(out, (sign, v), (&digits, point), width),
        false => exponential_within(out, (sign, v), (&digits, point), width),
    }
}

/// Number of characters of an exponent.
fn exponent_digits(point: i32) -> i32 {
    1 + i32::from(point >= 101 || point <= -99) + i32::from(point >= 11 || point <= -9)
}

fn plain_within(
    out: &mut Vec<u8>,
    (sign, v): (&[u8], f64),
    (digits, point): (&[u8], i32),
    width: i32,
) -> bool {
    let count = digits.len() as i32;
    let width = width - i32::from(point < count) - if point <= 0 { 1 - point } else { 0 };
    let places = if width < count { (width - point).max(0) } else { (count - point).max(0) };
    let text = format!("{v:.*}", places as usize);
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    // A number rounded to zero has no sign.
    if text != "0" {
        out.extend_from_slice(sign);
    }
    out.extend_from_slice(text.as_bytes());
    width >= point
}

fn exponential_within(
    out: &mut Vec<u8>,
    (sign, v): (&[u8], f64),
    (digits, point): (&[u8], i32),
    width: i32,
) -> bool {
    let minus = i32::from(point < 1);
    let mut room = width - minus - 1 - exponent_digits(point);
    if digits.len() > 1 {
        room -= 1;
    }
    let (digits, point) = match (digits.len() as i32) > room {
        true => digits_of(v, room.max(1) as usize),
        false => (digits.to_vec(), point),
    };
    out.extend_from_slice(sign);
    out.push(digits[0]);
    if digits.len() > 1 {
        out.push(b'.');
        out.extend_from_slice(&digits[1..]);
    }
    out.extend_from_slice(format!("e{}", point - 1).as_bytes());
    room > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(v: f64) -> String {
        let mut out = Vec::new();
        write_f64(&mut out, v);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn notation_changes_where_the_server_changes_it() {
        let cases = [
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (1e20, "1e20"),
            (123456789012345.0, "123456789012345"),
            (1234567890123456.0, "1.234567890123456e15"),
            (1e-15, "0.000000000000001"),
            (1e-16, "1e-16"),
            (1.2345678901234567e-7, "0.00000012345678901234566"),
            (-1.5e-5, "-0.000015"),
            (-1.5e300, "-1.5e300"),
            (5e-324, "5e-324"),
            (0.1, "0.1"),
            (1.25, "1.25"),
            (-3.0, "-3"),
            (999999999999999.9, "999999999999999.9"),
            (973_536_007_126_005.3, "973536007126005.2"),
            (3351757320890993.5, "3351757320890993.5"),
        ];
        for (v, expected) in cases {
            assert_eq!(text(v), expected);
        }
    }

    #[test]
    fn fixed() {
        let mut out = Vec::new();
        let mut fixed = |v, decimals| {
            out.clear();
            write_fixed(&mut out, v, decimals);
            String::from_utf8(out.clone()).unwrap()
        };
        assert_eq!(fixed(1.5, 3), "1.500");
        assert_eq!(fixed(-0.0, 2), "0.00");
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(fixed(0.1, 20), "0.10000000000000000000");
        assert_eq!(fixed(6901659091095025664.0, 4), "6901659091095026000.0000");
        assert_eq!(fixed(1_000_000_000_000_000.3, 4), "1000000000000000.2000");
        assert_eq!(fixed(-123456.789, 0), "-123457");
        assert_eq!(fixed(1e22, 0), "10000000000000000000000");
        assert_eq!(fixed(0.0, 30), format!("0.{}", "0".repeat(30)));
        assert_eq!(fixed(1e25, 2), "10000000000000000000000000.00");
        assert_eq!(fixed(0.1, 25), "0.1000000000000000000000000");
        assert_eq!(fixed(2.0 / 3.0, 18), "0.666666666666666600");
        assert_eq!(fixed(2.0 / 3.0, 3), "0.667");
        assert_eq!(fixed(-7.0, 0), "-7");
        assert_eq!((fixed(-0.0, 2), fixed(-0.004, 2)), ("0.00".into(), "0.00".into()));
    }

    proptest::proptest! {
        #[test]
        fn printed_text_reads_back(bits: u64) {
            let v = f64::from_bits(bits);
            if v.is_finite() {
                proptest::prop_assert_eq!(text(v).parse::<f64>().unwrap(), v);
            }
        }
    }
}
