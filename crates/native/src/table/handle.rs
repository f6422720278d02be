//! The contract's table: a thin layer that checks the call and passes it to the other modules.
//!
//! A handle may be used by many threads. It is valid as long as its definition is current.

use super::text::NativeTextSearch;
use super::{TableFiles, TextIndex};
use crate::btree::Tree;
use crate::engine::Shared;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::trx::NativeTrx;
use selkie_engine::{
    Bound, ColumnSource, Cursor, EngineError, EngineResult, EngineTrx, IndexCodec, InsertInfo,
    NoWait, RangeEstimate, RowSet, Scan, StatementContext, Table, TableDef, TableStatistics,
    TextSearch, automatic_number, next_in_series,
};
use selkie_types::ByteRows;
use std::sync::Arc;

/// A handle: a table's storage under a definition.
pub(crate) struct NativeTable {
    pub(crate) shared: Arc<Shared>,
    pub(crate) files: Arc<TableFiles>,
    pub(crate) def: Arc<TableDef>,
    pub(crate) codecs: Vec<IndexCodec>,
    /// Trees by position in the definition; the clustered tree for the primary key.
    pub(crate) trees: Vec<Arc<Tree>>,
    /// Full-text indexes by position in the definition.
    pub(crate) texts: Vec<TextIndex>,
    /// Changes of the list of growing indexes up to which none concerned this handle.
    pub(super) growth_seen: AtomicU64,
}

/// The engine's own type of a transaction.
pub(crate) fn own_trx(trx: &dyn EngineTrx) -> EngineResult<&NativeTrx> {
    trx.as_any().downcast_ref().ok_or(EngineError::Unsupported("a transaction of another engine"))
}

impl NativeTable {
    pub(crate) fn new(
        shared: Arc<Shared>,
        files: Arc<TableFiles>,
        def: Arc<TableDef>,
    ) -> EngineResult<NativeTable> {
        let codecs = def.indexes.iter().map(|index| IndexCodec::new(&def, index)).collect();
        let mut trees = Vec::new();
        for (at, index) in def.indexes.iter().enumerate() {
            if at == 0 && def.primary().is_some() {
                trees.push(files.clustered.clone());
                continue;
            }
            let tree = files.indexes.read().get(&index.id).cloned();
            trees.push(tree.ok_or_else(|| {
                EngineError::Corrupt(format!(
                    "index {} of table {} is missing",
                    index.name, def.name
                ))
            })?);
        }
        let texts = def.texts.iter().map(|text| TextIndex::new(&files, &def, text));
        let texts = texts.collect::<EngineResult<_>>()?;
        let growth_seen = AtomicU64::new(0);
        Ok(NativeTable { shared, files, def, codecs, trees, texts, growth_seen })
    }

    /// Positions of the indexes that have trees of their own.
    pub(crate) fn secondary(&self) -> std::ops::Range<usize> {
        usize::from(self.def.primary().is_some())..self.def.indexes.len()
    }

    /// The position of a scan's secondary index; `None`: the clustered tree.
    pub(crate) fn secondary_of(&self, scan: &Scan) -> Option<usize> {
        scan.index.filter(|at| self.secondary().contains(at))
    }

    /// The AUTO_INCREMENT value of a row.
    pub(crate) fn auto_value(&self, row: &[u8]) -> EngineResult<Option<u64>> {
        let Some(column) = self.def.auto_increment else { return Ok(None) };
        Ok(automatic_number(&self.def.layout.value(row, column)?))
    }

    /// The highest AUTO_INCREMENT value stored.
    fn highest_auto(&self) -> EngineResult<u64> {
        let Some(column) = self.def.auto_increment else { return Ok(0) };
        let led = |index: &selkie_engine::IndexDef| index.parts.first().map(|p| p.column);
        let Some(at) = self.def.indexes.iter().position(|index| led(index) == Some(column)) else {
            return Ok(self.files.auto.load(Ordering::Relaxed).saturating_sub(1));
        };
        let reverse = !self.def.indexes[at].parts[0].descending;
        let scan = Scan { index: Some(at), reverse, ..Scan::default() };
        let trx = NativeTrx::new(self.shared.clone(), selkie_engine::Isolation::ReadUncommitted);
        let mut out = RowSet::default();
        super::cursor::NativeCursor::new(self, &trx, &NoWait, &scan)?.next_batch(&mut out, 1)?;
        let row = (!out.rows.is_empty()).then(|| out.rows.get(0));
        Ok(row.map(|row| self.auto_value(row)).transpose()?.flatten().unwrap_or(0))
    }

    fn bytes_of(&self, tree: &Tree) -> u64 {
        let used = self.shared.storage.space().usage(tree.file);
        used.map_or(0, |usage| u64::from(usage.used) * crate::ids::PAGE_SIZE as u64)
    }
}

impl Table for NativeTable {
    fn def(&self) -> &Arc<TableDef> {
        &self.def
    }

