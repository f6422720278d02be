//! Scans: the position is a key, and every batch looks it up again, so that no lock is held between
//! batches.

use std::sync::Arc;

use selkie_engine::{Bound, Cursor, EngineResult, KeyRange, RowSet, Scan, StatementContext};

use crate::data::{Data, Entry, range};
use crate::engine::Storage;
use crate::table::MemoryTable;

/// A scan in progress.
pub(crate) struct MemoryCursor<'a> {
    pub(crate) table: &'a MemoryTable,
    pub(crate) storage: Arc<Storage>,
    pub(crate) context: &'a dyn StatementContext,
    pub(crate) scan: Scan,
    pub(crate) left: KeyRange,
}

impl Cursor for MemoryCursor<'_> {
    fn next_batch(&mut self, out: &mut RowSet, max_rows: usize) -> EngineResult<bool> {
        self.context.check_killed()?;
        let storage = self.storage.clone();
        let data = &*storage.data.read();
        let table = self.table;
        let shape = table.shape();
        let index = self.scan.index.filter(|at| shape.secondary().contains(at));
        let Some(at) = index else {
            let items = range(&data.rows, &self.left);
            return self.walk(items, out, max_rows, |table, scan, (key, row), out| {
                table.put_row(scan, key, row, out)
            });
        };
        let Some(entries) = data.indexes.get(&shape.def.indexes[at].id) else { return Ok(false) };
        let items = range(entries, &self.left);
        self.walk(items, out, max_rows, |table, scan, item, out| {
            table.put_entry(data, scan, item, out)
        })
    }

    fn restart(&mut self, lower: Bound, upper: Bound) -> EngineResult<()> {
        self.left = KeyRange::new(&lower, &upper);
        (self.scan.lower, self.scan.upper) = (lower, upper);
        Ok(())
    }
}

impl MemoryCursor<'_> {
    fn walk<'m, V: 'm>(
        &mut self,
        mut items: impl DoubleEndedIterator<Item = (&'m Vec<u8>, &'m V)>,
        out: &mut RowSet,
        max_rows: usize,
        put: impl Fn(&MemoryTable, &Scan, (&'m Vec<u8>, &'m V), &mut RowSet) -> EngineResult<()>,
    ) -> EngineResult<bool> {
        for done in 0..max_rows.max(1) {
            let next = if self.scan.reverse { items.next_back() } else { items.next() };
            let Some((key, value)) = next else { return Ok(done > 0) };
            put(self.table, &self.scan, (key, value), out)?;
            if self.scan.reverse {
                self.left.end = Some(key.clone());
            } else {
                self.left.start.clone_from(key);
                self.left.start.push(0);
            }
            if out.is_large() {
                break;
            }
        }
        Ok(true)
    }
}

impl MemoryTable {
    pub(crate) fn put_row(
        &self,
        scan: &Scan,
        key: &[u8],
        row: &[u8],
        out: &mut RowSet,
    ) -> EngineResult<()> {
        let shape = self.shape();
        if scan.want_keys {
            out.keys.push(key);
        }
        if let (true, Some(at)) = (scan.covering, scan.index) {
            shape.codecs[at].entry_of_row(&shape.def.layout, row, out.entries.buffer())?;
            out.entries.end_row();
        } else if scan.fixed_only {
            out.rows.push(&row[..row.len().min(shape.def.layout.fixed_bytes())]);
        } else {
            out.rows.push(row);
        }
        Ok(())
    }

    pub(crate) fn put_entry(
        &self,
        data: &Data,
        scan: &Scan,
        (key, entry): (&Vec<u8>, &Entry),
        out: &mut RowSet,
    ) -> EngineResult<()> {
        let clustered = &key[entry.split..];
        if scan.covering {
            if scan.want_keys {
                out.keys.push(clustered);
            }
            out.entries.push(&entry.covering);
            return Ok(());
        }
        match data.rows.get(clustered) {
            Some(row) => self.put_row(scan, clustered, row, out),
            None => Err(selkie_engine::EngineError::Corrupt("index entry without a row".into())),
        }
    }
}
