//! Results of queries, kept to be sent again: MariaDB's query cache.
//!
//! A result belongs to a key made of the text and of all settings that its meaning depends on, and
//! is valid as long as none of its tables has changed (`metadata/changes.rs`). A change writes
//! nothing here: a result is found to be out of date when it is wanted or in the way.
//! Must not know when a session may use a result: see `query/results.rs`.
//!
//! # Invariants
//! - RESULT-1 The results take at most [`KeptResults::set_size`] bytes.
//! - RESULT-2 Results belong to the server: they are allocated and freed on nobody's account.

use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_catalog::TableInfo;
use selkie_engine::OwnLines;
use selkie_plan::physical::OutputColumn;

use crate::state::metadata::changes::{self, Watched};

const SHARDS: usize = 16;

/// Compat: bytes that MariaDB's cache needs for itself, and the smallest cache.
const OVERHEAD: usize = 17_304;
const SMALLEST: usize = 40 << 10;
/// Compat: the smallest block of MariaDB's cache. Each table has one, each result two or more.
const BLOCK: usize = 512;

/// A table or view that a result was made of.
#[derive(Clone, Debug)]
pub(crate) struct KeptTable {
    pub(crate) info: Arc<TableInfo>,
    pub(crate) watched: Watched,
    /// Time of its last change when the result was made.
    pub(crate) changed: u64,
}

/// Columns and rows that a query has made.
#[derive(Clone, Copy)]
pub(crate) struct Made<'m> {
    pub(crate) columns: &'m Arc<[OutputColumn]>,
    /// The rows as the sink wrote them.
    pub(crate) rows: &'m [u8],
    pub(crate) count: u64,
}

/// A result.
#[derive(Debug)]
pub struct KeptResult {
    pub(crate) key: Box<[u8]>,
    pub(crate) tables: Box<[KeptTable]>,
    /// Version of the privileges under which it was made.
    pub(crate) privileges: u64,
    pub(crate) columns: Arc<[OutputColumn]>,
    /// The rows as the sink wrote them.
    pub(crate) rows: Box<[u8]>,
    pub(crate) count: u64,
    /// Value of `FOUND_ROWS()`.
    pub(crate) found: u64,
    /// Whether it was used since the hand passed it.
    used: AtomicBool,
}

impl KeptResult {
    pub(crate) fn new(
        key: &[u8],
        tables: &[KeptTable],
        privileges: u64,
        made: Made<'_>,
        found: u64,
    ) -> Self {
        Self {
            key: key.into(),
            tables: tables.into(),
            privileges,
            columns: Arc::clone(made.columns),
            rows: made.rows.into(),
            count: made.count,
            found,
            used: AtomicBool::new(false),
        }
    }

    /// Whether none of its tables has changed.
    pub(crate) fn is_valid(&self) -> bool {
        self.tables.iter().all(|table| table.watched.changed() == table.changed)
    }

    fn memory(&self) -> usize {
        let block = |bytes: usize| bytes.next_multiple_of(8).max(BLOCK);
        block(self.key.len() + size_of::<Self>()) + block(self.rows.len())
    }
}

/// Queries after which a shard looks whether it is worth its work, and the hits that make it so.
const WINDOW: u32 = 256;
const WORTHWHILE: u32 = WINDOW / 10;

/// Some of the results, in places that a hand passes to find one that was not used lately.
#[derive(Default)]
struct Shard {
    places: HashMap<Box<[u8]>, usize, FixedState>,
    results: Vec<Option<Arc<KeptResult>>>,
    free: Vec<usize>,
    hand: usize,
    hits: u64,
    inserts: u64,
    prunes: u64,
    /// Queries and hits of the present window.
    asked: u32,
    gained: u32,
    /// Hashes of queries that came lately, if only queries that come again are kept.
    doorkeeper: Option<Box<[u64]>>,
}

