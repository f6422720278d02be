//! A table's rows and index entries, and the changes of single rows.
//!
//! No lock and no undo here: the caller holds the table's lock and notes how to undo a change.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

use selkie_engine::{EngineError, EngineResult, IndexCodec, IndexId, KeyRange, TableDef};

/// Approximate bytes of a map node besides key and value.
const NODE_BYTES: usize = 48;

/// An index entry: the clustered key starts at `split` of the map's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) split: usize,
    pub(crate) covering: Vec<u8>,
}

impl Entry {
    /// Bytes of an entry with its key.
    fn bytes(&self, key: &[u8]) -> usize {
        key.len() + self.covering.len() + NODE_BYTES
    }
}

fn cost_of(entries: &Entries) -> usize {
    entries.iter().map(|(key, entry)| entry.bytes(key)).sum()
}

pub(crate) type Rows = BTreeMap<Vec<u8>, Vec<u8>>;
pub(crate) type Entries = BTreeMap<Vec<u8>, Entry>;

/// Content of a table. Every row has one entry in every index of `indexes`.
#[derive(Debug, Default)]
pub(crate) struct Data {
    pub(crate) rows: Rows,
    pub(crate) indexes: BTreeMap<IndexId, Entries>,
    pub(crate) bytes: usize,
    /// Next row number of a table without a primary key.
    pub(crate) next_row: u64,
    /// Next AUTO_INCREMENT value.
    pub(crate) next_auto: u64,
}

/// A definition with its codecs.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) def: std::sync::Arc<TableDef>,
    pub(crate) codecs: Vec<IndexCodec>,
}

/// One row's keys in one secondary index.
struct IndexKey {
    key: Vec<u8>,
    any_null: bool,
}

impl Shape {
    pub(crate) fn new(def: std::sync::Arc<TableDef>) -> Self {
        let codecs = def.indexes.iter().map(|index| IndexCodec::new(&def, index)).collect();
        Self { def, codecs }
    }

    /// The clustered key formed by the row's columns; `None` for a table of numbered rows.
    pub(crate) fn primary_key(&self, row: &[u8]) -> EngineResult<Option<Vec<u8>>> {
        if self.def.primary().is_none() {
            return Ok(None);
        }
        let mut key = Vec::new();
        self.codecs[0].key_of_row(&self.def.layout, row, &mut key)?;
        Ok(Some(key))
    }

    /// Positions of the indexes that have maps of their own.
    pub(crate) fn secondary(&self) -> std::ops::Range<usize> {
        usize::from(self.def.primary().is_some())..self.def.indexes.len()
    }

    fn index_key(&self, at: usize, row: &[u8]) -> EngineResult<IndexKey> {
        let mut key = Vec::new();
        let any_null = self.codecs[at].key_of_row(&self.def.layout, row, &mut key)?;
        Ok(IndexKey { key, any_null })
    }

    /// The map item of a row in index `at`: key and entry.
    pub(crate) fn entry(
        &self,
        at: usize,
        clustered: &[u8],
        row: &[u8],
    ) -> EngineResult<(Vec<u8>, Entry)> {
        let mut key = self.index_key(at, row)?.key;
        let split = key.len();
        key.extend_from_slice(clustered);
        let mut covering = Vec::new();
        self.codecs[at].entry_of_row(&self.def.layout, row, &mut covering)?;
        Ok((key, Entry { split, covering }))
    }

    /// The clustered key of a row in `entries` that a unique index does not allow beside `row`;
    /// `None` if there is none, or the key has a NULL.
    pub(crate) fn rival(
        &self,
        entries: &Entries,
        at: usize,
        row: &[u8],
    ) -> EngineResult<Option<Box<[u8]>>> {
        let IndexKey { key, any_null } = self.index_key(at, row)?;
        let found = self.rival_in(entries, at, &key, None).filter(|_| !any_null);
        Ok(found.map(Into::into))
    }

    /// The same for a key without NULLs and all rows but `own`.
    fn rival_in<'e>(
        &self,
        entries: &'e Entries,
        at: usize,
        key: &[u8],
        own: Option<&[u8]>,
    ) -> Option<&'e [u8]> {
        let period = self.codecs[at].period(key);
        let rivals = period.map_or_else(|| KeyRange::prefix(key), |period| period.rivals());
        let is_rival = |entry: &[u8]| match &period {
            Some(period) => period.sibling(entry).is_some_and(|other| other.excludes(period)),
            None => true,
        };
        let found = range(entries, &rivals).filter(|(entry, _)| is_rival(entry));
        let mut rows = found.map(|(entry, e)| &entry[e.split..]);
        rows.find(|row| own != Some(*row))
    }

    /// The AUTO_INCREMENT value of a row.
    pub(crate) fn auto_value(&self, row: &[u8]) -> EngineResult<u64> {
        let Some(column) = self.def.auto_increment else { return Ok(0) };
        let value = self.def.layout.value(row, column)?;
        Ok(selkie_engine::automatic_number(&value).unwrap_or(0))
    }
}

