//! Optional metadata of TABLE_MAP events: names, signs, charsets, members, primary key.
//!
//! Must not fail on kinds that are not known: each field says its length.

use crate::bytes::{Reader, put_lenenc, put_lenenc_bytes};
use crate::error::DecodeResult;

/// Kinds of optional metadata.
pub mod field {
    /// A bit for each numeric column, from the highest on: 1 is unsigned.
    pub const SIGNEDNESS: u8 = 1;
    /// Collation of most character columns, then pairs of a column and its own.
    pub const DEFAULT_CHARSET: u8 = 2;
    /// Collation of each character column.
    pub const COLUMN_CHARSET: u8 = 3;
    /// Name of each column.
    pub const COLUMN_NAME: u8 = 4;
    /// Members of each SET column.
    pub const SET_STR_VALUE: u8 = 5;
    /// Members of each ENUM column.
    pub const ENUM_STR_VALUE: u8 = 6;
    /// Type of each geometry column.
    pub const GEOMETRY_TYPE: u8 = 7;
    /// Columns of the primary key.
    pub const SIMPLE_PRIMARY_KEY: u8 = 8;
    /// Pairs of a column of the primary key and the length of its prefix, 0 for all of it.
    pub const PRIMARY_KEY_WITH_PREFIX: u8 = 9;
    /// As [`DEFAULT_CHARSET`], for ENUM and SET columns.
    pub const ENUM_AND_SET_DEFAULT_CHARSET: u8 = 10;
    /// As [`COLUMN_CHARSET`], for ENUM and SET columns.
    pub const ENUM_AND_SET_COLUMN_CHARSET: u8 = 11;
    /// A bit for each column, from the highest on: 1 is visible; of MySQL.
    pub const VISIBILITY: u8 = 12;
}

/// The optional metadata of a table, as bytes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionalFields<'a>(pub &'a [u8]);

impl<'a> OptionalFields<'a> {
    /// The fields in order. Nothing comes behind an error.
    pub fn iter(self) -> impl Iterator<Item = DecodeResult<OptionalField<'a>>> {
        let mut reader = Reader::new(self.0);
        std::iter::from_fn(move || {
            if reader.is_empty() {
                return None;
            }
            let found = OptionalField::decode(&mut reader);
            if found.is_err() {
                reader.take_rest();
            }
            Some(found)
        })
    }

    /// The field of a kind.
    pub fn find(self, kind: u8) -> DecodeResult<Option<OptionalField<'a>>> {
        let is_it = |found: &DecodeResult<OptionalField<'a>>| match found {
            Ok(field) => field.kind == kind,
            Err(_) => true,
        };
        self.iter().find(is_it).transpose()
    }
}

/// One kind of optional metadata.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OptionalField<'a> {
    /// See [`field`].
    pub kind: u8,
    /// Its bytes.
    pub bytes: &'a [u8],
}

impl<'a> OptionalField<'a> {
    fn decode(reader: &mut Reader<'a>) -> DecodeResult<Self> {
        let kind = reader.u8("kind of optional metadata")?;
        Ok(Self { kind, bytes: reader.lenenc_bytes("optional metadata")? })
    }

    /// Appends the field.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.kind);
        put_lenenc_bytes(out, self.bytes);
    }

    /// Its bits, from the highest on: as many as asked for and there are.
    pub fn bits(&self, count: usize) -> impl Iterator<Item = bool> + use<'a> {
        let bits = |byte: &u8| (0..8).map(|at| *byte & (0x80 >> at) != 0).collect::<Vec<_>>();
        self.bytes.iter().flat_map(bits).take(count)
    }

    /// Its numbers.
    pub fn numbers(&self) -> DecodeResult<Vec<u64>> {
        let mut reader = Reader::new(self.bytes);
        let mut out = Vec::new();
        while !reader.is_empty() {
            out.push(reader.lenenc("number in optional metadata")?);
        }
        Ok(out)
    }

    /// Its texts.
    pub fn texts(&self) -> DecodeResult<Vec<&'a [u8]>> {
        let mut reader = Reader::new(self.bytes);
        let mut out = Vec::new();
        while !reader.is_empty() {
            out.push(reader.lenenc_bytes("text in optional metadata")?);
        }
        Ok(out)
    }

    /// Its lists of texts, each behind the count of its texts.
    pub fn text_lists(&self) -> DecodeResult<Vec<Vec<&'a [u8]>>> {
        let mut reader = Reader::new(self.bytes);
        let mut lists = Vec::new();
        while !reader.is_empty() {
            let count = reader.lenenc("count of texts in optional metadata")?;
            let mut list = Vec::new();
            for _ in 0..count {
                list.push(reader.lenenc_bytes("text in optional metadata")?);
            }
            lists.push(list);
        }
        Ok(lists)
    }

    /// Bytes of bits, from the highest on.
    pub fn of_bits(bits: &[bool]) -> Vec<u8> {
        let byte = |part: &[bool]| {
            part.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << (7 - at))
        };
        bits.chunks(8).map(byte).collect()
    }

    /// Bytes of numbers.
    pub fn of_numbers(numbers: &[u64]) -> Vec<u8> {
        let mut out = Vec::new();
        numbers.iter().for_each(|number| put_lenenc(&mut out, *number));
        out
    }

    /// Bytes of texts.
    pub fn of_texts(texts: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        texts.iter().for_each(|text| put_lenenc_bytes(&mut out, text));
        out
    }

    /// Bytes of lists of texts.
    pub fn of_text_lists(lists: &[Vec<&[u8]>]) -> Vec<u8> {
        let mut out = Vec::new();
        for list in lists {
            put_lenenc(&mut out, list.len() as u64);
            list.iter().for_each(|text| put_lenenc_bytes(&mut out, text));
        }
        out
    }
}
