//! Blocks of 64-bit numbers, each stored as its distance from the block's least number.
//!
//! Distances are divided by their greatest common divisor: amounts in hundredths are often whole.

use crate::bits::{get, pack, packed_bytes, unpack, width_of};
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

/// The blocks of a segment.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    blocks: Box<[Block]>,
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
        const HEADER: usize = 25;
        let mut headers = Input::new(input.take(blocks.checked_mul(HEADER).ok_or(Damaged)?)?);
        let mut found = Vec::with_capacity(blocks);
        for _ in 0..blocks {
            let (least, greatest) = (headers.u64()? as i64, headers.u64()? as i64);
            let (divisor, width) = (headers.u64()?, headers.u8()?);
            if width > 64 {
                return Err(Damaged);
            }
            let at = input.at();
            input.take(packed_bytes(width))?;
            found.push(Block { least, greatest, divisor, width, at });
        }
        Ok(Packed { blocks: found.into() })
    }

    /// Least and greatest number of a block.
    pub(crate) fn range(&self, block: usize) -> Option<(i64, i64)> {
        self.blocks.get(block).map(|block| (block.least, block.greatest))
    }

    /// The numbers of a block of `segment`. Those behind the last row have no meaning.
    pub(crate) fn decode(
        &self,
        segment: &[u8],
        block: usize,
    ) -> Result<[u64; BLOCK_ROWS], Damaged> {
        let block = self.blocks.get(block).ok_or(Damaged)?;
        let mut numbers = [0; BLOCK_ROWS];
        let end = block.at + packed_bytes(block.width);
        unpack(segment.get(block.at..end).ok_or(Damaged)?, block.width, &mut numbers)?;
        let (least, divisor) = (block.least as u64, block.divisor);
        match divisor {
            1 => numbers.iter_mut().for_each(|number| *number = number.wrapping_add(least)),
            _ => numbers
                .iter_mut()
                .for_each(|number| *number = number.wrapping_mul(divisor).wrapping_add(least)),
        }
        Ok(numbers)
    }
}

impl Packed {
    /// The numbers of a block's rows with these numbers, which are below [`BLOCK_ROWS`].
    pub(crate) fn select(
        &self,
        segment: &[u8],
        block: usize,
        rows: &[u32],
    ) -> Result<Vec<u64>, Damaged> {
        let block = self.blocks.get(block).ok_or(Damaged)?;
        let end = block.at + packed_bytes(block.width);
        let bytes = segment.get(block.at..end).ok_or(Damaged)?;
        let (least, divisor) = (block.least as u64, block.divisor);
        let number = |row: &u32| {
            let distance = get(bytes, block.width, *row as usize)?;
            Ok(distance.wrapping_mul(divisor).wrapping_add(least))
        };
        rows.iter().map(number).collect()
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
