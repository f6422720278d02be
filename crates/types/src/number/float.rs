//! Single precision as text: six significant digits.
//! Compat: MariaDB prints a FLOAT with fewer digits than it holds.

use std::io::Write;

use super::double::write_shortest;

/// Appends `v` with at most six significant digits, in MariaDB's notation.
pub fn write_f32(out: &mut Vec<u8>, v: f32) {
    if v == v.trunc() && v.abs() < 1e6 {
        return super::write_f64(out, f64::from(v));
    }
    if !v.is_finite() {
        return super::write_f64(out, f64::from(v));
    }
    let mut buffer = [0u8; 32];
    let mut rest = &mut buffer[..];
    let _ = write!(rest, "{:.5e}", f64::from(v));
    let unused = rest.len();
    let used = buffer.len() - unused;
    write_shortest(out, &buffer[..used]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits() {
        let cases = [
            (123456789012345.0f32, "123457000000000"),
            (1.234568e15, "1.23457e15"),
            (0.1, "0.1"),
            (0.00012345678, "0.000123457"),
            (1e-16, "1e-16"),
            (f32::MAX, "3.40282e38"),
            (-2.5, "-2.5"),
            (100000.0, "100000"),
            (1234565e9, "1.23456e15"),
        ];
        for (v, expected) in cases {
            let mut out = Vec::new();
            write_f32(&mut out, v);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
