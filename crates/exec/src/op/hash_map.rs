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

/// Places of an array for each key that it may have at most.
const SPREAD: u64 = 4;

/// Map from words to numbers.
#[derive(Debug)]
pub(super) struct WordMap<K> {
    slots: Vec<(K, u32)>,
    len: usize,
    /// Instead of the slots, in a map that gets no more keys.
    dense: Option<Dense>,
}

/// Numbers of words that lie near each other, by their distance from the least.
#[derive(Debug)]
struct Dense {
    least: u64,
    ids: Box<[u32]>,
}

impl<K> Default for WordMap<K> {
    fn default() -> Self {
        Self { slots: Vec::new(), len: 0, dense: None }
    }
}

impl<K: Word> WordMap<K> {
    /// Size in memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        let dense = self.dense.as_ref().map_or(0, |dense| size_of_val(&*dense.ids));
        self.slots.capacity() * size_of::<(K, u32)>() + dense
    }

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

impl WordMap<u64> {
    /// Number of `key`, if it has one, in a map that may be sealed.
    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<u32> {
        match &self.dense {
            None => self.get(key),
            Some(dense) => {
                let at = usize::try_from(key.wrapping_sub(dense.least)).ok()?;
                dense.ids.get(at).copied().filter(|id| *id != EMPTY)
            }
        }
    }

    /// Makes room for `count` keys in an empty map.
    pub(super) fn reserve(&mut self, count: usize) {
        debug_assert_eq!(self.len, 0);
        let size = (count + count / 2 + 1).next_power_of_two().max(64);
        self.slots = vec![(0, EMPTY); size];
    }

    /// Numbers the distinct words among all that the map will have, in order of appearance, and
    /// appends each one's number to `ids`, if they lie near each other as signed numbers. Returns
    /// how many there are.
    pub(super) fn number_dense(
        &mut self,
        words: impl Iterator<Item = u64> + Clone,
        ids: &mut Vec<u32>,
    ) -> Option<u32> {
        let signed = || words.clone().map(|word| word as i64);
        let (least, greatest) = (signed().min()?, signed().max()?);
        let span = greatest.wrapping_sub(least) as u64;
        if span >= words.clone().count() as u64 * SPREAD {
            return None;
        }
        let mut by_word = vec![EMPTY; span as usize + 1];
        let mut count = 0;
        for word in words {
            let id = &mut by_word[word.wrapping_sub(least as u64) as usize];
            if *id == EMPTY {
                *id = count;
                count += 1;
            }
            ids.push(*id);
        }
        self.dense = Some(Dense { least: least as u64, ids: by_word.into() });
        Some(count)
    }

    /// Replaces the slots by an array if the keys lie near each other as signed numbers. No key
    /// may be added then.
    pub(super) fn seal(&mut self) {
        if self.dense.is_some() {
            return;
        }
        let keys = || self.slots.iter().filter(|(_, id)| *id != EMPTY).map(|(key, _)| *key as i64);
        let (Some(least), Some(greatest)) = (keys().min(), keys().max()) else { return };
        let span = greatest.wrapping_sub(least) as u64;
        if span >= self.len as u64 * SPREAD {
            return;
        }
        let mut ids = vec![EMPTY; span as usize + 1];
        for (key, id) in self.slots.drain(..).filter(|(_, id)| *id != EMPTY) {
            ids[key.wrapping_sub(least as u64) as usize] = id;
        }
        self.slots = Vec::new();
        self.dense = Some(Dense { least: least as u64, ids: ids.into() });
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
    /// Size in memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<(u32, u32)>()
            + self.entries.capacity() * size_of::<(usize, u32)>()
            + self.bytes.capacity()
    }

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
