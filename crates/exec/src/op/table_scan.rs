//! Reads a table: whole, by index ranges, or by single keys. Each batch asks for more rows than the
//! one before. Rows that fail the filter are unlocked where the isolation level allows it. Rows
//! must not be read ahead while locking for a LIMIT: they would stay locked.

use std::vec::IntoIter;

use selkie_engine::{Bound, Cursor, Kept, LockMode, LockWait, RowSet, Scan};
use selkie_plan::physical::{Access, IndexRange, TableScan as Plan};
use selkie_types::{BATCH_ROWS, Batch, ByteRows, SqlResult};

use super::buffers::{self, Buffers};
use super::examined::examine;
use super::group_scan::GroupScan;
use super::search_scan::SearchScan;
use super::union_scan::UnionScan;
use super::{BoxOperator, Operator, column_scan, source};
use crate::run::scan::{Decoder, Keys, Range, parts_read, put_equal, ranges_of};
use crate::run::{Env, OpenTable};
use crate::state::error::from_engine;
use crate::state::session::bump;

/// Rows of the first batch; a statement that needs few rows does not pay for many.
const FIRST_ROWS: usize = 128;
/// The same if a LIMIT may stop the scan.
const LIMITED_ROWS: usize = 32;

pub(super) fn open<'r>(env: Env<'r>, plan: &'r Plan) -> SqlResult<BoxOperator<'r>> {
    let open = env.rt.table(&plan.table)?;
    let decoder = decoder(open, plan)?.with_padding(env.eval);
    let mut scan = Scan {
        covering: false,
        fixed_only: decoder.is_fixed_only(),
        want_keys: decoder.wants_keys(),
        lock: plan.lock.mode,
        wait: plan.lock.wait,
        parts: parts_read(env.eval, open, plan.parts.as_deref())?,
        ..Scan::default()
    };
    let decoder = match column_scan::open(env, open, plan, decoder)? {
        Ok(scan) => return Ok(scan),
        Err(decoder) => decoder,
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
                vec![Range::everything()],
            )));
        }
        Access::Union(union) => {
            return Ok(Box::new(UnionScan::open(env, open, plan, decoder, (scan, union))?));
        }
        Access::Text(search) => {
            let scan = (scan, *search);
            return Ok(Box::new(SearchScan::open(env, open, plan, decoder, scan)?));
        }
        Access::Index(access) => access,
    };
    scan.index = Some(access.index);
    scan.reverse = access.reverse;
    scan.covering = access.covering;
    scan.entry_locks = access.entry_locks;
    let codec = &open.handle.codecs[access.index];
    if let [range] = &access.ranges[..]
        && is_lookup(access, plan)
    {
        let mut lookup = KeyLookup::new(env, open, plan, decoder, scan, Vec::new());
        let keys = &mut lookup.buffers.keys;
        // The single key is written directly into the lookup's buffer.
        let mut found = Keys { first: std::mem::take(keys.buffer()), more: Vec::new() };
        if !put_equal(env.eval, codec, range, &mut found)? {
            return Ok(Box::new(source::Empty));
        }
        *keys.buffer() = found.first;
        keys.end_row();
        found.more.iter().for_each(|key| keys.push(key));
        return Ok(Box::new(lookup));
    }
    let ranges = ranges_of(env.eval, codec, &access.ranges)?;
    if ranges.is_empty() {
        return Ok(Box::new(source::Empty));
    }
    if let Some(groups) = access.ends() {
        let scan = (scan, groups);
        return GroupScan::open(env, open, plan, decoder, scan, ranges);
    }
    if ranges.iter().all(|range| range.is_prefix) && is_lookup(access, plan) {
        return Ok(Box::new(KeyLookup::new(env, open, plan, decoder, scan, ranges)));
    }
    Ok(Box::new(TableScan::new(env, open, plan, decoder, scan, ranges)))
}

/// The primary key, if a scan of the whole table reads no column but its own. Compat: that is a use
/// of the index.
pub(super) fn key_read(plan: &Plan) -> Option<usize> {
    let key = plan.table.def.primary()?;
    let is_part = |column: &usize| key.parts.iter().any(|part| part.column == *column);
    (matches!(plan.access, Access::Full { .. }) && plan.columns.iter().all(is_part)).then_some(0)
}

/// Whether each key finds at most one row, so that all are read in one call.
fn is_lookup(access: &IndexRange, plan: &Plan) -> bool {
    let index = &plan.table.def.indexes[access.index];
    let whole = access.ranges.iter().all(|r| r.equal.len() == index.parts.len());
    !access.reverse && whole && index.is_unique()
}

fn decoder<'r>(open: &'r OpenTable<'r>, plan: &'r Plan) -> SqlResult<Decoder<'r>> {
    let decoder = match &plan.access {
        Access::Index(access) if access.covering => {
            let codecs = &open.handle.codecs;
            Decoder::of_entries(&plan.table, codecs, access.index, &plan.columns)
        }
        _ => Decoder::new(&plan.table, &plan.columns),
    };
    Ok(decoder
        .with_computed(&plan.computed, &plan.columns)
        .with_output(&plan.output)
        .with_filter(&plan.filter, &plan.filter_columns)
        .with_keys(plan.row_keys))
}