impl Data {
    pub(crate) fn new(shape: &TableDef) -> Self {
        let first = usize::from(shape.primary().is_some());
        let indexes = shape.indexes[first..].iter().map(|i| (i.id, Entries::new())).collect();
        Self { indexes, next_auto: 1, next_row: 1, ..Self::default() }
    }

    /// Fails if `row`, stored under `clustered`, repeats a unique key of a row other than `own`.
    pub(crate) fn check_unique(
        &self,
        shape: &Shape,
        number: usize,
        clustered: &[u8],
        row: &[u8],
        own: Option<&[u8]>,
    ) -> EngineResult<()> {
        let duplicate = |index: usize, existing: &[u8]| {
            Err(EngineError::DuplicateKey { index, row: number, existing: existing.into() })
        };
        if shape.def.primary().is_some()
            && let Some(key) = shape.codecs[0].period(clustered)
        {
            let excluded = |other: &[u8]| key.sibling(other).is_some_and(|o| o.excludes(&key));
            let mut found = range(&self.rows, &key.rivals()).map(|(row, _)| &row[..]);
            if let Some(existing) = found.find(|row| own != Some(*row) && excluded(row)) {
                return duplicate(0, existing);
            }
        }
        if own != Some(clustered) && self.rows.contains_key(clustered) {
            return duplicate(0, clustered);
        }
        for at in shape.secondary().filter(|&at| shape.def.indexes[at].is_unique()) {
            let IndexKey { key, any_null } = shape.index_key(at, row)?;
            let Some(entries) = self.indexes.get(&shape.def.indexes[at].id) else { continue };
            if any_null {
                continue;
            }
            if let Some(existing) = shape.rival_in(entries, at, &key, own) {
                return duplicate(at, existing);
            }
        }
        Ok(())
    }

    /// Sets the row under `clustered` to `row`; `None` removes it. Returns the old row.
    pub(crate) fn replace(
        &mut self,
        shape: &Shape,
        clustered: &[u8],
        row: Option<&[u8]>,
    ) -> EngineResult<Option<Vec<u8>>> {
        let before = match row {
            Some(row) => self.rows.insert(clustered.to_vec(), row.to_vec()),
            None => self.rows.remove(clustered),
        };
        let cost = |row: &[u8]| clustered.len() + row.len() + NODE_BYTES;
        self.bytes += row.map_or(0, cost);
        self.bytes -= before.as_deref().map_or(0, cost);
        for at in shape.secondary() {
            let Some(entries) = self.indexes.get_mut(&shape.def.indexes[at].id) else { continue };
            if let Some(before) = &before {
                let (key, _) = shape.entry(at, clustered, before)?;
                let gone = entries.remove(&key);
                self.bytes -= gone.map_or(0, |e| e.bytes(&key));
            }
            if let Some(row) = row {
                let (key, entry) = shape.entry(at, clustered, row)?;
                self.bytes += entry.bytes(&key);
                entries.insert(key, entry);
            }
        }
        Ok(before)
    }

    /// Takes the number of a new row, as its clustered key.
    pub(crate) fn number_row(&mut self) -> Vec<u8> {
        self.next_row += 1;
        (self.next_row - 1).to_be_bytes().to_vec()
    }

    /// Adds a complete index.
    pub(crate) fn put_index(&mut self, id: IndexId, entries: Entries) {
        self.bytes += cost_of(&entries);
        self.indexes.insert(id, entries);
    }

    /// Removes an index and returns it.
    pub(crate) fn take_index(&mut self, id: IndexId) -> Option<Entries> {
        let entries = self.indexes.remove(&id)?;
        self.bytes -= cost_of(&entries);
        Some(entries)
    }

    /// Compares every index with the rows.
    pub(crate) fn check(&self, shape: &Shape) -> EngineResult<Vec<String>> {
        let mut wrong = Vec::new();
        for at in shape.secondary() {
            let index = &shape.def.indexes[at];
            let mut expected = Entries::new();
            for (clustered, row) in &self.rows {
                expected.extend([shape.entry(at, clustered, row)?]);
            }
            if self.indexes.get(&index.id) != Some(&expected) {
                wrong.push(format!("index {} does not fit the rows", index.name));
            }
        }
        Ok(wrong)
    }
}

/// The items of `map` in `range`.
pub(crate) fn range<'m, V>(
    map: &'m BTreeMap<Vec<u8>, V>,
    range: &KeyRange,
) -> std::collections::btree_map::Range<'m, Vec<u8>, V> {
    let end = match &range.end {
        _ if range.is_empty() => Excluded(&range.start[..]),
        Some(end) => Excluded(&end[..]),
        None => Unbounded,
    };
    map.range::<[u8], _>((Included(&range.start[..]), end))
}
