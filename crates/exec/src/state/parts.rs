//! A table in parts: one table for its callers, made of one engine table for each leaf. Row keys
//! that it hands out begin with the number of the leaf.
//!
//! Every row lies in the leaf that the router gives (P1): all changes of rows go through here.

mod change;
mod check;
mod counter;
mod cursor;
mod lookup;
mod overlap;
mod route;

use std::sync::{Arc, OnceLock};

use selkie_catalog::{Leaf, Partitioning, TableInfo};
use selkie_engine::{
    Bound, Cursor, Engine, EngineError, EngineResult, EngineTrx, IndexCodec, InsertInfo,
    RangeEstimate, RowSet, Scan, StatementContext, Table, TableDef, TableStatistics,
};
use selkie_plan::partition::{RouteError, Router};
use selkie_types::error::catalogue::{
    ER_NO_PARTITION_FOR_GIVEN_VALUE, ER_ROW_DOES_NOT_MATCH_GIVEN_PARTITION_SET,
};
use selkie_types::{ByteRows, SqlError};

pub(crate) use counter::{PartCounter, PartCounters};

/// Bytes of the leaf's number before a row key.
pub(crate) const PREFIX: usize = 2;

/// A table in parts.
pub(crate) struct PartSet {
    def: Arc<TableDef>,
    engine: Arc<dyn Engine>,
    router: Router,
    /// Definitions of the leaves.
    defs: Vec<Arc<TableDef>>,
    /// Leaves that have been used.
    leaves: Vec<OnceLock<Arc<dyn Table>>>,
    codecs: Vec<IndexCodec>,
    /// For each index, the way from its keys to leaves, if they tell it.
    routes: Vec<Option<route::KeyRoute>>,
    /// Indexes without overlaps whose rows of one key may lie in several leaves.
    spread: Vec<usize>,
    counter: Arc<PartCounter>,
}

impl PartSet {
    /// The parts of a table. `counter` is shared by all handles of the table.
    pub(crate) fn new(
        engine: &Arc<dyn Engine>,
        info: &TableInfo,
        partitions: &Partitioning,
        counter: Arc<PartCounter>,
    ) -> EngineResult<Self> {
        let router = Router::new(info, partitions);
        let router = router.map_err(|error| EngineError::Refused(Box::new(error)))?;
        let defs: Vec<Arc<TableDef>> =
            partitions.leaves().map(|leaf: Leaf<'_>| Arc::new(info.leaf_def(leaf))).collect();
        let codecs: Vec<IndexCodec> =
            info.def.indexes.iter().map(|i| IndexCodec::new(&info.def, i)).collect();
        let indexes = info.def.indexes.iter().zip(&codecs);
        let routes = indexes.map(|(i, codec)| route::KeyRoute::new(&router, i, codec)).collect();
        let indexes = info.def.indexes.iter().enumerate();
        let spread = indexes.filter(|(_, index)| overlap::is_spread(&router, index));
        let spread = spread.map(|(at, _)| at).collect();
        Ok(Self {
            spread,
            def: info.def.clone(),
            engine: engine.clone(),
            router,
            leaves: defs.iter().map(|_| OnceLock::new()).collect(),
            defs,
            codecs,
            routes,
            counter,
        })
    }

    /// The table of a leaf, opened with its first use.
    fn leaf(&self, at: usize) -> EngineResult<&Arc<dyn Table>> {
        let Some(slot) = self.leaves.get(at) else { return Err(no_leaf(at)) };
        if let Some(leaf) = slot.get() {
            return Ok(leaf);
        }
        let leaf = self.engine.open_table(&self.defs[at])?;
        Ok(slot.get_or_init(|| leaf))
    }

    /// All leaves.
    fn all(&self) -> impl Iterator<Item = EngineResult<&Arc<dyn Table>>> {
        (0..self.leaves.len()).map(|at| self.leaf(at))
    }

    /// The numbers of the leaves that a scan reads.
    fn read_by(&self, scan: &Scan) -> Vec<u16> {
        match &scan.parts {
            Some(parts) => parts.to_vec(),
            None => (0..self.leaves.len()).map(|at| at as u16).collect(),
        }
    }

    /// The leaf of each row.
    pub(crate) fn route(&self, rows: &ByteRows) -> EngineResult<Vec<Result<usize, SqlError>>> {
        let routes = self.router.leaves(&self.def.layout, rows);
        let routes = routes.map_err(|error| EngineError::Refused(Box::new(error)))?;
        let told = |error| match error {
            RouteError::NoPartition(value) => {
                SqlError::new(&ER_NO_PARTITION_FOR_GIVEN_VALUE, &[&value])
            }
            RouteError::Function(error) => error,
        };
        Ok(routes.into_iter().map(|route| route.map_err(told)).collect())
    }

    /// The router.
    pub(crate) fn router(&self) -> &Router {
        &self.router
    }

    /// Counts the rows of a partition, by its position; a leaf that cannot be opened has none.
    pub(crate) fn part_rows(&self) -> impl Fn(usize) -> u64 + '_ {
        move |part| {
            let each = self.router.leaves_each();
            let leaves = (part * each..(part + 1) * each).map(|at| self.leaf(at));
            leaves.map(|leaf| leaf.map_or(0, |leaf| leaf.statistics().rows)).sum()
        }
    }

