//! The values of leaf entries.
//!
//! ```text
//! row:    ver u64 | tag u8 | row bytes, or if LONG: their start | total len u64 | first page u32 of the rest
//! index:  ver u64 | tag u8 | index key len u16 | covering entry, unless BARE
//! ```

use crate::ids::PageNo;
use crate::page::{get_u16, get_u32, get_u64};

/// The entry is a delete mark: the key no longer exists for those who see this version.
pub(crate) const DELETED: u8 = 1;
/// The row continues in a chain of pages.
pub(crate) const LONG: u8 = 2;
/// The index entry's values are too long to be kept twice: they are in the row.
pub(crate) const BARE: u8 = 4;

/// Bytes before the row.
pub(crate) const ROW_AT: usize = 9;
/// Bytes before the covering entry.
pub(crate) const ENTRY_AT: usize = 11;
/// Bytes a long row has behind its start.
pub(crate) const TRAILER: usize = 12;
/// Longer covering entries are left out.
pub(crate) const MAX_COVERING: usize = 1000;

pub(crate) fn tag(value: &[u8]) -> u8 {
    value.get(8).copied().unwrap_or(0)
}

pub(crate) fn is_deleted(value: &[u8]) -> bool {
    tag(value) & DELETED != 0
}

/// How many rows the value stands for: one, or none.
pub(crate) fn live(value: &[u8]) -> i64 {
    i64::from(!value.is_empty() && !is_deleted(value))
}

/// The chain that a value continues in, and how many bytes are there.
pub(crate) fn chain_of(value: &[u8]) -> Option<(PageNo, u64)> {
    if tag(value) & LONG == 0 {
        return None;
    }
    let trailer = value.len().checked_sub(TRAILER).filter(|at| *at >= ROW_AT)?;
    let start = (trailer - ROW_AT) as u64;
    let total = get_u64(value, trailer);
    Some((PageNo(get_u32(value, trailer + 8)), total.saturating_sub(start)))
}

/// The part of a row that lies in the leaf.
pub(crate) fn row_start(value: &[u8]) -> &[u8] {
    let end =
        if tag(value) & LONG == 0 { value.len() } else { value.len().saturating_sub(TRAILER) };
    value.get(ROW_AT..end).unwrap_or(&[])
}

/// Where the clustered key starts in an index entry's key.
pub(crate) fn split(value: &[u8]) -> usize {
    usize::from(get_u16(value, ROW_AT))
}

/// The covering entry, if it is there.
pub(crate) fn covering(value: &[u8]) -> Option<&[u8]> {
    if tag(value) & BARE != 0 { None } else { value.get(ENTRY_AT..) }
}
