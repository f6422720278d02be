//! Read access to a tree page: slots, keys, values, fences. Must not change a byte; `change` does.
//!
//! ```text
//! type-specific header: heap u16 @42 | garbage u16 @44 | prefix u16 @46
//!                       | lower off u16 @48, len u16 @50 | upper off u16 @52, len u16 @54
//!                       | flags u8 @56 (1: there is an upper fence)
//! slots from 64:        record off u16 | key suffix len u16
//!                       | head u32 (first 4 suffix bytes, big-endian value)
//! record:               value len u16 | key suffix | value
//! ```
//!
//! A node holds the keys from its lower fence up to, not including, its upper fence. All of them
//! begin with the bytes that the fences share (the prefix), so slots leave the prefix out. Entry
//! `i` of an inner node covers the keys from its own up to the next one's; the first entry's key is
//! the lower fence.

use crate::ids::{PAGE_SIZE, PageNo};
use crate::page::{
    HEADER_LEN, OFF_COUNT, OFF_LEVEL, OFF_MAX_VER, PageType, get_u16, get_u32, get_u64, page_type,
};
use std::cmp::Ordering;

pub(super) const OFF_HEAP: usize = 42;
pub(super) const OFF_GARBAGE: usize = 44;
pub(super) const OFF_PREFIX: usize = 46;
pub(super) const OFF_LOWER: usize = 48;
pub(super) const OFF_UPPER: usize = 52;
pub(super) const OFF_FLAGS: usize = 56;
pub(super) const HAS_UPPER: u8 = 1;
/// Bytes of a slot.
pub(super) const SLOT: usize = 8;
/// Bytes of a record besides suffix and value.
pub(super) const RECORD_OVERHEAD: usize = 2;

/// A tree page, latched at least for reading.
#[derive(Clone, Copy)]
pub(crate) struct Node<'p> {
    page: &'p [u8],
}

/// The first four bytes of a key suffix as a number with the same order.
pub(super) fn head_of(suffix: &[u8]) -> u32 {
    match suffix.first_chunk::<4>() {
        Some(bytes) => u32::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 4];
            bytes[..suffix.len()].copy_from_slice(suffix);
            u32::from_be_bytes(bytes)
        }
    }
}

/// Whether a suffix of `len` bytes and `suffix` can differ only in length, given equal heads.
#[inline]
pub(super) fn head_decides(len: usize, suffix: &[u8]) -> bool {
    len <= 4 && suffix.len() <= 4
}

impl<'p> Node<'p> {
    pub(crate) fn new(page: &'p [u8]) -> Node<'p> {
        Node { page }
    }

    /// Whether the page is a leaf (true) or an inner node (false) of a tree; `None` if neither.
    pub(crate) fn is_leaf(self) -> Option<bool> {
        let kind = page_type(self.page);
        let leaf = kind == PageType::BtreeLeaf as u8;
        (leaf || kind == PageType::BtreeInner as u8).then_some(leaf)
    }

    pub(crate) fn level(self) -> u8 {
        self.page.get(OFF_LEVEL).copied().unwrap_or(0)
    }

    pub(crate) fn count(self) -> usize {
        usize::from(get_u16(self.page, OFF_COUNT))
    }

    /// The newest version sequence in this leaf, or in a leaf it was split from.
    pub(crate) fn max_ver(self) -> u64 {
        get_u64(self.page, OFF_MAX_VER)
    }

    fn slice(self, at: usize, len: usize) -> &'p [u8] {
        self.page.get(at..at + len).unwrap_or(&[])
    }

    fn pair(self, at: usize) -> (usize, usize) {
        (usize::from(get_u16(self.page, at)), usize::from(get_u16(self.page, at + 2)))
    }

