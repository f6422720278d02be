//! Decodes some rows of a block, and the codes of a dictionary.
//!
//! Must give what [`Segment::decode`] gives for the same rows.

use std::sync::Arc;

use selkie_types::{Bitmap, BytesColumn, Column, ColumnData};

use crate::packed::Packed;
use crate::segment::{Body, Dictionary, Plain};
use crate::{BLOCK_ROWS, Damaged, Segment};

/// A block of which less than this part is wanted is not unpacked as a whole.
const SPARSE: usize = 4;

/// Rows as numbers of entries of a dictionary.
#[derive(Clone, Debug)]
pub struct Codes {
    /// For each row the number of its value among [`Segment::entries`]; a NULL has one too.
    pub of: Vec<u64>,
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
        let codes = dictionary.codes.decode(&self.bytes, block)?;
        let codes = codes.get(..rows).ok_or(Damaged)?;
        let count = dictionary.entries.len() as u64;
        match codes.iter().all(|code| *code < count) {
            true => Ok(Some(Codes { of: codes.to_vec(), valid: self.validity(block, rows)? })),
            false => Err(Damaged),
        }
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
                self.of_numbers(&packed.select(&self.bytes, block, rows)?)
            }
            Body::Dictionary(dictionary) => {
                ColumnData::Bytes(dictionary.select(&self.bytes, block, rows)?)
            }
            Body::Plain(plain) => ColumnData::Bytes(plain.select(&self.bytes, block, rows)?),
            Body::Constant(_) | Body::Packed(_) | Body::Real(_) | Body::Wide(_) => {
                return Ok(self.decode(block)?.gather(rows));
            }
        };
        let validity = self.validity(block, count)?;
        let validity = validity.map(|all| rows.iter().map(|row| all.get(*row as usize)).collect());
        Ok(Column::from_data(data, validity))
    }
}

impl Packed {
    /// The numbers of a block's rows, or those of all its rows if that is cheaper.
    fn some(&self, segment: &[u8], block: usize, rows: &[u32]) -> Result<Vec<u64>, Damaged> {
        if rows.len() < BLOCK_ROWS / SPARSE {
            return self.select(segment, block, rows);
        }
        let all = self.decode(segment, block)?;
        Ok(rows.iter().filter_map(|row| all.get(*row as usize).copied()).collect())
    }
}

impl Dictionary {
    fn select(&self, segment: &[u8], block: usize, rows: &[u32]) -> Result<BytesColumn, Damaged> {
        self.rows_of(&self.codes.some(segment, block, rows)?)
    }
}

impl Plain {
    fn select(&self, segment: &[u8], block: usize, rows: &[u32]) -> Result<BytesColumn, Damaged> {
        let lengths = self.lengths.decode(segment, block)?;
        let (from, to) = match self.starts.get(block..block + 2) {
            Some([from, to]) => (*from, *to),
            _ => return Err(Damaged),
        };
        let bytes = segment.get(from..to).ok_or(Damaged)?;
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
