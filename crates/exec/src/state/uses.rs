//! Uses of tables and indexes while `userstat` is on: rows read and rows changed.
//!
//! # Invariants
//! - USES-1 Counts belong to names, not to definitions: a table that is renamed begins anew, and
//!   only a table that is dropped takes its counts with it.
//! - USES-2 While `userstat` is off, a statement that opens a table pays one look at a flag.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use hashbrown::{Equivalent, HashMap};
use parking_lot::RwLock;
use selkie_catalog::{TableInfo, TableKind};

/// Schema and name of a table.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Place(Box<str>, Box<str>);

/// A [`Place`] to look for.
#[derive(Hash)]
struct Sought<'n>(&'n str, &'n str);

impl Equivalent<Place> for Sought<'_> {
    fn equivalent(&self, place: &Place) -> bool {
        (self.0, self.1) == (&*place.0, &*place.1)
    }
}

type ByTable<T> = RwLock<HashMap<Place, Arc<T>>>;

/// Counts of all tables and indexes.
#[derive(Debug, Default)]
pub struct TableUses {
    on: AtomicBool,
    tables: ByTable<TableCounts>,
    indexes: ByTable<IndexCounts>,
}

#[derive(Debug, Default)]
struct TableCounts {
    read: AtomicU64,
    changed: AtomicU64,
    changed_by_indexes: AtomicU64,
}

/// Rows read by each index of a table: first those of the definition in its order, then others
/// that the table had before.
#[derive(Debug)]
struct IndexCounts {
    names: Box<[Box<str>]>,
    read: Box<[AtomicU64]>,
}

/// Uses of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableUse {
    /// Schema of the table.
    pub schema: Box<str>,
    /// The table.
    pub table: Box<str>,
    /// Rows read.
    pub read: u64,
    /// Rows inserted, updated and deleted.
    pub changed: u64,
    /// The same, each row as often as the table had indexes, at least once.
    pub changed_by_indexes: u64,
}

/// Uses of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexUse {
    /// Schema of the table.
    pub schema: Box<str>,
    /// The table.
    pub table: Box<str>,
    /// The index.
    pub index: Box<str>,
    /// Rows read by it.
    pub read: u64,
}

impl TableUses {
    /// Begins or ends counting (`userstat`).
    pub fn switch(&self, on: bool) {
        self.on.store(on, Relaxed);
    }

    /// The counts that a statement adds to by using a table, if uses of it are counted.
    #[inline]
    pub(crate) fn of(&self, info: &TableInfo) -> Option<Uses> {
        match self.on.load(Relaxed) && info.kind == TableKind::Base {
            true => Some(self.begin(info)),
            false => None,
        }
    }

    fn begin(&self, info: &TableInfo) -> Uses {
        let sought = Sought(info.schema(), info.name());
        let table = entry(&self.tables, &sought, |_| true, |_| TableCounts::default());
        let is_current = |counts: &IndexCounts| counts.begins_with(info);
        let indexes = entry(&self.indexes, &sought, is_current, |old| IndexCounts::of(info, old));
        let weight = (info.def.indexes.len() + info.fulltext.len()).max(1) as u64;
        Uses { table, indexes, weight }
    }

    /// Forgets a table that was dropped.
    pub(crate) fn forget(&self, schema: &str, table: &str) {
        self.tables.write().remove(&Sought(schema, table));
        self.indexes.write().remove(&Sought(schema, table));
    }

    /// Forgets the uses of all tables (`FLUSH TABLE_STATISTICS`).
    pub fn forget_tables(&self) {
        self.tables.write().clear();
    }

    /// Forgets the uses of all indexes (`FLUSH INDEX_STATISTICS`).
    pub fn forget_indexes(&self) {
        self.indexes.write().clear();
    }

