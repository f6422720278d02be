//! The layout of a dynamic column string.
//!
//! First a byte of flags, the number of columns (2 bytes), and with names their total length (2
//! bytes). Then an entry per column: its number or the offset of its name (2 bytes), then the
//! offset of its value and the value's kind in one number. Then the names, then the values. Entries
//! are sorted by number, or by length and bytes of the name. All numbers are little-endian.

use std::borrow::Cow;
use std::cmp::Ordering;

/// Error: the string holds no dynamic columns.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Name of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Name<'a> {
    Number(u16),
    /// In utf8.
    Text(Cow<'a, [u8]>),
}

impl Name<'_> {
    /// The name as text; the digits of a number.
    pub(crate) fn text(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Number(number) => number.to_string().into_bytes().into(),
            Self::Text(text) => Cow::Borrowed(text),
        }
    }

    /// Whether both name the same column; a number equals the text of its digits.
    pub(crate) fn is(&self, other: &Name<'_>) -> bool {
        match (self, other) {
            (Self::Number(a), Name::Number(b)) => a == b,
            _ => self.text() == other.text(),
        }
    }

    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.cmp(b),
            _ => {
                let (a, b) = (self.text(), other.text());
                a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
            }
        }
    }
}

/// A stored column.
#[derive(Clone, Debug)]
pub(crate) struct Stored<'a> {
    pub(crate) name: Name<'a>,
    /// Kind of its value.
    pub(crate) kind: u8,
    pub(crate) value: Cow<'a, [u8]>,
}

/// The columns of a string.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns<'a> {
    /// The columns have names, not numbers.
    pub(crate) named: bool,
    pub(crate) list: Vec<Stored<'a>>,
}

const OFFSET_SIZE: u8 = 0b11;
const NAMES: u8 = 0b100;
const KNOWN: u8 = 0b1_1111;

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

impl<'a> Columns<'a> {
    /// Reads a string; an empty string has no columns.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Some(&flags) = bytes.first() else { return Ok(Self::default()) };
        let named = flags & NAMES != 0;
        let fixed = if named { 5 } else { 3 };
        if flags & !KNOWN != 0 || bytes.len() < fixed {
            return Err(Malformed);
        }
        let count = number(&bytes[1..3]) as usize;
        let names = if named { number(&bytes[3..5]) as usize } else { 0 };
        let size = usize::from(flags & OFFSET_SIZE) + if named { 2 } else { 1 };
        let header = fixed + count * (2 + size);
        if header + names > bytes.len() {
            return Err(Malformed);
        }
        let layout = Layout {
            named,
            entries: &bytes[fixed..header],
            size,
            names: &bytes[header..header + names],
            values: &bytes[header + names..],
        };
        let list = (0..count).map(|at| layout.column(at)).collect::<Result<_, _>>()?;
        Ok(Self { named, list })
    }

    /// The column with this name.
    pub(crate) fn find(&self, name: &Name<'_>) -> Option<&Stored<'a>> {
        self.list.iter().find(|column| column.name.is(name))
    }

    /// Adds a column; there must be none with its name.
    pub(crate) fn push(&mut self, column: Stored<'a>) {
        self.named |= matches!(column.name, Name::Text(_));
        self.list.push(column);
    }

    /// Removes a column.
    pub(crate) fn remove(&mut self, name: &Name<'_>) {
        self.list.retain(|column| !column.name.is(name));
    }

    /// Appends the string; false if the format cannot hold that much.
    pub(crate) fn write(mut self, out: &mut Vec<u8>) -> bool {
        if self.named {
            self.list
                .iter_mut()
                .for_each(|c| c.name = Name::Text(c.name.text().into_owned().into()));
        }
        self.list.sort_by(|a, b| a.name.order(&b.name));
        let texts: usize =
            if self.named { self.list.iter().map(|c| c.name.text().len()).sum() } else { 0 };
        let values: usize = self.list.iter().map(|c| c.value.len()).sum();
        let Some(size) = offset_size(values, self.named) else { return false };
        let Ok(count) = u16::try_from(self.list.len()) else { return false };
        let Ok(texts) = u16::try_from(texts) else { return false };
        let code = (size - if self.named { 2 } else { 1 }) as u8;
        out.push(code | if self.named { NAMES } else { 0 });
        out.extend_from_slice(&count.to_le_bytes());
        if self.named {
            out.extend_from_slice(&texts.to_le_bytes());
        }
        self.write_entries(size, out);
        if self.named {
            self.list.iter().for_each(|c| out.extend_from_slice(&c.name.text()));
        }
        self.list.iter().for_each(|c| out.extend_from_slice(&c.value));
        true
    }

    fn write_entries(&self, size: usize, out: &mut Vec<u8>) {
        let (mut name_at, mut value_at) = (0u16, 0u64);
        for column in &self.list {
            match &column.name {
                Name::Number(number) => out.extend_from_slice(&number.to_le_bytes()),
                Name::Text(text) => {
                    out.extend_from_slice(&name_at.to_le_bytes());
                    name_at = name_at.wrapping_add(text.len() as u16);
                }
            }
            let packed = value_at << kind_bits(self.named) | u64::from(column.kind - 1);
            out.extend_from_slice(&packed.to_le_bytes()[..size]);
            value_at += column.value.len() as u64;
        }
    }
}

