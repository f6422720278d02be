//! Text as a sequence of weights: the one definition of order. Comparing, hashing, searching,
//! pattern matching and key encoding share it.

use super::collation::Rule;
use super::multibyte::MultiByte;
use super::tables::{General, Sequence, UCA_400, UCA_520, Uca};
use super::tailoring::{Tailored, Tailoring};
use super::{Charset, Collation, codec};

/// Turns text into weights.
pub(crate) trait Weigher: Copy {
    /// Bytes of a weight; in keys too, unless `DENSE`.
    const WIDTH: usize;
    /// Weights have different lengths in a key, because most are below 0x80; otherwise each has two
    /// bytes.
    const DENSE: bool = false;
    /// Each byte is one weight, so that bytes can be skipped freely.
    const BYTEWISE: bool;
    /// A following character may change the weights of a character.
    const CONTRACTS: bool = false;

    /// The weights of the first character, and its length in bytes (0 at the end).
    fn next<'a>(&'a self, bytes: &[u8]) -> (Weights<'a>, usize);

    /// The weight of a space.
    fn space(&self) -> u32;

    /// The weights of ASCII characters, zero for a character that does not have exactly one; `None`
    /// if bytes below 0x80 are not always ASCII characters.
    #[inline]
    fn ascii(&self) -> Option<&'static [u16; 128]> {
        None
    }

    /// Whether each ASCII letter has the weight of its capital, and each other ASCII character its
    /// code.
    #[inline]
    fn is_upper_ascii(&self) -> bool {
        false
    }
}

/// The weights of one character.
#[derive(Copy, Clone)]
pub(crate) enum Weights<'a> {
    /// One weight.
    One(u32),
    /// A computed pair.
    Two([u16; 2]),
    /// None or many.
    Many(&'a [u16]),
}

impl<'a> Weights<'a> {
    #[inline]
    pub(crate) fn of(list: &'a [u16]) -> Self {
        match list {
            &[w] => Self::One(u32::from(w)),
            list => Self::Many(list),
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Two(_) => 2,
            Self::Many(m) => m.len(),
        }
    }

    #[inline]
    pub(crate) fn get(&self, i: usize) -> u32 {
        match self {
            Self::One(w) => *w,
            Self::Two(w) => u32::from(w[i]),
            Self::Many(m) => u32::from(m[i]),
        }
    }
}

/// The weights of a text, one after the other.
pub(crate) struct Stream<'a, W> {
    weigher: &'a W,
    bytes: &'a [u8],
    pending: Weights<'a>,
    at: usize,
}

impl<'a, W: Weigher> Stream<'a, W> {
    #[inline]
    pub(crate) fn new(weigher: &'a W, bytes: &'a [u8]) -> Self {
        Self { weigher, bytes, pending: Weights::Many(&[]), at: 0 }
    }
}

impl<W: Weigher> Iterator for Stream<'_, W> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        loop {
            if self.at < self.pending.len() {
                self.at += 1;
                return Some(self.pending.get(self.at - 1));
            }
            let (weights, len) = self.weigher.next(self.bytes);
            if len == 0 {
                return None;
            }
            self.bytes = &self.bytes[len..];
            if let Weights::One(w) = weights {
                return Some(w);
            }
            self.pending = weights;
            self.at = 0;
        }
    }
}

/// Each byte is its own weight.
#[derive(Copy, Clone)]
pub(crate) struct Bytes;

impl Weigher for Bytes {
    const WIDTH: usize = 1;
    const BYTEWISE: bool = true;

    #[inline]
    fn next(&self, bytes: &[u8]) -> (Weights<'_>, usize) {
        bytes.first().map_or((Weights::One(0), 0), |&b| (Weights::One(u32::from(b)), 1))
    }

    fn space(&self) -> u32 {
        0x20
    }
}

