//! Checksums at the ends of events.
//!
//! Must not decide whether a bad one matters; callers do.

use crate::codec::header::flags;
use crate::codec::kind::EventKind;

/// Checksum algorithm of the events of a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// No checksum: an event ends with its body.
    None,
    /// Four bytes behind the body: zlib's CRC-32 of all bytes before them.
    Crc32,
    /// An unknown algorithm number; an event ends with its body.
    Other(u8),
}

impl Checksum {
    /// From the number in a FORMAT_DESCRIPTION event.
    pub fn from_code(code: u8) -> Self {
        match code {
            0 => Self::None,
            1 => Self::Crc32,
            other => Self::Other(other),
        }
    }

    /// The number in a FORMAT_DESCRIPTION event.
    pub fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Crc32 => 1,
            Self::Other(code) => code,
        }
    }

    /// Bytes of the checksum at the end of an event.
    pub fn bytes(self) -> usize {
        if self == Self::Crc32 { 4 } else { 0 }
    }
}

/// Offset of the flags in a header.
const FLAGS_AT: usize = 17;
const KIND_AT: usize = 4;

/// The checksum of `event`, which comes without its last four bytes. The checksum does not cover
/// [`flags::IN_USE`]: the server clears this flag in place when it closes the file.
pub(crate) fn of(event: &[u8]) -> u32 {
    let is_format = event.get(KIND_AT) == Some(&EventKind::FORMAT_DESCRIPTION.0);
    match event.get(FLAGS_AT) {
        Some(low) if is_format && low & flags::IN_USE as u8 != 0 => {
            let mut hasher = crc32fast::Hasher::new();
            let (before, after) = event.split_at(FLAGS_AT);
            hasher.update(before);
            hasher.update(&[low & !(flags::IN_USE as u8)]);
            hasher.update(after.get(1..).unwrap_or_default());
            hasher.finalize()
        }
        _ => crc32fast::hash(event),
    }
}
