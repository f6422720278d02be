//! Positions of the blocks of byte strings in a segment.
//!
//! Must not panic, whatever the bytes are.

use crate::input::Input;
use crate::{BLOCK_ROWS, Damaged};

/// Position of each block's bytes, and the end of the last one's.
#[derive(Clone, Debug)]
pub(crate) struct Starts(Box<[usize]>);

impl Starts {
    /// Puts the end offset of each block, given the bytes of each row.
    pub(crate) fn write(sizes: &[i64], out: &mut Vec<u8>) {
        let mut end = 0u64;
        for block in sizes.chunks(BLOCK_ROWS) {
            end += block.iter().sum::<i64>() as u64;
            out.extend_from_slice(&end.to_le_bytes());
        }
    }

    /// Takes the end offsets of the blocks.
    pub(crate) fn ends<'b>(input: &mut Input<'b>, blocks: usize) -> Result<Input<'b>, Damaged> {
        Ok(Input::new(input.take(blocks.checked_mul(8).ok_or(Damaged)?)?))
    }

    /// Takes the bytes of the blocks, whose end offsets are `ends`.
    pub(crate) fn read(
        input: &mut Input<'_>,
        mut ends: Input<'_>,
        blocks: usize,
    ) -> Result<Starts, Damaged> {
        let mut starts = vec![input.at()];
        let mut before = 0;
        for _ in 0..blocks {
            let end = usize::try_from(ends.u64()?).map_err(|_| Damaged)?;
            input.take(end.checked_sub(before).ok_or(Damaged)?)?;
            starts.push(input.at());
            before = end;
        }
        Ok(Starts(starts.into()))
    }

    /// The bytes of a block of the segment.
    pub(crate) fn bytes<'s>(&self, segment: &'s [u8], block: usize) -> Result<&'s [u8], Damaged> {
        match self.0.get(block..block + 2) {
            Some([from, to]) => segment.get(*from..*to).ok_or(Damaged),
            _ => Err(Damaged),
        }
    }

    /// Bytes of memory held beside the segment's bytes.
    pub(crate) fn memory(&self) -> usize {
        size_of_val(&self.0[..])
    }
}
