//! Character sets of one byte a character, from tables.

use std::sync::LazyLock;

use super::Charset;

const TABLES: &[u8; 24 * RECORD] = include_bytes!("../../data/eight_bit.bin");
const ORDERS: &[u8; 39 * 256] = include_bytes!("../../data/eight_bit_order.bin");

/// Bytes of one character set: Unicode, upper case, lower case.
const RECORD: usize = 512 + 256 + 256;

/// The tables of one character set.
#[derive(Copy, Clone)]
pub(super) struct EightBit(usize);

impl EightBit {
    /// The tables, if the character set has such.
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
    let known = |b: u8| set.to_unicode(b).map(|code| (code as u16, b));
    let mut list: Vec<_> = (0..=255).filter_map(known).collect();
    list.sort_unstable();
    list.dedup_by_key(|e| e.0);
    list
}

/// The weights of the bytes in one of the tables `Rule::Table` names.
pub(super) fn order(table: u8) -> &'static [u8; 256] {
    let (tables, _) = ORDERS.as_chunks::<256>();
    &tables[usize::from(table)]
}
