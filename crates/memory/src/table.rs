//! Tables: the contract's operations on the maps.
//!
//! Each operation takes the table's lock, and no lock outlives it. Each row change notes its undo.

use std::sync::Arc;

use selkie_engine::{
    Bound, Cursor, EngineError, EngineResult, EngineTrx, InsertInfo, KeyRange, RangeEstimate,
    RowSet, Scan, StatementContext, Table, TableDef, TableStatistics,
};
use selkie_types::ByteRows;

use crate::cursor::MemoryCursor;
use crate::data::{Data, Shape, range};
use crate::engine::{Shared, Storage, own_trx};
use crate::trx::{MemoryTrx, Undo};

/// A handle on a table.
pub(crate) struct MemoryTable {
    shared: Arc<Shared>,
    shape: Arc<Shape>,
}

impl MemoryTable {
    pub(crate) fn new(shared: Arc<Shared>, def: Arc<TableDef>) -> Self {
        Self { shared, shape: Arc::new(Shape::new(def)) }
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    fn storage(&self) -> EngineResult<Arc<Storage>> {
        let id = self.shape.def.id;
        self.shared.storage(id).ok_or_else(|| EngineError::Corrupt(format!("no table {id}")))
    }

    /// Replaces one row and notes how to undo it.
    fn change(
        &self,
        trx: &MemoryTrx,
        storage: &Arc<Storage>,
        data: &mut Data,
        key: &[u8],
        row: Option<&[u8]>,
    ) -> EngineResult<()> {
        let before = data.replace(&self.shape, key, row)?;
        let (storage, shape) = (storage.clone(), self.shape.clone());
        trx.push(Undo::Row { storage, shape, key: key.to_vec(), before });
        Ok(())
    }

    fn follow_auto(&self, data: &mut Data, row: &[u8]) -> EngineResult<()> {
        data.next_auto = data.next_auto.max(self.shape.auto_value(row)?.saturating_add(1));
        Ok(())
    }

    fn insert_row(
        &self,
        trx: &MemoryTrx,
        storage: &Arc<Storage>,
        number: usize,
        row: &[u8],
    ) -> EngineResult<()> {
        let mut data = storage.data.write();
        if data.bytes >= storage.max_bytes {
            return Err(EngineError::TableFull);
        }
        let key = match self.shape.primary_key(row)? {
            Some(key) => key,
            None => data.number_row(),
        };
        self.follow_auto(&mut data, row)?;
        data.check_unique(&self.shape, number, &key, row, None)?;
        self.change(trx, storage, &mut data, &key, Some(row))
    }

    fn update_row(
        &self,
        trx: &MemoryTrx,
        storage: &Arc<Storage>,
        number: usize,
        (at, row): (&[u8], &[u8]),
        before: Option<&mut ByteRows>,
    ) -> EngineResult<bool> {
        let mut data = storage.data.write();
        let old = data.rows.get(at);
        note_row(old, before);
        if old.is_none() {
            return Ok(false);
        }
        let key = self.shape.primary_key(row)?.unwrap_or_else(|| at.to_vec());
        data.check_unique(&self.shape, number, &key, row, Some(at))?;
        if key != at {
            self.change(trx, storage, &mut data, at, None)?;
        }
        self.follow_auto(&mut data, row)?;
        self.change(trx, storage, &mut data, &key, Some(row))?;
        Ok(true)
    }

    fn find(
        &self,
        data: &Data,
        scan: &Scan,
        (number, prefix): (usize, &[u8]),
        out: &mut RowSet,
    ) -> EngineResult<()> {
        let keys = KeyRange::prefix(prefix);
        match scan.index.filter(|at| self.shape.secondary().contains(at)) {
            None => {
                for (key, row) in range(&data.rows, &keys) {
                    self.put_row(scan, key, row, out)?;
                    out.found_by.push(number as u32);
                }
            }
            Some(at) => {
                let entries = data.indexes.get(&self.shape.def.indexes[at].id);
                for item in entries.into_iter().flat_map(|e| range(e, &keys)) {
                    self.put_entry(data, scan, item, out)?;
                    out.found_by.push(number as u32);
                }
            }
        }
        Ok(())
    }
}

/// Appends a row that is about to change, or an empty one if there is none.
fn note_row(row: Option<&Vec<u8>>, before: Option<&mut ByteRows>) {
    if let Some(before) = before {
        before.push(row.map_or(&[], Vec::as_slice));
    }
}

impl Table for MemoryTable {
    fn def(&self) -> &Arc<TableDef> {
        &self.shape.def
    }

