//! Character sets of one byte per character, from tables.
//! The tables in `data/` were observed on a MariaDB server (`generate/tables.py`).

use std::sync::LazyLock;

use super::{Charset, CollationId};

const TABLES: &[u8; 25 * RECORD] = include_bytes!("../../data/eight_bit.bin");
const ORDERS: &[u8; 39 * 256] = include_bytes!("../../data/eight_bit_order.bin");
/// Two weights per byte for German; order of single characters in four orders; levels of the two
/// Czech orders, for each byte and three more letters (`special` in `generate/tables.py`).
const SPECIAL: &[u8; 512 + 4 * 256 + 6 * LETTERS] = include_bytes!("../../data/special_orders.bin");

/// Letters of the Czech orders: the bytes, and `ch` in three cases.
const LETTERS: usize = 259;

/// Bytes per character set: Unicode, upper case, lower case.
const RECORD: usize = 512 + 256 + 256;

/// The tables of one character set.
#[derive(Copy, Clone)]
pub(super) struct EightBit(usize);

impl EightBit {
    /// The tables of the character set; `None` if it is none of these.
    pub(super) const fn of(charset: Charset) -> Option<Self> {
        Some(Self(match charset {
            Charset::Dec8 => 0,
            Charset::Cp850 => 1,
            Charset::Hp8 => 2,
            Charset::Koi8r => 3,
            Charset::Latin1 => 4,
            Charset::Latin2 => 5,
            Charset::Swe7 => 6,
            Charset::Ascii => 7,
            Charset::Hebrew => 8,
            Charset::Koi8u => 9,
            Charset::Greek => 10,
            Charset::Cp1250 => 11,
            Charset::Latin5 => 12,
            Charset::Armscii8 => 13,
            Charset::Cp866 => 14,
            Charset::Keybcs2 => 15,
            Charset::Macce => 16,
            Charset::Macroman => 17,
            Charset::Cp852 => 18,
            Charset::Latin7 => 19,
            Charset::Cp1251 => 20,
            Charset::Cp1256 => 21,
            Charset::Cp1257 => 22,
            Charset::Geostd8 => 23,
            Charset::Tis620 => 24,
            _ => return None,
        }))
    }

    fn record(self) -> &'static [u8] {
        &TABLES[self.0 * RECORD..(self.0 + 1) * RECORD]
    }

    /// The code point of a byte, if it is assigned.
    pub(super) fn to_unicode(self, byte: u8) -> Option<u32> {
        let at = usize::from(byte) * 2;
        let record = self.record();
        let code = u16::from_le_bytes([record[at], record[at + 1]]);
        // Thai bytes without a character become U+FFFD.
        (code != 0 || byte == 0).then_some(u32::from(code))
    }

    /// The byte of a code point, if there is one.
    pub(super) fn byte_of(self, code: u32) -> Option<u8> {
        static REVERSE: LazyLock<Vec<Vec<(u16, u8)>>> =
            LazyLock::new(|| (0..TABLES.len() / RECORD).map(|n| reverse(EightBit(n))).collect());
        let code = u16::try_from(code).ok()?;
        let list = &REVERSE[self.0];
        list.binary_search_by_key(&code, |e| e.0).ok().map(|i| list[i].1)
    }

    /// The upper case of each byte.
    pub(super) fn upper(self) -> &'static [u8] {
        &self.record()[512..768]
    }

    /// The lower case of each byte.
    pub(super) fn lower(self) -> &'static [u8] {
        &self.record()[768..]
    }
}

/// Code points in order with their first bytes.
fn reverse(set: EightBit) -> Vec<(u16, u8)> {
    let known = |b: u8| {
        // Compat: U+FFFD becomes the last of the Thai bytes without a character.
        let code = set.to_unicode(b).filter(|code| *code != 0xFFFD || b == 0xFF)?;
        Some((code as u16, b))
    };
    let mut list: Vec<_> = (0..=255).filter_map(known).collect();
    list.sort_unstable();
    list.dedup_by_key(|e| e.0);
    list
}

/// The weights of all bytes in table number `table` of `Rule::Table`.
pub(super) fn order(table: u8) -> &'static [u8; 256] {
    let (tables, _) = ORDERS.as_chunks::<256>();
    &tables[usize::from(table)]
}

/// The two weights of a byte in German telephone books; the second is zero if there is only one.
pub(super) fn german(byte: u8) -> [u8; 2] {
    let at = usize::from(byte) * 2;
    [SPECIAL[at], SPECIAL[at + 1]]
}

/// Order of single characters in a collation that is no table.
pub(super) fn char_order(collation: CollationId) -> &'static [u8; 256] {
    let (tables, _) = SPECIAL[512..].as_chunks::<256>();
    match collation.charset() {
        Charset::Latin1 => &tables[0],
        Charset::Tis620 => &tables[1],
        Charset::Latin2 => &tables[2],
        _ => &tables[3],
    }
}

/// A level of `latin2_czech_cs`, from 0 to 3.
pub(super) fn czech_latin2(level: usize) -> &'static [u8] {
    let from = 512 + 4 * 256 + level * LETTERS;
    &SPECIAL[from..from + LETTERS]
}

/// A level of `cp1250_czech_cs`, 0 or 1.
pub(super) fn czech_1250(level: usize) -> &'static [u8] {
    let from = 512 + 4 * 256 + (4 + level) * LETTERS;
    &SPECIAL[from..from + LETTERS]
}
