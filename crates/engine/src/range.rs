//! A scan's bounds turned into one half-open interval of byte strings.
//!
//! A bound is a key prefix: it stands for all keys that begin with it.

use crate::{Bound, prefix_end};

/// The byte strings from `start` up to, but not including, `end`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyRange {
    /// The first byte string in the range.
    pub start: Vec<u8>,
    /// The first byte string after the range; `None` if the range has no end.
    pub end: Option<Vec<u8>>,
}

impl KeyRange {
    /// The range between two bounds, where each bound stands for all keys that begin with it.
    pub fn new(lower: &Bound, upper: &Bound) -> Self {
        let start = match lower {
            Bound::Unbounded => Some(Vec::new()),
            Bound::Included(key) => Some(key.to_vec()),
            Bound::Excluded(key) => prefix_end(key),
        };
        let end = match upper {
            Bound::Unbounded => None,
            Bound::Included(key) => prefix_end(key),
            Bound::Excluded(key) => Some(key.to_vec()),
        };
        match start {
            Some(start) => Self { start, end },
            None => Self { start: Vec::new(), end: Some(Vec::new()) },
        }
    }

    /// All keys that begin with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        Self { start: prefix.to_vec(), end: prefix_end(prefix) }
    }

    /// Whether the range is empty.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// Whether `key` lies before the end of the range.
    pub fn ends_after(&self, key: &[u8]) -> bool {
        self.end.as_ref().is_none_or(|end| key < &end[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_stand_for_prefixes() {
        let key = |k: &[u8]| k.to_vec().into_boxed_slice();
        let range = KeyRange::new(&Bound::Excluded(key(b"a")), &Bound::Included(key(b"c")));
        assert_eq!(range, KeyRange { start: b"b".to_vec(), end: Some(b"d".to_vec()) });
        assert!(range.ends_after(b"czz") && !range.ends_after(b"d"));
        assert!(KeyRange::new(&Bound::Excluded(key(&[255])), &Bound::Unbounded).is_empty());
        assert!(!KeyRange::new(&Bound::Unbounded, &Bound::Unbounded).is_empty());
    }
}
