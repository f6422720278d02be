//! Finds the rows that an event changes, by what their images before the change have.
//!
//! Must not change rows: what is found stays locked until the transaction ends.

use hashbrown::{HashMap, HashSet};
use selkie_catalog::TableInfo;
use selkie_engine::{Bound, LockMode, RowSet, Scan};
use selkie_types::{ByteRows, RowLayout, SqlResult};

use super::failure::Applied;
use crate::run::{Env, OpenTable};
use crate::state::error::{corrupt, from_engine};

/// Rows read at a time.
const BATCH: usize = 1024;

/// Way to find rows.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Way {
    /// By the unique key of this position: nothing else is compared.
    Key(usize),
    /// By the index of this position.
    Index(usize),
    /// By reading all rows.
    All,
}

/// Finds rows of one table.
pub(super) struct Finder<'r> {
    pub(super) env: Env<'r>,
    pub(super) info: &'r TableInfo,
    pub(super) open: &'r OpenTable<'r>,
    /// Columns that the images have and that tell rows apart.
    pub(super) telling: &'r [usize],
}

/// Rows that were found for the first of those wanted.
#[derive(Default)]
pub(super) struct Found {
    /// Their clustered keys, one for each.
    pub(super) keys: ByteRows,
    /// The rows.
    pub(super) rows: ByteRows,
    /// Whether all rows were read in vain for the next one wanted.
    ended: bool,
}

impl Found {
    /// MariaDB's name of the reason that the next one was not found.
    pub(super) fn said(&self) -> &'static str {
        if self.ended { "HA_ERR_END_OF_FILE" } else { "HA_ERR_KEY_NOT_FOUND" }
    }
}

