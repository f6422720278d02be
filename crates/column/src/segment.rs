//! Reads segments: checks the bytes once, then decodes block by block.
//!
//! Must not trust the bytes: they may come from a disk.

use std::sync::Arc;

use ethnum::I256;
use selkie_types::{
    Bitmap, BytesColumn, Column, ColumnData, Date, DateTime, DecimalColumn, DecimalValues,
    Physical, Time,
};

use crate::encode::is_number;
use crate::input::Input;
use crate::packed::Packed;
use crate::starts::Starts;
use crate::symbols::Symbols;
use crate::{BLOCK_ROWS, Damaged};

/// Most bytes of an entry of a dictionary, so that a block is never much larger than its segment.
pub(crate) const MOST_ENTRY_BYTES: usize = 4096;

/// Flag of a segment with NULLs.
pub(crate) const HAS_NULLS: u8 = 1;

/// Form of the values, by its byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Encoding {
    /// All rows have one value, or all are NULL.
    Constant = 0,
    /// Numbers in few bits.
    Packed = 1,
    /// Floating-point numbers.
    Real = 2,
    /// Decimals of which some need more than 64 bits.
    Wide = 3,
    /// Codes of distinct byte strings.
    Dictionary = 4,
    /// Byte strings one after the other.
    Plain = 5,
    /// Byte strings compressed by a table of symbols.
    Fsst = 6,
}

/// The byte of a physical kind.
pub(crate) fn kind_byte(physical: Physical) -> u8 {
    match physical {
        Physical::Int => 0,
        Physical::UInt => 1,
        Physical::Double => 2,
        Physical::Decimal => 3,
        Physical::Date => 4,
        Physical::Time => 5,
        Physical::DateTime => 6,
        Physical::Bytes => 7,
    }
}

fn kind_of(byte: u8) -> Result<Physical, Damaged> {
    Ok(match byte {
        0 => Physical::Int,
        1 => Physical::UInt,
        2 => Physical::Double,
        3 => Physical::Decimal,
        4 => Physical::Date,
        5 => Physical::Time,
        6 => Physical::DateTime,
        7 => Physical::Bytes,
        _ => return Err(Damaged),
    })
}

/// Bounds of the values of a block, as numbers in the values' order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// The least.
    pub least: i64,
    /// The greatest.
    pub greatest: i64,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// The only value, at this position; `None`: NULL.
    Constant(Option<(usize, usize)>),
    Packed(Packed),
    /// Position of the first row.
    Real(usize),
    /// Position of the first row.
    Wide(usize),
    Dictionary(Dictionary),
    Plain(Plain),
    Fsst(Symbols),
}

#[derive(Clone, Debug)]
pub(crate) struct Dictionary {
    pub(crate) entries: Arc<BytesColumn>,
    pub(crate) codes: Packed,
}

#[derive(Clone, Debug)]
pub(crate) struct Plain {
    pub(crate) starts: Starts,
    pub(crate) lengths: Packed,
}

/// Numbers that become values of the kind that a segment has.
pub(crate) trait Numbers {
    fn read<T>(self, value: impl Fn(u64) -> T) -> Result<Vec<T>, Damaged>;
}

struct OneNumber(u64);

impl Numbers for OneNumber {
    fn read<T>(self, value: impl Fn(u64) -> T) -> Result<Vec<T>, Damaged> {
        Ok(vec![value(self.0)])
    }
}

/// The first rows of a block.
struct BlockNumbers<'s> {
    packed: &'s Packed,
    bytes: &'s [u8],
    block: usize,
    rows: usize,
}

impl Numbers for BlockNumbers<'_> {
    fn read<T>(self, value: impl Fn(u64) -> T) -> Result<Vec<T>, Damaged> {
        self.packed.decode(self.bytes, (self.block, self.rows), value)
    }
}

/// The values of one column over many rows.
#[derive(Clone, Debug)]
pub struct Segment {
    pub(crate) bytes: Box<[u8]>,
    encoding: Encoding,
    physical: Physical,
    scale: u8,
    rows: usize,
    /// Position of each block's bits of NULLs; `None` without NULLs. Empty without any.
    nulls: Box<[Option<usize>]>,
    pub(crate) body: Body,
}