fn kind_bits(named: bool) -> u32 {
    if named { 4 } else { 3 }
}

/// Size of the offsets of values in bytes; `None` if the format cannot hold that much.
fn offset_size(values: usize, named: bool) -> Option<usize> {
    let sizes = if named { 2..=5 } else { 1..=4 };
    let fits = |size: &usize| (values as u64) < (1 << (8 * *size as u32 - kind_bits(named))) - 1;
    sizes.into_iter().find(fits)
}

struct Layout<'a> {
    named: bool,
    entries: &'a [u8],
    /// Size of the offset of a value, in bytes.
    size: usize,
    names: &'a [u8],
    values: &'a [u8],
}

impl<'a> Layout<'a> {
    /// An entry: its first number, the kind and the offset of its value.
    fn entry(&self, at: usize) -> Option<(usize, u8, usize)> {
        let entry = self.entries.chunks_exact(2 + self.size).nth(at)?;
        let packed = number(&entry[2..]);
        let bits = kind_bits(self.named);
        let kind = (packed & ((1 << bits) - 1)) as u8 + 1;
        Some((number(&entry[..2]) as usize, kind, (packed >> bits) as usize))
    }

    fn column(&self, at: usize) -> Result<Stored<'a>, Malformed> {
        let (first, kind, start) = self.entry(at).ok_or(Malformed)?;
        let next = self.entry(at + 1);
        let end = next.map_or(self.values.len(), |(_, _, start)| start);
        let value = self.values.get(start..end).ok_or(Malformed)?.into();
        let name = if self.named {
            let end = next.map_or(self.names.len(), |(first, ..)| first);
            Name::Text(self.names.get(first..end).ok_or(Malformed)?.into())
        } else {
            Name::Number(first as u16)
        };
        Ok(Stored { name, kind, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: Name<'static>, value: &'static [u8]) -> Stored<'static> {
        Stored { name, kind: 1, value: value.into() }
    }

    #[test]
    fn writes_numbers_and_names() {
        let mut columns = Columns::default();
        columns.push(column(Name::Number(2), &[4]));
        columns.push(column(Name::Number(1), &[2]));
        let mut out = Vec::new();
        assert!(columns.clone().write(&mut out));
        assert_eq!(out, [0, 2, 0, 1, 0, 0, 2, 0, 8, 2, 4]);
        columns.push(column(Name::Text((*b"a").to_vec().into()), &[6]));
        out.clear();
        assert!(columns.write(&mut out));
        let read = Columns::parse(&out).unwrap();
        assert!(read.named);
        assert_eq!(read.find(&Name::Number(2)).unwrap().value[..], [4]);
        assert_eq!(read.list[2].name.text()[..], *b"a");
    }

    #[test]
    fn refuses_what_is_malformed() {
        assert_eq!(Columns::parse(b"").unwrap().list.len(), 0);
        for bytes in [&b"a"[..], &[0, 1], &[0, 1, 0, 1, 0], &[0, 1, 0, 1, 0, 0xF8], &[255, 0, 0]] {
            assert!(Columns::parse(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn offsets_grow_with_the_values() {
        assert_eq!(offset_size(30, false), Some(1));
        assert_eq!(offset_size(31, false), Some(2));
        assert_eq!(offset_size(4094, true), Some(2));
        assert_eq!(offset_size(4095, true), Some(3));
    }
}