    /// Statistics of each leaf; empty ones for a leaf that cannot be opened.
    pub(crate) fn each(&self) -> Vec<TableStatistics> {
        self.all().map(|leaf| leaf.map(|leaf| leaf.statistics()).unwrap_or_default()).collect()
    }

    /// Fails (1748) at the first row that belongs to none of the leaves `allowed`.
    pub(crate) fn check_within(&self, rows: &ByteRows, allowed: &[u16]) -> EngineResult<()> {
        for (row, route) in self.route(rows)?.into_iter().enumerate() {
            let error = match route {
                Ok(leaf)
                    if allowed.iter().any(|at| self.router.may_be_in(leaf, usize::from(*at))) =>
                {
                    continue;
                }
                Ok(_) => SqlError::new(&ER_ROW_DOES_NOT_MATCH_GIVEN_PARTITION_SET, &[]),
                Err(error) => error,
            };
            return Err(EngineError::Misplaced { row, error: Box::new(error) });
        }
        Ok(())
    }
}

/// An error of one storage of a table, as the table's own.
pub(crate) fn in_storage(error: EngineError, table: &TableInfo, storage: usize) -> EngineError {
    match table.partitions {
        Some(_) => change::in_leaf(error, storage, 0),
        None => error,
    }
}

fn no_leaf(at: usize) -> EngineError {
    EngineError::Corrupt(format!("there is no leaf {at}"))
}

/// A leaf's number and the row key in it.
fn split(key: &[u8]) -> EngineResult<(usize, &[u8])> {
    match key.split_first_chunk::<PREFIX>() {
        Some((leaf, key)) => Ok((usize::from(u16::from_be_bytes(*leaf)), key)),
        None => Err(EngineError::Corrupt("a row key without a leaf".into())),
    }
}

/// A row key without its leaf's number.
pub(crate) fn own_key(key: &[u8]) -> EngineResult<Vec<u8>> {
    Ok(split(key)?.1.to_vec())
}

/// Appends a row key with its leaf's number.
fn put_key(keys: &mut ByteRows, leaf: usize, key: &[u8]) {
    keys.buffer().extend_from_slice(&(leaf as u16).to_be_bytes());
    keys.buffer().extend_from_slice(key);
    keys.end_row();
}

impl Table for PartSet {
    fn def(&self) -> &Arc<TableDef> {
        &self.def
    }

