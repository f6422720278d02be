//! A cursor over the bytes of an event, and what appends fields to a buffer.
//!
//! Must not panic on any input, and must not copy what it reads: fields borrow from the event.

use crate::error::{DecodeError, DecodeResult};

/// Reads fields from the front of a part of an event.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Everything not read yet, which stays unread.
    pub(crate) fn peek(&self) -> &'a [u8] {
        self.rest
    }

    /// Everything that was not read yet.
    pub(crate) fn take_rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// The next `n` bytes.
    pub(crate) fn bytes(&mut self, n: usize, field: &'static str) -> DecodeResult<&'a [u8]> {
        let (head, tail) = self.rest.split_at_checked(n).ok_or(DecodeError::Truncated(field))?;
        self.rest = tail;
        Ok(head)
    }

    /// The next bytes, as many as a field of four or eight bytes said.
    pub(crate) fn counted(&mut self, n: u64, field: &'static str) -> DecodeResult<&'a [u8]> {
        self.bytes(usize::try_from(n).map_err(|_| DecodeError::Truncated(field))?, field)
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> DecodeResult<[u8; N]> {
        let (head, tail) = self.rest.split_first_chunk().ok_or(DecodeError::Truncated(field))?;
        self.rest = tail;
        Ok(*head)
    }

    pub(crate) fn u8(&mut self, field: &'static str) -> DecodeResult<u8> {
        self.array::<1>(field).map(|[b]| b)
    }

    pub(crate) fn u16(&mut self, field: &'static str) -> DecodeResult<u16> {
        self.array(field).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, field: &'static str) -> DecodeResult<u32> {
        self.array(field).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, field: &'static str) -> DecodeResult<u64> {
        self.array(field).map(u64::from_le_bytes)
    }

    /// A little-endian number of `n` bytes, of at most eight.
    pub(crate) fn le(&mut self, n: usize, field: &'static str) -> DecodeResult<u64> {
        let bytes = self.bytes(n, field)?;
        Ok(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// A big-endian number of `n` bytes, of at most eight.
    pub(crate) fn be(&mut self, n: usize, field: &'static str) -> DecodeResult<u64> {
        let bytes = self.bytes(n, field)?;
        Ok(bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// A length-encoded integer.
    pub(crate) fn lenenc(&mut self, field: &'static str) -> DecodeResult<u64> {
        match self.u8(field)? {
            small @ 0..=0xfa => Ok(u64::from(small)),
            0xfc => self.le(2, field),
            0xfd => self.le(3, field),
            0xfe => self.le(8, field),
            0xfb | 0xff => Err(DecodeError::Invalid(field)),
        }
    }

    /// A length-encoded string.
    pub(crate) fn lenenc_bytes(&mut self, field: &'static str) -> DecodeResult<&'a [u8]> {
        let n = self.lenenc(field)?;
        self.counted(n, field)
    }

    /// A string behind its length of one byte.
    pub(crate) fn short_bytes(&mut self, field: &'static str) -> DecodeResult<&'a [u8]> {
        let n = self.u8(field)?;
        self.bytes(usize::from(n), field)
    }

    /// A string behind its length of one byte and before a zero that the length does not count.
    pub(crate) fn short_name(&mut self, field: &'static str) -> DecodeResult<&'a [u8]> {
        let name = self.short_bytes(field)?;
        match self.u8(field)? {
            0 => Ok(name),
            _ => Err(DecodeError::Invalid(field)),
        }
    }
}

pub(crate) fn put_u16(out: &mut Vec<u8>, v: u16) {
    out.extend_from_slice(&v.to_le_bytes());
}

pub(crate) fn put_u32(out: &mut Vec<u8>, v: u32) {
    out.extend_from_slice(&v.to_le_bytes());
}

pub(crate) fn put_u64(out: &mut Vec<u8>, v: u64) {
    out.extend_from_slice(&v.to_le_bytes());
}

/// Appends the lowest `n` bytes of a number, little-endian.
pub(crate) fn put_le(out: &mut Vec<u8>, v: u64, n: usize) {
    out.extend(v.to_le_bytes().iter().take(n));
}

/// Appends the lowest `n` bytes of a number, big-endian.
pub(crate) fn put_be(out: &mut Vec<u8>, v: u64, n: usize) {
    out.extend(v.to_be_bytes().iter().skip(8usize.saturating_sub(n)));
}

pub(crate) fn put_lenenc(out: &mut Vec<u8>, v: u64) {
    match v {
        0..=0xfa => out.push(v as u8),
        0xfb..=0xffff => {
            out.push(0xfc);
            put_le(out, v, 2);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            put_le(out, v, 3);
        }
        _ => {
            out.push(0xfe);
            put_u64(out, v);
        }
    }
}

pub(crate) fn put_lenenc_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_lenenc(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a string and its length of one byte; what goes beyond 255 bytes is cut, which no name
/// and no text that stands here reaches.
pub(crate) fn put_short(out: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = bytes.get(..255).unwrap_or(bytes);
    out.push(bytes.len() as u8);
    out.extend_from_slice(bytes);
}

/// Appends a string and its length of four bytes.
pub(crate) fn put_long(out: &mut Vec<u8>, bytes: &[u8]) {
    put_u32(out, bytes.len() as u32);
    out.extend_from_slice(bytes);
}
