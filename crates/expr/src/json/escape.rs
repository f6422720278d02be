//! Escapes of JSON strings.
//! Texts are UTF-8 on both sides; only the necessary characters are escaped.

use selkie_meter::{demand, tick};

/// Appends a quoted string.
pub(crate) fn put_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    put_escaped(out, text);
    out.push(b'"');
}

/// Appends the inside of a string.
pub(crate) fn put_escaped(out: &mut Vec<u8>, text: &[u8]) {
    demand(text.len());
    for &b in text {
        tick(2);
        match b {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            0..=0x1f => out.extend_from_slice(format!("\\u{b:04X}").as_bytes()),
            _ => out.push(b),
        }
    }
}

/// Appends the text of a string's inside; the error is the offset of invalid text.
pub(crate) fn unescape(inside: &[u8], out: &mut Vec<u8>) -> Result<(), usize> {
    demand(inside.len());
    let mut at = 0;
    while let Some(&b) = inside.get(at) {
        tick(2);
        at += 1;
        if b != b'\\' {
            out.push(b);
            continue;
        }
        let Some(&escaped) = inside.get(at) else { return Err(at) };
        at += 1;
        match escaped {
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let (c, len) = unicode(&inside[at..]).map_err(|len| at + len)?;
                at += len;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => out.push(other),
        }
    }
    Ok(())
}

/// The character of a `\u` escape, and the length of its digits, including those of a second
/// surrogate.
fn unicode(text: &[u8]) -> Result<(char, usize), usize> {
    let first = hex4(text).ok_or(4usize)?;
    if !(0xD800..0xDC00).contains(&first) {
        return char::from_u32(first).map(|c| (c, 4)).ok_or(4);
    }
    if text.get(4..6) != Some(b"\\u") {
        return Err(4);
    }
    let second =
        text.get(6..).and_then(hex4).filter(|s| (0xDC00..0xE000).contains(s)).ok_or(10usize)?;
    let code = 0x1_0000 + ((first & 0x3FF) << 10) + (second & 0x3FF);
    char::from_u32(code).map(|c| (c, 10)).ok_or(10)
}

fn hex4(text: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(text.get(..4)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}

/// Whether the insides of two strings have the same text.
pub(crate) fn same_text(a: &[u8], b: &[u8]) -> bool {
    if a == b {
        return true;
    }
    if !a.contains(&b'\\') && !b.contains(&b'\\') {
        return false;
    }
    let (mut x, mut y) = (Vec::new(), Vec::new());
    unescape(a, &mut x).is_ok() && unescape(b, &mut y).is_ok() && x == y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let mut out = Vec::new();
        put_string(&mut out, "a\"\\\n\u{1}é/".as_bytes());
        assert_eq!(out, "\"a\\\"\\\\\\n\\u0001é/\"".as_bytes());
        let mut text = Vec::new();
        unescape(&out[1..out.len() - 1], &mut text).unwrap();
        assert_eq!(text, "a\"\\\n\u{1}é/".as_bytes());
        text.clear();
        unescape(b"\\ud83d\\ude0a", &mut text).unwrap();
        assert_eq!(text, "😊".as_bytes());
        assert!(unescape(b"\\uc080\\ude0a", &mut text).is_err());
        assert!(same_text(b"\\u0061b", b"ab") && !same_text(b"a", b"b"));
    }
}