    /// Tables that were used, in order of their names.
    pub fn tables(&self) -> Vec<TableUse> {
        let mut all: Vec<TableUse> = Vec::new();
        for (place, counts) in &*self.tables.read() {
            all.push(TableUse {
                schema: place.0.clone(),
                table: place.1.clone(),
                read: counts.read.load(Relaxed),
                changed: counts.changed.load(Relaxed),
                changed_by_indexes: counts.changed_by_indexes.load(Relaxed),
            });
        }
        all.retain(|uses| uses.read + uses.changed > 0);
        all.sort_unstable_by(|a, b| (&a.schema, &a.table).cmp(&(&b.schema, &b.table)));
        all
    }

    /// Indexes that were used, in order of the names of their tables.
    pub fn indexes(&self) -> Vec<IndexUse> {
        let mut all = Vec::new();
        for (place, counts) in &*self.indexes.read() {
            for (name, read) in counts.names.iter().zip(&counts.read) {
                all.push(IndexUse {
                    schema: place.0.clone(),
                    table: place.1.clone(),
                    index: name.clone(),
                    read: read.load(Relaxed),
                });
            }
        }
        all.retain(|uses| uses.read > 0);
        all.sort_by(|a, b| (&a.schema, &a.table).cmp(&(&b.schema, &b.table)));
        all
    }
}

/// The counts of a table if they are there and `fit`, otherwise new ones made from them.
fn entry<T>(
    all: &ByTable<T>,
    sought: &Sought<'_>,
    fit: impl Fn(&T) -> bool,
    make: impl FnOnce(Option<&T>) -> T,
) -> Arc<T> {
    if let Some(there) = all.read().get(sought).filter(|there| fit(there)) {
        return Arc::clone(there);
    }
    let mut all = all.write();
    let there = all.get(sought);
    if let Some(there) = there.filter(|there| fit(there)) {
        return Arc::clone(there);
    }
    let made = Arc::new(make(there.map(|there| &**there)));
    all.insert(Place(sought.0.into(), sought.1.into()), Arc::clone(&made));
    made
}

impl IndexCounts {
    /// Counts for a definition that has changed, with the numbers of `old`.
    fn of(info: &TableInfo, old: Option<&Self>) -> Self {
        let mut names: Vec<Box<str>> = info.def.indexes.iter().map(|i| i.name.clone()).collect();
        let gone = old.iter().flat_map(|old| &old.names).filter(|name| !names.contains(name));
        let gone: Vec<Box<str>> = gone.cloned().collect();
        names.extend(gone);
        let read = |name: &str| AtomicU64::new(old.map_or(0, |old| old.read_by(name)));
        let read = names.iter().map(|name| read(name)).collect();
        Self { names: names.into(), read }
    }

    fn read_by(&self, name: &str) -> u64 {
        let at = self.names.iter().position(|known| &**known == name);
        at.and_then(|at| self.read.get(at)).map_or(0, |read| read.load(Relaxed))
    }

    fn begins_with(&self, info: &TableInfo) -> bool {
        self.names.len() >= info.def.indexes.len()
            && self.names.iter().zip(&info.def.indexes).all(|(name, index)| *name == index.name)
    }
}

/// The counts that a statement adds to by using a table.
#[derive(Debug)]
pub(crate) struct Uses {
    table: Arc<TableCounts>,
    indexes: Arc<IndexCounts>,
    /// Indexes of the table, at least one.
    weight: u64,
}

impl Uses {
    /// Counts rows that were read, by an index of the definition or in stored order.
    pub(crate) fn read(&self, index: Option<usize>, rows: usize) {
        self.table.read.fetch_add(rows as u64, Relaxed);
        self.read_entries(index, rows);
    }

    /// Counts entries of an index that lead to rows which are counted by themselves.
    pub(crate) fn read_entries(&self, index: Option<usize>, entries: usize) {
        if let Some(read) = index.and_then(|at| self.indexes.read.get(at)) {
            read.fetch_add(entries as u64, Relaxed);
        }
    }

    /// Counts rows that were inserted, updated or deleted.
    pub(crate) fn changed(&self, rows: u64) {
        self.table.changed.fetch_add(rows, Relaxed);
        self.table.changed_by_indexes.fetch_add(rows * self.weight, Relaxed);
    }
}
