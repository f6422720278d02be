//! Blocks of 64-bit numbers, each stored as its distance from the block's least number.
//!
//! Distances are divided by their greatest common divisor: amounts in hundredths are often whole.

use crate::bits::{Numbers, pack, packed_bytes, unpack, width_of};
use crate::input::Input;
use crate::{BLOCK_ROWS, Damaged};

/// One block.
#[derive(Clone, Copy, Debug)]
struct Block {
    least: i64,
    greatest: i64,
    divisor: u64,
    width: u8,
    /// Position of its numbers in the segment.
    at: usize,
}

/// Bytes of what a segment says of a block before the numbers.
const HEADER: usize = 25;

/// The blocks of a segment. Their headers are read from its bytes each time: kept apart they would
/// take a tenth of a narrow column's memory.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    /// Position of the headers in the segment.
    headers: usize,
    /// Positions of the blocks' numbers.
    places: Box<[u32]>,
}

impl Packed {
    /// Appends numbers; the last block is filled up.
    pub(crate) fn write(numbers: &[i64], out: &mut Vec<u8>) {
        let mut data = Vec::new();
        for block in numbers.chunks(BLOCK_ROWS) {
            let least = block.iter().copied().min().unwrap_or(0);
            let greatest = block.iter().copied().max().unwrap_or(0);
            let mut distances = [0u64; BLOCK_ROWS];
            for (distance, number) in distances.iter_mut().zip(block) {
                *distance = number.wrapping_sub(least) as u64;
            }
            let divisor = common_divisor(&distances);
            distances.iter_mut().for_each(|distance| *distance /= divisor);
            let width = width_of(greatest.wrapping_sub(least) as u64 / divisor);
            out.extend_from_slice(&least.to_le_bytes());
            out.extend_from_slice(&greatest.to_le_bytes());
            out.extend_from_slice(&divisor.to_le_bytes());
            out.push(width);
            pack(&distances, width, &mut data);
        }
        out.extend_from_slice(&data);
    }

    pub(crate) fn read(input: &mut Input<'_>, blocks: usize) -> Result<Packed, Damaged> {
        let from = input.at();
        let mut headers = Input::new(input.take(blocks.checked_mul(HEADER).ok_or(Damaged)?)?);
        let mut places = Vec::with_capacity(blocks);
        for _ in 0..blocks {
            let header = headers.take(HEADER)?;
            let width = header[HEADER - 1];
            if width > 64 {
                return Err(Damaged);
            }
            places.push(u32::try_from(input.at()).map_err(|_| Damaged)?);
            input.take(packed_bytes(width))?;
        }
        Ok(Packed { headers: from, places: places.into() })
    }

    /// Bytes of memory held beside the segment's bytes.
    pub(crate) fn memory(&self) -> usize {
        self.places.len() * 4
    }

    /// Least and greatest number of a block.
    pub(crate) fn range(&self, segment: &[u8], block: usize) -> Option<(i64, i64)> {
        self.header(segment, block).ok().map(|block| (block.least, block.greatest))
    }

    fn header(&self, segment: &[u8], block: usize) -> Result<Block, Damaged> {
        let at = *self.places.get(block).ok_or(Damaged)? as usize;
        let from = self.headers + block * HEADER;
        let header = segment.get(from..from + HEADER).ok_or(Damaged)?;
        let (words, width) = header.as_chunks::<8>();
        let [least, greatest, divisor] = [0, 1, 2].map(|n: usize| u64::from_le_bytes(words[n]));
        Ok(Block { least: least as i64, greatest: greatest as i64, divisor, width: width[0], at })
    }

    /// The values of a block's first `rows` rows in `segment`; `value` makes them of the numbers.
    #[inline]
    pub(crate) fn decode<T>(
        &self,
        segment: &[u8],
        (block, rows): (usize, usize),
        value: impl Fn(u64) -> T,
    ) -> Result<Vec<T>, Damaged> {
        let (block, bytes) = self.block(segment, block)?;
        let shape = (block.width, rows);
        let (least, divisor) = (block.least as u64, block.divisor);
        match u32::try_from(divisor) {
            Ok(1) => unpack(bytes, shape, |d| value(d.wrapping_add(least))),
            // A product of numbers of 32 bits takes one instruction, one of 64 bits many.
            Ok(divisor) if block.width <= 32 => {
                let product = |d: u64| u64::from(d as u32) * u64::from(divisor);
                unpack(bytes, shape, |d| value(product(d).wrapping_add(least)))
            }
            _ => unpack(bytes, shape, |d| value(d.wrapping_mul(divisor).wrapping_add(least))),
        }
    }

    /// As [`Self::decode`], for the rows with these numbers, which are below [`BLOCK_ROWS`].
    #[inline]
    pub(crate) fn select<T>(
        &self,
        segment: &[u8],
        (block, rows): (usize, &[u32]),
        value: impl Fn(u64) -> T,
    ) -> Result<Vec<T>, Damaged> {
        let (block, bytes) = self.block(segment, block)?;
        let numbers = Numbers::new(bytes, block.width);
        let (least, divisor) = (block.least as u64, block.divisor);
        let mut out = Vec::with_capacity(rows.len());
        for row in rows {
            let distance = numbers.get(*row as usize)?;
            out.push(value(distance.wrapping_mul(divisor).wrapping_add(least)));
        }
        Ok(out)
    }

    /// A bound of all numbers that a block's bytes can hold; `None` if it is beyond 64 bits.
    pub(crate) fn most(&self, segment: &[u8], block: usize) -> Option<u64> {
        let block = self.header(segment, block).ok()?;
        let distance = u64::MAX.checked_shr(64 - u32::from(block.width)).unwrap_or(0);
        distance.checked_mul(block.divisor)?.checked_add(block.least as u64)
    }

    fn block<'s>(&self, segment: &'s [u8], block: usize) -> Result<(Block, &'s [u8]), Damaged> {
        let block = self.header(segment, block)?;
        let end = block.at + packed_bytes(block.width);
        Ok((block, segment.get(block.at..end).ok_or(Damaged)?))
    }
}

/// The greatest number that divides all distances; 1 if they are all 0.
fn common_divisor(distances: &[u64]) -> u64 {
    let mut divisor = 0;
    for &distance in distances {
        let (mut a, mut b) = (divisor, distance);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        divisor = a;
        if divisor == 1 {
            break;
        }
    }
    divisor.max(1)
}
