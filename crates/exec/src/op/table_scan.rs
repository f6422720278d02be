//! Reads a table: whole, by index ranges, or by single keys.

use std::vec::IntoIter;

use selkie_engine::{Bound, Cursor, RowSet, Scan};
use selkie_plan::physical::{Access, IndexRange, TableScan as Plan};
use selkie_types::{BATCH_ROWS, Batch, ByteRows, SqlResult};

use super::{BoxOperator, Operator, source};
use crate::error::from_engine;
use crate::run::{Env, OpenTable};
use crate::scan::{Decoder, Range, ranges_of};
use crate::session::bump;

/// Rows asked for first; a statement that needs few does not pay for many.
const FIRST_ROWS: usize = 32;

pub(super) fn open<'r>(env: Env<'r>, plan: &'r Plan) -> SqlResult<BoxOperator<'r>> {
    let open = env.rt.table(&plan.table)?;
    let decoder = decoder(open, plan)?;
    let mut scan = Scan {
        covering: false,
        fixed_only: decoder.is_fixed_only(),
        want_keys: plan.row_keys,
        lock: plan.lock,
        wait: plan.wait,
        ..Scan::default()
    };
    let access = match &plan.access {
        Access::Full { reverse } => {
            scan.reverse = *reverse;
            return Ok(Box::new(TableScan::new(
                env,
                open,
                plan,
                decoder,
                scan,
                vec![everything()],
            )));
        }
        Access::Index(access) => access,
    };
    scan.index = Some(access.index);
    scan.reverse = access.reverse;
    scan.covering = access.covering;
    let ranges = ranges_of(env.eval, &open.handle.codecs[access.index], &access.ranges)?;
    if ranges.is_empty() {
        return Ok(Box::new(source::Empty));
    }
    if ranges.iter().all(|r| r.is_prefix) && is_lookup(access, plan) {
        return Ok(Box::new(KeyLookup::new(env, open, plan, decoder, scan, &ranges)));
    }
    Ok(Box::new(TableScan::new(env, open, plan, decoder, scan, ranges)))
}

/// Whether keys find few rows each, so that they may be read in one call.
fn is_lookup(access: &IndexRange, plan: &Plan) -> bool {
    let index = &plan.table.def.indexes[access.index];
    let whole = access.ranges.iter().all(|r| r.equal.len() == index.parts.len());
    !access.reverse && whole && index.is_unique()
}

fn everything() -> Range {
    Range { start: Vec::new(), end: None, is_prefix: false }
}

fn decoder<'r>(open: &'r OpenTable<'r>, plan: &'r Plan) -> SqlResult<Decoder<'r>> {
    let decoder = match &plan.access {
        Access::Index(access) if access.covering => {
            let layout = open.handle.codecs[access.index].entry_layout();
            Decoder::new(layout, entry_places(plan, access.index), true)
        }
        _ => Decoder::new(&plan.table.def.layout, plan.columns.clone(), false),
    };
    Ok(decoder
        .with_output(&plan.output)
        .with_filter(&plan.filter, &plan.filter_columns)
        .with_keys(plan.row_keys))
}

/// Where a covering index holds each output column.
fn entry_places(plan: &Plan, index: usize) -> Vec<usize> {
    let parts = &plan.table.def.indexes[index].parts;
    let place = |column: &usize| parts.iter().position(|p| p.column == *column).unwrap_or(0);
    plan.columns.iter().map(place).collect()
}

/// A scan of ranges, one after the other.
struct TableScan<'r> {
    env: Env<'r>,
    open: &'r OpenTable<'r>,
    plan: &'r Plan,
    decoder: Decoder<'r>,
    scan: Scan,
    ranges: IntoIter<Range>,
    cursor: Option<Box<dyn Cursor + 'r>>,
    set: RowSet,
    batch_rows: usize,
}

impl<'r> TableScan<'r> {
    fn new(
        env: Env<'r>,
        open: &'r OpenTable<'r>,
        plan: &'r Plan,
        decoder: Decoder<'r>,
        scan: Scan,
        mut ranges: Vec<Range>,
    ) -> Self {
        if scan.reverse {
            ranges.reverse();
        }
        let ranges = ranges.into_iter();
        let (set, batch_rows) = (RowSet::default(), FIRST_ROWS);
        Self { env, open, plan, decoder, scan, ranges, cursor: None, set, batch_rows }
    }

