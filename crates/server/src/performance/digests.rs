//! Sums of statements by their digest and schema.
//!
//! A session adds to places of its own ([`Local`]), which are added to the common entries when a
//! table is read and when a session ends or has many places. A common entry is looked up only when
//! a session meets a digest for the first time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use hashbrown::{HashMap, HashTable};
use parking_lot::Mutex;
use selkie_sql::Digest;

use super::sums::{Counts, Sums};

/// Number of locks of the common entries.
const SHARDS: usize = 16;
/// Places that a session keeps before it gives their sums away.
const PLACES: usize = 200;

/// Identity of an entry: a digest in a schema.
type Key = (u128, Option<Arc<str>>);

/// A digest in a schema.
#[derive(Debug)]
pub(super) struct Entry {
    /// The schema, if there was one.
    pub(super) schema: Option<Arc<str>>,
    /// The digest; the entry without one collects statements for which there was no room.
    pub(super) digest: Option<Digest>,
    /// Place in the order in which the entries were made.
    order: u64,
    /// The sums that sessions have given.
    pub(super) given: Mutex<Seen>,
}

/// Sums, and the moments of the first and the last event in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) sums: Sums,
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Seen {
    fn merge(&mut self, other: &Self) {
        if other.sums.times.count == 0 {
            return;
        }
        let is_first = self.sums.times.count == 0 || other.first < self.first;
        self.first = if is_first { other.first } else { self.first };
        self.last = self.last.max(other.last);
        self.sums.merge(&other.sums);
    }
}

/// The common entries.
#[derive(Debug)]
pub(super) struct Digests {
    shards: [Mutex<HashMap<Key, Arc<Entry>>>; SHARDS],
    /// Maximum number of entries, with the one without a digest.
    size: usize,
    count: AtomicUsize,
    made: AtomicU64,
    rest: Mutex<Arc<Entry>>,
    /// Digests for which there was no room.
    pub(super) lost: AtomicU64,
}

fn rest() -> Mutex<Arc<Entry>> {
    let given = Mutex::default();
    Mutex::new(Arc::new(Entry { schema: None, digest: None, order: 0, given }))
}

impl Digests {
    pub(super) fn new(size: usize) -> Self {
        let shards = std::array::from_fn(|_| Mutex::default());
        let (count, made, lost) = Default::default();
        Self { shards, size, count, made, rest: rest(), lost }
    }

    /// Whether there is room for anything.
    pub(super) fn is_on(&self) -> bool {
        self.size > 0
    }

    fn entry(&self, digest: &Digest, schema: Option<&Arc<str>>) -> Arc<Entry> {
        let key = (digest.hash, schema.cloned());
        let mut shard = self.shards[digest.hash as usize % SHARDS].lock();
        if let Some(entry) = shard.get(&key) {
            return Arc::clone(entry);
        }
        let room = |count: usize| (count + 1 < self.size).then_some(count + 1);
        if self.count.fetch_update(Relaxed, Relaxed, room).is_err() {
            self.lost.fetch_add(1, Relaxed);
            return self.rest.lock().clone();
        }
        let entry = Arc::new(Entry {
            schema: schema.cloned(),
            digest: Some(digest.clone()),
            order: self.made.fetch_add(1, Relaxed) + 1,
            given: Mutex::default(),
        });
        shard.insert(key, Arc::clone(&entry));
        entry
    }

    /// All entries that have counted anything, in the order they were made.
    pub(super) fn entries(&self) -> Vec<Arc<Entry>> {
        let mut all = vec![self.rest.lock().clone()];
        for shard in &self.shards {
            all.extend(shard.lock().values().cloned());
        }
        all.retain(|entry| entry.given.lock().sums.times.count > 0);
        all.sort_by_key(|entry| entry.order);
        all
    }

