//! Fields of the text protocol: every value is a length-encoded string.
//!
//! Must not format values except plain integers; callers bring finished texts.

use crate::writer::put_lenenc_bytes;

/// Appends NULL.
pub fn put_null(out: &mut Vec<u8>) {
    out.push(0xfb);
}

/// Appends a string.
#[inline]
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_lenenc_bytes(out, bytes);
}

/// Appends a signed integer.
#[inline]
pub fn put_i64(out: &mut Vec<u8>, v: i64) {
    if v < 0 {
        return put_digits(out, v.unsigned_abs(), true);
    }
    put_digits(out, v as u64, false);
}

/// Appends an unsigned integer.
#[inline]
pub fn put_u64(out: &mut Vec<u8>, v: u64) {
    put_digits(out, v, false);
}

/// Appends the output of `write` as one field: fast up to 250 bytes, correct for any length.
#[inline]
pub fn put_short(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.push(0);
    write(out);
    let len = out.len() - at - 1;
    if len <= 250 {
        out[at] = len as u8;
    } else {
        let field = out.split_off(at + 1);
        out.truncate(at);
        put_lenenc_bytes(out, &field);
    }
}

fn put_digits(out: &mut Vec<u8>, mut v: u64, negative: bool) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (v % 10) as u8;
        v /= 10;
        if v == 0 {
            break;
        }
    }
    out.push((digits.len() - at) as u8 + u8::from(negative));
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers(v: i64, u: u64) {
            let mut out = Vec::new();
            put_i64(&mut out, v);
            prop_assert_eq!(String::from_utf8_lossy(&out[1..]), v.to_string());
            prop_assert_eq!(out[0] as usize, out.len() - 1);
            out.clear();
            put_u64(&mut out, u);
            prop_assert_eq!(String::from_utf8_lossy(&out[1..]), u.to_string());
        }

        #[test]
        fn short_and_not_so_short(text in prop::collection::vec(any::<u8>(), 0..600)) {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            put_short(&mut a, |o| o.extend_from_slice(&text));
            put_bytes(&mut b, &text);
            prop_assert_eq!(a, b);
        }
    }
}
