//! The keys touched since a group was built, and where they are in the group.
//!
//! Keys are only added. A reader copies at most one chunk under the mutex and finds positions
//! outside of it.

use super::{Finder, Keys};
use hashbrown::HashTable;
use selkie_engine::{TouchedKey, TouchedKeys};
use selkie_types::Bitmap;
use std::hash::BuildHasher;
use std::sync::Arc;

type Key = Arc<[u8]>;

/// Keys of a chunk.
const CHUNK: usize = crate::sync::capacity(256, 2);
/// Most bytes of keys.
const MOST_BYTES: usize = 512 << 10;

/// A set of keys in the order in which they came.
pub(super) struct Touched {
    sealed: Vec<Arc<[Key]>>,
    open: Vec<Key>,
    slots: HashTable<u32>,
    hasher: foldhash::fast::RandomState,
    bytes: usize,
    /// Number of keys that make the group full.
    limit: usize,
    pub(super) is_full: bool,
    /// The first keys, resolved; and how many they are.
    resolved: Option<(Arc<TouchedKeys>, usize)>,
}

/// Keys that a reader has to resolve.
pub(super) struct Tail {
    known: Option<Arc<TouchedKeys>>,
    sealed: Vec<Arc<[Key]>>,
    open: Vec<Key>,
    /// Number of the first chunk's keys that are known already.
    skip: usize,
    /// Number of all keys, known ones too.
    upto: usize,
}

impl Touched {
    pub(super) fn new(limit: usize) -> Touched {
        Touched {
            sealed: Vec::new(),
            open: Vec::new(),
            slots: HashTable::new(),
            hasher: foldhash::fast::RandomState::default(),
            bytes: 0,
            limit,
            is_full: false,
            resolved: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.sealed.len() * CHUNK + self.open.len()
    }

    fn get<'t>(sealed: &'t [Arc<[Key]>], open: &'t [Key], at: u32) -> &'t [u8] {
        let at = at as usize;
        sealed.get(at / CHUNK).map_or_else(|| &open[at % CHUNK], |chunk| &chunk[at % CHUNK])
    }

    /// Adds a key. Returns whether this made the group full.
    pub(super) fn insert(&mut self, key: &[u8]) -> bool {
        if self.is_full {
            return false;
        }
        let hash = self.hasher.hash_one(key);
        let Touched { sealed, open, slots, hasher, .. } = self;
        if slots.find(hash, |at| Self::get(sealed, open, *at) == key).is_some() {
            return false;
        }
        let at = (sealed.len() * CHUNK + open.len()) as u32;
        open.push(key.into());
        slots.insert_unique(hash, at, |at| hasher.hash_one(Self::get(sealed, open, *at)));
        self.bytes += key.len();
        if self.open.len() == CHUNK {
            self.sealed.push(std::mem::take(&mut self.open).into());
        }
        self.is_full = self.len() >= self.limit || self.bytes > MOST_BYTES;
        self.is_full
    }

    /// The resolved keys if these are all, or else what is to be resolved.
    pub(super) fn take(&self) -> Result<Arc<TouchedKeys>, Tail> {
        let upto = self.len();
        let known = match &self.resolved {
            Some((keys, count)) if *count == upto => return Ok(keys.clone()),
            Some((_, count)) => *count,
            None => 0,
        };
        let first = (known / CHUNK).min(self.sealed.len());
        Err(Tail {
            known: self.resolved.as_ref().map(|(keys, _)| keys.clone()),
            sealed: self.sealed[first..].to_vec(),
            open: self.open.clone(),
            skip: known - first * CHUNK,
            upto,
        })
    }

    /// Keeps resolved keys for later readers.
    pub(super) fn keep(&mut self, keys: &Arc<TouchedKeys>, upto: usize) {
        if self.resolved.as_ref().is_none_or(|(_, count)| *count < upto) {
            self.resolved = Some((keys.clone(), upto));
        }
    }
}

impl Tail {
    /// Finds the positions of the keys. Returns all keys, and how many they are.
    pub(super) fn resolve(self, positions: &Keys) -> (Arc<TouchedKeys>, usize) {
        let mut all = match self.known {
            Some(known) => TouchedKeys::clone(&known),
            None => TouchedKeys { dead: Bitmap::zeros(positions.len() as usize), keys: Vec::new() },
        };
        let fresh = self.sealed.iter().flat_map(|chunk| chunk.iter()).chain(&self.open);
        let mut fresh: Vec<&Key> = fresh.skip(self.skip).collect();
        // Neighbours are found in the same block.
        fresh.sort_unstable();
        let mut finder = Finder::new(positions);
        for key in fresh {
            let at = match finder.find(key) {
                Ok(at) => {
                    all.dead.set(at as usize, true);
                    at
                }
                Err(at) => at,
            };
            all.keys.push(TouchedKey { at, key: key.clone() });
        }
        // Mostly sorted already, which this sort makes use of.
        all.keys.sort_by(|a, b| a.key.cmp(&b.key));
        (Arc::new(all), self.upto)
    }
}