    /// Forgets all entries. The sessions must forget their places.
    pub(super) fn clear(&self) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            self.count.fetch_sub(shard.len(), Relaxed);
            shard.clear();
        }
        *self.rest.lock() = rest().into_inner();
        self.lost.store(0, Relaxed);
    }
}

/// A session's sums of one digest.
#[derive(Debug)]
struct Place {
    entry: Arc<Entry>,
    hash: u128,
    schema: Option<Arc<str>>,
    seen: Seen,
}

/// A session's sums by digest.
#[derive(Debug, Default)]
pub(super) struct Local {
    places: Vec<Place>,
    /// Numbers of the places, by the lower half of the digest's hash.
    found: HashTable<usize>,
}

impl Local {
    /// The number of the place for a digest. It is valid until the sums are given away.
    pub(super) fn place(
        &mut self,
        digests: &Digests,
        digest: &Digest,
        schema: Option<&Arc<str>>,
    ) -> usize {
        let is_it = |at: &usize| {
            let place = &self.places[*at];
            place.hash == digest.hash && place.schema.as_deref() == schema.map(|s| &**s)
        };
        if let Some(at) = self.found.find(digest.hash as u64, is_it) {
            return *at;
        }
        if self.places.len() >= PLACES {
            self.give();
            self.clear();
        }
        let (entry, schema) = (digests.entry(digest, schema), schema.cloned());
        self.places.push(Place { entry, hash: digest.hash, schema, seen: Seen::default() });
        let at = self.places.len() - 1;
        let places = &self.places;
        self.found.insert_unique(digest.hash as u64, at, |at| places[*at].hash as u64);
        at
    }

    /// The entry at a place.
    pub(super) fn entry(&self, at: usize) -> Option<&Arc<Entry>> {
        self.places.get(at).map(|place| &place.entry)
    }

    /// Adds a statement that ended `now`.
    pub(super) fn add(&mut self, at: usize, wait: Option<u64>, counts: &Counts, now: u64) {
        let Some(place) = self.places.get_mut(at) else { return };
        let seen = &mut place.seen;
        seen.first = if seen.sums.times.count == 0 { now } else { seen.first };
        seen.last = now;
        seen.sums.add(wait, counts);
    }

    /// Adds the sums to the common entries.
    pub(super) fn give(&mut self) {
        for place in &mut self.places {
            place.entry.given.lock().merge(&std::mem::take(&mut place.seen));
        }
    }

    /// Forgets all places.
    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.found.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::performance::sums::COUNTS;

    fn digest(hash: u128) -> Digest {
        Digest { text: hash.to_string(), hash }
    }

    #[test]
    fn digests_without_room_are_counted_together() {
        let digests = Digests::new(3);
        let mut local = Local::default();
        let schema: Arc<str> = "d".into();
        for round in 0..2 {
            for hash in 1..=4 {
                let at = local.place(&digests, &digest(hash), Some(&schema));
                local.add(at, Some(1), &[0; COUNTS], round * 4 + hash as u64);
            }
        }
        local.give();
        local.give();
        let counted: Vec<_> = digests
            .entries()
            .iter()
            .map(|e| (e.digest.as_ref().map(|d| d.hash), e.given.lock().sums.times.count))
            .collect();
        assert_eq!(counted, [(None, 4), (Some(1), 2), (Some(2), 2)]);
        assert_eq!(digests.lost.load(Relaxed), 2);
        digests.clear();
        local.clear();
        assert!(digests.entries().is_empty());
        assert_eq!(local.place(&digests, &digest(9), None), 0);
        assert_eq!(digests.count.load(Relaxed), 1);
    }

    #[test]
    fn many_digests_of_one_session() {
        let digests = Digests::new(10_000);
        let mut local = Local::default();
        for hash in 0..1000 {
            let at = local.place(&digests, &digest(hash), None);
            local.add(at, None, &[1; COUNTS], 1);
        }
        local.give();
        assert_eq!(digests.entries().len(), 1000);
    }
}