    fn scan<'a>(
        &'a self,
        trx: &'a dyn EngineTrx,
        context: &'a dyn StatementContext,
        scan: &Scan,
    ) -> EngineResult<Box<dyn Cursor + 'a>> {
        cursor::open(self, (trx, context), scan)
    }

    fn lookup(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        scan: &Scan,
        keys: &ByteRows,
        out: &mut RowSet,
    ) -> EngineResult<()> {
        match scan.index {
            None => self.look_up_rows((trx, context), scan, keys, out),
            Some(_) => self.look_up_keys((trx, context), scan, keys, out),
        }
    }

    fn insert(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        rows: &ByteRows,
    ) -> EngineResult<InsertInfo> {
        self.insert_rows((trx, context), rows)
    }

    fn update(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        at: &ByteRows,
        new: &ByteRows,
        before: Option<&mut ByteRows>,
    ) -> EngineResult<u64> {
        self.update_rows((trx, context), at, new, before)
    }

    fn delete(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        at: &ByteRows,
        before: Option<&mut ByteRows>,
    ) -> EngineResult<u64> {
        self.delete_rows((trx, context), at, before)
    }

    fn reserve_auto_increment(&self, count: u64, step: u64, offset: u64) -> EngineResult<u64> {
        self.counter.start(|| self.highest())?;
        Ok(self.counter.reserve(count, step, offset))
    }

    fn release_auto_increment(&self, from: u64, to: u64) {
        self.counter.release(from, to);
    }

    fn set_auto_increment(&self, trx: &dyn EngineTrx, next: u64) -> EngineResult<()> {
        // Each leaf keeps the value, which none of them may forget, above its own rows.
        for leaf in self.all() {
            leaf?.set_auto_increment(trx, next)?;
        }
        self.counter.set(self.highest()?);
        Ok(())
    }

    fn estimate(
        &self,
        index: Option<usize>,
        lower: &Bound,
        upper: &Bound,
    ) -> EngineResult<RangeEstimate> {
        let mut sum = RangeEstimate { rows: 0.0, exact: true };
        for leaf in self.all() {
            let one = leaf?.estimate(index, lower, upper)?;
            sum.rows += one.rows;
            sum.exact &= one.exact;
        }
        Ok(sum)
    }

    fn is_too_young(&self, trx: &dyn EngineTrx, index: usize) -> bool {
        // Leaves are published one after the other.
        self.all().any(|leaf| leaf.is_ok_and(|leaf| leaf.is_too_young(trx, index)))
    }

    fn statistics(&self) -> TableStatistics {
        let mut sum = TableStatistics::default();
        for leaf in self.all().flatten() {
            let one = leaf.statistics();
            sum.rows += one.rows;
            sum.data_bytes += one.data_bytes;
            sum.index_bytes += one.index_bytes;
        }
        if self.def.auto_increment.is_some() && self.counter.start(|| self.highest()).is_ok() {
            sum.auto_increment = Some(self.counter.next());
        }
        sum
    }

    fn sample(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        rows: usize,
        out: &mut RowSet,
    ) -> EngineResult<()> {
        let all: Vec<u64> =
            self.all().map(|leaf| Ok(leaf?.statistics().rows)).collect::<EngineResult<_>>()?;
        let total = all.iter().sum::<u64>().max(1);
        for (at, own) in all.iter().enumerate().filter(|(_, own)| **own > 0) {
            let share = (rows as u128 * u128::from(*own)).div_ceil(u128::from(total)) as usize;
            let mut set = RowSet::default();
            self.leaf(at)?.sample(trx, context, share, &mut set)?;
            out.rows.append(&set.rows);
        }
        Ok(())
    }

    fn reclaim(&self, context: &dyn StatementContext) -> EngineResult<u64> {
        self.reclaim_leaves(context, 0..self.leaves.len())
    }

    fn check(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
    ) -> EngineResult<Vec<String>> {
        self.check_leaves((trx, context), 0..self.leaves.len())
    }
}

impl PartSet {
    /// The highest counter of all leaves.
    fn highest(&self) -> EngineResult<u64> {
        let mut highest = 1;
        for leaf in self.all() {
            highest = highest.max(leaf?.statistics().auto_increment.unwrap_or(1));
        }
        Ok(highest)
    }
}
