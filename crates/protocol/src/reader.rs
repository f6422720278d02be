//! A cursor over the payload of one packet.
//!
//! Must not panic on any input, and must not copy: fields borrow from the payload.

use crate::error::{DecodeError, DecodeResult};

/// Reads fields from the front of a payload.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader at the start of `payload`.
    pub fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Whether all bytes were read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The bytes that were not read yet.
    pub fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// The next `n` bytes.
    pub fn bytes(&mut self, n: usize, field: &'static str) -> DecodeResult<&'a [u8]> {
        let (head, tail) = self.rest.split_at_checked(n).ok_or(DecodeError::Truncated(field))?;
        self.rest = tail;
        Ok(head)
    }

    /// The next `N` bytes as an array.
    pub fn array<const N: usize>(&mut self, field: &'static str) -> DecodeResult<[u8; N]> {
        let (head, tail) = self.rest.split_first_chunk().ok_or(DecodeError::Truncated(field))?;
        self.rest = tail;
        Ok(*head)
    }

    /// One byte.
    pub fn u8(&mut self, field: &'static str) -> DecodeResult<u8> {
        self.array::<1>(field).map(|[b]| b)
    }

    /// Two bytes, little-endian.
    pub fn u16(&mut self, field: &'static str) -> DecodeResult<u16> {
        self.array(field).map(u16::from_le_bytes)
    }

    /// Three bytes, little-endian.
    pub fn u24(&mut self, field: &'static str) -> DecodeResult<u32> {
        self.array(field).map(|[a, b, c]| u32::from_le_bytes([a, b, c, 0]))
    }

    /// Four bytes, little-endian.
    pub fn u32(&mut self, field: &'static str) -> DecodeResult<u32> {
        self.array(field).map(u32::from_le_bytes)
    }

    /// Eight bytes, little-endian.
    pub fn u64(&mut self, field: &'static str) -> DecodeResult<u64> {
        self.array(field).map(u64::from_le_bytes)
    }

    /// A length-encoded integer; `None` is the NULL marker.
    pub fn lenenc_or_null(&mut self, field: &'static str) -> DecodeResult<Option<u64>> {
        Ok(Some(match self.u8(field)? {
            small @ 0..=0xfa => u64::from(small),
            0xfb => return Ok(None),
            0xfc => u64::from(self.u16(field)?),
            0xfd => u64::from(self.u24(field)?),
            0xfe => self.u64(field)?,
            0xff => return Err(DecodeError::Invalid(field)),
        }))
    }

    /// A length-encoded integer.
    pub fn lenenc(&mut self, field: &'static str) -> DecodeResult<u64> {
        self.lenenc_or_null(field)?.ok_or(DecodeError::Invalid(field))
    }

    /// A length-encoded string.
    pub fn lenenc_bytes(&mut self, field: &'static str) -> DecodeResult<&'a [u8]> {
        let n = self.lenenc(field)?;
        self.bytes(usize::try_from(n).map_err(|_| DecodeError::Truncated(field))?, field)
    }

    /// A length-encoded string or the NULL marker.
    pub fn lenenc_bytes_or_null(&mut self, field: &'static str) -> DecodeResult<Option<&'a [u8]>> {
        match self.lenenc_or_null(field)? {
            None => Ok(None),
            Some(n) => {
                let n = usize::try_from(n).map_err(|_| DecodeError::Truncated(field))?;
                self.bytes(n, field).map(Some)
            }
        }
    }

    /// A string up to its NUL, which is consumed.
    pub fn nul_bytes(&mut self, field: &'static str) -> DecodeResult<&'a [u8]> {
        let end = self.rest.iter().position(|&b| b == 0).ok_or(DecodeError::Truncated(field))?;
        let head = self.bytes(end, field)?;
        self.bytes(1, field)?;
        Ok(head)
    }

    /// A string up to its NUL or to the end of the packet.
    pub fn nul_bytes_or_rest(&mut self) -> &'a [u8] {
        self.nul_bytes("string").unwrap_or_else(|_| self.take_rest())
    }
}
