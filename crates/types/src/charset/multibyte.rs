//! The East Asian character sets of one to three bytes per character.
//!
//! A rule ([`Shape`]) says which bytes form a character. Its code point, its cases and its weight
//! come from `data/multibyte.bin`, observed by `generate/multibyte.py`. A character has a code: its
//! bytes as a number. A character of three bytes (the first is `8F`) has the code of its last two
//! bytes, with the high bit of the last cleared. Must not know of collations other than their
//! weights.

use std::sync::LazyLock;

use super::Charset;

const DATA: &[u8] = include_bytes!("../../data/multibyte.bin");

/// Sections per character set in the data.
const SECTIONS: usize = 8;
/// Marks a row that does not exist, and a code point without a character.
const NONE: u16 = 0xFFFF;

/// Rule that says which bytes form a character.
#[derive(Copy, Clone, PartialEq)]
enum Shape {
    Big5,
    /// Shift-JIS: half-width kana are single bytes.
    Sjis,
    /// EUC: half-width kana after `8E`, a third set of characters after `8F`.
    EucJp,
    Euckr,
    Gb2312,
    Gbk,
}

/// One of the character sets.
pub(crate) struct MultiByte {
    shape: Shape,
    /// Number of the row of each first byte; rows of three-byte characters come after the others.
    rows: [u16; 512],
    /// Second bytes that have cells.
    trails: std::ops::RangeInclusive<u8>,
    single: [u16; 256],
    cells: Vec<u16>,
    /// Code of each code point; [`NONE`] if it has none.
    codes: Vec<u16>,
    upper: Vec<(u16, u16)>,
    lower: Vec<(u16, u16)>,
    single_weights: [u8; 256],
    /// Weights of the cells; empty if they equal the codes.
    weights: Vec<u16>,
}

/// The character sets, in the order of the data.
static SETS: LazyLock<Vec<MultiByte>> = LazyLock::new(|| {
    let mut data = DATA;
    let shapes = [
        (Shape::Big5, 0x40..=0xFE),
        (Shape::Sjis, 0x40..=0xFC),
        (Shape::EucJp, 0xA1..=0xFE),
        (Shape::Euckr, 0x41..=0xFE),
        (Shape::Gb2312, 0xA1..=0xFE),
        (Shape::Gbk, 0x40..=0xFE),
        (Shape::Sjis, 0x40..=0xFC),
        (Shape::EucJp, 0xA1..=0xFE),
    ];
    shapes.map(|(shape, trails)| MultiByte::load(shape, trails, section(&mut data))).into()
});

/// Takes the next section off the data.
fn section<'a>(data: &mut &'a [u8]) -> &'a [u8] {
    let Some((len, rest)) = data.split_first_chunk::<4>() else { return &[] };
    let (section, rest) = rest.split_at((u32::from_le_bytes(*len) as usize).min(rest.len()));
    *data = rest;
    section
}

fn words(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks::<2>().0.iter().map(|&w| u16::from_le_bytes(w)).collect()
}

fn pairs(bytes: &[u8]) -> Vec<(u16, u16)> {
    words(bytes).as_chunks::<2>().0.iter().map(|&[a, b]| (a, b)).collect()
}

