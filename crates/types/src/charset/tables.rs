//! The observed tables in `data/`, as arrays.
//!
//! `general_*`, `upper*`, `lower*`: a page index (one `u16` per 256 code points, [`SAME`] for a
//! page without a table), then the pages of 256 `u16`: weights, or differences to add to the code.
//! `uca*`: two `u32` (bytes of the paged part, number of offsets), the paged part with numbers of
//! sequences, the offsets of the sequences, and the pool of weights they point into.

use std::sync::OnceLock;

const SAME: u16 = 0xFFFF;
const IMPLICIT: u16 = 0xFFFE;
const REPLACEMENT: u16 = 0xFFFD;

const fn u16s<const N: usize>(bytes: &[u8], from: usize) -> [u16; N] {
    let mut out = [0; N];
    let mut i = 0;
    while i < N {
        out[i] = u16::from_le_bytes([bytes[from + 2 * i], bytes[from + 2 * i + 1]]);
        i += 1;
    }
    out
}

const fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
}

macro_rules! paged {
    ($name:ident, $pages:literal, $file:literal) => {
        static $name: Paged = {
            const BYTES: &[u8] = include_bytes!(concat!("../../data/", $file));
            static WORDS: [u16; BYTES.len() / 2] = u16s(BYTES, 0);
            Paged { words: &WORDS, pages: $pages }
        };
    };
}

/// A table over code points; pages may be missing.
pub(super) struct Paged {
    words: &'static [u16],
    pages: usize,
}

impl Paged {
    /// A table made once at run time: the index of the pages, then the pages.
    pub(super) fn unpacked(words: Vec<u16>, pages: usize) -> Self {
        Self { words: Vec::leak(words), pages }
    }

    /// The cell of a code point, or the mark of its page if that has no cells.
    #[inline]
    fn cell(&self, code: u32) -> Result<u16, u16> {
        let page = (code >> 8) as usize;
        if page >= self.pages {
            return Err(SAME);
        }
        let number = self.words[page];
        let at = self.pages + usize::from(number) * 256 + (code & 0xFF) as usize;
        self.words.get(at).copied().ok_or(number)
    }
}

paged!(GENERAL, 256, "general_ci.bin");
paged!(GENERAL_500, 256, "general_mysql500_ci.bin");
paged!(UPPER, 256, "upper.bin");
paged!(LOWER, 256, "lower.bin");
paged!(UPPER_520, 512, "upper520.bin");
paged!(LOWER_520, 512, "lower520.bin");

/// One of the two-byte weight tables.
#[derive(Copy, Clone)]
pub(super) struct General(&'static Paged);

impl General {
    /// `general_ci`.
    pub(super) const CURRENT: Self = Self(&GENERAL);
    /// `general_mysql500_ci`.
    pub(super) const OLD: Self = Self(&GENERAL_500);

    /// The weight of a code point; all code points outside the first plane have the same weight.
    #[inline]
    pub(super) fn weight(self, code: u32) -> u16 {
        match self.0.cell(code) {
            Ok(weight) => weight,
            Err(_) if code > 0xFFFF => REPLACEMENT,
            Err(_) => code as u16,
        }
    }
}

/// Pair of case tables of a collation.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum CaseTable {
    /// Unicode 3, first plane only.
    Old,
    /// Unicode 5.2.
    New,
}

impl CaseTable {
    /// The upper case of a code point.
    pub(super) fn upper(self, code: u32) -> u32 {
        shifted(if self == Self::Old { &UPPER } else { &UPPER_520 }, code)
    }

    /// The lower case of a code point.
    pub(super) fn lower(self, code: u32) -> u32 {
        shifted(if self == Self::Old { &LOWER } else { &LOWER_520 }, code)
    }
}

fn shifted(table: &Paged, code: u32) -> u32 {
    match table.cell(code) {
        Ok(difference) => code & !0xFFFF | u32::from((code as u16).wrapping_add(difference)),
        Err(_) => code,
    }
}

/// A table of the Unicode collation algorithm: a sequence of weights for each code point.
pub(super) struct Uca {
    paged: Paged,
    offsets: &'static [u16],
    pool: &'static [u16],
    ascii: OnceLock<[u16; 128]>,
    version: Version,
}

