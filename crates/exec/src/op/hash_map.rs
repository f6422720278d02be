//! Open-addressing maps from machine words and byte strings to numbers.
//!
//! Made for [`hash_table`](super::hash_table) only: no removal, numbers below `u32::MAX`.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;

/// Key of one or two machine words.
pub(super) trait Word: Copy + PartialEq + Default {
    /// A well-mixed hash.
    fn mix(self) -> u64;
}

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl Word for u64 {
    #[inline]
    fn mix(self) -> u64 {
        let product = u128::from(self ^ 0x5851_F42D_4C95_7F2D) * u128::from(MULTIPLIER);
        (product >> 64) as u64 ^ product as u64
    }
}

impl Word for u128 {
    #[inline]
    fn mix(self) -> u64 {
        ((self >> 64) as u64).mix().wrapping_add(self as u64).mix()
    }
}

const EMPTY: u32 = u32::MAX;

/// Map from words to numbers.
#[derive(Debug)]
pub(super) struct WordMap<K> {
    slots: Vec<(K, u32)>,
    len: usize,
}

impl<K> Default for WordMap<K> {
    fn default() -> Self {
        Self { slots: Vec::new(), len: 0 }
    }
}

impl<K: Word> WordMap<K> {
    /// Slot of `key`, or the empty slot where it belongs.
    #[inline]
    fn slot(&self, key: K) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = key.mix() as usize & mask;
        loop {
            let (found, id) = self.slots[at];
            if id == EMPTY || found == key {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    /// Number of `key`, if it has one.
    #[inline]
    pub(super) fn get(&self, key: K) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let id = self.slots[self.slot(key)].1;
        (id != EMPTY).then_some(id)
    }

    /// Number of `key`; a new key gets `id`.
    #[inline]
    pub(super) fn insert(&mut self, key: K, id: u32) -> u32 {
        if (self.len + 1) * 3 > self.slots.len() * 2 {
            self.grow();
        }
        let at = self.slot(key);
        if self.slots[at].1 == EMPTY {
            self.slots[at] = (key, id);
            self.len += 1;
        }
        self.slots[at].1
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(64);
        let old = std::mem::replace(&mut self.slots, vec![(K::default(), EMPTY); size]);
        for (key, id) in old.into_iter().filter(|(_, id)| *id != EMPTY) {
            let at = self.slot(key);
            self.slots[at] = (key, id);
        }
    }
}

/// Map from byte strings to numbers. The strings are stored one after the other in one buffer.
#[derive(Debug, Default)]
pub(super) struct BytesMap {
    /// Upper half of the hash, and entry number + 1; 0 marks an empty slot.
    slots: Vec<(u32, u32)>,
    /// End of each entry's bytes, and its number.
    entries: Vec<(usize, u32)>,
    bytes: Vec<u8>,
    state: RandomState,
}

impl BytesMap {
    /// The hash of a key, which `get` and `insert` take.
    pub(super) fn hash(&self, key: &[u8]) -> u64 {
        let mut hasher = self.state.build_hasher();
        hasher.write(key);
        hasher.finish()
    }

    fn entry(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.entries[at - 1].0 };
        &self.bytes[start..self.entries[at].0]
    }

    fn slot(&self, key: &[u8], hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let (tag, entry) = self.slots[at];
            let same = tag == (hash >> 32) as u32;
            if entry == 0 || (same && self.entry(entry as usize - 1) == key) {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    /// Number of `key`, if it has one.
    pub(super) fn get(&self, key: &[u8], hash: u64) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let entry = self.slots[self.slot(key, hash)].1;
        (entry != 0).then(|| self.entries[entry as usize - 1].1)
    }

    /// Number of `key`; a new key gets `id`.
    pub(super) fn insert(&mut self, key: &[u8], hash: u64, id: u32) -> u32 {
        if (self.entries.len() + 1) * 3 > self.slots.len() * 2 {
            self.grow();
        }
        let at = self.slot(key, hash);
        if self.slots[at].1 == 0 {
            self.bytes.extend_from_slice(key);
            self.entries.push((self.bytes.len(), id));
            self.slots[at] = ((hash >> 32) as u32, self.entries.len() as u32);
        }
        self.entries[self.slots[at].1 as usize - 1].1
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(256);
        self.slots = vec![(0, 0); size];
        for entry in 0..self.entries.len() {
            let hash = self.hash(self.entry(entry));
            let mut at = hash as usize & (size - 1);
            while self.slots[at].1 != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = ((hash >> 32) as u32, entry as u32 + 1);
        }
    }
}