impl MultiByte {
    /// The tables of a character set; `None` if it is none of these.
    #[inline]
    pub(super) fn of(charset: Charset) -> Option<&'static Self> {
        Some(
            &SETS[match charset {
                Charset::Big5 => 0,
                Charset::Cp932 => 1,
                Charset::Eucjpms => 2,
                Charset::Euckr => 3,
                Charset::Gb2312 => 4,
                Charset::Gbk => 5,
                Charset::Sjis => 6,
                Charset::Ujis => 7,
                _ => return None,
            }],
        )
    }

    fn load(shape: Shape, trails: std::ops::RangeInclusive<u8>, mut data: &[u8]) -> Self {
        let [rows, single, cells, odd, upper, lower, single_weights, weights]: [&[u8]; SECTIONS] =
            std::array::from_fn(|_| section(&mut data));
        let mut set = Self {
            shape,
            rows: words(rows).try_into().unwrap_or([NONE; 512]),
            trails,
            single: words(single).try_into().unwrap_or([0; 256]),
            cells: words(cells),
            codes: Vec::new(),
            upper: pairs(upper),
            lower: pairs(lower),
            single_weights: single_weights.try_into().unwrap_or([0; 256]),
            weights: words(weights),
        };
        set.codes = set.reverse(&pairs(odd));
        set
    }

    /// Code of each code point: the smallest code with it, except for those listed in `odd`.
    fn reverse(&self, odd: &[(u16, u16)]) -> Vec<u16> {
        let mut codes = vec![NONE; 0x1_0000];
        codes[0] = 0;
        let mut put = |unicode: u16, code: u16| {
            let place = &mut codes[usize::from(unicode)];
            if unicode != 0 && *place > code {
                *place = code;
            }
        };
        for (byte, &unicode) in (0..).zip(&self.single) {
            put(unicode, byte);
        }
        let width = self.trails.clone().count();
        for (lead, &row) in self.rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
            let from = usize::from(row) * width;
            let cells = self.cells.get(from..from + width).unwrap_or_default();
            for (trail, &unicode) in self.trails.clone().zip(cells) {
                let trail = if lead < 256 { trail } else { trail & 0x7F };
                put(unicode, u16::from_be_bytes([lead as u8, trail]));
            }
        }
        if self.shape == Shape::EucJp {
            (0xA1..=0xDFu8).for_each(|b| put(half_width(b), u16::from_be_bytes([0x8E, b])));
        }
        for &(unicode, code) in odd {
            codes[usize::from(unicode)] = code;
        }
        codes
    }

    /// Length of the well-formed character at the start; it need not be assigned.
    #[inline]
    pub(super) fn len(&self, bytes: &[u8]) -> Option<usize> {
        let first = *bytes.first()?;
        if first < 0x80 {
            return Some(1);
        }
        if self.shape == Shape::Sjis && matches!(first, 0xA1..=0xDF) {
            return Some(1);
        }
        let second = *bytes.get(1)?;
        let good = match self.shape {
            Shape::Big5 => {
                matches!((first, second), (0xA1..=0xF9, 0x40..=0x7E | 0xA1..=0xFE))
            }
            Shape::Sjis => {
                matches!((first, second), (0x81..=0x9F | 0xE0..=0xFC, 0x40..=0x7E | 0x80..=0xFC))
            }
            Shape::EucJp => match first {
                0x8E => matches!(second, 0xA1..=0xDF),
                0x8F => {
                    let three = matches!((second, bytes.get(2)), (0xA1..=0xFE, Some(0xA1..=0xFE)));
                    return three.then_some(3);
                }
                _ => matches!((first, second), (0xA1..=0xFE, 0xA1..=0xFE)),
            },
            Shape::Euckr => {
                let trail = matches!(second, 0x41..=0x5A | 0x61..=0x7A | 0x81..=0xFE);
                matches!(first, 0x81..=0xFE) && trail
            }
            Shape::Gb2312 => matches!((first, second), (0xA1..=0xF7, 0xA1..=0xFE)),
            Shape::Gbk => matches!((first, second), (0x81..=0xFE, 0x40..=0x7E | 0x80..=0xFE)),
        };
        good.then_some(2)
    }

    /// The code of a well-formed character.
    fn code(bytes: &[u8]) -> u16 {
        match *bytes {
            [a] => u16::from(a),
            [_, b, c] => u16::from_be_bytes([b, c & 0x7F]),
            [a, b, ..] => u16::from_be_bytes([a, b]),
            [] => 0,
        }
    }

    /// Position in the cells of a code of more than one byte.
    fn cell(&self, code: u16) -> Option<usize> {
        let [lead, trail] = code.to_be_bytes();
        let three = self.shape == Shape::EucJp && trail < 0x80;
        let row = self.rows[usize::from(lead) + if three { 256 } else { 0 }];
        let trail = if three { trail | 0x80 } else { trail };
        if row == NONE || !self.trails.contains(&trail) {
            return None;
        }
        Some(
            usize::from(row) * self.trails.clone().count()
                + usize::from(trail - self.trails.start()),
        )
    }

    /// Code point and length of the character at the start; `None` if it is not assigned.
    pub(super) fn decode(&self, bytes: &[u8]) -> Option<(u32, usize)> {
        let len = self.len(bytes)?;
        let code = Self::code(&bytes[..len]);
        let unicode = match len {
            1 => self.single[usize::from(bytes[0])],
            2 if self.shape == Shape::EucJp && bytes[0] == 0x8E => half_width(bytes[1]),
            _ => *self.cells.get(self.cell(code)?)?,
        };
        (unicode != 0 || code == 0).then_some((u32::from(unicode), len))
    }

    /// Appends a character; false if the set does not have it.
    pub(super) fn encode(&self, unicode: u32, out: &mut Vec<u8>) -> bool {
        let code = usize::try_from(unicode).ok().and_then(|at| self.codes.get(at));
        let Some(&code) = code.filter(|code| **code != NONE) else { return false };
        self.put(code, out);
        true
    }

    fn put(&self, code: u16, out: &mut Vec<u8>) {
        let [a, b] = code.to_be_bytes();
        match (a, b) {
            (0, b) => out.push(b),
            (a, 0..=0x7F) if self.shape == Shape::EucJp => out.extend([0x8F, a, b | 0x80]),
            _ => out.extend([a, b]),
        }
    }

    /// Appends a well-formed character in upper or in lower case.
    pub(super) fn put_case(&self, bytes: &[u8], upper: bool, out: &mut Vec<u8>) {
        let list = if upper { &self.upper } else { &self.lower };
        let code = Self::code(bytes);
        match list.binary_search_by_key(&code, |pair| pair.0) {
            Ok(at) => self.put(list[at].1, out),
            Err(_) => out.extend_from_slice(bytes),
        }
    }

    /// The weight of a well-formed character. It is in the upper bytes, so that weights of
    /// different lengths compare as bytes do.
    #[inline]
    pub(super) fn weight(&self, bytes: &[u8]) -> u32 {
        match *bytes {
            [a] => u32::from(self.single_weights[usize::from(a)]) << 16,
            [a, b] if self.weights.is_empty() => u32::from(a) << 16 | u32::from(b) << 8,
            [_, _] => {
                let code = Self::code(bytes);
                let listed = self.cell(code).and_then(|at| self.weights.get(at));
                u32::from(*listed.unwrap_or(&code)) << 8
            }
            [a, b, c] => u32::from_be_bytes([0, a, b, c]),
            _ => 0,
        }
    }
}