/// One weight per byte, from a table.
#[derive(Copy, Clone)]
pub(crate) struct Table(pub(crate) &'static [u8; 256]);

impl Weigher for Table {
    const WIDTH: usize = 1;
    const BYTEWISE: bool = true;

    #[inline]
    fn next(&self, bytes: &[u8]) -> (Weights<'_>, usize) {
        let weight = |&b: &u8| (Weights::One(u32::from(self.0[usize::from(b)])), 1);
        bytes.first().map_or((Weights::One(0), 0), weight)
    }

    fn space(&self) -> u32 {
        u32::from(self.0[0x20])
    }
}

/// Bytes that are no character: each has a weight of its own, above that of every character.
#[inline]
pub(super) fn bad(bytes: &[u8], charset: Charset) -> (Weights<'static>, usize) {
    match bytes.first() {
        None => (Weights::One(0), 0),
        Some(&b) => (Weights::One(0xFF00 | u32::from(b)), bytes.len().min(charset.min_len())),
    }
}

/// ASCII in `general_ci`: weights of the upper-case letters.
static GENERAL_ASCII: [u16; 128] = {
    let mut table = [0; 128];
    let mut i = 1;
    while i < 128 {
        table[i] = (i as u8).to_ascii_uppercase() as u16;
        i += 1;
    }
    table
};

/// The two-byte weights of `general_ci` over UTF-8.
#[derive(Copy, Clone)]
pub(crate) struct GeneralUtf8(General);

impl Weigher for GeneralUtf8 {
    const WIDTH: usize = 2;
    const DENSE: bool = true;
    const BYTEWISE: bool = false;

    #[inline]
    fn next(&self, bytes: &[u8]) -> (Weights<'_>, usize) {
        match bytes.first() {
            Some(&b) if b < 0x80 => (Weights::One(u32::from(b.to_ascii_uppercase())), 1),
            _ => match codec::utf8(bytes) {
                Some((code, len)) => (Weights::One(u32::from(self.0.weight(code))), len),
                None => bad(bytes, Charset::Utf8mb4),
            },
        }
    }

    fn space(&self) -> u32 {
        0x20
    }

    #[inline]
    fn ascii(&self) -> Option<&'static [u16; 128]> {
        Some(&GENERAL_ASCII)
    }

    #[inline]
    fn is_upper_ascii(&self) -> bool {
        true
    }
}

/// The two-byte weights of `general_ci` over another encoding.
#[derive(Copy, Clone)]
pub(crate) struct GeneralWide(General, Charset);

impl Weigher for GeneralWide {
    const WIDTH: usize = 2;
    const DENSE: bool = true;
    const BYTEWISE: bool = false;

    fn next(&self, bytes: &[u8]) -> (Weights<'_>, usize) {
        match self.1.decode(bytes) {
            Some((code, len)) => (Weights::One(u32::from(self.0.weight(code))), len),
            None => bad(bytes, self.1),
        }
    }

    fn space(&self) -> u32 {
        0x20
    }
}

/// Code points of an encoding whose units are wider than a byte or whose bytes do not sort by code.
#[derive(Copy, Clone)]
pub(crate) struct Codes(Charset);

impl Weigher for Codes {
    const WIDTH: usize = 3;
    const BYTEWISE: bool = false;

    fn next(&self, bytes: &[u8]) -> (Weights<'_>, usize) {
        match self.0.decode(bytes) {
            Some((code, len)) => (Weights::One(code), len),
            None => {
                let (_, len) = bad(bytes, self.0);
                (Weights::One(0xFF_FF00 | bytes.first().map_or(0, |&b| u32::from(b))), len)
            }
        }
    }

    fn space(&self) -> u32 {
        0x20
    }
}

/// The Unicode collation algorithm, first level.
#[derive(Copy, Clone)]
pub(crate) struct Unicode {
    table: &'static Uca,
    charset: Charset,
    /// See [`Weigher::ascii`]; all zero if the charset is not ASCII-compatible.
    ascii: &'static [u16; 128],
}

impl Unicode {
    fn new(table: &'static Uca, charset: Charset) -> Self {
        let ascii = if charset.is_ascii_compatible() { table.ascii() } else { &[0; 128] };
        Self { table, charset, ascii }
    }
}

impl Weigher for Unicode {
    const WIDTH: usize = 2;
    const BYTEWISE: bool = false;

    #[inline]
    fn next(&self, bytes: &[u8]) -> (Weights<'_>, usize) {
        if let Some(&b) = bytes.first()
            && let Some(&w) = self.ascii.get(usize::from(b))
            && w != 0
        {
            return (Weights::One(u32::from(w)), 1);
        }
        let Some((code, len)) = self.charset.decode(bytes) else {
            return bad(bytes, self.charset);
        };
        match self.table.sequence(code) {
            Sequence::Listed(list) => (Weights::of(list), len),
            Sequence::Computed(pair) => (Weights::Two(pair), len),
        }
    }

    fn space(&self) -> u32 {
        u32::from(self.table.ascii()[0x20])
    }

    #[inline]
    fn ascii(&self) -> Option<&'static [u16; 128]> {
        Some(self.ascii)
    }
}

