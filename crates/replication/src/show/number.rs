//! Floats as C's `printf` writes them with `%g`.
//!
//! Must not be used where a value has to be read back: digits are cut.

/// A number with at most so many significant digits, without zeros at its end.
pub(super) fn general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let last = digits.saturating_sub(1);
    let scientific = format!("{value:.last$e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let is_plain = usize::try_from(exponent).map_or(exponent >= -4, |exponent| exponent < digits);
    if is_plain {
        let places = (last as i32 - exponent).max(0) as usize;
        return trimmed(&format!("{value:.places$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs())
}

/// Without zeros behind the point, and without a point that has nothing behind it.
fn trimmed(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_printf_has_them() {
        let cases = [
            (0.0, 6, "0"),
            (-0.0, 6, "-0"),
            (1.5, 6, "1.5"),
            (123_456_792.0, 6, "1.23457e+08"),
            (1e-10, 6, "1e-10"),
            (0.0001, 6, "0.0001"),
            (0.00001, 6, "1e-05"),
            (999_999.5, 6, "1e+06"),
            (0.1, 20, "0.10000000000000000555"),
            (1e16, 20, "10000000000000000"),
            (f64::MAX, 20, "1.7976931348623157081e+308"),
            (f64::NEG_INFINITY, 20, "-inf"),
        ];
        for (value, digits, expected) in cases {
            assert_eq!(general(value, digits), expected);
        }
    }
}
