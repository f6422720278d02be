//! Reads a table by several indexes: first collects the clustered keys they find, then reads each
//! row once in the order of these keys. All keys are kept in memory.

use selkie_engine::{IndexKind, Kept, RowSet, Scan};
use selkie_plan::physical::{IndexRange, TableScan as Plan};
use selkie_types::{BATCH_ROWS, Batch, ByteRows, SqlResult};

use super::Operator;
use super::buffers::{self, Buffers};
use super::examined::examine;
use crate::run::scan::{Decoder, ranges_of};
use crate::run::{Env, OpenTable};
use crate::state::error::from_engine;
use crate::state::session::bump;

/// Rows of the first batch; a statement that needs few rows does not pay for many.
const FIRST_ROWS: usize = 32;

pub(super) struct UnionScan<'r> {
    env: Env<'r>,
    open: &'r OpenTable<'r>,
    plan: &'r Plan,
    decoder: Decoder<'r>,
    scan: Scan,
    /// Clustered keys found.
    keys: ByteRows,
    order: Vec<u32>,
    /// Number of keys read so far, in this order.
    done: usize,
    buffers: Kept<Buffers>,
    batch_rows: usize,
}

impl<'r> UnionScan<'r> {
    pub(super) fn open(
        env: Env<'r>,
        open: &'r OpenTable<'r>,
        plan: &'r Plan,
        decoder: Decoder<'r>,
        (scan, union): (Scan, &'r [IndexRange]),
    ) -> SqlResult<Self> {
        let mut found = Self {
            env,
            open,
            plan,
            decoder,
            scan,
            keys: ByteRows::default(),
            order: Vec::new(),
            done: 0,
            buffers: buffers::take(),
            batch_rows: match env.rt.examined.is_limited() || env.rt.row_by_row() {
                true => 1,
                false => FIRST_ROWS,
            },
        };
        for access in union {
            found.find(access)?;
        }
        found.sort()?;
        Ok(found)
    }

    /// Collects the clustered keys of the rows that one index finds.
    fn find(&mut self, access: &IndexRange) -> SqlResult<()> {
        let clustered = self.plan.table.def.indexes[access.index].kind == IndexKind::Primary;
        let scan = Scan {
            index: Some(access.index),
            covering: access.covering && !clustered,
            fixed_only: true,
            want_keys: true,
            ..self.scan.clone()
        };
        let codec = &self.open.handle.codecs[access.index];
        let error = |e| from_engine(e, &self.plan.table.def);
        let (table, control) = (&self.open.handle.table, self.env.rt.control);
        let mut set = RowSet::default();
        for range in ranges_of(self.env.eval, codec, &access.ranges)? {
            let (lower, upper) = range.bounds();
            let scan = Scan { lower, upper, ..scan.clone() };
            let mut cursor = table.scan(self.open.trx, control, &scan).map_err(error)?;
            let counters = self.env.counters();
            bump(&counters.handler_read_key, 1);
            while cursor.next_batch(&mut set, BATCH_ROWS).map_err(error)? {
                self.env.check()?;
                bump(&counters.handler_read_next, set.count() as u64);
                if let Some(uses) = &self.open.uses {
                    uses.read_entries(Some(access.index), set.count());
                }
                set.keys.iter().for_each(|key| self.keys.push(key));
                set.clear();
            }
        }
        Ok(())
    }

    /// Sorts the keys and drops duplicates.
    fn sort(&mut self) -> SqlResult<()> {
        let keys = &self.keys;
        self.order = (0..keys.len() as u32).collect();
        let order = &mut self.order;
        selkie_meter::interruptible(|| {
            order.sort_unstable_by(|a, b| {
                selkie_meter::tick(16);
                keys.get(*a as usize).cmp(keys.get(*b as usize))
            });
        })?;
        self.order.dedup_by(|a, b| keys.get(*a as usize) == keys.get(*b as usize));
        Ok(())
    }
}

impl Operator for UnionScan<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            self.env.check()?;
            let Buffers { keys, set } = &mut *self.buffers;
            keys.clear();
            set.clear();
            let next = self.order[self.done..].iter().take(self.batch_rows);
            next.for_each(|at| keys.push(self.keys.get(*at as usize)));
            if keys.is_empty() {
                return Ok(None);
            }
            self.done += keys.len();
            if self.batch_rows > 1 {
                self.batch_rows = (self.batch_rows * 4).min(BATCH_ROWS);
            }
            let (table, control) = (&self.open.handle.table, self.env.rt.control);
            table
                .lookup(self.open.trx, control, &self.scan, keys, set)
                .map_err(|e| from_engine(e, &self.plan.table.def))?;
            let counters = self.env.counters();
            bump(&counters.handler_read_rnd, keys.len() as u64);
            self.env.count_read(self.open, None, set.count());
            examine(self.env, set.count())?;
            if let Some((batch, _)) = self.decoder.decode(self.env.eval, set)? {
                return Ok(Some(batch));
            }
        }
    }
}