impl Segment {
    /// Takes the bytes of a segment.
    pub fn read(bytes: Box<[u8]>) -> Result<Segment, Damaged> {
        let mut input = Input::new(&bytes);
        let encoding = match input.u8()? {
            0 => Encoding::Constant,
            1 => Encoding::Packed,
            2 => Encoding::Real,
            3 => Encoding::Wide,
            4 => Encoding::Dictionary,
            5 => Encoding::Plain,
            6 => Encoding::Fsst,
            _ => return Err(Damaged),
        };
        let physical = kind_of(input.u8()?)?;
        let (scale, flags, rows) = (input.u8()?, input.u8()?, input.u32()? as usize);
        let blocks = rows.div_ceil(BLOCK_ROWS);
        if flags & !HAS_NULLS != 0 {
            return Err(Damaged);
        }
        let nulls = match flags & HAS_NULLS != 0 {
            true => read_nulls(&mut input, blocks)?,
            false => Box::default(),
        };
        let body = match (encoding, physical) {
            (Encoding::Constant, _) => Body::Constant(read_constant(&mut input, physical)?),
            (Encoding::Packed, kind) if is_number(kind) => {
                Body::Packed(Packed::read(&mut input, blocks)?)
            }
            (Encoding::Real, Physical::Double) => {
                let at = input.at();
                input.take(rows.checked_mul(8).ok_or(Damaged)?)?;
                Body::Real(at)
            }
            (Encoding::Wide, Physical::Decimal) => {
                let at = input.at();
                input.take(rows.checked_mul(32).ok_or(Damaged)?)?;
                Body::Wide(at)
            }
            (Encoding::Dictionary, Physical::Bytes) => {
                let entries = read_entries(&mut input)?;
                let (entries, codes) = (Arc::new(entries), Packed::read(&mut input, blocks)?);
                Body::Dictionary(Dictionary { entries, codes })
            }
            (Encoding::Plain, Physical::Bytes) => Body::Plain(read_plain(&mut input, blocks)?),
            (Encoding::Fsst, Physical::Bytes) => Body::Fsst(Symbols::read(&mut input, blocks)?),
            (
                Encoding::Packed
                | Encoding::Real
                | Encoding::Wide
                | Encoding::Dictionary
                | Encoding::Plain
                | Encoding::Fsst,
                _,
            ) => return Err(Damaged),
        };
        input.end()?;
        Ok(Segment { bytes, encoding, physical, scale, rows, nulls, body })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        let beside = match &self.body {
            Body::Constant(_) | Body::Real(_) | Body::Wide(_) => 0,
            Body::Packed(packed) => packed.memory(),
            Body::Dictionary(Dictionary { entries, codes }) => entries.memory() + codes.memory(),
            Body::Plain(Plain { starts, lengths }) => starts.memory() + lengths.memory(),
            Body::Fsst(symbols) => symbols.memory(),
        };
        size_of::<Segment>() + self.bytes.len() + size_of_val(&self.nulls[..]) + beside
    }

    /// The encoding.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The physical kind of the values.
    pub fn physical(&self) -> Physical {
        self.physical
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.rows.div_ceil(BLOCK_ROWS)
    }

    /// Number of rows of a block; 0 behind the last one.
    pub fn rows_of(&self, block: usize) -> usize {
        self.rows.saturating_sub(block.saturating_mul(BLOCK_ROWS)).min(BLOCK_ROWS)
    }

    /// Bounds of the values of a block, if it is known to have some and they are numbers. Values of
    /// NULLs count.
    pub fn zone(&self, block: usize) -> Option<Zone> {
        match &self.body {
            Body::Packed(packed) => {
                packed.range(&self.bytes, block).map(|(least, greatest)| Zone { least, greatest })
            }
            Body::Constant(_)
            | Body::Real(_)
            | Body::Wide(_)
            | Body::Dictionary(_)
            | Body::Plain(_)
            | Body::Fsst(_) => None,
        }
    }

