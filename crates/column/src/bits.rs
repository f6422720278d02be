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

/// The first `rows` of the numbers that [`pack`] wrote, each turned into a value.
#[inline]
pub(crate) fn unpack<T>(
    bytes: &[u8],
    (width, rows): (u8, usize),
    value: impl Fn(u64) -> T,
) -> Result<Vec<T>, Damaged> {
    if width == 0 {
        return Ok((0..rows).map(|_| value(0)).collect());
    }
    let mut out = Vec::with_capacity(rows.next_multiple_of(LANES));
    let width = u32::from(width);
    let mask = u64::MAX >> (64 - width);
    let (words, _) = bytes.as_chunks::<WORD>();
    let lanes = |at: usize| -> Result<&[[u8; WORD]; LANES], Damaged> {
        words.get(at * LANES..).and_then(|rest| rest.first_chunk()).ok_or(Damaged)
    };
    for row in 0..rows.div_ceil(LANES) as u32 {
        let bit = row * width;
        let (word, shift) = ((bit / 64) as usize, bit % 64);
        let low = lanes(word)?;
        if shift + width <= 64 {
            out.extend(low.iter().map(|low| value(u64::from_le_bytes(*low) >> shift & mask)));
        } else {
            let both = low.iter().zip(lanes(word + 1)?);
            out.extend(both.map(|(low, high)| {
                let (low, high) = (u64::from_le_bytes(*low), u64::from_le_bytes(*high));
                value((low >> shift | high << (64 - shift)) & mask)
            }));
        }
    }
    if out.len() > rows {
        out.truncate(rows);
        out.shrink_to_fit();
    }
    Ok(out)
}

/// Single numbers that [`pack`] wrote.
#[derive(Clone, Copy)]
pub(crate) struct Numbers<'b> {
    words: &'b [[u8; WORD]],
    width: usize,
}

impl<'b> Numbers<'b> {
    pub(crate) fn new(bytes: &'b [u8], width: u8) -> Self {
        Self { words: bytes.as_chunks().0, width: width.into() }
    }

    /// The number at a position below [`BLOCK_ROWS`].
    #[inline]
    pub(crate) fn get(self, number: usize) -> Result<u64, Damaged> {
        if self.width == 0 {
            return Ok(0);
        }
        let word = |at: usize| self.words.get(at).map(|w| u64::from_le_bytes(*w)).ok_or(Damaged);
        let (lane, bit) = (number % LANES, number / LANES * self.width);
        let (at, shift) = (bit / 64 * LANES + lane, bit % 64);
        let low = word(at)? >> shift;
        let both = match shift + self.width > 64 {
            true => low | word(at + LANES)? << (64 - shift),
            false => low,
        };
        Ok(both & u64::MAX >> (64 - self.width))
    }
}