    /// The lower fence: the smallest key the node may hold.
    pub(crate) fn lower(self) -> &'p [u8] {
        let (at, len) = self.pair(OFF_LOWER);
        self.slice(at, len)
    }

    /// The upper fence: the smallest key above the node's range; `None` if there is no end.
    pub(crate) fn upper(self) -> Option<&'p [u8]> {
        if self.page.get(OFF_FLAGS).is_none_or(|flags| flags & HAS_UPPER == 0) {
            return None;
        }
        let (at, len) = self.pair(OFF_UPPER);
        Some(self.slice(at, len))
    }

    pub(crate) fn prefix_len(self) -> usize {
        usize::from(get_u16(self.page, OFF_PREFIX))
    }

    pub(crate) fn prefix(self) -> &'p [u8] {
        let lower = self.lower();
        lower.get(..self.prefix_len()).unwrap_or(lower)
    }

    /// Whether `key` belongs to this node.
    pub(crate) fn contains(self, key: &[u8]) -> bool {
        self.lower() <= key && self.upper().is_none_or(|upper| key < upper)
    }

    /// Whether the greatest key before `end` (the greatest of all, if `None`) belongs to this node.
    pub(crate) fn contains_before(self, end: Option<&[u8]>) -> bool {
        match (end, self.upper()) {
            (None, upper) => upper.is_none(),
            (Some(end), upper) => self.lower() < end && upper.is_none_or(|upper| end <= upper),
        }
    }

    fn slot(self, at: usize) -> (usize, usize, u32) {
        let slot = HEADER_LEN + at * SLOT;
        let (off, len) = self.pair(slot);
        (off, len, get_u32(self.page, slot + 4))
    }

    /// The key of entry `at` without the prefix.
    pub(crate) fn suffix(self, at: usize) -> &'p [u8] {
        let (off, len, _) = self.slot(at);
        self.slice(off + RECORD_OVERHEAD, len)
    }

    /// Appends the whole key of entry `at`.
    pub(crate) fn put_key(self, at: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(self.prefix());
        out.extend_from_slice(self.suffix(at));
    }

    /// The whole key of entry `at`.
    pub(crate) fn key(self, at: usize) -> Vec<u8> {
        [self.prefix(), self.suffix(at)].concat()
    }

    /// Whether the key of entry `at` begins with `start`.
    pub(crate) fn key_starts_with(self, at: usize, start: &[u8]) -> bool {
        let prefix = self.prefix();
        match start.strip_prefix(prefix) {
            Some(rest) => self.suffix(at).starts_with(rest),
            None => prefix.starts_with(start),
        }
    }

    #[inline]
    pub(crate) fn value(self, at: usize) -> &'p [u8] {
        let (off, len, _) = self.slot(at);
        self.slice(off + RECORD_OVERHEAD + len, usize::from(get_u16(self.page, off)))
    }

    /// Bytes of the record of entry `at`.
    pub(super) fn record_len(self, at: usize) -> usize {
        let (off, len, _) = self.slot(at);
        RECORD_OVERHEAD + len + usize::from(get_u16(self.page, off))
    }

    /// The page that a child entry points to.
    pub(crate) fn child(self, at: usize) -> PageNo {
        PageNo(get_u32(self.value(at), 0))
    }

    fn compare(self, at: usize, suffix: &[u8], head: u32) -> Ordering {
        let (off, len, stored) = self.slot(at);
        stored.cmp(&head).then_with(|| match head_decides(len, suffix) {
            true => len.cmp(&suffix.len()),
            false => self.slice(off + RECORD_OVERHEAD, len).cmp(suffix),
        })
    }

    /// Position of `key`, which must lie between the fences, or the position to insert it at.
    pub(crate) fn search(self, key: &[u8]) -> Result<usize, usize> {
        let suffix = key.get(self.prefix_len()..).unwrap_or(&[]);
        let head = head_of(suffix);
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = (low + high) / 2;
            match self.compare(middle, suffix, head) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }

    /// Position of the first entry at or after `key`. `key` lies between the fences or is the upper
    /// fence.
    pub(crate) fn lower_bound(self, key: &[u8]) -> usize {
        self.search(key).unwrap_or_else(|at| at)
    }

    /// The entry of an inner node whose range covers `key`.
    pub(crate) fn child_slot(self, key: &[u8]) -> usize {
        match self.search(key) {
            Ok(at) => at,
            Err(at) => at.saturating_sub(1),
        }
    }

    fn slots_end(self) -> usize {
        HEADER_LEN + self.count() * SLOT
    }

    /// Bytes free without moving records.
    pub(super) fn contiguous(self) -> usize {
        usize::from(get_u16(self.page, OFF_HEAP)).saturating_sub(self.slots_end())
    }

    /// Bytes free after a compaction.
    pub(crate) fn room(self) -> usize {
        self.contiguous() + usize::from(get_u16(self.page, OFF_GARBAGE))
    }

    /// Bytes in use by slots, records and fences.
    pub(crate) fn used(self) -> usize {
        (PAGE_SIZE - HEADER_LEN).saturating_sub(self.room())
    }

    /// Whether an entry with a value of this length fits under `key` without a split.
    pub(crate) fn fits(self, key: &[u8], value_len: usize) -> bool {
        let suffix = key.len().saturating_sub(self.prefix_len());
        let need = SLOT + RECORD_OVERHEAD + suffix + value_len;
        self.room() >= need
            || self.search(key).is_ok_and(|at| self.room() + self.value(at).len() >= value_len)
    }
}

/// Length of the common prefix of two keys.
pub(crate) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The shortest key above `left` and at most `right`. Requires `left < right`.
pub(crate) fn separator(left: &[u8], right: &[u8]) -> Vec<u8> {
    let len = (common_prefix(left, right) + 1).min(right.len());
    right[..len].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_pages_are_as_documented() {
        let document = include_str!("../../../../docs/format.md");
        for (offset, size, text) in [
            (OFF_HEAP, OFF_GARBAGE - OFF_HEAP, "start of the records"),
            (OFF_GARBAGE, OFF_PREFIX - OFF_GARBAGE, "bytes of records no slot"),
            (OFF_PREFIX, OFF_LOWER - OFF_PREFIX, "length of the prefix"),
            (OFF_LOWER, OFF_UPPER - OFF_LOWER, "lower fence"),
            (OFF_UPPER, OFF_FLAGS - OFF_UPPER, "upper fence"),
            (OFF_FLAGS, 1, "flags; 1"),
        ] {
            let line = format!("| {offset} | {size} | {text}");
            assert!(document.contains(&line), "docs/format.md does not say: {line}");
        }
        assert!(document.contains(&format!("slots of {SLOT} bytes")));
    }
}