    /// The values of a block.
    pub fn decode(&self, block: usize) -> Result<Column, Damaged> {
        let rows = self.rows_of(block);
        if rows == 0 {
            return Err(Damaged);
        }
        let data = match &self.body {
            Body::Constant(value) => return self.constant(*value, rows),
            Body::Packed(packed) => {
                self.of_numbers(BlockNumbers { packed, bytes: &self.bytes, block, rows })?
            }
            Body::Real(at) => {
                let (bits, _) = self.fixed(*at, block, rows, 8)?.as_chunks::<8>();
                let value = |bits: &[u8; 8]| f64::from_bits(u64::from_le_bytes(*bits));
                ColumnData::Double(bits.iter().map(value).collect())
            }
            Body::Wide(at) => {
                let (bytes, _) = self.fixed(*at, block, rows, 32)?.as_chunks::<32>();
                let values = bytes.iter().map(|value| I256::from_le_bytes(*value)).collect();
                let values = DecimalValues::I256(values);
                ColumnData::Decimal(DecimalColumn::from_values(self.scale, values))
            }
            Body::Dictionary(dictionary) => {
                let codes = dictionary.codes(&self.bytes, (block, rows))?;
                ColumnData::Bytes(dictionary.rows_of(codes))
            }
            Body::Plain(plain) => ColumnData::Bytes(plain.decode(&self.bytes, block, rows)?),
            Body::Fsst(symbols) => ColumnData::Bytes(symbols.decode(&self.bytes, block, rows)?),
        };
        Ok(Column::from_data(data, self.validity(block, rows)?))
    }

    fn constant(&self, value: Option<(usize, usize)>, rows: usize) -> Result<Column, Damaged> {
        let Some((at, len)) = value else {
            return Ok(Column::nulls(self.physical, self.scale, rows));
        };
        let bytes = self.bytes.get(at..at + len).ok_or(Damaged)?;
        let word = |bytes: &[u8]| bytes.first_chunk().map(|word| u64::from_le_bytes(*word));
        let data = match self.physical {
            Physical::Bytes => {
                let mut one = BytesColumn::default();
                one.push(bytes);
                ColumnData::Bytes(one)
            }
            Physical::Double => {
                ColumnData::Double(vec![f64::from_bits(word(bytes).ok_or(Damaged)?)])
            }
            _ => self.of_numbers(OneNumber(word(bytes).ok_or(Damaged)?))?,
        };
        Ok(Column::from_data(data, None).repeat(rows))
    }

    /// Numbers in the values' order as values.
    pub(crate) fn of_numbers(&self, numbers: impl Numbers) -> Result<ColumnData, Damaged> {
        Ok(match self.physical {
            Physical::Int => ColumnData::Int(numbers.read(|v| v as i64)?),
            Physical::UInt => ColumnData::UInt(numbers.read(|v| v ^ 1 << 63)?),
            Physical::Date => ColumnData::Date(numbers.read(|v| Date(v as u32))?),
            Physical::Time => ColumnData::Time(numbers.read(|v| Time(v as i64))?),
            Physical::DateTime => ColumnData::DateTime(numbers.read(|v| DateTime(v as i64))?),
            // The others are never numbers: `read` has checked that.
            Physical::Decimal | Physical::Double | Physical::Bytes => {
                let values = DecimalValues::I64(numbers.read(|v| v as i64)?);
                ColumnData::Decimal(DecimalColumn::from_values(self.scale, values))
            }
        })
    }

    /// The bytes of a block of values of `width` bytes, of which the first is at `at`.
    fn fixed(&self, at: usize, block: usize, rows: usize, width: usize) -> Result<&[u8], Damaged> {
        let from = at + block * BLOCK_ROWS * width;
        self.bytes.get(from..from + rows * width).ok_or(Damaged)
    }

    pub(crate) fn validity(&self, block: usize, rows: usize) -> Result<Option<Bitmap>, Damaged> {
        let Some(at) = self.nulls.get(block).copied().flatten() else { return Ok(None) };
        let bits = self.bytes.get(at..at + BLOCK_ROWS / 8).ok_or(Damaged)?;
        let (words, _) = bits.as_chunks::<8>();
        let words = words.iter().map(|word| !u64::from_le_bytes(*word)).collect();
        let mut validity = Bitmap::from_words(words, BLOCK_ROWS);
        validity.truncate(rows);
        Ok(Some(validity))
    }
}

