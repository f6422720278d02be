//! Characters from bytes and back, for each character set.
//! Total: malformed bytes give `None`, never a wrong character.

use super::Charset;
use super::eight_bit::EightBit;
use super::multibyte::MultiByte;

/// Halves of UTF-16's pairs.
const SURROGATES: std::ops::Range<u32> = 0xD800..0xE000;

impl Charset {
    /// The first character and its length in bytes; `None` if the bytes are not a character.
    ///
    /// For `binary` every byte is a character.
    #[inline]
    pub fn decode(self, bytes: &[u8]) -> Option<(u32, usize)> {
        match self {
            Self::Utf8mb4 => utf8(bytes),
            Self::Utf8mb3 => utf8(bytes).filter(|c| c.1 <= 3),
            Self::Binary => bytes.first().map(|&b| (u32::from(b), 1)),
            Self::Ucs2 => {
                let &[a, b] = bytes.first_chunk()?;
                Some((u32::from(u16::from_be_bytes([a, b])), 2))
            }
            Self::Utf16 => utf16(bytes, u16::from_be_bytes),
            Self::Utf16le => utf16(bytes, u16::from_le_bytes),
            Self::Utf32 => {
                let code = u32::from_be_bytes(*bytes.first_chunk()?);
                (code <= 0x10_FFFF).then_some((code, 4))
            }
            _ => {
                if let Some(set) = MultiByte::of(self) {
                    return set.decode(bytes);
                }
                let table = EightBit::of(self)?;
                table.to_unicode(*bytes.first()?).map(|code| (code, 1))
            }
        }
    }

    /// Appends a character; `false` if the character set has no such character.
    pub fn encode(self, code: u32, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Utf8mb4 => put_utf8(code, out),
            Self::Utf8mb3 => code <= 0xFFFF && put_utf8(code, out),
            Self::Binary => put_byte(u8::try_from(code).ok(), out),
            Self::Ucs2 => match u16::try_from(code) {
                Ok(unit) => {
                    out.extend_from_slice(&unit.to_be_bytes());
                    true
                }
                Err(_) => false,
            },
            Self::Utf16 => put_utf16(code, out, u16::to_be_bytes),
            Self::Utf16le => put_utf16(code, out, u16::to_le_bytes),
            Self::Utf32 => {
                out.extend_from_slice(&code.to_be_bytes());
                true
            }
            _ if self.max_len() > 1 => MultiByte::of(self).is_some_and(|set| set.encode(code, out)),
            _ => put_byte(EightBit::of(self).and_then(|table| table.byte_of(code)), out),
        }
    }
}

/// The first character of UTF-8.
///
/// Compat: the halves of UTF-16's pairs are characters of their own.
#[inline]
pub(super) fn utf8(bytes: &[u8]) -> Option<(u32, usize)> {
    let tail = |i: usize| -> Option<u32> {
        bytes.get(i).filter(|&&b| b & 0xC0 == 0x80).map(|&b| u32::from(b & 0x3F))
    };
    let first = u32::from(*bytes.first()?);
    match first {
        0..=0x7F => Some((first, 1)),
        0xC2..=0xDF => Some(((first & 0x1F) << 6 | tail(1)?, 2)),
        0xE0..=0xEF => {
            let code = (first & 0x0F) << 12 | tail(1)? << 6 | tail(2)?;
            (code >= 0x800).then_some((code, 3))
        }
        0xF0..=0xF4 => {
            let code = (first & 0x07) << 18 | tail(1)? << 12 | tail(2)? << 6 | tail(3)?;
            (0x1_0000..=0x10_FFFF).contains(&code).then_some((code, 4))
        }
        _ => None,
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<(u32, usize)> {
    let first = u32::from(unit(*bytes.first_chunk()?));
    match first {
        0xD800..=0xDBFF => {
            let second = u32::from(unit(*bytes.get(2..)?.first_chunk()?));
            let code = 0x1_0000 + ((first & 0x3FF) << 10) + (second & 0x3FF);
            (0xDC00..0xE000).contains(&second).then_some((code, 4))
        }
        0xDC00..=0xDFFF => None,
        _ => Some((first, 2)),
    }
}

fn put_utf8(code: u32, out: &mut Vec<u8>) -> bool {
    match char::from_u32(code) {
        Some(c) => {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            true
        }
        None if SURROGATES.contains(&code) => {
            let tail = |shift: u32| 0x80 | (code >> shift & 0x3F) as u8;
            out.extend_from_slice(&[0xED, tail(6), tail(0)]);
            true
        }
        None => false,
    }
}

fn put_utf16(code: u32, out: &mut Vec<u8>, bytes: fn(u16) -> [u8; 2]) -> bool {
    match char::from_u32(code) {
        Some(c) => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.extend_from_slice(&bytes(*unit));
            }
            true
        }
        None => false,
    }
}

fn put_byte(byte: Option<u8>, out: &mut Vec<u8>) -> bool {
    out.extend(byte);
    byte.is_some()
}
