//! Reads numbers from bytes that may end too early.
//!
//! Must not panic, whatever the bytes are.

use crate::Damaged;

/// The rest of some bytes.
#[derive(Clone, Copy)]
pub(crate) struct Input<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Input<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Input<'b> {
        Input { bytes, at: 0 }
    }

    /// Position of the rest.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'b [u8], Damaged> {
        let end = self.at.checked_add(count).ok_or(Damaged)?;
        let taken = self.bytes.get(self.at..end).ok_or(Damaged)?;
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Damaged> {
        self.take(N)?.first_chunk().copied().ok_or(Damaged)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Damaged> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Damaged> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Damaged> {
        self.array().map(u64::from_le_bytes)
    }

    /// Fails unless all bytes were read.
    pub(crate) fn end(&self) -> Result<(), Damaged> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(Damaged) }
    }
}