impl Finder<'_> {
    /// Finds `wanted[from..]`, until one is not there or has been found for another one: that may
    /// be the row that it becomes by the changes before.
    pub(super) fn find(&self, wanted: &ByteRows, from: usize) -> Applied<Found> {
        Ok(match self.way(wanted, from)? {
            Way::Key(index) => self.by_key(index, wanted, from)?,
            Way::Index(index) => self.by_index(index, wanted, from)?,
            Way::All => self.by_reading(wanted, from)?,
        })
    }

    fn layout(&self) -> &RowLayout {
        &self.info.def.layout
    }

    fn way(&self, wanted: &ByteRows, from: usize) -> SqlResult<Way> {
        let indexes = || {
            self.info.def.indexes.iter().enumerate().filter(|(_, index)| {
                !index.hashed && index.parts.iter().all(|part| self.telling.contains(&part.column))
            })
        };
        for (at, index) in indexes().filter(|(_, index)| index.is_unique()) {
            let is_null = |row: &[u8]| {
                let mut parts = index.parts.iter();
                parts.try_fold(false, |any, part| {
                    Ok(any || self.layout().is_null(row, part.column)?)
                })
            };
            let mut rows = (from..wanted.len()).map(|row| is_null(wanted.get(row)));
            if !rows.try_fold(false, |any, null| Ok(any || null?)).map_err(corrupt)? {
                return Ok(Way::Key(at));
            }
        }
        Ok(indexes().next().map_or(Way::All, |(at, _)| Way::Index(at)))
    }

    fn scan(index: Option<usize>) -> Scan {
        Scan { index, lock: LockMode::Exclusive, want_keys: true, ..Scan::default() }
    }

    /// The key of a row in an index.
    fn key(&self, index: usize, row: &[u8], out: &mut Vec<u8>) -> SqlResult<()> {
        let codec = &self.open.handle.codecs[index];
        let key = codec.key_of_row(self.layout(), row, out);
        key.map(drop).map_err(|error| from_engine(error, &self.info.def))
    }

    fn by_key(&self, index: usize, wanted: &ByteRows, from: usize) -> SqlResult<Found> {
        let mut keys = ByteRows::with_capacity(wanted.len() - from);
        for row in from..wanted.len() {
            self.key(index, wanted.get(row), keys.buffer())?;
            keys.end_row();
        }
        let mut set = RowSet::default();
        let (table, control) = (&self.open.handle.table, self.env.rt.control);
        table
            .lookup(self.open.trx, control, &Self::scan(Some(index)), &keys, &mut set)
            .map_err(|error| from_engine(error, table.def()))?;
        let mut of_key = vec![None; keys.len()];
        for (at, key) in set.found_by.iter().enumerate() {
            if let Some(of) = of_key.get_mut(*key as usize) {
                *of = Some(at);
            }
        }
        let (mut found, mut taken) = (Found::default(), HashSet::new());
        for at in of_key {
            match at {
                Some(at) if taken.insert(set.keys.get(at)) => {
                    found.keys.push(set.keys.get(at));
                    found.rows.push(set.rows.get(at));
                }
                _ => break,
            }
        }
        Ok(found)
    }

    fn by_index(&self, index: usize, wanted: &ByteRows, from: usize) -> SqlResult<Found> {
        let (mut found, mut taken) = (Found::default(), HashSet::new());
        let mut set = RowSet::default();
        for row in from..wanted.len() {
            self.env.check()?;
            let (wanted, mut key) = (wanted.get(row), Vec::new());
            self.key(index, wanted, &mut key)?;
            let end = Bound::Included(key.into());
            let scan = Scan { lower: end.clone(), upper: end, ..Self::scan(Some(index)) };
            let table = &self.open.handle.table;
            let error = |error| from_engine(error, table.def());
            let cursor = table.scan(self.open.trx, self.env.rt.control, &scan);
            let (mut cursor, mut many) = (cursor.map_err(error)?, 1);
            let mut is_found = false;
            set.clear();
            while !is_found && cursor.next_batch(&mut set, many).map_err(error)? {
                found.ended = true;
                for at in 0..set.rows.len() {
                    let (key, stored) = (set.keys.get(at), set.rows.get(at));
                    if !taken.contains(key) && self.is_it(wanted, stored)? {
                        taken.insert(Box::from(key));
                        found.keys.push(key);
                        found.rows.push(stored);
                        is_found = true;
                        break;
                    }
                }
                set.clear();
                many = BATCH;
            }
            if !is_found {
                return Ok(found);
            }
            found.ended = false;
        }
        Ok(found)
    }

    /// Whether a row has the values of an image.
    fn is_it(&self, wanted: &[u8], stored: &[u8]) -> SqlResult<bool> {
        let layout = self.layout();
        for at in self.telling.iter().copied() {
            let value = |row| Ok((layout.is_null(row, at)?, layout.stored(row, at)?));
            if value(wanted).map_err(corrupt)? != value(stored).map_err(corrupt)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The values that tell a row apart, as bytes.
    fn told(&self, row: &[u8], out: &mut Vec<u8>) -> SqlResult<()> {
        let layout = self.layout();
        for at in self.telling.iter().copied() {
            if layout.is_null(row, at).map_err(corrupt)? {
                out.push(1);
                continue;
            }
            let value = layout.stored(row, at).map_err(corrupt)?;
            out.push(0);
            out.extend_from_slice(&(value.len() as u32).to_le_bytes());
            out.extend_from_slice(value);
        }
        Ok(())
    }

    fn by_reading(&self, wanted: &ByteRows, from: usize) -> SqlResult<Found> {
        let count = wanted.len() - from;
        // The rows wanted by their values, the first of equal ones last.
        let mut open: HashMap<Vec<u8>, Vec<usize>> = HashMap::with_capacity(count);
        for at in (0..count).rev() {
            let mut told = Vec::new();
            self.told(wanted.get(from + at), &mut told)?;
            open.entry(told).or_default().push(at);
        }
        let (mut places, mut left) = (vec![None; count], count);
        let mut all = Found::default();
        let table = &self.open.handle.table;
        let error = |error| from_engine(error, table.def());
        let cursor = table.scan(self.open.trx, self.env.rt.control, &Self::scan(None));
        let (mut cursor, mut set, mut told) =
            (cursor.map_err(error)?, RowSet::default(), Vec::new());
        while left > 0 && cursor.next_batch(&mut set, BATCH).map_err(error)? {
            self.env.check()?;
            for at in 0..set.rows.len() {
                told.clear();
                self.told(set.rows.get(at), &mut told)?;
                let Some(row) = open.get_mut(&told).and_then(Vec::pop) else { continue };
                if let Some(place) = places.get_mut(row) {
                    *place = Some(all.keys.len());
                }
                all.keys.push(set.keys.get(at));
                all.rows.push(set.rows.get(at));
                left -= 1;
            }
            set.clear();
        }
        let mut found = Found { ended: left > 0, ..Found::default() };
        for place in places {
            let Some(at) = place else { break };
            found.keys.push(all.keys.get(at));
            found.rows.push(all.rows.get(at));
        }
        Ok(found)
    }
}
