//! Encodes a column: chooses the smallest encoding that is cheap to decode.
//!
//! Every column has an encoding; the choice must not change a value.

use hashbrown::HashMap;
use selkie_types::{BytesColumn, Column, ColumnData, DecimalColumn, DecimalValues, Physical};

use crate::packed::Packed;
use crate::segment::{Encoding, HAS_NULLS, MOST_ENTRY_BYTES, kind_byte};
use crate::starts::Starts;
use crate::{BLOCK_ROWS, Segment, symbols};

/// Most entries of a dictionary.
const MOST_ENTRIES: usize = 1 << 16;

/// The purpose of a segment's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Decoded at the speed of memory.
    Speed,
    /// Small: long byte strings are compressed, and decoded at about a gigabyte per second.
    Size,
}

/// Encodes the rows of a column.
///
/// # Panics
/// If there are more than `u32::MAX` rows.
pub fn encode(column: &Column) -> Segment {
    encode_for(column, Aim::Speed)
}

/// As [`encode`], for a purpose.
///
/// # Panics
/// If there are more than `u32::MAX` rows.
pub fn encode_for(column: &Column, aim: Aim) -> Segment {
    let expanded = column.is_constant().then(|| column.expand());
    let column = expanded.as_ref().unwrap_or(column);
    let rows = u32::try_from(column.len()).expect("a segment has fewer rows");
    let mut bytes = vec![0, kind_byte(column.physical()), column.scale(), 0];
    bytes.extend_from_slice(&rows.to_le_bytes());
    let encoding = put(column, aim, &mut bytes);
    bytes[0] = encoding as u8;
    bytes.shrink_to_fit();
    Segment::read(bytes.into()).expect("what was encoded can be read")
}

fn put(column: &Column, aim: Aim, out: &mut Vec<u8>) -> Encoding {
    if all_null(column) {
        out.push(0);
        return Encoding::Constant;
    }
    let numbers = numbers(column);
    if !column.has_nulls() && put_constant(column, numbers.as_deref(), out) {
        return Encoding::Constant;
    }
    put_nulls(column, out);
    match (numbers, column.data()) {
        (Some(numbers), _) => {
            Packed::write(&numbers, out);
            Encoding::Packed
        }
        (None, ColumnData::Decimal(values)) => {
            (0..values.len()).for_each(|row| out.extend(values.unscaled(row).to_le_bytes()));
            Encoding::Wide
        }
        (None, ColumnData::Bytes(values)) => put_bytes((column, values), aim, out),
        (None, ColumnData::Double(values)) => {
            values.iter().for_each(|value| out.extend(value.to_bits().to_le_bytes()));
            Encoding::Real
        }
        // All other kinds are numbers.
        (None, _) => Encoding::Real,
    }
}

fn all_null(column: &Column) -> bool {
    (0..column.len()).all(|row| column.is_null(row))
}

/// Puts the value that all rows have; false if there is no such value.
fn put_constant(column: &Column, numbers: Option<&[i64]>, out: &mut Vec<u8>) -> bool {
    if let Some(numbers) = numbers {
        let constant = numbers.iter().all(|number| *number == numbers[0]);
        if constant {
            out.push(1);
            out.extend_from_slice(&numbers[0].to_le_bytes());
        }
        return constant;
    }
    match column.data() {
        ColumnData::Bytes(values) if values.iter().all(|value| value == values.get(0)) => {
            let value = values.get(0);
            out.push(1);
            out.extend_from_slice(&(value.len() as u32).to_le_bytes());
            out.extend_from_slice(value);
            true
        }
        ColumnData::Double(values) => {
            let bits = values[0].to_bits();
            let constant = values.iter().all(|value| value.to_bits() == bits);
            if constant {
                out.push(1);
                out.extend_from_slice(&bits.to_le_bytes());
            }
            constant
        }
        _ => false,
    }
}

/// Puts the bits of NULLs and sets their flag, if there are NULLs.
fn put_nulls(column: &Column, out: &mut Vec<u8>) {
    if !column.has_nulls() {
        return;
    }
    out[3] |= HAS_NULLS;
    let mut bits = Vec::new();
    for first in (0..column.len()).step_by(BLOCK_ROWS) {
        let mut block = [0u8; BLOCK_ROWS / 8];
        for row in first..column.len().min(first + BLOCK_ROWS) {
            block[(row - first) / 8] |= u8::from(column.is_null(row)) << (row % 8);
        }
        let any = block.iter().any(|byte| *byte != 0);
        out.push(u8::from(any));
        if any {
            bits.extend_from_slice(&block);
        }
    }
    out.extend_from_slice(&bits);
}

