//! The exact statistics of ANALYZE ... PERSISTENT: a scan of the table for each column, and one of
//! each index.
//!
//! Must not keep more than one column in memory. A column that is larger than [`MOST_BYTES`] is
//! thinned: every second of its values is dropped, as often as it takes.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_engine::{RowSet, Scan};
use selkie_expr::EvalContext;
use selkie_types::{BATCH_ROWS, Batch, ByteRows, Column, ColumnData, Decimal, SqlResult, SqlType};

use crate::op::{RowBuffer, put_key, sorted};
use crate::query::execution::Execution;
use crate::run::open_table;
use crate::run::scan::Decoder;
use crate::state::error::{corrupt, from_engine};

/// Bytes of a column's values that are kept whole.
const MOST_BYTES: usize = 256 << 20;

/// The rows that are looked at: each with the same probability. Compat: the numbers drawn are those
/// of the session's `RAND()`, one for each row, so they can be repeated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Probability of a row.
    fraction: f64,
    /// State of the generator before the first row.
    seeds: (u32, u32),
}

impl Sample {
    /// Of a percentage, 0 to 100, and the number of rows. With 0 the server decides: a large table
    /// is not looked at as a whole.
    pub(super) fn new(percentage: f64, rows: u64, seeds: (u32, u32)) -> Self {
        const WHOLE: u64 = 50_000;
        let all = rows as f64;
        let fraction = match percentage {
            p if p > 0.0 => p / 100.0,
            _ if rows < WHOLE => 1.0,
            _ => (WHOLE as f64 + 4096.0 * (200.0 * all).ln()) / all,
        };
        Self { fraction: fraction.min(1.0), seeds }
    }

    /// Draws for all rows. Returns the number of rows of the table as the sample tells it.
    pub(super) fn rows(&self, eval: &EvalContext<'_>, rows: u64) -> u64 {
        let chosen = (0..rows).filter(|_| self.draw(eval)).count();
        if self.fraction < 1.0 { (chosen as f64 / self.fraction) as u64 } else { rows }
    }

    fn draw(&self, eval: &EvalContext<'_>) -> bool {
        eval.random() <= self.fraction
    }
}

/// A column's values, sorted.
pub(super) struct Sorted {
    /// Rows read, NULL or not.
    pub(super) rows: u64,
    /// Those of them that are NULL.
    pub(super) nulls: u64,
    /// Bytes of the values that are not NULL, if they vary.
    pub(super) bytes: u64,
    /// The part of the rows that was looked at.
    pub(super) fraction: f64,
    /// The different values, each once, ascending.
    pub(super) values: Column,
    /// Number of rows of each, of those looked at.
    pub(super) counts: Vec<u64>,
}

impl Sorted {
    /// Rows for each different value, to four decimals. Of a sample, values met once stand for
    /// others that were not met. Compat: NULL is one of the values then.
    pub(super) fn frequency(&self) -> Decimal {
        let different = self.counts.len() as u64;
        if self.fraction > ENOUGH {
            return ratio(self.rows - self.nulls, different);
        }
        let once = self.counts.iter().filter(|count| **count == 1).count() as u64;
        let once = (once + u64::from(self.nulls == 1)) as f64;
        let different = (different + u64::from(self.nulls > 0)) as f64;
        let rows = self.rows as f64;
        let estimate = different / (1.0 - (1.0 - self.fraction) * once / rows);
        let frequency = (self.rows - self.nulls) as f64 / self.fraction / estimate;
        Decimal::from_f64(frequency.max(1.0)).unwrap_or(Decimal::from(1i64)).round(4)
    }
}

/// The part of the rows from which on a sample is as good as all of them.
const ENOUGH: f64 = 0.8;

/// `value / of` to four decimals, rounded half up.
pub(super) fn ratio(value: u64, of: u64) -> Decimal {
    let (value, of) = (i128::from(value), i128::from(of.max(1)));
    Decimal::from_i128((value * 20_000 + of) / (2 * of), 4)
}

/// Number of rows of a table.
pub(super) fn count(execution: &Execution<'_>, table: &TableInfo) -> SqlResult<u64> {
    let mut rows = 0;
    each_batch(execution, table, &Scan { fixed_only: true, ..Scan::default() }, |set| {
        rows += set.rows.len() as u64;
        Ok(())
    })?;
    Ok(rows)
}

