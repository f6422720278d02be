//! The values of leaf entries.
//!
//! ```text
//! row:    ver u64 | tag u8 | row bytes
//! LONG:   ver u64 | tag u8 | start of the row | total len u64 | first page u32 of the rest
//! index:  ver u64 | tag u8 | index key len u16 | covering entry, unless BARE
//! ```

use crate::ids::PageNo;
use crate::page::{get_u16, get_u32, get_u64};

/// The entry is a delete mark: readers that see this version find no row.
pub(crate) const DELETED: u8 = 1;
/// The row continues in a chain of pages.
pub(crate) const LONG: u8 = 2;
/// The covering entry is too long to be stored twice: its values are only in the row.
pub(crate) const BARE: u8 = 4;

/// Number of bytes before the row.
pub(crate) const ROW_AT: usize = 9;
/// Number of bytes before the covering entry.
pub(crate) const ENTRY_AT: usize = 11;
/// Number of bytes after the start of a long row.
pub(crate) const TRAILER: usize = 12;
/// Longest covering entry that is stored.
pub(crate) const MAX_COVERING: usize = 1000;

pub(crate) fn tag(value: &[u8]) -> u8 {
    value.get(8).copied().unwrap_or(0)
}

pub(crate) fn is_deleted(value: &[u8]) -> bool {
    tag(value) & DELETED != 0
}

/// Rows the value stands for: 0 or 1.
pub(crate) fn live(value: &[u8]) -> i64 {
    i64::from(!value.is_empty() && !is_deleted(value))
}

/// The chain in which a value continues, and the number of bytes there.
pub(crate) fn chain_of(value: &[u8]) -> Option<(PageNo, u64)> {
    if tag(value) & LONG == 0 {
        return None;
    }
    let trailer = value.len().checked_sub(TRAILER).filter(|at| *at >= ROW_AT)?;
    let start = (trailer - ROW_AT) as u64;
    let total = get_u64(value, trailer);
    Some((PageNo(get_u32(value, trailer + 8)), total.saturating_sub(start)))
}

/// The part of a row in the leaf.
pub(crate) fn row_start(value: &[u8]) -> &[u8] {
    let end =
        if tag(value) & LONG == 0 { value.len() } else { value.len().saturating_sub(TRAILER) };
    value.get(ROW_AT..end).unwrap_or(&[])
}

/// Position of the clustered key in an index entry's key.
pub(crate) fn split(value: &[u8]) -> usize {
    usize::from(get_u16(value, ROW_AT))
}

/// The covering entry, if it is stored.
pub(crate) fn covering(value: &[u8]) -> Option<&[u8]> {
    if tag(value) & BARE != 0 { None } else { value.get(ENTRY_AT..) }
}
