//! Decodes some rows of a block, and the codes of a dictionary.
//!
//! Must give what [`Segment::decode`] gives for the same rows.

use std::sync::Arc;

use selkie_types::{Bitmap, BytesColumn, Column, ColumnData};

use crate::packed::Packed;
use crate::segment::{Body, Dictionary, Numbers, Plain, code};
use crate::{BLOCK_ROWS, Damaged, Segment};

/// A block of which less than this part is wanted is not unpacked as a whole.
const SPARSE: usize = 4;

/// Rows as numbers of entries of a dictionary.
#[derive(Clone, Debug)]
pub struct Codes {
    /// For each row the number of its value among [`Segment::entries`]; a NULL has one too.
    pub of: Vec<u32>,
    /// Set bits are rows that are not NULL; `None` if no row is.
    pub valid: Option<Bitmap>,
}

impl Segment {
    /// The distinct values of a dictionary; `None` if the segment has none.
    pub fn entries(&self) -> Option<&Arc<BytesColumn>> {
        match &self.body {
            Body::Dictionary(dictionary) => Some(&dictionary.entries),
            _ => None,
        }
    }

    /// The codes of a block's rows; `None` if the segment has no dictionary.
    pub fn codes(&self, block: usize) -> Result<Option<Codes>, Damaged> {
        let Body::Dictionary(dictionary) = &self.body else { return Ok(None) };
        let rows = self.rows_of(block);
        let of = dictionary.codes(&self.bytes, (block, rows))?;
        Ok(Some(Codes { of, valid: self.validity(block, rows)? }))
    }

    /// The values of a block's rows with these numbers, which rise and are below
    /// [`Segment::rows_of`].
    pub fn decode_selected(&self, block: usize, rows: &[u32]) -> Result<Column, Damaged> {
        let count = self.rows_of(block);
        if rows.last().is_some_and(|last| *last as usize >= count) {
            return Err(Damaged);
        }
        let data = match &self.body {
            Body::Packed(packed) if rows.len() < count / SPARSE => {
                self.of_numbers(SomeNumbers { packed, bytes: &self.bytes, block, rows })?
            }
            Body::Dictionary(dictionary) => {
                ColumnData::Bytes(dictionary.select(&self.bytes, block, rows)?)
            }
            Body::Plain(plain) => ColumnData::Bytes(plain.select(&self.bytes, block, rows)?),
            Body::Fsst(symbols) => ColumnData::Bytes(symbols.select(&self.bytes, block, rows)?),
            Body::Constant(_) | Body::Packed(_) | Body::Real(_) | Body::Wide(_) => {
                return Ok(self.decode(block)?.gather(rows));
            }
        };
        let validity = self.validity(block, count)?;
        let validity = validity.map(|all| rows.iter().map(|row| all.get(*row as usize)).collect());
        Ok(Column::from_data(data, validity))
    }
}

/// Rows of a block with these numbers.
struct SomeNumbers<'s> {
    packed: &'s Packed,
    bytes: &'s [u8],
    block: usize,
    rows: &'s [u32],
}

impl Numbers for SomeNumbers<'_> {
    fn read<T>(self, value: impl Fn(u64) -> T) -> Result<Vec<T>, Damaged> {
        self.packed.select(self.bytes, (self.block, self.rows), value)
    }
}

impl Dictionary {
    fn select(&self, segment: &[u8], block: usize, rows: &[u32]) -> Result<BytesColumn, Damaged> {
        // Unpacking all codes is cheaper than looking up many.
        let codes = match rows.len() < BLOCK_ROWS / SPARSE {
            true => self.codes.select(segment, (block, rows), code)?,
            false => {
                let all = self.codes.decode(segment, (block, BLOCK_ROWS), code)?;
                rows.iter().map(|row| all[*row as usize]).collect()
            }
        };
        Ok(self.rows_of(self.checked(segment, block, codes)?))
    }
}

impl Plain {
    fn select(&self, segment: &[u8], block: usize, rows: &[u32]) -> Result<BytesColumn, Damaged> {
        let lengths = self.lengths.decode(segment, (block, BLOCK_ROWS), |length| length)?;
        let bytes = self.starts.bytes(segment, block)?;
        let mut out = BytesColumn::with_capacity(rows.len());
        let (mut next, mut at) = (0usize, 0usize);
        for &row in rows {
            for length in lengths.get(next..row as usize).ok_or(Damaged)? {
                at = at
                    .checked_add(usize::try_from(*length).map_err(|_| Damaged)?)
                    .ok_or(Damaged)?;
            }
            let length = usize::try_from(lengths[row as usize]).map_err(|_| Damaged)?;
            let end = at.checked_add(length).ok_or(Damaged)?;
            out.push(bytes.get(at..end).ok_or(Damaged)?);
            (next, at) = (row as usize + 1, end);
        }
        Ok(out)
    }
}
