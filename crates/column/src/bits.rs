//! Packs 1,024 numbers of a few bits each.
//!
//! The numbers lie in 16 lanes of 64-bit words: number `16 r + lane` is the `r`th of its lane. All
//! lanes shift by the same distance, so the inner loops are vectorised by the compiler.

use crate::{BLOCK_ROWS, Damaged};

const LANES: usize = 16;
const WORD: usize = size_of::<u64>();

/// Bytes of a block of numbers of `width` bits.
pub(crate) const fn packed_bytes(width: u8) -> usize {
    BLOCK_ROWS / 8 * width as usize
}

/// Bits of the greatest number.
pub(crate) fn width_of(greatest: u64) -> u8 {
    (u64::BITS - greatest.leading_zeros()) as u8
}

/// Appends the numbers, which have at most `width` bits.
pub(crate) fn pack(numbers: &[u64; BLOCK_ROWS], width: u8, out: &mut Vec<u8>) {
    let width = u32::from(width);
    let mut words = vec![0u64; LANES * width as usize];
    for (row, group) in numbers.as_chunks::<LANES>().0.iter().enumerate() {
        let bit = row as u32 * width;
        let (word, shift) = ((bit / 64) as usize * LANES, bit % 64);
        for (lane, number) in group.iter().enumerate().filter(|_| width > 0) {
            words[word + lane] |= number << shift;
            if shift + width > 64 {
                words[word + LANES + lane] |= number >> (64 - shift);
            }
        }
    }
    words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

/// Reads what [`pack`] wrote.
pub(crate) fn unpack(bytes: &[u8], width: u8, out: &mut [u64; BLOCK_ROWS]) -> Result<(), Damaged> {
    if width == 0 {
        out.fill(0);
        return Ok(());
    }
    let width = u32::from(width);
    let mask = u64::MAX >> (64 - width);
    let (words, _) = bytes.as_chunks::<WORD>();
    let lanes = |at: usize| -> Result<&[[u8; WORD]; LANES], Damaged> {
        words.get(at * LANES..).and_then(|rest| rest.first_chunk()).ok_or(Damaged)
    };
    for (row, group) in out.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let bit = row as u32 * width;
        let (word, shift) = ((bit / 64) as usize, bit % 64);
        let low = lanes(word)?;
        if shift + width <= 64 {
            for (number, low) in group.iter_mut().zip(low) {
                *number = u64::from_le_bytes(*low) >> shift & mask;
            }
        } else {
            let high = lanes(word + 1)?;
            for ((number, low), high) in group.iter_mut().zip(low).zip(high) {
                let (low, high) = (u64::from_le_bytes(*low), u64::from_le_bytes(*high));
                *number = (low >> shift | high << (64 - shift)) & mask;
            }
        }
    }
    Ok(())
}

/// One of the numbers that [`pack`] wrote.
#[inline]
pub(crate) fn get(bytes: &[u8], width: u8, number: usize) -> Result<u64, Damaged> {
    if width == 0 {
        return Ok(0);
    }
    let width = usize::from(width);
    let word = |at: usize| -> Result<u64, Damaged> {
        let word = bytes.get(at * WORD..).and_then(|rest| rest.first_chunk()).ok_or(Damaged)?;
        Ok(u64::from_le_bytes(*word))
    };
    let (lane, bit) = (number % LANES, number / LANES * width);
    let (at, shift) = (bit / 64 * LANES + lane, bit % 64);
    let low = word(at)? >> shift;
    let both = match shift + width > 64 {
        true => low | word(at + LANES)? << (64 - shift),
        false => low,
    };
    Ok(both & u64::MAX >> (64 - width))
}
