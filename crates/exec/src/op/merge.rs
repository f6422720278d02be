//! Sorted runs of rows in a file, and their merge. The last column of a run is the rows' keys.
//!
//! Rows with equal keys come in the order of their runs, and within a run in its order: a merge
//! gives what one sort of all rows would give.

use std::sync::Arc;

use selkie_types::{BATCH_ROWS, Batch, ByteRows, Column, ColumnData, SqlResult};

use super::RowBuffer;
use super::sort_head::Equals;
use super::sort_key::sorted;
use crate::run::Env;
use crate::run::spill::{Reader, Stream, Written, create};
use crate::state::session::bump;
use crate::state::temporary::TemporaryFile;

/// Most runs merged at once.
const MOST_RUNS: usize = 64;

/// Sorted runs.
pub(super) struct Runs<'r> {
    env: Env<'r>,
    file: Arc<TemporaryFile>,
    runs: Vec<Written>,
}

impl<'r> Runs<'r> {
    /// No runs yet, in a new file.
    pub(super) fn begin(env: Env<'r>) -> SqlResult<Self> {
        Ok(Self { env, file: create(env.rt)?, runs: Vec::new() })
    }

    /// Writes rows as one run, in the order given.
    pub(super) fn add(
        &mut self,
        rows: &RowBuffer,
        keys: &ByteRows,
        order: &[u32],
    ) -> SqlResult<()> {
        let mut stream = Stream::new(&self.file);
        for some in order.chunks(rows.at_once(BATCH_ROWS)) {
            let mut own = ByteRows::with_capacity(some.len());
            some.iter().for_each(|&row| own.push(keys.get(row as usize)));
            let mut columns = rows.gather(some);
            columns.push(Arc::new(Column::from_data(ColumnData::Bytes(own), None)));
            stream.push(&Batch::new(columns, some.len()))?;
            self.env.check()?;
        }
        self.runs.push(stream.end()?);
        Ok(())
    }

    /// Runs whose rows fit into memory at once: for each a block, and its part of the rows that are
    /// given next.
    fn at_once(&self) -> usize {
        let each = self.runs.iter().map(|run| 2 * run.memory()).max().unwrap_or_default().max(1);
        let left = usize::try_from(selkie_meter::left() / 2).unwrap_or(0);
        (left / each).clamp(2, MOST_RUNS)
    }

    /// Merges all runs. Many are merged into fewer first.
    pub(super) fn merge(mut self, equals: Equals) -> SqlResult<Merge<'r>> {
        while self.runs.len() > self.at_once() {
            let at_once = self.at_once();
            let file = create(self.env.rt)?;
            let mut runs = std::mem::take(&mut self.runs).into_iter();
            while runs.len() > 0 {
                let mut merge = Merge::of(self.env, runs.by_ref().take(at_once).collect(), equals);
                let mut stream = Stream::new(&file);
                while let Some(batch) = merge.next()? {
                    stream.push(&batch)?;
                }
                self.runs.push(stream.end()?);
            }
            self.file = file;
        }
        Ok(Merge::of(self.env, self.runs, equals))
    }
}

/// The rows of a run that come next.
struct Source {
    reader: Reader<Box<Written>>,
    batch: Batch,
    at: usize,
}

impl Source {
    fn key(&self, row: usize) -> &[u8] {
        // A constant column has one physical row for all.
        let Some(column) = self.batch.columns().last() else { return &[] };
        column.bytes(row)
    }

    fn last_key(&self) -> &[u8] {
        self.key(self.batch.rows() - 1)
    }

    /// Reads on if all rows of the batch were given; false after the last row.
    fn refill(&mut self) -> SqlResult<bool> {
        if self.at < self.batch.rows() {
            return Ok(true);
        }
        let Some(batch) = self.reader.next()? else { return Ok(false) };
        (self.batch, self.at) = (batch, 0);
        Ok(true)
    }

    /// First row whose key does not belong before others, as `before` says.
    fn end(&self, before: impl Fn(&[u8]) -> bool) -> usize {
        let (mut from, mut to) = (self.at, self.batch.rows());
        while from < to {
            let middle = from + (to - from) / 2;
            match before(self.key(middle)) {
                true => from = middle + 1,
                false => to = middle,
            }
        }
        from
    }
}

/// Rows of several runs that may be given, in their order.
struct Round {
    rows: RowBuffer,
    order: Vec<u32>,
    given: usize,
}

/// Gives the rows of all runs in the order of their keys; the last column is the keys.
pub(super) struct Merge<'r> {
    env: Env<'r>,
    sources: Vec<Source>,
    equals: Equals,
    round: Option<Round>,
    /// Key of the row given last, if rows with equal keys are dropped.
    last: Option<Box<[u8]>>,
}

impl<'r> Merge<'r> {
    fn of(env: Env<'r>, runs: Vec<Written>, equals: Equals) -> Self {
        bump(&env.counters().sort_merge_passes, 1);
        if let Some(cell) = env.cell {
            cell.merged();
        }
        let source =
            |run| Source { reader: Reader::new(Box::new(run)), batch: Batch::default(), at: 0 };
        let sources = runs.into_iter().map(source).collect();
        Self { env, sources, equals, round: None, last: None }
    }

    /// The next rows with their keys; `None` after the last.
    pub(super) fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            if let Some(round) = &mut self.round
                && round.given < round.order.len()
            {
                let to = (round.given + round.rows.at_once(BATCH_ROWS)).min(round.order.len());
                let rows = &round.order[round.given..to];
                round.given = to;
                return Ok(Some(Batch::new(round.rows.gather(rows), rows.len())));
            }
            self.env.check()?;
            self.round = self.next_round()?;
            if self.round.is_none() {
                return Ok(None);
            }
        }
    }

    /// The rows that no row still in the file can precede: up to the least of the last keys that
    /// were read of each run.
    fn next_round(&mut self) -> SqlResult<Option<Round>> {
        let mut failed = None;
        self.sources.retain_mut(|source| {
            source.refill().unwrap_or_else(|error| {
                failed = Some(error);
                false
            })
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let Some(first) = self.sources.first() else { return Ok(None) };
        let (mut at, mut bound) = (0, first.last_key());
        for (other, source) in self.sources.iter().enumerate().skip(1) {
            if source.last_key() < bound {
                (at, bound) = (other, source.last_key());
            }
        }
        // Rows with the bound as their key follow in the runs behind it only after its own.
        let end = |(other, source): (usize, &Source)| match other <= at {
            true => source.end(|key| key <= bound),
            false => source.end(|key| key < bound),
        };
        let ends: Vec<usize> = self.sources.iter().enumerate().map(end).collect();
        let (mut rows, mut keys) = (RowBuffer::default(), ByteRows::default());
        for (source, end) in self.sources.iter_mut().zip(ends) {
            if source.at == end {
                continue;
            }
            let batch = source.batch.slice(source.at, end);
            (0..batch.rows()).for_each(|row| {
                keys.push(batch.columns().last().map_or(&[][..], |column| column.bytes(row)));
            });
            rows.append(&batch)?;
            source.at = end;
        }
        let mut order = sorted(&keys)?;
        if self.equals == Equals::Dropped {
            order = self.equals.left(order, &keys);
            let repeats = order
                .first()
                .is_some_and(|&row| self.last.as_deref() == Some(keys.get(row as usize)));
            self.last = order.last().map(|&row| keys.get(row as usize).into());
            if repeats {
                order.remove(0);
            }
        }
        Ok(Some(Round { rows, order, given: 0 }))
    }
}