impl Shard {
    /// Whether a query's result is to be kept. A shard whose results are seldom used keeps only
    /// those of queries that come a second time: others would cost more than they give.
    fn admits(&mut self, hash: u64) -> bool {
        self.asked += 1;
        if self.asked == WINDOW {
            let is_worthwhile = self.gained >= WORTHWHILE;
            (self.asked, self.gained) = (0, 0);
            match is_worthwhile {
                true => self.doorkeeper = None,
                false => {
                    let _server = selkie_meter::detached();
                    self.doorkeeper.get_or_insert_with(|| vec![0; 256].into());
                }
            }
        }
        let Some(doorkeeper) = &mut self.doorkeeper else { return true };
        let place = &mut doorkeeper[hash as usize % 256];
        std::mem::replace(place, hash) == hash
    }

    fn find(&self, key: &[u8]) -> Option<&Arc<KeptResult>> {
        self.results[*self.places.get(key)?].as_ref()
    }

    fn put(&mut self, result: Arc<KeptResult>) -> Option<Arc<KeptResult>> {
        let before = self.places.get(&result.key).copied().and_then(|at| self.take(at));
        let at = self.free.pop().unwrap_or_else(|| {
            self.results.push(None);
            self.results.len() - 1
        });
        self.places.insert(result.key.clone(), at);
        self.results[at] = Some(result);
        self.inserts += 1;
        before
    }

    fn take(&mut self, at: usize) -> Option<Arc<KeptResult>> {
        let result = self.results[at].take()?;
        self.places.remove(&result.key);
        self.free.push(at);
        Some(result)
    }

    /// Removes a result that is out of date, or one that was not used since the hand passed it.
    fn evict(&mut self) -> Option<Arc<KeptResult>> {
        for _ in 0..self.results.len() {
            let at = self.hand;
            self.hand = (at + 1) % self.results.len();
            let Some(result) = &self.results[at] else { continue };
            let is_valid = result.is_valid();
            if is_valid && result.used.swap(false, Relaxed) {
                continue;
            }
            self.prunes += u64::from(is_valid);
            return self.take(at);
        }
        None
    }

    fn drop_outdated(&mut self) -> usize {
        let mut freed = 0;
        for at in 0..self.results.len() {
            if self.results[at].as_ref().is_some_and(|result| !result.is_valid()) {
                freed += self.take(at).map_or(0, |result| result.memory());
            }
        }
        freed
    }
}

fn hash_of(key: &[u8]) -> u64 {
    FixedState::with_seed(11).hash_one(key)
}

/// Values of the status variables `Qcache_...`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultCounts {
    /// Free pieces of memory: one, or none without a cache.
    pub free_blocks: u64,
    /// Free bytes.
    pub free_memory: u64,
    /// Results sent again.
    pub hits: u64,
    /// Results kept.
    pub inserts: u64,
    /// Results dropped because memory was short.
    pub lowmem_prunes: u64,
    /// Queries whose result was not kept.
    pub not_cached: u64,
    /// Results there are.
    pub queries_in_cache: u64,
    /// Pieces of memory, free and in use.
    pub total_blocks: u64,
}

/// The results of a server.
pub struct KeptResults {
    shards: Box<[OwnLines<Mutex<Shard>>]>,
    /// Most bytes; 0 for no cache.
    size: AtomicUsize,
    /// The size that is shown. Compat: 0 once the cache was switched off, not before.
    shown: AtomicUsize,
    /// Bytes in use.
    memory: AtomicUsize,
    /// Most bytes of a result.
    limit: AtomicUsize,
    not_cached: AtomicU64,
    /// Number of the time since results were dropped because changes were not noted.
    epoch: AtomicU64,
    next_shard: AtomicUsize,
    /// Whether `query_cache_type` is other than OFF.
    is_wanted: AtomicBool,
}

impl Default for KeptResults {
    fn default() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| OwnLines::default()).collect(),
            size: AtomicUsize::new(0),
            shown: AtomicUsize::new(0),
            memory: AtomicUsize::new(0),
            limit: AtomicUsize::new(1 << 20),
            not_cached: AtomicU64::new(0),
            epoch: AtomicU64::new(0),
            next_shard: AtomicUsize::new(0),
            is_wanted: AtomicBool::new(false),
        }
    }
}

impl KeptResults {
    /// Whether results are kept at all.
    #[inline]
    pub(crate) fn is_on() -> bool {
        changes::is_watched()
    }

    /// Sets the memory for results, in bytes, and drops all results. Returns the size used: 0 if
    /// the given one is too small.
    pub fn set_size(&self, bytes: usize) -> usize {
        let size = if bytes < SMALLEST { 0 } else { bytes };
        self.size.store(size, Relaxed);
        self.shown.store(size, Relaxed);
        self.follow();
        size
    }