impl MultiByte {
    /// Appends the weights of a text; a weight has as many bytes as its character.
    pub(crate) fn put_weights(&self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while !bytes.is_empty() {
            let len = self.len(bytes);
            let (char, rest) = bytes.split_at(len.unwrap_or(1));
            match len {
                Some(len) => out.extend_from_slice(&self.weight(char).to_be_bytes()[1..=len]),
                None => out.extend([0xFF, char[0]]),
            }
            bytes = rest;
        }
    }
}

/// Half-width kana of the EUC sets, which follow `8E`.
fn half_width(byte: u8) -> u16 {
    if byte >= 0xA1 { 0xFF61 + u16::from(byte - 0xA1) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::super::Charset::*;

    #[test]
    fn characters() {
        assert_eq!(Sjis.decode(b"\x83\x5C"), Some((0x30BD, 2)));
        assert_eq!(Sjis.decode(b"\xB1"), Some((0xFF71, 1)));
        assert_eq!(Ujis.decode(b"\x8E\xB1"), Some((0xFF71, 2)));
        assert_eq!(Ujis.decode(b"\x8F\xA2\xAF"), Some((0x2D8, 3)));
        assert_eq!(Gbk.decode(b"\xD6\xD0"), Some((0x4E2D, 2)));
        assert_eq!(Gbk.well_formed_len(b"a\xD6"), 1);
        assert_eq!(Big5.char_count(b"\xA4\xE9a"), 2);
        assert_eq!(
            Utf8mb4.convert("日本語a".as_bytes(), Euckr).0,
            &b"\xEC\xED\xDC\xE2\xE5\xDEa"[..]
        );
    }

    #[test]
    fn whatever_is_decoded_is_a_character() {
        for charset in [Big5, Cp932, Eucjpms, Euckr, Gb2312, Gbk, Sjis, Ujis] {
            for code in 0..0x1_0000u32 {
                let mut bytes = Vec::new();
                if charset.encode(code, &mut bytes) {
                    assert!(charset.is_well_formed(&bytes), "{charset:?} {code:X}");
                }
            }
        }
    }
}
