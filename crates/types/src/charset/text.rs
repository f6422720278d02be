//! Counting and cutting text by characters.
//! Malformed bytes never fail: each counts as one character.

use super::multibyte::MultiByte;
use super::{Charset, codec};

impl Charset {
    /// Length of the longest well-formed prefix.
    pub fn well_formed_len(self, bytes: &[u8]) -> usize {
        match self {
            Self::Binary => bytes.len(),
            Self::Utf8mb4 => utf8_valid_len(bytes),
            Self::Utf8mb3 => {
                let valid = &bytes[..utf8_valid_len(bytes)];
                valid.iter().position(|&b| b >= 0xF0).unwrap_or(valid.len())
            }
            Self::Ascii => bytes.iter().position(|&b| b >= 0x80).unwrap_or(bytes.len()),
            Self::Ucs2 => bytes.len() & !1,
            _ if self.max_len() == 1 => bytes.len(),
            _ => {
                let mut at = 0;
                while let Some(len) = self.well_formed_char(&bytes[at..]) {
                    at += len;
                }
                at
            }
        }
    }

    /// Whether all bytes are characters.
    pub fn is_well_formed(self, bytes: &[u8]) -> bool {
        self.well_formed_len(bytes) == bytes.len()
    }

    /// Number of characters; a byte that is no character counts as one.
    pub fn char_count(self, bytes: &[u8]) -> usize {
        match self {
            Self::Utf8mb4 | Self::Utf8mb3 => bytes.iter().filter(|&&b| b & 0xC0 != 0x80).count(),
            Self::Ucs2 => bytes.len() / 2,
            Self::Utf32 => bytes.len() / 4,
            _ if self.max_len() == 1 => bytes.len(),
            _ => {
                let (mut at, mut count) = (0, 0);
                while at < bytes.len() {
                    at += self.char_len(&bytes[at..]);
                    count += 1;
                }
                count
            }
        }
    }

    /// Length of the first character in bytes; one unit if it is malformed, zero at the end.
    #[inline]
    pub fn char_len(self, bytes: &[u8]) -> usize {
        if self.max_len() == 1 {
            return bytes.len().min(1);
        }
        self.well_formed_char(bytes).unwrap_or(bytes.len().min(self.min_len()))
    }

    /// Length of the first character if it has several bytes; it need not be assigned.
    #[inline]
    fn well_formed_char(self, bytes: &[u8]) -> Option<usize> {
        match MultiByte::of(self) {
            Some(set) => set.len(bytes),
            None => self.decode(bytes).map(|(_, len)| len),
        }
    }

    /// Offset of character number `n`, from 0; the length of the text if there are fewer.
    pub fn char_offset(self, bytes: &[u8], n: usize) -> usize {
        match self {
            Self::Utf8mb4 | Self::Utf8mb3 => utf8_offset(bytes, n),
            Self::Ucs2 | Self::Utf32 => n.saturating_mul(self.max_len()).min(bytes.len()),
            _ if self.max_len() == 1 => n.min(bytes.len()),
            _ => {
                let mut at = 0;
                for _ in 0..n {
                    at += self.char_len(&bytes[at..]);
                    if at >= bytes.len() {
                        break;
                    }
                }
                at.min(bytes.len())
            }
        }
    }

    /// The first `n` characters.
    pub fn prefix(self, bytes: &[u8], n: usize) -> &[u8] {
        if bytes.len() <= n { bytes } else { &bytes[..self.char_offset(bytes, n)] }
    }

    /// `count` characters from character number `start`, from 0.
    pub fn substring(self, bytes: &[u8], start: usize, count: usize) -> &[u8] {
        let rest = &bytes[self.char_offset(bytes, start)..];
        self.prefix(rest, count)
    }

    /// A space.
    pub const fn space(self) -> &'static [u8] {
        match self {
            Self::Ucs2 | Self::Utf16 => b"\0 ",
            Self::Utf16le => b" \0",
            Self::Utf32 => b"\0\0\0 ",
            _ => b" ",
        }
    }

    /// The text without trailing spaces.
    pub fn trim_spaces_end(self, mut bytes: &[u8]) -> &[u8] {
        while let Some(shorter) = bytes.strip_suffix(self.space()) {
            bytes = shorter;
        }
        bytes
    }
}

fn utf8_valid_len(bytes: &[u8]) -> usize {
    let mut valid = 0;
    loop {
        let rest = &bytes[valid..];
        match std::str::from_utf8(rest) {
            Ok(_) => return bytes.len(),
            Err(e) => {
                valid += e.valid_up_to();
                // Characters that are none to `str`.
                match codec::utf8(&rest[e.valid_up_to()..]) {
                    Some((_, len)) => valid += len,
                    None => return valid,
                }
            }
        }
    }
}

fn utf8_offset(bytes: &[u8], n: usize) -> usize {
    let is_start = |b: &u8| b & 0xC0 != 0x80;
    let are_single = |first: &[u8]| first.is_ascii() && bytes.get(n).is_none_or(is_start);
    if n == 0 || bytes.get(..n).is_some_and(are_single) {
        return n;
    }
    let starts = bytes.iter().enumerate().filter(|(_, b)| is_start(b));
    starts.map(|(at, _)| at).nth(n).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::Charset::*;

    #[test]
    fn counting() {
        let text = "aé€😀".as_bytes();
        assert_eq!(Utf8mb4.char_count(text), 4);
        assert_eq!(Latin1.char_count(text), 10);
        assert_eq!(Utf8mb4.char_offset(text, 2), 3);
        assert_eq!(Utf8mb4.char_offset(text, 9), 10);
        assert_eq!(Utf8mb4.substring(text, 1, 2), "é€".as_bytes());
        assert_eq!(Utf16.char_count(b"\0a\xD8\x3D\xDE\x00"), 2);
    }

    #[test]
    fn well_formed() {
        assert_eq!(Utf8mb4.well_formed_len(b"a\xC3\xA9\xFFb"), 3);
        assert_eq!(Utf8mb3.well_formed_len("a€😀".as_bytes()), 4);
        assert_eq!(Ascii.well_formed_len(b"ab\x80"), 2);
        assert_eq!(Utf32.well_formed_len(b"\0\0\0a\0\x11\0\0"), 4);
        assert!(Binary.is_well_formed(b"\xFF\0"));
        assert_eq!(Utf8mb4.well_formed_len(b"a\xED\xA0\x80b\xED\xBF\xBF\xED"), 8);
        assert_eq!(Utf8mb4.well_formed_len(b"\xED\xA0"), 0);
    }

    #[test]
    fn trimming() {
        assert_eq!(Latin1.trim_spaces_end(b" a  "), b" a");
        assert_eq!(Ucs2.trim_spaces_end(b"\0a\0 \0 "), b"\0a");
    }
}