    fn scan<'a>(
        &'a self,
        trx: &'a dyn EngineTrx,
        context: &'a dyn StatementContext,
        scan: &Scan,
    ) -> EngineResult<Box<dyn Cursor + 'a>> {
        Ok(Box::new(super::cursor::NativeCursor::new(self, own_trx(trx)?, context, scan)?))
    }

    fn lookup(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        scan: &Scan,
        keys: &ByteRows,
        out: &mut RowSet,
    ) -> EngineResult<()> {
        context.check_killed()?;
        self.look_up(own_trx(trx)?, context, scan, keys, out)
    }

    fn search_text<'a>(
        &'a self,
        trx: &'a dyn EngineTrx,
        context: &'a dyn StatementContext,
        position: usize,
    ) -> EngineResult<Box<dyn TextSearch + 'a>> {
        let index = self.texts.get(position);
        let index = index.ok_or(EngineError::Unsupported("a full-text index"))?;
        Ok(Box::new(NativeTextSearch::new(self, index, own_trx(trx)?, context)?))
    }

    fn insert(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        rows: &ByteRows,
    ) -> EngineResult<InsertInfo> {
        context.check_killed()?;
        self.shared.check_grows()?;
        self.insert_rows(own_trx(trx)?, context, rows)
    }

    fn update(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        at: &ByteRows,
        new: &ByteRows,
        before: Option<&mut ByteRows>,
    ) -> EngineResult<u64> {
        context.check_killed()?;
        self.shared.check_grows()?;
        self.update_rows(own_trx(trx)?, context, (at, new), before)
    }

    fn delete(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        at: &ByteRows,
        before: Option<&mut ByteRows>,
    ) -> EngineResult<u64> {
        context.check_killed()?;
        self.shared.check_writable()?;
        self.delete_rows(own_trx(trx)?, context, at, before)
    }

    fn reserve_auto_increment(&self, count: u64, step: u64, offset: u64) -> EngineResult<u64> {
        let after = |next: u64| {
            let first = next_in_series(next, step, offset);
            let last = first.saturating_add(count.saturating_sub(1).saturating_mul(step));
            Some(next.max(last.saturating_add(1)))
        };
        let before = self.files.auto.fetch_update(Ordering::AcqRel, Ordering::Acquire, after);
        Ok(next_in_series(before.unwrap_or(u64::MAX), step, offset))
    }

    fn release_auto_increment(&self, from: u64, to: u64) {
        let counter = &self.files.auto;
        // Values reserved by others meanwhile stay reserved.
        let _ = counter.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
    }

    fn set_auto_increment(&self, trx: &dyn EngineTrx, next: u64) -> EngineResult<()> {
        own_trx(trx)?;
        let next = next.max(self.highest_auto()?.saturating_add(1));
        self.files.auto.store(next, Ordering::Release);
        self.shared.log_counter(self.files.clustered.file, next)
    }

    fn estimate(
        &self,
        index: Option<usize>,
        lower: &Bound,
        upper: &Bound,
    ) -> EngineResult<RangeEstimate> {
        self.estimate_range(index, lower, upper)
    }

    fn is_too_young(&self, trx: &dyn EngineTrx, index: usize) -> bool {
        let Ok(Some(snapshot)) = own_trx(trx).map(NativeTrx::old_snapshot) else { return false };
        let since = |at: &usize| self.trees[*at].gate.since();
        self.secondary().contains(&index) && since(&index) > snapshot
    }

    fn statistics(&self) -> TableStatistics {
        let indexes = self.files.indexes.read();
        TableStatistics {
            rows: self.files.rows(),
            data_bytes: self.bytes_of(&self.files.clustered),
            index_bytes: indexes.values().map(|tree| self.bytes_of(tree)).sum(),
            auto_increment: self
                .def
                .auto_increment
                .map(|_| self.files.auto.load(Ordering::Acquire)),
        }
    }

    fn uncached_share(&self) -> f64 {
        let cache = self.shared.storage.pool().capacity() * crate::ids::PAGE_SIZE;
        let bytes = self.bytes_of(&self.files.clustered) as f64;
        (1.0 - cache as f64 / bytes.max(1.0)).max(0.0)
    }

    fn rows(&self) -> u64 {
        self.files.rows()
    }

    fn sample(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        rows: usize,
        out: &mut RowSet,
    ) -> EngineResult<()> {
        context.check_killed()?;
        self.sample_rows(own_trx(trx)?, rows, out)
    }

    fn check(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
    ) -> EngineResult<Vec<String>> {
        self.check_all(own_trx(trx)?, context)
    }

    fn columns(&self) -> Option<&dyn ColumnSource> {
        // Damaged pages are skipped by cursors only.
        (!self.shared.storage.salvages()).then_some(self)
    }

    fn reclaim(&self, context: &dyn StatementContext) -> EngineResult<u64> {
        self.sweep(context)
    }
}
