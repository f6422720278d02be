//! Text from one character set to another.
//! Never fails: a character without a counterpart becomes `?` and is counted; the caller warns.

use std::borrow::Cow;

use super::Charset;
use crate::pace::{demand, tick};

impl Charset {
    /// `bytes` of this character set in another one, and the number of characters that became `?`.
    ///
    /// From `binary` the bytes are taken as text of the target; to `binary` they stay as they are.
    pub fn convert(self, bytes: &[u8], to: Self) -> (Cow<'_, [u8]>, usize) {
        if self == to || to == Self::Binary || self.is_subset(bytes, to) {
            return (Cow::Borrowed(bytes), 0);
        }
        if self == Self::Binary {
            return to.repaired(bytes);
        }
        demand(bytes.len());
        let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 8 + 4);
        let mut lost = 0;
        let mut at = 0;
        while at < bytes.len() {
            tick(8);
            let decoded = self.decode(&bytes[at..]);
            at += decoded.map_or_else(|| self.char_len(&bytes[at..]), |(_, len)| len);
            if !decoded.is_some_and(|(code, _)| to.encode(code, &mut out)) {
                to.encode(u32::from(b'?'), &mut out);
                lost += 1;
            }
        }
        (Cow::Owned(out), lost)
    }

    /// The rest of a text from the first character that `to` does not have, and the length of that
    /// character.
    pub fn first_lost(self, bytes: &[u8], to: Self) -> Option<(&[u8], usize)> {
        let mut rest = bytes;
        let mut out = Vec::new();
        while !rest.is_empty() {
            tick(8);
            out.clear();
            match self.decode(rest) {
                Some((code, len)) if to.encode(code, &mut out) => rest = &rest[len..],
                _ => return Some((rest, self.char_len(rest))),
            }
        }
        None
    }

    /// Whether the bytes have the same meaning in `to`.
    fn is_subset(self, bytes: &[u8], to: Self) -> bool {
        (self == Self::Utf8mb3 && to == Self::Utf8mb4)
            || (self.is_ascii_superset() && to.is_ascii_superset() && bytes.is_ascii())
                && !(to == Self::Sjis && bytes.contains(&b'\\'))
    }

    /// The bytes, with zeros in front if they are too short for whole units.
    pub fn completed(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        let missing = bytes.len().next_multiple_of(self.min_len()) - bytes.len();
        if missing == 0 {
            return Cow::Borrowed(bytes);
        }
        let mut whole = vec![0; missing];
        whole.extend_from_slice(bytes);
        Cow::Owned(whole)
    }

    /// The bytes as valid text of this character set: bytes that are no character become `?`.
    pub fn repaired(self, bytes: &[u8]) -> (Cow<'_, [u8]>, usize) {
        let source = self.completed(bytes);
        if self.is_well_formed(&source) {
            return (source, 0);
        }
        let mut out = Vec::with_capacity(source.len());
        let (mut at, mut lost) = (0, 0);
        while at < source.len() {
            let rest = &source[at..];
            let good = self.well_formed_len(rest);
            tick(32 + good);
            out.extend_from_slice(&rest[..good]);
            at += good;
            if at < source.len() {
                self.encode(u32::from(b'?'), &mut out);
                at += self.min_len();
                lost += 1;
            }
        }
        (Cow::Owned(out), lost)
    }
}

#[cfg(test)]
mod tests {
    use super::Charset::*;

    #[test]
    fn between_charsets() {
        assert_eq!(Utf8mb4.convert("é€".as_bytes(), Latin1), (b"\xE9\x80"[..].into(), 0));
        assert_eq!(Utf8mb4.convert("aπb".as_bytes(), Latin1), (b"a?b"[..].into(), 1));
        assert_eq!(Latin1.convert(b"\x80\xE9", Utf8mb4).0, "€é".as_bytes());
        assert_eq!(Utf8mb4.convert("😀".as_bytes(), Utf8mb3), (b"?"[..].into(), 1));
        assert_eq!(Utf8mb4.convert("a😀".as_bytes(), Utf16).0, &b"\0a\xD8\x3D\xDE\x00"[..]);
        assert_eq!(Binary.convert(b"a\xFFb", Utf8mb4), (b"a?b"[..].into(), 1));
        assert_eq!(Binary.convert(b"a", Ucs2).0, &b"\0a"[..]);
        assert_eq!(Utf32.convert(b"\0\0\xD8\0", Utf8mb3), (b"\xED\xA0\x80"[..].into(), 0));
        assert_eq!(Utf8mb4.convert(b"\xED\xBF\xBF", Ucs2), (b"\xDF\xFF"[..].into(), 0));
        assert_eq!(Utf8mb4.convert(b"\xED\xBF\xBF", Utf16).1, 1);
        assert_eq!(Koi8r.convert(b"\xC1", Cp1251).0, &b"\xE0"[..]);
        // Compat: the backslash of Shift-JIS is one of two bytes, unless the text is in it.
        assert_eq!(Utf8mb4.convert(b"a\\", Sjis).0, &b"a\x81\x5F"[..]);
        assert_eq!(Binary.convert(b"a\\", Sjis).0, &b"a\\"[..]);
        assert_eq!(Sjis.convert(b"a\\", Utf8mb4).0, &b"a\\"[..]);
    }
}