    /// Sets `query_cache_type`: with 0, OFF, no session may use results.
    pub fn set_type(&self, kind: u64) {
        let wanted = kind != 0;
        self.is_wanted.store(wanted, Relaxed);
        self.shown.store(if wanted { self.size.load(Relaxed) } else { 0 }, Relaxed);
        self.follow();
    }

    /// Sets the most bytes of one result.
    pub fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Relaxed);
    }

    /// Most bytes of one result.
    pub(crate) fn limit(&self) -> usize {
        self.limit.load(Relaxed).min(self.size.load(Relaxed).saturating_sub(OVERHEAD))
    }

    fn follow(&self) {
        // Changes that were not noted may have made results out of date.
        changes::ignore();
        self.epoch.fetch_add(1, SeqCst);
        self.clear();
        if self.size.load(Relaxed) > 0 && self.is_wanted.load(Relaxed) {
            changes::watch();
        }
    }

    /// Number of the present epoch. A result is kept only in the one in which the times of its
    /// tables were read.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(SeqCst)
    }

    /// Drops all results.
    pub fn clear(&self) {
        let _server = selkie_meter::detached();
        for shard in &self.shards {
            let mut shard = shard.lock();
            let (hits, inserts, prunes) = (shard.hits, shard.inserts, shard.prunes);
            let dropped =
                std::mem::replace(&mut *shard, Shard { hits, inserts, prunes, ..Shard::default() });
            drop(shard);
            let freed: usize = dropped.results.iter().flatten().map(|r| r.memory()).sum();
            self.memory.fetch_sub(freed, Relaxed);
        }
    }

    fn shard(&self, key: &[u8]) -> &Mutex<Shard> {
        self.shard_of(hash_of(key))
    }

    fn shard_of(&self, hash: u64) -> &Mutex<Shard> {
        &self.shards[(hash >> 32) as usize % SHARDS]
    }

    /// Whether the result of a query is to be kept.
    pub(crate) fn admits(&self, key: &[u8]) -> bool {
        let hash = hash_of(key);
        self.shard_of(hash).lock().admits(hash)
    }

    /// The result of a key, if it is still valid.
    pub(crate) fn find(&self, key: &[u8]) -> Option<Arc<KeptResult>> {
        let shard = self.shard(key).lock();
        let result = shard.find(key)?;
        if !result.is_valid() {
            return None;
        }
        if !result.used.load(Relaxed) {
            result.used.store(true, Relaxed);
        }
        Some(Arc::clone(result))
    }

    /// Counts a result that was sent again.
    pub(crate) fn count_hit(&self, key: &[u8]) {
        let mut shard = self.shard(key).lock();
        shard.hits += 1;
        shard.gained = shard.gained.saturating_add(1);
    }

    /// Counts a query whose result was not kept.
    pub(crate) fn count_not_kept(&self) {
        self.not_cached.fetch_add(1, Relaxed);
    }

    /// Keeps a result whose tables' times were read in `epoch`; `make` is called on the server's
    /// account.
    pub(crate) fn keep(&self, epoch: u64, make: impl FnOnce() -> KeptResult) {
        let _server = selkie_meter::detached();
        let result = Arc::new(make());
        let memory = result.memory();
        if memory + OVERHEAD > self.size.load(Relaxed) {
            return self.count_not_kept();
        }
        let mut shard = self.shard(&result.key).lock();
        // Under the shard's lock: results of an earlier epoch are dropped behind this one.
        if self.epoch() != epoch {
            return;
        }
        self.memory.fetch_add(memory, Relaxed);
        let before = shard.put(result);
        drop(shard);
        self.memory.fetch_sub(before.map_or(0, |result| result.memory()), Relaxed);
        while self.memory.load(Relaxed) + OVERHEAD > self.size.load(Relaxed) && self.evict() {}
    }

    /// Removes a result from one of the shards; false if there is none.
    fn evict(&self) -> bool {
        let first = self.next_shard.fetch_add(1, Relaxed);
        // In the second round none counts as used.
        let mut shards = (0..2 * SHARDS).map(|at| &self.shards[(first + at) % SHARDS]);
        let evicted = shards.find_map(|shard| shard.lock().evict());
        self.memory.fetch_sub(evicted.as_ref().map_or(0, |result| result.memory()), Relaxed);
        evicted.is_some()
    }

    /// Counts of the status variables. Results that are out of date are dropped first.
    pub fn counts(&self) -> ResultCounts {
        let _server = selkie_meter::detached();
        let size = self.shown.load(Relaxed);
        let is_there = u64::from(size > 0);
        let mut counts = ResultCounts {
            free_blocks: is_there,
            not_cached: self.not_cached.load(Relaxed),
            ..ResultCounts::default()
        };
        let mut tables = hashbrown::HashSet::new();
        for shard in &self.shards {
            let mut shard = shard.lock();
            self.memory.fetch_sub(shard.drop_outdated(), Relaxed);
            counts.hits += shard.hits;
            counts.inserts += shard.inserts;
            counts.lowmem_prunes += shard.prunes;
            counts.queries_in_cache += shard.places.len() as u64;
            for table in shard.results.iter().flatten().flat_map(|result| &result.tables) {
                let info = &table.info;
                tables.insert((info.schema().to_owned(), info.name().to_owned()));
            }
        }
        let used = self.memory.load(Relaxed) + OVERHEAD + BLOCK * tables.len();
        counts.free_memory = size.saturating_sub(used) as u64;
        counts.total_blocks = is_there + 2 * counts.queries_in_cache + tables.len() as u64;
        counts
    }

    /// Begins the counts anew (FLUSH STATUS).
    pub fn reset_counts(&self) {
        self.not_cached.store(0, Relaxed);
        for shard in &self.shards {
            let mut shard = shard.lock();
            (shard.hits, shard.inserts, shard.prunes) = (0, 0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(results: &KeptResults, key: &str, bytes: usize) {
        let columns: Arc<[OutputColumn]> = Arc::new([]);
        let rows = vec![1; bytes];
        let made = Made { columns: &columns, rows: &rows, count: 1 };
        results.keep(results.epoch(), || KeptResult::new(key.as_bytes(), &[], 1, made, 1));
    }

    #[test]
    fn results_that_are_used_outlast_others() {
        let results = KeptResults::default();
        results.set_size(OVERHEAD + (64 << 10));
        results.set_type(1);
        keep(&results, "used", 100);
        for at in 0..400 {
            keep(&results, &format!("other {at}"), 2000);
            assert!(results.find(b"used").is_some(), "{at}");
        }
        let counts = results.counts();
        assert!(counts.queries_in_cache < 40, "{counts:?}");
        assert_eq!(counts.lowmem_prunes, 401 - counts.queries_in_cache);
        assert!(results.memory.load(Relaxed) <= 64 << 10);
        keep(&results, "too large", 70 << 10);
        assert!(results.find(b"too large").is_none());
        assert_eq!(results.counts().not_cached, 1);
        results.clear();
        assert_eq!(results.memory.load(Relaxed), 0);
        assert_eq!(results.set_size(SMALLEST - 1), 0);
    }

    #[test]
    fn results_that_nobody_uses_are_kept_if_their_queries_come_again() {
        let results = KeptResults::default();
        results.set_size(1 << 20);
        let text = |at: u32| format!("text {at}").into_bytes();
        let admitted = (0..20_000).filter(|at| results.admits(&text(*at))).count();
        assert!((WINDOW as usize..6_000).contains(&admitted), "{admitted}");
        assert!(!results.admits(b"once") && results.admits(b"once"));
        // Hits make each shard keep what comes for the first time again.
        for at in 0..60_000 {
            results.admits(&text(at % 2_000));
            results.count_hit(&text(at % 2_000));
        }
        assert!(results.admits(b"new"));
    }

    #[test]
    fn a_result_replaces_the_one_of_its_key() {
        let results = KeptResults::default();
        results.set_size(1 << 20);
        (0..100).for_each(|at| keep(&results, "one", at * 100));
        let counts = results.counts();
        assert_eq!((counts.queries_in_cache, counts.inserts), (1, 100));
        let found = results.find(b"one").expect("it is there");
        assert_eq!(results.memory.load(Relaxed), found.memory());
    }
}
