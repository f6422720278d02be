//! Byte strings compressed by a table of symbols: one byte stands for up to 8 bytes that come
//! often (FSST, Boncz, Neumann and Leis, VLDB 2020). Each string is compressed alone, so any of
//! them can be read without the others.
//!
//! Must not trust the bytes: they may come from a disk. The library that compresses panics for
//! bytes that it has not written, so it is not used to read.

use fsst::Compressor;
use selkie_types::{BytesColumn, Column};

use crate::encode::kept;
use crate::input::Input;
use crate::packed::Packed;
use crate::starts::Starts;
use crate::{BLOCK_ROWS, Damaged};

/// Code in front of a byte that is no symbol.
const ESCAPE: u8 = fsst::ESCAPE_CODE;

/// Shorter strings, on average, are not compressed: they save little, and reading costs more.
const LEAST_LENGTH: usize = 12;

/// The symbols by code.
#[derive(Clone, Debug)]
struct Table {
    /// Bytes of each symbol; those behind its end are zero.
    symbols: Box<[[u8; 8]]>,
    /// Number of bytes of each, from 1 to 8.
    lengths: Box<[u8]>,
}

impl Table {
    fn read(input: &mut Input<'_>) -> Result<Table, Damaged> {
        let lengths: Box<[u8]> = input.u8().and_then(|count| input.take(count.into()))?.into();
        let symbol = |length: &u8| {
            let mut symbol = [0; 8];
            let place = symbol.get_mut(..usize::from(*length)).filter(|place| !place.is_empty());
            place.ok_or(Damaged)?.copy_from_slice(input.take(usize::from(*length))?);
            Ok(symbol)
        };
        let symbols = lengths.iter().map(symbol).collect::<Result<_, _>>()?;
        Ok(Table { symbols, lengths })
    }

    /// Appends the string of `length` bytes that the codes stand for.
    fn expand(&self, codes: &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), Damaged> {
        // A code stands for 8 bytes at most: a length that is too great must not take memory.
        if length > codes.len() * 8 {
            return Err(Damaged);
        }
        let (start, end) = (out.len(), out.len() + length);
        // Symbols are copied as 8 bytes, of which those behind its end are overwritten.
        out.resize(end + 8, 0);
        let (mut at, mut rest) = (start, codes.iter());
        while let Some(&code) = rest.next() {
            let length = if code == ESCAPE {
                let byte = *rest.next().ok_or(Damaged)?;
                *out.get_mut(at).ok_or(Damaged)? = byte;
                1
            } else {
                let symbol = self.symbols.get(usize::from(code)).ok_or(Damaged)?;
                let place = out.get_mut(at..).and_then(|place| place.first_chunk_mut());
                *place.ok_or(Damaged)? = *symbol;
                usize::from(self.lengths[usize::from(code)])
            };
            at += length;
        }
        out.truncate(end);
        if at == end { Ok(()) } else { Err(Damaged) }
    }
}

/// The strings of a segment.
#[derive(Clone, Debug)]
pub(crate) struct Symbols {
    table: Table,
    starts: Starts,
    /// Number of bytes of each string.
    lengths: Packed,
    /// Number of codes of each string, with what they escape.
    sizes: Packed,
}

impl Symbols {
    pub(crate) fn read(input: &mut Input<'_>, blocks: usize) -> Result<Symbols, Damaged> {
        let table = Table::read(input)?;
        let ends = Starts::ends(input, blocks)?;
        let (lengths, sizes) = (Packed::read(input, blocks)?, Packed::read(input, blocks)?);
        Ok(Symbols { table, starts: Starts::read(input, ends, blocks)?, lengths, sizes })
    }

    /// Bytes of memory held beside the segment's bytes.
    pub(crate) fn memory(&self) -> usize {
        let numbers = self.lengths.memory() + self.sizes.memory();
        self.table.symbols.len() * 9 + self.starts.memory() + numbers
    }

    /// The strings of a block's first `rows` rows.
    pub(crate) fn decode(
        &self,
        segment: &[u8],
        block: usize,
        rows: usize,
    ) -> Result<BytesColumn, Damaged> {
        self.strings(segment, block, rows, 0..rows as u32)
    }

    /// The strings of a block's rows with these numbers, which rise and are below [`BLOCK_ROWS`].
    pub(crate) fn select(
        &self,
        segment: &[u8],
        block: usize,
        rows: &[u32],
    ) -> Result<BytesColumn, Damaged> {
        self.strings(segment, block, BLOCK_ROWS, rows.iter().copied())
    }

    fn strings(
        &self,
        segment: &[u8],
        block: usize,
        count: usize,
        rows: impl ExactSizeIterator<Item = u32>,
    ) -> Result<BytesColumn, Damaged> {
        let size = |number| usize::try_from(number).unwrap_or(usize::MAX);
        let lengths = self.lengths.decode(segment, (block, count), size)?;
        let sizes = self.sizes.decode(segment, (block, count), size)?;
        let codes = self.starts.bytes(segment, block)?;
        let mut out = BytesColumn::with_capacity(rows.len());
        let (mut next, mut at) = (0, 0usize);
        for row in rows {
            let row = row as usize;
            for skipped in sizes.get(next..row).ok_or(Damaged)? {
                at = at.checked_add(*skipped).ok_or(Damaged)?;
            }
            let (length, size) = (*lengths.get(row).ok_or(Damaged)?, sizes[row]);
            let end = at.checked_add(size).ok_or(Damaged)?;
            self.table.expand(codes.get(at..end).ok_or(Damaged)?, length, out.buffer())?;
            out.end_row();
            (next, at) = (row + 1, end);
        }
        Ok(out)
    }
}

/// Puts the strings of a column, if they become smaller by a quarter at least; false otherwise,
/// with `out` as it was.
pub(crate) fn put(column: &Column, values: &BytesColumn, out: &mut Vec<u8>) -> bool {
    let strings: Vec<&[u8]> = kept(column, values).collect();
    let text: usize = strings.iter().map(|string| string.len()).sum();
    if text < strings.len() * LEAST_LENGTH {
        return false;
    }
    let compressor = Compressor::train(&strings);
    let (mut codes, mut ends) = (Vec::new(), Vec::new());
    const LANES: usize = Compressor::DEFAULT_BULK_LANES;
    compressor.compress_bulk_into::<LANES>(&strings, &mut codes, &mut ends);
    // The numbers of codes take about a byte for each string.
    if codes.len() + strings.len() > text / 4 * 3 {
        return false;
    }
    let (symbols, lengths) = (compressor.symbol_table(), compressor.symbol_lengths());
    out.push(lengths.len() as u8);
    out.extend_from_slice(lengths);
    for (symbol, length) in symbols.iter().zip(lengths) {
        out.extend_from_slice(&symbol.to_u64().to_le_bytes()[..usize::from(*length)]);
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let sizes: Vec<i64> = starts.zip(&ends).map(|(start, end)| (*end - start) as i64).collect();
    let lengths: Vec<i64> = strings.iter().map(|string| string.len() as i64).collect();
    Starts::write(&sizes, out);
    Packed::write(&lengths, out);
    Packed::write(&sizes, out);
    out.extend_from_slice(&codes);
    true
}