/// Scans ranges one after the other.
struct TableScan<'r> {
    env: Env<'r>,
    open: &'r OpenTable<'r>,
    plan: &'r Plan,
    decoder: Decoder<'r>,
    scan: Scan,
    ranges: IntoIter<Range>,
    /// The index whose use a scan of the whole table counts as.
    key_read: Option<usize>,
    cursor: Option<Box<dyn Cursor + 'r>>,
    /// Whether the cursor's range may have more rows.
    in_range: bool,
    /// Whether the last range was read to its end.
    ended: bool,
    buffers: Kept<Buffers>,
    /// Rows that were first read without a lock and then locked.
    relocked: RowSet,
    /// Whether rows that fail the filter are unlocked.
    unlocks: bool,
    batch_rows: usize,
    /// Rows read so far.
    seen: u64,
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
        let mut scan = scan;
        let unlocks = scan.lock != LockMode::None && env.rt.session.transaction.unlocks_rows();
        scan.semi_consistent =
            unlocks && plan.reader.updates && !scan.covering && scan.wait == LockWait::Default;
        if scan.reverse {
            ranges.reverse();
        }
        let ranges = ranges.into_iter();
        // Rows read ahead of a LIMIT would stay locked.
        let batch_rows = match (plan.reader.stops, scan.lock) {
            _ if env.rt.examined.is_limited() || env.rt.row_by_row() => 1,
            // Without conditions the rows that are wanted are the rows to read.
            (true, LockMode::None) if plan.filter.is_empty() => {
                env.wanted.map_or(LIMITED_ROWS, |rows| LIMITED_ROWS.min(rows.max(1) as usize))
            }
            (true, LockMode::None) => LIMITED_ROWS,
            (true, _) => 1,
            (false, _) => FIRST_ROWS,
        };
        Self {
            env,
            open,
            plan,
            decoder,
            scan,
            ranges,
            key_read: key_read(plan),
            cursor: None,
            in_range: false,
            ended: false,
            buffers: buffers::take(),
            relocked: RowSet::default(),
            unlocks,
            batch_rows,
            seen: 0,
        }
    }

    fn next_range(&mut self) -> SqlResult<bool> {
        let Some(range) = self.ranges.next() else {
            // Compat: the end of a table counts as a read.
            let ends = self.scan.index.is_none() && !std::mem::replace(&mut self.ended, true);
            bump(&self.env.counters().handler_read_rnd_next, ends.into());
            return Ok(false);
        };
        let (lower, upper) = range.bounds();
        let counters = self.env.counters();
        match (&lower, self.scan.reverse) {
            // Compat: a scan of the table itself is no read of an index.
            _ if self.scan.index.is_none() => {}
            (Bound::Unbounded, false) => bump(&counters.handler_read_first, 1),
            (Bound::Unbounded, true) => bump(&counters.handler_read_last, 1),
            _ => bump(&counters.handler_read_key, 1),
        }
        let error = |e| from_engine(e, &self.plan.table.def);
        self.in_range = true;
        if let Some(cursor) = &mut self.cursor {
            cursor.restart(lower, upper).map_err(error)?;
            return Ok(true);
        }
        (self.scan.lower, self.scan.upper) = (lower, upper);
        let (table, control) = (&self.open.handle.table, self.env.rt.control);
        self.cursor = Some(table.scan(self.open.trx, control, &self.scan).map_err(error)?);
        Ok(true)
    }

    fn count(&self, rows: usize) {
        let counters = self.env.counters();
        self.env.count_read(self.open, self.scan.index.or(self.key_read), rows);
        let counter = match (self.scan.index, self.scan.reverse) {
            (None, _) => &counters.handler_read_rnd_next,
            (_, false) => &counters.handler_read_next,
            (_, true) => &counters.handler_read_prev,
        };
        bump(counter, rows as u64);
    }

    /// Fills the buffer with rows of as many ranges as fit; false after the last range.
    fn fill(&mut self) -> SqlResult<bool> {
        self.buffers.set.clear();
        while self.in_range || self.next_range()? {
            let Some(cursor) = &mut self.cursor else { break };
            let room = self.batch_rows - self.buffers.set.count();
            let more = cursor.next_batch(&mut self.buffers.set, room);
            let more = more.map_err(|e| from_engine(e, &self.plan.table.def))?;
            self.in_range = more && !cursor.has_ended();
            // Unlocking uses row numbers in the cursor's last batch, so batches must not be joined
            // then.
            let together = self.scan.lock == LockMode::None && !self.buffers.set.is_large();
            match self.buffers.set.count() {
                0 => {}
                rows if rows >= self.batch_rows => break,
                _ if together => {}
                _ => break,
            }
        }
        let rows = self.buffers.set.count();
        if rows > 0 && self.batch_rows > 1 {
            self.batch_rows = (self.batch_rows * 4).min(BATCH_ROWS);
        }
        self.count(rows);
        examine(self.env, rows)?;
        Ok(rows > 0)
    }
}

