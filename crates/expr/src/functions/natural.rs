//! NATURAL_SORT_KEY: strings that sort as people sort numbers in texts.
//! The keys are MariaDB's, since they may be stored and indexed.

use selkie_meter::tick;
use selkie_types::{Column, SqlResult};

use crate::expr::Expr;
use crate::function::{Binding, Function};
use crate::kernel::{Frame, bytes_to_bytes};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[Function::new("NATURAL_SORT_KEY", 1, 1, bind)];

fn bind(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.subject(0);
    let length = u64::from(b.args[0].ty.length);
    let ty = b.string_type(length + length.div_ceil(2));
    b.maybe(ty, keys)
}

/// The keys of texts. A text is read character by character, because keys consist of characters.
fn keys(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = frame.call.collation.charset();
    bytes_to_bytes(frame, |text, out| {
        let mut at = 0;
        let mut digits = Vec::new();
        while at < text.len() {
            tick(16);
            let decoded = charset.decode(&text[at..]);
            let len = decoded.map_or(1, |(_, len)| len);
            match decoded.and_then(|(code, _)| char::from_u32(code)) {
                Some(c) if c.is_ascii_digit() => digits.push(c as u8),
                _ => {
                    number(&mut digits, charset, out);
                    out.extend_from_slice(&text[at..at + len]);
                }
            }
            at += len;
        }
        number(&mut digits, charset, out);
        !frame.too_long(out.len())
    })
}

/// Appends a number without leading zeros; digits in front of it give its length.
fn number(digits: &mut Vec<u8>, charset: selkie_types::Charset, out: &mut Vec<u8>) {
    if digits.is_empty() {
        return;
    }
    let first = digits.iter().position(|d| *d != b'0').unwrap_or(digits.len() - 1);
    let mut key = length_key(digits.len() - first);
    key.extend_from_slice(&digits[first..]);
    key.iter().for_each(|b| {
        charset.encode(u32::from(*b), out);
    });
    digits.clear();
}

/// Digits that sort in the order of the lengths.
fn length_key(length: usize) -> Vec<u8> {
    match length {
        0..=9 => vec![b'0' + (length.max(1) - 1) as u8],
        10..=18 => vec![b'9', b'0' + (length - 10) as u8],
        19..=27 => vec![b'9', b'9', b'0' + (length - 19) as u8],
        _ => {
            let rest = (length - 1).to_string();
            let mut key = b"9990".to_vec();
            key.push(b'0' + (rest.len() - 1) as u8);
            key.extend_from_slice(rest.as_bytes());
            key
        }
    }
}

#[cfg(test)]
mod tests {
    use super::length_key;

    #[test]
    fn lengths_sort() {
        let keys: Vec<_> = (1..2000).map(length_key).collect();
        assert!(keys.is_sorted());
        assert_eq!(length_key(28), b"9990127");
    }
}