impl Dictionary {
    /// The codes of a block's first rows.
    pub(crate) fn codes(
        &self,
        segment: &[u8],
        (block, rows): (usize, usize),
    ) -> Result<Vec<u32>, Damaged> {
        let codes = self.codes.decode(segment, (block, rows), code)?;
        self.checked(segment, block, codes)
    }

    /// Codes that were read from a block, if all of them have an entry.
    pub(crate) fn checked(
        &self,
        segment: &[u8],
        block: usize,
        codes: Vec<u32>,
    ) -> Result<Vec<u32>, Damaged> {
        let count = self.entries.len() as u64;
        let is_sure = self.codes.most(segment, block).is_some_and(|most| most < count);
        // The compiler makes steps of several codes of a fold, and of `max` none.
        let most = || codes.iter().fold(0, |most, code| *code.max(&most));
        match is_sure || codes.is_empty() || u64::from(most()) < count {
            true => Ok(codes),
            false => Err(Damaged),
        }
    }

    /// Rows with these codes.
    pub(crate) fn rows_of(&self, codes: Vec<u32>) -> BytesColumn {
        BytesColumn::of_codes(codes, self.entries.clone())
    }
}

/// A number as a code; no dictionary has an entry for one that is too large.
#[inline]
pub(crate) fn code(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Plain {
    fn decode(&self, segment: &[u8], block: usize, rows: usize) -> Result<BytesColumn, Damaged> {
        let lengths = self.lengths.decode(segment, (block, rows), |length| length)?;
        let mut rest = self.starts.bytes(segment, block)?;
        let mut out = BytesColumn::with_capacity(rows);
        out.buffer().reserve(rest.len());
        for length in &lengths {
            let length = usize::try_from(*length).map_err(|_| Damaged)?;
            let (value, behind) = rest.split_at_checked(length).ok_or(Damaged)?;
            out.push(value);
            rest = behind;
        }
        if rest.is_empty() { Ok(out) } else { Err(Damaged) }
    }
}

fn read_nulls(input: &mut Input<'_>, blocks: usize) -> Result<Box<[Option<usize>]>, Damaged> {
    let marks = input.take(blocks)?;
    let place = |mark: &u8| match mark {
        0 => Ok(None),
        1 => {
            let at = input.at();
            input.take(BLOCK_ROWS / 8)?;
            Ok(Some(at))
        }
        _ => Err(Damaged),
    };
    marks.iter().map(place).collect()
}

fn read_constant(
    input: &mut Input<'_>,
    physical: Physical,
) -> Result<Option<(usize, usize)>, Damaged> {
    let len = match (input.u8()?, physical) {
        (0, _) => return Ok(None),
        (1, Physical::Bytes) => input.u32()? as usize,
        (1, _) => 8,
        _ => return Err(Damaged),
    };
    let at = input.at();
    input.take(len)?;
    Ok(Some((at, len)))
}

fn read_entries(input: &mut Input<'_>) -> Result<BytesColumn, Damaged> {
    let count = input.u32()? as usize;
    let mut ends = Input::new(input.take(count.checked_mul(4).ok_or(Damaged)?)?);
    let mut entries = BytesColumn::with_capacity(count);
    let mut before = 0;
    for _ in 0..count {
        let end = ends.u32()? as usize;
        let entry = input.take(end.checked_sub(before).ok_or(Damaged)?)?;
        if entry.len() > MOST_ENTRY_BYTES {
            return Err(Damaged);
        }
        entries.push(entry);
        before = end;
    }
    Ok(entries)
}

fn read_plain(input: &mut Input<'_>, blocks: usize) -> Result<Plain, Damaged> {
    let ends = Starts::ends(input, blocks)?;
    let lengths = Packed::read(input, blocks)?;
    Ok(Plain { starts: Starts::read(input, ends, blocks)?, lengths })
}