impl TableScan<'_> {
    /// Unlocks rows that failed the filter. `passed`: `None` if no row passed, `Some(None)` if all
    /// did, else the numbers of those that did.
    fn unlock(&mut self, passed: Option<Option<&[u32]>>) {
        let rows = self.buffers.set.count();
        let failed = |row: &usize| match passed {
            None => true,
            Some(None) => false,
            Some(Some(numbers)) => numbers.binary_search(&(*row as u32)).is_err(),
        };
        if let Some(cursor) = &mut self.cursor {
            cursor.unlock(&mut (0..rows).rev().filter(failed));
        }
    }

    /// Tells an UPDATE the row numbers of the batch, which its warnings use.
    fn tell_numbers(&self, first: u64, numbers: Option<&[u32]>) {
        if !self.plan.reader.updates {
            return;
        }
        let mut read = self.env.rt.read.borrow_mut();
        read.clear();
        match numbers {
            Some(numbers) => read.extend(numbers.iter().map(|at| first + u64::from(*at))),
            None => read.extend(first..=self.seen),
        }
    }

    /// Locks the rows of a batch that were read without a lock, to be given as the next batch;
    /// returns the other rows. `numbers`: positions of the batch's rows in the set.
    fn relock(&mut self, batch: Batch, numbers: Option<Vec<u32>>) -> SqlResult<Option<Batch>> {
        let numbers = numbers.unwrap_or_else(|| (0..batch.rows() as u32).collect());
        let is_unlocked = |number: &u32| self.buffers.set.unlocked.binary_search(number).is_ok();
        let mut keys = ByteRows::default();
        let (mut rest, mut at) = (Vec::new(), 0);
        for number in &numbers {
            match is_unlocked(number) {
                true => keys.push(self.buffers.set.keys.get(*number as usize)),
                false => rest.push(at),
            }
            at += 1;
        }
        let scan =
            Scan { index: None, semi_consistent: false, covering: false, ..self.scan.clone() };
        self.relocked.clear();
        let (table, control) = (&self.open.handle.table, self.env.rt.control);
        table
            .lookup(self.open.trx, control, &scan, &keys, &mut self.relocked)
            .map_err(|e| from_engine(e, &self.plan.table.def))?;
        Ok((!rest.is_empty()).then(|| batch.gather(&rest)))
    }

    fn relocked(&mut self) -> SqlResult<Option<Batch>> {
        if self.relocked.rows.is_empty() {
            return Ok(None);
        }
        let decoded = self.decoder.decode(self.env.eval, &self.relocked)?;
        self.relocked.clear();
        Ok(decoded.map(|(batch, _)| batch))
    }
}

impl Operator for TableScan<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            self.env.check()?;
            if let Some(batch) = self.relocked()? {
                return Ok(Some(batch));
            }
            if !self.fill()? {
                return Ok(None);
            }
            let first = self.seen + 1;
            self.env.eval.set_row(first);
            let decoded = self.decoder.decode(self.env.eval, &self.buffers.set)?;
            self.seen += self.buffers.set.count() as u64;
            if self.unlocks {
                let passed = decoded.as_ref().map(|(_, numbers)| numbers.as_deref());
                self.unlock(passed);
            }
            let Some((batch, numbers)) = decoded else { continue };
            self.tell_numbers(first, numbers.as_deref());
            if self.buffers.set.unlocked.is_empty() {
                return Ok(Some(batch));
            }
            if let Some(batch) = self.relock(batch, numbers)? {
                return Ok(Some(batch));
            }
        }
    }
}

/// Looks rows up by unique keys.
struct KeyLookup<'r> {
    env: Env<'r>,
    open: &'r OpenTable<'r>,
    plan: &'r Plan,
    decoder: Decoder<'r>,
    scan: Scan,
    /// Keys that are not in `buffers` yet.
    ranges: IntoIter<Range>,
    buffers: Kept<Buffers>,
}

impl<'r> KeyLookup<'r> {
    fn new(
        env: Env<'r>,
        open: &'r OpenTable<'r>,
        plan: &'r Plan,
        decoder: Decoder<'r>,
        scan: Scan,
        ranges: Vec<Range>,
    ) -> Self {
        let (ranges, buffers) = (ranges.into_iter(), buffers::take());
        Self { env, open, plan, decoder, scan, ranges, buffers }
    }
}

impl Operator for KeyLookup<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            let Buffers { keys, set } = &mut *self.buffers;
            self.ranges.by_ref().take(BATCH_ROWS).for_each(|r| keys.push(&r.start));
            if keys.is_empty() {
                return Ok(None);
            }
            self.env.check()?;
            set.clear();
            let (table, control) = (&self.open.handle.table, self.env.rt.control);
            table
                .lookup(self.open.trx, control, &self.scan, keys, set)
                .map_err(|e| from_engine(e, &self.plan.table.def))?;
            let counters = self.env.counters();
            bump(&counters.handler_read_key, keys.len() as u64);
            self.env.count_read(self.open, self.scan.index, set.count());
            keys.clear();
            if let Some((batch, _)) = self.decoder.decode(self.env.eval, set)? {
                return Ok(Some(batch));
            }
        }
    }
}
