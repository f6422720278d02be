//! Errors of decoders: reasons why bytes cannot be read.
//!
//! Must not carry text for clients: callers decide which SQL error bad bytes become.

use std::fmt;

/// Reason why an event or a part of one cannot be decoded.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The event ends before the named field is complete.
    Truncated(&'static str),
    /// The named field has a value that has no meaning.
    Invalid(&'static str),
    /// A column has an unknown type.
    UnknownType(u8),
    /// The stored checksum differs from the one computed over the bytes.
    Checksum {
        /// Checksum stored in the event.
        stored: u32,
        /// Checksum computed over the event's bytes.
        computed: u32,
    },
}

/// Result of decoding an event or a part of one.
pub type DecodeResult<T> = Result<T, DecodeError>;

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated(field) => write!(f, "event ends inside {field}"),
            Self::Invalid(field) => write!(f, "invalid {field}"),
            Self::UnknownType(code) => write!(f, "unknown column type {code:#04x}"),
            Self::Checksum { stored, computed } => {
                write!(f, "checksum is {stored:#010x}, but that of the bytes is {computed:#010x}")
            }
        }
    }
}

impl std::error::Error for DecodeError {}
