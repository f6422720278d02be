//! Segments: the values of one column over many rows, encoded so that they are small and that each
//! block of 1,024 rows is decoded alone.
//!
//! ```text
//! segment: encoding u8 | physical kind u8 | scale u8 | flags u8 (1: some rows are NULL) | rows u32
//!          | nulls, if flagged: per block u8 (1: it has some); per such block 1,024 bits (1: NULL)
//!          | body
//!
//! Constant:   present u8 | the value: 8 bytes, or length u32 and bytes
//! Packed:     per block: least u64, greatest u64, divisor u64, width u8
//!             | per block 1,024 numbers of `width` bits: (value - least) / divisor
//! Real:       8 bytes per row
//! Wide:       decimals of 32 bytes per row
//! Dictionary: entries u32 | end offset u32 per entry | bytes | codes as in Packed
//! Plain:      end offset u64 per block | lengths as in Packed | bytes
//! Fsst:       symbols u8 | length u8 per symbol | bytes of the symbols
//!             | end offset u64 of the codes per block | lengths of the strings as in Packed
//!             | numbers of their codes as in Packed | codes; 255: the next byte is no symbol
//! ```
//!
//! A value in 64 bits is stored as a number whose order as `i64` is the order of the values. The
//! value of a NULL is its neighbour's, and is never read.
//!
//! # Invariants
//! - Reading any bytes ends with a segment or [`Damaged`]; decoding it ends with a column or
//!   [`Damaged`]. Neither panics, whatever the bytes are.
//! - What was encoded is decoded to the same values, bit by bit.
//!
//! # Not here
//! No file is touched, no collation is known, and nothing knows of versions or snapshots.

#![forbid(unsafe_code)]

mod bits;
mod encode;
mod input;
mod packed;
mod segment;
mod select;
mod starts;
mod symbols;
#[cfg(test)]
mod tests;

pub use encode::{Aim, encode, encode_for};
pub use segment::{Encoding, Segment, Zone};
pub use select::Codes;

/// Rows of a block.
pub const BLOCK_ROWS: usize = 1024;

/// Error for bytes that are no segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a column segment is damaged")
    }
}

impl std::error::Error for Damaged {}