/// The values as numbers of 64 bits, in the order of the values; `None` if they are no such
/// numbers. A NULL gets the value before it.
fn numbers(column: &Column) -> Option<Vec<i64>> {
    let mut numbers: Vec<i64> = match column.data() {
        ColumnData::Int(values) => values.clone(),
        ColumnData::UInt(values) => values.iter().map(|v| (v ^ 1 << 63) as i64).collect(),
        ColumnData::Date(values) => values.iter().map(|v| i64::from(v.0)).collect(),
        ColumnData::Time(values) => values.iter().map(|v| v.0).collect(),
        ColumnData::DateTime(values) => values.iter().map(|v| v.0).collect(),
        ColumnData::Decimal(values) => narrow(column, values)?,
        ColumnData::Double(_) | ColumnData::Bytes(_) => return None,
    };
    if column.has_nulls() {
        let first = (0..numbers.len()).find(|row| !column.is_null(*row))?;
        let mut last = numbers[first];
        for (row, number) in numbers.iter_mut().enumerate() {
            if column.is_null(row) { *number = last } else { last = *number }
        }
    }
    Some(numbers)
}

/// The unscaled values, if all fit 64 bits.
fn narrow(column: &Column, values: &DecimalColumn) -> Option<Vec<i64>> {
    if let DecimalValues::I64(values) = values.values() {
        return Some(values.clone());
    }
    let value = |row| match column.is_null(row) {
        true => Some(0),
        false => i64::try_from(values.unscaled(row)).ok(),
    };
    (0..values.len()).map(value).collect()
}

fn put_bytes((column, values): (&Column, &BytesColumn), aim: Aim, out: &mut Vec<u8>) -> Encoding {
    match dictionary(column, values) {
        Some((entries, codes)) => {
            put_dictionary(&entries, &codes, out);
            Encoding::Dictionary
        }
        None if aim == Aim::Size && symbols::put(column, values, out) => Encoding::Fsst,
        None => {
            put_plain(column, values, out);
            Encoding::Plain
        }
    }
}

/// The distinct values in the order in which they come, and each row's code. `None` if they are too
/// many or take more than a third of the values.
fn dictionary<'v>(column: &Column, values: &'v BytesColumn) -> Option<(Vec<&'v [u8]>, Vec<i64>)> {
    let room = (values.text_size() + values.len()) / 3;
    let mut known: HashMap<&[u8], i64, foldhash::fast::RandomState> = HashMap::default();
    let (mut entries, mut size) = (Vec::new(), 0);
    let mut codes: Vec<i64> = Vec::with_capacity(values.len());
    for (row, value) in values.iter().enumerate() {
        if column.is_null(row) {
            codes.push(codes.last().copied().unwrap_or(0));
            continue;
        }
        let code = *known.entry(value).or_insert_with(|| {
            entries.push(value);
            size += value.len() + 4;
            entries.len() as i64 - 1
        });
        if entries.len() > MOST_ENTRIES || size > room || value.len() > MOST_ENTRY_BYTES {
            return None;
        }
        codes.push(code);
    }
    Some((entries, codes))
}

fn put_dictionary(entries: &[&[u8]], codes: &[i64], out: &mut Vec<u8>) {
    out.extend_from_slice(&(entries.len() as u32).to_le_bytes());
    let mut end = 0;
    for entry in entries {
        end += entry.len() as u32;
        out.extend_from_slice(&end.to_le_bytes());
    }
    entries.iter().for_each(|entry| out.extend_from_slice(entry));
    Packed::write(codes, out);
}

fn put_plain(column: &Column, values: &BytesColumn, out: &mut Vec<u8>) {
    let lengths: Vec<i64> = kept(column, values).map(|value| value.len() as i64).collect();
    Starts::write(&lengths, out);
    Packed::write(&lengths, out);
    kept(column, values).for_each(|value| out.extend_from_slice(value));
}

/// The byte strings that a segment stores: nothing for NULL.
pub(crate) fn kept<'v>(column: &Column, values: &'v BytesColumn) -> impl Iterator<Item = &'v [u8]> {
    let value = |(row, value)| if column.is_null(row) { &[][..] } else { value };
    values.iter().enumerate().map(value)
}

/// Whether a column of this kind is stored as numbers of 64 bits, if they fit.
pub(crate) fn is_number(physical: Physical) -> bool {
    !matches!(physical, Physical::Double | Physical::Bytes)
}
