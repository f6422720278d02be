//! A row in MariaDB's in-memory format: NULL flags, then each value in the format of its type.
//!
//! Only CHECKSUM TABLE uses these bytes. They must not be stored or read back.

use selkie_catalog::TableInfo;
use selkie_engine::TableDef;
use selkie_types::{SqlResult, SqlType, TypeKind, Value};

use crate::state::error::corrupt;

/// Writer of rows of one table.
pub(super) struct RowImage<'a> {
    def: &'a TableDef,
    /// Whether each column is stored, not computed when read.
    stored: Vec<bool>,
    /// Whether the first flag belongs to no column.
    reserved: bool,
}

impl<'a> RowImage<'a> {
    pub(super) fn new(table: &'a TableInfo) -> Self {
        let is_virtual =
            |c: &selkie_catalog::ColumnInfo| c.generated.as_ref().is_some_and(|g| !g.stored);
        let varies = |c: &selkie_engine::ColumnDef| {
            c.ty.is_string() && c.ty.kind != TypeKind::Char || is_blob(&c.ty)
        };
        let dynamic = table.options.shown.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("row_format") && value.eq_ignore_ascii_case("dynamic")
        });
        Self {
            def: &table.def,
            stored: table.columns.iter().map(|c| !is_virtual(c)).collect(),
            reserved: !dynamic && !table.def.columns.iter().any(varies),
        }
    }

    /// Appends the row's bytes.
    pub(super) fn write(&self, row: &[u8], out: &mut Vec<u8>) -> SqlResult<()> {
        let layout = &self.def.layout;
        let mut flags = Flags::default();
        if self.reserved {
            flags.push(true);
        }
        let start = out.len();
        let mut values = Vec::new();
        for (at, column) in self.def.columns.iter().enumerate() {
            let value =
                if self.stored[at] { layout.value(row, at).map_err(corrupt)? } else { Value::Null };
            if column.nullable {
                flags.push(value.is_null());
            }
            write_value(&column.ty, &value, &mut values);
        }
        out.splice(start.., flags.finish());
        out.extend_from_slice(&values);
        Ok(())
    }
}

fn is_blob(ty: &SqlType) -> bool {
    use TypeKind::{LongText, MediumText, Text, TinyText};
    matches!(ty.kind, TinyText | Text | MediumText | LongText)
}

/// NULL flags, from the lowest bit of the first byte on; unused bits of the last byte are set.
#[derive(Default)]
struct Flags {
    bytes: Vec<u8>,
    count: usize,
}

impl Flags {
    fn push(&mut self, set: bool) {
        if self.count.is_multiple_of(8) {
            self.bytes.push(0xff);
        }
        if let (false, Some(last)) = (set, self.bytes.last_mut()) {
            *last &= !(1 << (self.count % 8));
        }
        self.count += 1;
    }

    fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

fn write_value(ty: &SqlType, value: &Value, out: &mut Vec<u8>) {
    let small_end = |out: &mut Vec<u8>, v: u64, bytes: usize| {
        out.extend_from_slice(&v.to_le_bytes()[..bytes]);
    };
    match (value, ty.kind) {
        (Value::Null, _) => {}
        (Value::UInt(v), TypeKind::Year) => out.push(v.saturating_sub(1900) as u8),
        (Value::UInt(v), TypeKind::Bit) => big_end(out, *v, ty.length.div_ceil(8) as usize),
        (Value::UInt(v), TypeKind::Enum) => {
            small_end(out, *v, if members(ty) < 256 { 1 } else { 2 })
        }
        (Value::UInt(v), TypeKind::Set) => small_end(out, *v, set_bytes(members(ty))),
        (Value::Int(v), kind) => small_end(out, *v as u64, integer_bytes(kind)),
        (Value::UInt(v), kind) => small_end(out, *v, integer_bytes(kind)),
        (Value::Double(v), TypeKind::Float) => out.extend_from_slice(&(*v as f32).to_le_bytes()),
        (Value::Double(v), _) => out.extend_from_slice(&v.to_le_bytes()),
        (Value::Decimal(v), _) => write_decimal(ty, v, out),
        (Value::Date(v), _) => {
            let packed = v.year() << 9 | v.month() << 5 | v.day();
            small_end(out, packed.into(), 3);
        }
        (Value::Time(v), _) => write_time(*v, ty.decimals, out),
        (Value::DateTime(v), TypeKind::Timestamp) => {
            let seconds = if v.0 == 0 { 0 } else { v.unix_micros().div_euclid(1_000_000) };
            big_end(out, seconds as u64, 4);
            write_fraction(v.micros().into(), ty.decimals, out);
        }
        (Value::DateTime(v), _) => {
            big_end(out, ((v.0 >> 24) + 0x80_0000_0000) as u64, 5);
            write_fraction(v.micros().into(), ty.decimals, out);
        }
        (Value::Bytes(bytes), TypeKind::Char) => {
            let width = ty.length as usize * ty.collation.charset().max_len();
            let binary = ty.collation == selkie_types::CollationId::BINARY;
            out.extend_from_slice(bytes);
            out.extend(std::iter::repeat_n(
                if binary { 0 } else { b' ' },
                width.saturating_sub(bytes.len()),
            ));
        }
        (Value::Bytes(bytes), _) => out.extend_from_slice(bytes),
    }
}

fn members(ty: &SqlType) -> usize {
    ty.members.as_ref().map_or(0, |members| members.len())
}

fn set_bytes(members: usize) -> usize {
    match members.div_ceil(8) {
        bytes @ 0..=4 => bytes.max(1),
        _ => 8,
    }
}

fn integer_bytes(kind: TypeKind) -> usize {
    match kind {
        TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::MediumInt => 3,
        TypeKind::Int => 4,
        _ => 8,
    }
}

fn big_end(out: &mut Vec<u8>, value: u64, bytes: usize) {
    out.extend_from_slice(&value.to_be_bytes()[8 - bytes.min(8)..]);
}

fn write_fraction(micros: i64, digits: u8, out: &mut Vec<u8>) {
    match digits {
        0 => {}
        1 | 2 => out.push((micros / 10_000) as u8),
        3 | 4 => big_end(out, (micros / 100) as u64, 2),
        _ => big_end(out, micros as u64, 3),
    }
}

fn write_time(time: selkie_types::Time, digits: u8, out: &mut Vec<u8>) {
    let clock =
        i64::from(time.hour()) << 12 | i64::from(time.minute()) << 6 | i64::from(time.second());
    let packed = clock << 24 | i64::from(time.micros());
    let packed = if time.is_negative() { -packed } else { packed };
    if digits > 4 {
        return big_end(out, (packed + 0x8000_0000_0000) as u64, 6);
    }
    big_end(out, ((packed >> 24) + 0x80_0000) as u64, 3);
    write_fraction(packed % (1 << 24), digits, out);
}

/// Groups of nine digits take four bytes each; the shorter groups at both ends take as few bytes as
/// hold them.
fn write_decimal(ty: &SqlType, value: &selkie_types::Decimal, out: &mut Vec<u8>) {
    const BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];
    let (fraction, whole) =
        (usize::from(ty.decimals), (ty.length as usize).saturating_sub(ty.decimals.into()));
    let mut text = Vec::new();
    value.abs().write_to(&mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    let (high, low) = text.split_once('.').unwrap_or((&text, ""));
    let high = high.trim_start_matches('0');
    let digits = format!("{high:0>whole$}{low:0<fraction$}");
    let start = out.len();
    let mut at = 0;
    let mut group = |out: &mut Vec<u8>, len: usize| {
        let number: u64 = digits.get(at..at + len).and_then(|d| d.parse().ok()).unwrap_or(0);
        big_end(out, number, BYTES[len]);
        at += len;
    };
    group(out, whole % 9);
    (0..whole / 9).for_each(|_| group(out, 9));
    (0..fraction / 9).for_each(|_| group(out, 9));
    group(out, fraction % 9);
    if value.is_negative() {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    if let Some(first) = out.get_mut(start) {
        *first ^= 0x80;
    }
}

/// The CRC-32 of zip and Ethernet.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    let step = |crc: u32, byte: &u8| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)];
    !bytes.iter().fold(u32::MAX, step)
}

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let mut crc = at as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[at] = crc;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc_of_the_check_string() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn flags_fill_up_with_ones() {
        let mut flags = Flags::default();
        [true, false, true].into_iter().for_each(|set| flags.push(set));
        assert_eq!(flags.finish(), [0xfd]);
        let mut flags = Flags::default();
        (0..9).for_each(|_| flags.push(false));
        assert_eq!(flags.finish(), [0, 0xfe]);
    }

    #[test]
    fn decimals_in_groups_of_nine_digits() {
        let ty = SqlType::new(TypeKind::Decimal, 14, 4);
        let mut out = Vec::new();
        write_decimal(&ty, &selkie_types::Decimal::parse(b"1234567890.1234").value, &mut out);
        assert_eq!(out, [0x81, 0x0d, 0xfb, 0x38, 0xd2, 0x04, 0xd2]);
    }
}
