//! A cache that drops entries not used lately, without recording each use. Not shared between
//! threads.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// Values by key in two generations. When the younger is full, it replaces the older. A value found
/// in the older one moves to the younger.
#[derive(Debug)]
pub struct Generations<K, V> {
    /// Number of values in a full generation.
    size: usize,
    young: HashTable<(K, V)>,
    old: HashTable<(K, V)>,
}

impl<K: Hash + Eq, V> Generations<K, V> {
    /// An empty cache with generations of `size` values.
    pub const fn new(size: usize) -> Self {
        Self { size, young: HashTable::new(), old: HashTable::new() }
    }

    /// The value of a key.
    pub fn find<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = hash_of(key);
        let is_it = |(own, _): &(K, V)| own.borrow() == key;
        let absent = match self.young.find_entry(hash, is_it) {
            Ok(entry) => return Some(&mut entry.into_mut().1),
            Err(absent) => absent,
        };
        let (entry, _) = self.old.find_entry(hash, is_it).ok()?.remove();
        let young = absent.into_table();
        make_room(young, &mut self.old, self.size);
        Some(&mut young.insert_unique(hash, entry, |(key, _)| hash_of(key)).into_mut().1)
    }

    /// Stores a value, replacing that of an equal key.
    pub fn keep(&mut self, key: K, value: V) {
        let hash = hash_of(&key);
        if let Ok(entry) = self.young.find_entry(hash, |(own, _)| *own == key) {
            entry.into_mut().1 = value;
            return;
        }
        // An entry of the key in the older generation is hidden by this one, and is dropped before
        // it.
        make_room(&mut self.young, &mut self.old, self.size);
        self.young.insert_unique(hash, (key, value), |(key, _)| hash_of(key));
    }
}

/// Makes the younger generation the older one if it is full.
fn make_room<T>(young: &mut HashTable<T>, old: &mut HashTable<T>, size: usize) {
    if young.len() >= size {
        *old = std::mem::take(young);
    }
}

/// The hash of a key, the same in each cache.
pub(crate) fn hash_of<Q: Hash + ?Sized>(key: &Q) -> u64 {
    FixedState::default().hash_one(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays() {
        let mut cache: Generations<Box<str>, u32> = Generations::new(2);
        cache.keep("a".into(), 1);
        cache.keep("b".into(), 2);
        cache.keep("b".into(), 3);
        cache.keep("c".into(), 4);
        assert_eq!(cache.find("a").copied(), Some(1));
        cache.keep("d".into(), 5);
        assert_eq!(cache.find("b").copied(), None);
        let mut found = |key: &str| cache.find(key).copied();
        assert_eq!(["d", "c", "a"].map(&mut found), [Some(5), Some(4), Some(1)]);
    }
}