    fn next_range(&mut self) -> SqlResult<bool> {
        let Some(range) = self.ranges.next() else { return Ok(false) };
        (self.scan.lower, self.scan.upper) = range.bounds();
        let (table, control) = (&self.open.handle.table, self.env.rt.control);
        let cursor = table.scan(self.open.trx, control, &self.scan);
        self.cursor = Some(cursor.map_err(|e| from_engine(e, &self.plan.table.def))?);
        let counters = self.env.counters();
        match (&self.scan.lower, self.scan.index, self.scan.reverse) {
            (Bound::Unbounded, _, false) => bump(&counters.handler_read_first, 1),
            (Bound::Unbounded, _, true) => bump(&counters.handler_read_last, 1),
            _ => bump(&counters.handler_read_key, 1),
        }
        Ok(true)
    }

    fn count(&self, rows: usize) {
        let counters = self.env.counters();
        bump(&counters.rows_read, rows as u64);
        let counter = match (self.scan.index, self.scan.reverse) {
            (None, _) => &counters.handler_read_rnd_next,
            (_, false) => &counters.handler_read_next,
            (_, true) => &counters.handler_read_prev,
        };
        bump(counter, rows as u64);
    }

    /// Reads into `set`; false after the last range.
    fn fill(&mut self) -> SqlResult<bool> {
        self.set.clear();
        loop {
            if self.cursor.is_none() && !self.next_range()? {
                return Ok(false);
            }
            let Some(cursor) = &mut self.cursor else { return Ok(false) };
            let more = cursor.next_batch(&mut self.set, self.batch_rows);
            if !more.map_err(|e| from_engine(e, &self.plan.table.def))? {
                self.cursor = None;
            }
            let rows = self.set.rows.len().max(self.set.entries.len());
            if rows > 0 {
                self.batch_rows = (self.batch_rows * 4).min(BATCH_ROWS);
                self.count(rows);
                return Ok(true);
            }
        }
    }
}

impl Operator for TableScan<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            self.env.check()?;
            if !self.fill()? {
                return Ok(None);
            }
            if let Some((batch, _)) = self.decoder.decode(self.env.eval, &self.set)? {
                return Ok(Some(batch));
            }
        }
    }
}

/// Reads rows by unique keys.
struct KeyLookup<'r> {
    env: Env<'r>,
    open: &'r OpenTable<'r>,
    plan: &'r Plan,
    decoder: Decoder<'r>,
    scan: Scan,
    keys: Vec<Vec<u8>>,
    at: usize,
    set: RowSet,
}

impl<'r> KeyLookup<'r> {
    fn new(
        env: Env<'r>,
        open: &'r OpenTable<'r>,
        plan: &'r Plan,
        decoder: Decoder<'r>,
        scan: Scan,
        ranges: &[Range],
    ) -> Self {
        let keys = ranges.iter().map(|r| r.start.clone()).collect();
        Self { env, open, plan, decoder, scan, keys, at: 0, set: RowSet::default() }
    }
}

impl Operator for KeyLookup<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        while self.at < self.keys.len() {
            self.env.check()?;
            let to = (self.at + BATCH_ROWS).min(self.keys.len());
            let mut keys = ByteRows::with_capacity(to - self.at);
            self.keys[self.at..to].iter().for_each(|key| keys.push(key));
            self.at = to;
            self.set.clear();
            let (table, control) = (&self.open.handle.table, self.env.rt.control);
            table
                .lookup(self.open.trx, control, &self.scan, &keys, &mut self.set)
                .map_err(|e| from_engine(e, &self.plan.table.def))?;
            let rows = self.set.rows.len().max(self.set.entries.len()) as u64;
            bump(&self.env.counters().handler_read_key, keys.len() as u64);
            bump(&self.env.counters().rows_read, rows);
            if let Some((batch, _)) = self.decoder.decode(self.env.eval, &self.set)? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}