    fn scan<'a>(
        &'a self,
        _: &'a dyn EngineTrx,
        context: &'a dyn StatementContext,
        scan: &Scan,
    ) -> EngineResult<Box<dyn Cursor + 'a>> {
        let left = KeyRange::new(&scan.lower, &scan.upper);
        let storage = self.storage()?;
        Ok(Box::new(MemoryCursor { table: self, storage, context, scan: scan.clone(), left }))
    }

    fn lookup(
        &self,
        _: &dyn EngineTrx,
        context: &dyn StatementContext,
        scan: &Scan,
        keys: &ByteRows,
        out: &mut RowSet,
    ) -> EngineResult<()> {
        context.check_killed()?;
        let storage = self.storage()?;
        let data = storage.data.read();
        keys.iter().enumerate().try_for_each(|key| self.find(&data, scan, key, out))
    }

    fn insert(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        rows: &ByteRows,
    ) -> EngineResult<InsertInfo> {
        context.check_killed()?;
        let (trx, storage) = (own_trx(trx)?, self.storage()?);
        for (number, row) in rows.iter().enumerate() {
            self.insert_row(trx, &storage, number, row)?;
        }
        Ok(InsertInfo { rows: rows.len() as u64 })
    }

    fn update(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        at: &ByteRows,
        new: &ByteRows,
        mut before: Option<&mut ByteRows>,
    ) -> EngineResult<u64> {
        context.check_killed()?;
        let (trx, storage) = (own_trx(trx)?, self.storage()?);
        let mut changed = 0;
        for (number, change) in at.iter().zip(new.iter()).enumerate() {
            let before = before.as_deref_mut();
            changed += u64::from(self.update_row(trx, &storage, number, change, before)?);
        }
        Ok(changed)
    }

    fn delete(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        at: &ByteRows,
        mut before: Option<&mut ByteRows>,
    ) -> EngineResult<u64> {
        context.check_killed()?;
        let (trx, storage) = (own_trx(trx)?, self.storage()?);
        let mut data = storage.data.write();
        let mut deleted = 0;
        for key in at.iter() {
            let old = data.rows.get(key).filter(|_| !key.is_empty());
            note_row(old, before.as_deref_mut());
            if old.is_some() {
                self.change(trx, &storage, &mut data, key, None)?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }

    fn reserve_auto_increment(&self, count: u64, step: u64, offset: u64) -> EngineResult<u64> {
        let storage = self.storage()?;
        let mut data = storage.data.write();
        let first = selkie_engine::next_in_series(data.next_auto, step, offset);
        let last = first.saturating_add(count.saturating_sub(1).saturating_mul(step));
        data.next_auto = data.next_auto.max(last.saturating_add(1));
        Ok(first)
    }

    fn release_auto_increment(&self, from: u64, to: u64) {
        if let Ok(storage) = self.storage() {
            let mut data = storage.data.write();
            if data.next_auto == from {
                data.next_auto = to;
            }
        }
    }

    fn set_auto_increment(&self, _: &dyn EngineTrx, next: u64) -> EngineResult<()> {
        let storage = self.storage()?;
        let mut data = storage.data.write();
        let mut highest = 0;
        for row in data.rows.values() {
            highest = highest.max(self.shape.auto_value(row)?);
        }
        data.next_auto = next.max(highest.saturating_add(1));
        Ok(())
    }

    fn estimate(
        &self,
        index: Option<usize>,
        lower: &Bound,
        upper: &Bound,
    ) -> EngineResult<RangeEstimate> {
        let (storage, keys) = (self.storage()?, KeyRange::new(lower, upper));
        let data = storage.data.read();
        let rows = match index.filter(|at| self.shape.secondary().contains(at)) {
            None => range(&data.rows, &keys).count(),
            Some(at) => data
                .indexes
                .get(&self.shape.def.indexes[at].id)
                .map_or(0, |entries| range(entries, &keys).count()),
        };
        Ok(RangeEstimate { rows: rows as f64, exact: true })
    }

    fn statistics(&self) -> TableStatistics {
        let Ok(storage) = self.storage() else { return TableStatistics::default() };
        let data = storage.data.read();
        TableStatistics {
            rows: data.rows.len() as u64,
            data_bytes: data.bytes as u64,
            index_bytes: 0,
            auto_increment: self.shape.def.auto_increment.map(|_| data.next_auto),
        }
    }

    fn sample(
        &self,
        _: &dyn EngineTrx,
        _: &dyn StatementContext,
        rows: usize,
        out: &mut RowSet,
    ) -> EngineResult<()> {
        let storage = self.storage()?;
        let data = storage.data.read();
        let step = (data.rows.len() / rows.max(1)).max(1);
        data.rows.values().step_by(step).take(rows).for_each(|row| out.rows.push(row));
        Ok(())
    }

    fn check(&self, _: &dyn EngineTrx, _: &dyn StatementContext) -> EngineResult<Vec<String>> {
        self.storage()?.data.read().check(&self.shape)
    }
}
