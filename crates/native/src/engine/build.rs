//! Building an index: read every row, sort the entries in memory, load them in order.

use super::shared::Shared;
use crate::btree::{BulkLoad, MAX_KEY, Tree};
use crate::table::{BuildEntry, NativeTable};
use crate::trx::NativeTrx;
use selkie_engine::{EngineError, EngineResult, StatementContext, TableDef};
use std::sync::Arc;

/// Entries to be sorted: bytes in one buffer, and where each lies.
#[derive(Default)]
struct Entries {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

/// One entry: its key's first bytes, then key and value in the buffer.
#[derive(Clone, Copy)]
struct Place {
    head: u64,
    at: u64,
    key: u16,
    value: u16,
    /// Length of the index key; 0 if a part is NULL, so that it may repeat.
    unique: u16,
}

impl Entries {
    fn push(&mut self, entry: &BuildEntry<'_>) {
        let mut head = [0; 8];
        let len = entry.key.len().min(8);
        head[..len].copy_from_slice(&entry.key[..len]);
        self.places.push(Place {
            head: u64::from_be_bytes(head),
            at: self.bytes.len() as u64,
            key: entry.key.len() as u16,
            value: 8 + entry.body.len() as u16,
            unique: if entry.any_null { 0 } else { entry.split as u16 },
        });
        self.bytes.extend_from_slice(entry.key);
        // Version 0: older than any transaction.
        self.bytes.extend_from_slice(&[0; 8]);
        self.bytes.extend_from_slice(entry.body);
    }

    fn key(&self, place: &Place) -> &[u8] {
        &self.bytes[place.at as usize..][..usize::from(place.key)]
    }

    fn value(&self, place: &Place) -> &[u8] {
        &self.bytes[place.at as usize + usize::from(place.key)..][..usize::from(place.value)]
    }

    fn sort(&mut self) {
        let mut places = std::mem::take(&mut self.places);
        places.sort_unstable_by(|a, b| {
            a.head.cmp(&b.head).then_with(|| self.key(a).cmp(self.key(b)))
        });
        self.places = places;
    }

    /// Two neighbours with the same unique key: the number of the second and the clustered key of the first.
    fn duplicate(&self) -> Option<(usize, &[u8])> {
        let same = |a: &Place, b: &Place| {
            let len = usize::from(a.unique);
            a.unique == b.unique && len > 0 && self.key(a)[..len] == self.key(b)[..len]
        };
        let at = self.places.windows(2).position(|pair| same(&pair[0], &pair[1]))?;
        let first = &self.places[at];
        Some((at + 1, &self.key(first)[usize::from(first.unique)..]))
    }

    fn load(&self, tree: &Tree) -> EngineResult<()> {
        let mut load = BulkLoad::new(tree, 0)?;
        for place in &self.places {
            load.push(self.key(place), self.value(place))?;
        }
        load.finish()?;
        Ok(())
    }
}

impl Shared {
    pub(super) fn build_index(
        self: &Arc<Self>,
        trx: &NativeTrx,
        context: &dyn StatementContext,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()> {
        let files = self.table_files(def.id)?;
        let index = &def.indexes[position];
        let mut entries = Entries::default();
        NativeTable::each_entry(&files, context, def, position, |entry| {
            if entry.key.len() > MAX_KEY {
                return Err(EngineError::RowTooBig(MAX_KEY));
            }
            entries.push(entry);
            Ok(())
        })?;
        entries.sort();
        if let Some((row, existing)) = entries.duplicate().filter(|_| index.is_unique()) {
            let existing = existing.into();
            return Err(EngineError::DuplicateKey { index: position, row, existing });
        }
        let tree = self.new_index(trx, &files, index.id)?;
        entries.load(&tree)
    }
}
