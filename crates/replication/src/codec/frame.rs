//! An event taken apart into header, body and checksum, and put together from them.
//!
//! Must not interpret bodies other than that of a FORMAT_DESCRIPTION event, which describes itself.

use crate::bytes::put_u32;
use crate::codec::checksum::{self, Checksum};
use crate::codec::format::Format;
use crate::codec::header::{HEADER_BYTES, Header};
use crate::codec::kind::EventKind;
use crate::error::{DecodeError, DecodeResult};

/// The parts of one event.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The header.
    pub header: Header,
    /// The bytes between header and checksum.
    pub body: &'a [u8],
    /// The stored checksum.
    pub checksum: Option<u32>,
    whole: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Takes apart one event, which is all of `bytes`.
    pub fn split(bytes: &'a [u8], format: &Format) -> DecodeResult<Self> {
        let header = Header::decode(bytes)?;
        if header.event_length as usize != bytes.len() || bytes.len() < HEADER_BYTES {
            return Err(DecodeError::Invalid("event length"));
        }
        let behind = bytes.get(HEADER_BYTES..).unwrap_or_default();
        let tail = if header.kind == EventKind::FORMAT_DESCRIPTION {
            // This event has four bytes of checksum with every algorithm.
            if Format::decode(behind)?.knows_checksums { Checksum::Crc32.bytes() } else { 0 }
        } else {
            format.checksum.bytes()
        };
        let body = behind.len().checked_sub(tail).ok_or(DecodeError::Truncated("checksum"))?;
        let (body, stored) = behind.split_at(body);
        let checksum = <[u8; 4]>::try_from(stored).ok().map(u32::from_le_bytes);
        Ok(Self { header, body, checksum, whole: bytes })
    }

    /// All bytes of the event.
    pub fn bytes(&self) -> &'a [u8] {
        self.whole
    }

    /// Compares the checksum, if there is one, with the bytes.
    pub fn verify(&self) -> DecodeResult<()> {
        let Some(stored) = self.checksum else { return Ok(()) };
        let covered = self.whole.len().saturating_sub(Checksum::Crc32.bytes());
        let computed = checksum::of(self.whole.get(..covered).unwrap_or_default());
        if stored == computed { Ok(()) } else { Err(DecodeError::Checksum { stored, computed }) }
    }
}

/// Appends an event: the header with its length filled in, a body, and a checksum or none.
pub(crate) fn join(
    header: &Header,
    checksum: Checksum,
    out: &mut Vec<u8>,
    body: impl FnOnce(&mut Vec<u8>),
) {
    let begin = out.len();
    header.encode(out);
    body(out);
    let length = (out.len() - begin + checksum.bytes()) as u32;
    // The length lies behind time, type and server.
    let place = out.iter_mut().skip(begin + 9);
    place.zip(length.to_le_bytes()).for_each(|(to, from)| *to = from);
    if checksum == Checksum::Crc32 {
        let sum = checksum::of(out.get(begin..).unwrap_or_default());
        put_u32(out, sum);
    }
}