/// Version of a table, which decides about code points outside it.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Version {
    /// 4.0.0 and 5.2.0.
    Old,
    /// 14.0.0.
    V14,
}

/// The weights of one character.
#[derive(Copy, Clone)]
pub(super) enum Sequence {
    /// In the pool.
    Listed(&'static [u16]),
    /// Computed from the code point.
    Computed([u16; 2]),
}

macro_rules! uca {
    ($name:ident, $pages:literal, $file:literal, $version:expr) => {
        pub(super) static $name: Uca = {
            const BYTES: &[u8] = include_bytes!(concat!("../../data/", $file));
            const PAGED: usize = u32_at(BYTES, 0) / 2;
            const OFFSETS: usize = u32_at(BYTES, 4);
            const POOL: usize = BYTES.len() / 2 - 4 - PAGED - OFFSETS;
            static WORDS: [u16; PAGED] = u16s(BYTES, 8);
            static STARTS: [u16; OFFSETS] = u16s(BYTES, 8 + 2 * PAGED);
            static WEIGHTS: [u16; POOL] = u16s(BYTES, 8 + 2 * (PAGED + OFFSETS));
            Uca {
                paged: Paged { words: &WORDS, pages: $pages },
                offsets: &STARTS,
                pool: &WEIGHTS,
                ascii: OnceLock::new(),
                version: $version,
            }
        };
    };
}

uca!(UCA_400, 256, "uca400.bin", Version::Old);
uca!(UCA_520, 4352, "uca520.bin", Version::Old);
uca!(UCA_1400, 4352, "uca1400.bin", Version::V14);

impl Uca {
    /// A table of another level, made when it is first needed.
    pub(super) fn unpacked(paged: Paged, offsets: Vec<u16>, pool: Vec<u16>) -> Self {
        let (offsets, pool) = (Vec::leak(offsets), Vec::leak(pool));
        Self { paged, offsets, pool, ascii: OnceLock::new(), version: Version::V14 }
    }

    /// The weights of ASCII characters; zero for a character that does not have exactly one.
    pub(super) fn ascii(&self) -> &[u16; 128] {
        self.ascii.get_or_init(|| {
            std::array::from_fn(|code| match self.sequence(code as u32) {
                Sequence::Listed(&[w]) => w,
                _ => 0,
            })
        })
    }

    /// The weights of a code point; none for an ignored character.
    #[inline]
    pub(super) fn sequence(&self, code: u32) -> Sequence {
        let number = match self.paged.cell(code) {
            Ok(number) | Err(number) => number,
        };
        match number {
            IMPLICIT => Sequence::Computed(implicit(code, self.version)),
            REPLACEMENT | SAME => Sequence::Listed(&[REPLACEMENT]),
            _ => {
                let n = usize::from(number);
                Sequence::Listed(
                    &self.pool[usize::from(self.offsets[n])..usize::from(self.offsets[n + 1])],
                )
            }
        }
    }
}

/// The weights of characters that are not in the table: Han characters and unassigned code points.
fn implicit(code: u32, version: Version) -> [u16; 2] {
    let new = version == Version::V14;
    let base = match code {
        0x4E00..=0x9FA5 => 0xFB40,
        0x9FA6..=0x9FFF if new => 0xFB40,
        0xFA0E | 0xFA0F | 0xFA11 | 0xFA13 | 0xFA14 | 0xFA1F | 0xFA21 | 0xFA23 | 0xFA24 => 0xFB40,
        0xFA27..=0xFA29 => 0xFB40,
        0x3400..=0x4DB5 => 0xFB80,
        0x4DB6..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B738 if new => 0xFB80,
        0x2B740..=0x2B81D | 0x2B820..=0x2CEA1 | 0x2CEB0..=0x2EBE0 if new => 0xFB80,
        0x30000..=0x3134A if new => 0xFB80,
        _ => 0xFBC0,
    };
    [base + (code >> 15) as u16, (code & 0x7FFF) as u16 | 0x8000]
}