fn each_batch(
    execution: &Execution<'_>,
    table: &TableInfo,
    scan: &Scan,
    mut see: impl FnMut(&RowSet) -> SqlResult<()>,
) -> SqlResult<()> {
    let Execution { instance, session, control, .. } = execution;
    let open = open_table(instance, session, table)?;
    let failed = |e| from_engine(e, &table.def);
    let mut cursor = open.handle.table.scan(open.trx, *control, scan).map_err(failed)?;
    let mut set = RowSet::default();
    loop {
        set.clear();
        let more = cursor.next_batch(&mut set, BATCH_ROWS).map_err(failed)?;
        control.check()?;
        see(&set)?;
        if !more {
            return Ok(());
        }
    }
}

/// Reads a stored column.
pub(super) fn column(
    execution: &Execution<'_>,
    table: &TableInfo,
    at: usize,
    (eval, sample): (&EvalContext<'_>, Sample),
) -> SqlResult<Sorted> {
    let layout = &table.def.layout;
    let mut found = Found::default();
    eval.seed_random(sample.seeds.0, sample.seeds.1);
    let scan = Scan { fixed_only: layout.is_fixed(at), ..Scan::default() };
    each_batch(execution, table, &scan, |set| {
        let values = layout.decode(&set.rows, at).map_err(corrupt)?;
        let rows = 0..values.len() as u32;
        let chosen: Vec<u32> = rows.filter(|_| sample.draw(eval)).collect();
        found.add(&values, &chosen)
    })?;
    found.sorted(&table.columns[at].ty, sample.fraction)
}

/// Values of a column as far as it is read.
struct Found {
    rows: u64,
    nulls: u64,
    bytes: u64,
    /// Values met that are not NULL.
    present: u64,
    /// One of so many of them is kept.
    thinned: u64,
    kept: RowBuffer,
}

impl Default for Found {
    fn default() -> Self {
        Self { rows: 0, nulls: 0, bytes: 0, present: 0, thinned: 1, kept: RowBuffer::default() }
    }
}

impl Found {
    /// Adds the values at positions `rows`.
    fn add(&mut self, values: &Column, rows: &[u32]) -> SqlResult<()> {
        let is_there = |row: &u32| !values.is_null(*row as usize);
        let mut there: Vec<u32> = rows.iter().copied().filter(is_there).collect();
        self.rows += rows.len() as u64;
        self.nulls += (rows.len() - there.len()) as u64;
        if let ColumnData::Bytes(v) = values.data() {
            let length = |row: &u32| v.get(values.physical_row(*row as usize)).len() as u64;
            self.bytes += there.iter().map(length).sum::<u64>();
        }
        let before = self.present;
        self.present += there.len() as u64;
        if self.thinned > 1 {
            let mut number = before;
            there.retain(|_| {
                number += 1;
                (number - 1).is_multiple_of(self.thinned)
            });
        }
        if there.is_empty() {
            return Ok(());
        }
        let count = there.len();
        self.kept.append(&Batch::new(vec![Arc::new(values.gather(&there))], count))?;
        if self.kept.column_memory(0) > MOST_BYTES {
            self.thin()?;
        }
        Ok(())
    }

    /// Drops every second value that is kept.
    fn thin(&mut self) -> SqlResult<()> {
        self.thinned *= 2;
        let half: Vec<u32> = (0..self.kept.len() as u32).step_by(2).collect();
        let column = self.kept.gather_column(0, &half);
        self.kept = RowBuffer::default();
        self.kept.append(&Batch::new(vec![column], half.len()))
    }

    fn sorted(self, ty: &SqlType, fraction: f64) -> SqlResult<Sorted> {
        let Self { rows, nulls, bytes, thinned, kept, .. } = self;
        let empty = || Arc::new(Column::nulls(ty.physical(), 0, 0));
        let values = kept.batch().columns().first().cloned().unwrap_or_else(empty);
        let mut keys = ByteRows::with_capacity(values.len());
        for row in 0..values.len() {
            selkie_meter::spend(32)?;
            put_key(ty, false, &values, row, keys.buffer());
            keys.end_row();
        }
        let (mut firsts, mut counts) = (Vec::new(), Vec::<u64>::new());
        let mut last = None;
        for row in sorted(&keys)? {
            let key = keys.get(row as usize);
            match counts.last_mut() {
                Some(count) if last == Some(key) => *count += 1,
                _ => {
                    firsts.push(row);
                    counts.push(1);
                }
            }
            last = Some(key);
        }
        let fraction = fraction / thinned as f64;
        Ok(Sorted { rows, nulls, bytes, fraction, values: values.gather(&firsts), counts })
    }
}

/// Rows with a key, and different keys among them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Prefix {
    /// Rows in which no part of the prefix is NULL.
    pub(super) rows: u64,
    /// Different keys of them.
    pub(super) keys: u64,
}