/// Weights of the East Asian character sets.
#[derive(Copy, Clone)]
pub(crate) struct EastAsian(&'static MultiByte);

impl Weigher for EastAsian {
    const WIDTH: usize = 3;
    const BYTEWISE: bool = false;

    #[inline]
    fn next(&self, bytes: &[u8]) -> (Weights<'_>, usize) {
        match self.0.len(bytes) {
            Some(len) => (Weights::One(self.0.weight(&bytes[..len])), len),
            None => match bytes.first() {
                Some(&b) => (Weights::One(0xFF_0000 | u32::from(b) << 8), 1),
                None => (Weights::One(0), 0),
            },
        }
    }

    fn space(&self) -> u32 {
        0x20_0000
    }
}

/// German telephone books: one or two weights per byte.
#[derive(Copy, Clone)]
pub(crate) struct German;

impl Weigher for German {
    const WIDTH: usize = 1;
    const BYTEWISE: bool = false;

    #[inline]
    fn next(&self, bytes: &[u8]) -> (Weights<'_>, usize) {
        let Some(&b) = bytes.first() else { return (Weights::One(0), 0) };
        match super::eight_bit::german(b) {
            [one, 0] => (Weights::One(u32::from(one)), 1),
            pair => (Weights::Two(pair.map(u16::from)), 1),
        }
    }

    fn space(&self) -> u32 {
        0x20
    }
}

/// The weigher of a collation, for [`with_weigher`].
pub(crate) enum AnyWeigher {
    Bytes(Bytes),
    Table(Table),
    GeneralUtf8(GeneralUtf8),
    GeneralWide(GeneralWide),
    Codes(Codes),
    Unicode(Unicode),
    Tailored(Tailored),
    EastAsian(EastAsian),
    German(German),
}

impl Collation {
    /// The tables of an East Asian order.
    pub(crate) fn east_asian(&self) -> Option<&'static MultiByte> {
        if self.rule == Rule::MultiByte { MultiByte::of(self.charset) } else { None }
    }

    /// The longest start of a text whose weights do not depend on what follows the text.
    pub(crate) fn settled<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        match self.rule {
            Rule::Tailored(n) => Tailoring::get(n).weigher(self.charset, 0).settled(bytes),
            _ => bytes,
        }
    }

    /// The weigher for single characters, as LIKE and LOCATE compare.
    pub(crate) fn char_weigher(&self) -> AnyWeigher {
        match self.rule {
            Rule::German | Rule::Whole(_) => {
                AnyWeigher::Table(Table(super::eight_bit::char_order(self.id)))
            }
            _ => self.weigher(),
        }
    }

    /// The weigher for a further level, counted from 1.
    pub(crate) fn weigher_at(&self, level: u8) -> AnyWeigher {
        match self.rule {
            Rule::Tailored(n) => {
                let level = usize::from(level);
                AnyWeigher::Tailored(Tailoring::get(n).weigher(self.charset, level))
            }
            _ => self.weigher(),
        }
    }

    /// The weigher of this collation's first level.
    #[inline]
    pub(crate) fn weigher(&self) -> AnyWeigher {
        let general = |g| match self.charset {
            Charset::Utf8mb3 | Charset::Utf8mb4 => AnyWeigher::GeneralUtf8(GeneralUtf8(g)),
            _ => AnyWeigher::GeneralWide(GeneralWide(g, self.charset)),
        };
        match self.rule {
            Rule::Code if self.charset.min_len() == 1 => AnyWeigher::Bytes(Bytes),
            Rule::Code => AnyWeigher::Codes(Codes(self.charset)),
            Rule::Table(n) => AnyWeigher::Table(Table(super::eight_bit::order(n))),
            Rule::General => general(General::CURRENT),
            Rule::General500 => general(General::OLD),
            Rule::Unicode400 => AnyWeigher::Unicode(Unicode::new(&UCA_400, self.charset)),
            Rule::Unicode520 => AnyWeigher::Unicode(Unicode::new(&UCA_520, self.charset)),
            Rule::Tailored(n) => AnyWeigher::Tailored(Tailoring::get(n).weigher(self.charset, 0)),
            Rule::MultiByte => MultiByte::of(self.charset)
                .map_or(AnyWeigher::Bytes(Bytes), |set| AnyWeigher::EastAsian(EastAsian(set))),
            Rule::German => AnyWeigher::German(German),
            Rule::Whole(_) => AnyWeigher::Bytes(Bytes),
        }
    }
}

/// Runs an expression, compiled for each kind of weigher, with the given one.
macro_rules! match_weigher {
    ($weigher:expr, $w:ident => $body:expr) => {
        match $weigher {
            $crate::charset::weights::AnyWeigher::Bytes($w) => $body,
            $crate::charset::weights::AnyWeigher::Table($w) => $body,
            $crate::charset::weights::AnyWeigher::GeneralUtf8($w) => $body,
            $crate::charset::weights::AnyWeigher::GeneralWide($w) => $body,
            $crate::charset::weights::AnyWeigher::Codes($w) => $body,
            $crate::charset::weights::AnyWeigher::Unicode($w) => $body,
            $crate::charset::weights::AnyWeigher::Tailored($w) => $body,
            $crate::charset::weights::AnyWeigher::EastAsian($w) => $body,
            $crate::charset::weights::AnyWeigher::German($w) => $body,
        }
    };
}
pub(crate) use match_weigher;

/// [`match_weigher`] with the weigher of a collation's first level.
macro_rules! with_weigher {
    ($collation:expr, $w:ident => $body:expr) => {
        $crate::charset::weights::match_weigher!($collation.weigher(), $w => $body)
    };
}
pub(crate) use with_weigher;
