//! Doubles as text.

use std::io::Write;

/// Decimal exponents printed without an `e`.
const PLAIN: std::ops::RangeInclusive<i32> = -15..=14;

/// Appends the shortest text that reads back as `v`, in MariaDB's notation.
pub fn write_f64(out: &mut Vec<u8>, v: f64) {
    if v == v.trunc() && v.abs() < 1e15 {
        // The common case, and where negative zero loses its sign.
        return super::write_i64(out, v as i64);
    }
    if !v.is_finite() {
        return out.extend_from_slice(if v.is_nan() {
            b"nan"
        } else if v > 0.0 {
            b"inf"
        } else {
            b"-inf"
        });
    }
    let mut buffer = [0u8; 32];
    let mut rest = &mut buffer[..];
    let _ = write!(rest, "{v:e}");
    let unused = rest.len();
    let used = buffer.len() - unused;
    write_scientific(out, &buffer[..used]);
}

/// Appends `v` with exactly `decimals` digits after the point (`DOUBLE(M,D)`, `ROUND(v, D)`).
pub fn write_fixed(out: &mut Vec<u8>, v: f64, decimals: usize) {
    let _ = write!(out, "{v:.decimals$}");
}

/// Appends a number given as `[-]d[.ddd]e[-]dd`, without trailing zeros, in MariaDB's notation.
pub(super) fn write_scientific(out: &mut Vec<u8>, text: &[u8]) {
    let (sign, text) = match text.strip_prefix(b"-") {
        Some(rest) => (&b"-"[..], rest),
        None => (&b""[..], text),
    };
    let e = text.iter().position(|&b| b == b'e').unwrap_or(text.len());
    let exponent = std::str::from_utf8(text.get(e + 1..).unwrap_or(b"0"));
    let exponent: i32 = exponent.ok().and_then(|t| t.parse().ok()).unwrap_or(0);
    let mut digits: smallvec::SmallVec<[u8; 24]> =
        text[..e].iter().copied().filter(|&b| b != b'.').collect();
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
    }
    out.extend_from_slice(sign);
    if PLAIN.contains(&exponent) {
        write_plain(out, &digits, exponent);
    } else {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        let _ = write!(out, "e{exponent}");
    }
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
        ];
        for (v, expected) in cases {
            assert_eq!(text(v), expected);
        }
    }

    #[test]
    fn fixed() {
        let mut out = Vec::new();
        write_fixed(&mut out, 1.5, 3);
        assert_eq!(out, b"1.500");
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