/// Reads an index in its order: one element for the first part, the first two, and so on, with
/// the columns `behind`, which follow in its order. Nothing is known from a part on that holds
/// only a prefix of its column.
pub(super) fn index(
    execution: &Execution<'_>,
    table: &TableInfo,
    at: usize,
    behind: Vec<usize>,
) -> SqlResult<Vec<Option<Prefix>>> {
    let def = &table.def.indexes[at];
    let whole = def.parts.iter().take_while(|part| part.prefix.is_none());
    let mut columns: Vec<usize> = whole.map(|part| part.column).collect();
    if columns.len() == def.parts.len() {
        columns.extend(behind);
    }
    let mut counter = PrefixCounter::new(table, &columns);
    if !columns.is_empty() {
        read_index(execution, table, at, &columns, &mut counter)?;
    }
    let missing = def.parts.len().saturating_sub(columns.len());
    let known = counter.prefixes.into_iter().map(Some);
    Ok(known.chain(std::iter::repeat_n(None, missing)).collect())
}

fn read_index(
    execution: &Execution<'_>,
    table: &TableInfo,
    at: usize,
    columns: &[usize],
    counter: &mut PrefixCounter<'_>,
) -> SqlResult<()> {
    let session = &*execution.session;
    let open = open_table(execution.instance, session, table)?;
    let covering = entries_hold(table, at, columns);
    let decoder = match covering {
        true => Decoder::of_entries(table, &open.handle.codecs, at, columns),
        false => Decoder::new(table, columns),
    };
    let want_keys = covering && decoder.wants_keys();
    let scan = Scan { index: Some(at), covering, want_keys, ..Scan::default() };
    let now = session.values.statement_start.get();
    let eval = EvalContext::new(session.type_context(), session, now);
    each_batch(execution, table, &scan, |set| match decoder.decode(&eval, set)? {
        Some((batch, _)) => counter.add(&batch),
        None => Ok(()),
    })
}

/// Whether the columns can be read from the entries of an index: these hold its parts, and the
/// clustered key, of which only the leading integers can be decoded.
fn entries_hold(table: &TableInfo, at: usize, columns: &[usize]) -> bool {
    let key = table.def.primary().map_or(&[][..], |key| &key.parts);
    if !key.is_empty() && at == 0 {
        return false;
    }
    let in_key = |column: &usize| {
        let mut integers = key.iter().take_while(|p| table.columns[p.column].ty.is_integer());
        integers.any(|part| part.column == *column)
    };
    columns.iter().all(|column| table.def.indexes[at].holds(*column) || in_key(column))
}

/// Counts keys that come in order.
struct PrefixCounter<'t> {
    types: Vec<&'t SqlType>,
    prefixes: Vec<Prefix>,
    /// Key of the row before, and the end of each of its parts.
    last: (Vec<u8>, Vec<usize>),
}

impl<'t> PrefixCounter<'t> {
    fn new(table: &'t TableInfo, columns: &[usize]) -> Self {
        let types: Vec<&SqlType> = columns.iter().map(|at| &table.columns[*at].ty).collect();
        let prefixes = vec![Prefix::default(); types.len()];
        Self { types, prefixes, last: Default::default() }
    }

    fn add(&mut self, batch: &Batch) -> SqlResult<()> {
        let (mut key, mut ends) = (Vec::new(), Vec::new());
        for row in 0..batch.rows() {
            selkie_meter::spend(64)?;
            key.clear();
            ends.clear();
            let (mut is_null, mut is_new) = (false, false);
            for (part, (ty, prefix)) in self.types.iter().zip(&mut self.prefixes).enumerate() {
                let column = batch.column(part);
                let start = key.len();
                put_key(ty, false, column, row, &mut key);
                ends.push(key.len());
                is_null |= column.is_null(row);
                let old = self.last.1.get(part).map(|end| &self.last.0[start.min(*end)..*end]);
                is_new |= old != Some(&key[start..]);
                if !is_null {
                    prefix.rows += 1;
                    prefix.keys += u64::from(is_new);
                }
            }
            std::mem::swap(&mut self.last.0, &mut key);
            std::mem::swap(&mut self.last.1, &mut ends);
        }
        Ok(())
    }
}
