//! Sorts rows by byte keys ([`super::sort_key`]): in memory, or by sorted runs in a file
//! ([`super::merge`]) if the rows do not fit. Equal keys keep the input order.

use selkie_types::{BATCH_ROWS, Batch, ByteRows, SqlResult};

use super::RowBuffer;
use super::merge::{Merge, Runs};
use super::sort_head::Equals;
use super::sort_key::sorted;
use crate::run::Env;
use crate::run::spill::is_full;

/// Bytes per row besides its columns and its key, for the positions that are sorted.
const ROW_BYTES: usize = size_of::<u128>() + size_of::<u32>();

/// Rows that are being collected.
pub(super) struct KeySorter<'r> {
    env: Env<'r>,
    equals: Equals,
    ceiling: usize,
    rows: RowBuffer,
    keys: ByteRows,
    runs: Option<Runs<'r>>,
    /// Rows in runs.
    written: usize,
    most: usize,
}

/// All rows of a sorter.
pub(super) enum Sorted<'r> {
    Kept {
        rows: RowBuffer,
        keys: ByteRows,
        order: Vec<u32>,
    },
    /// The last column of its rows is the keys.
    Merged(Merge<'r>),
}

impl<'r> KeySorter<'r> {
    /// A sorter without rows. It keeps as many in memory as `sort_buffer_size` allows.
    pub(super) fn new(env: Env<'r>, equals: Equals) -> Self {
        let ceiling = env.rt.session.frame.settings.queries.ceilings.sort;
        let (rows, keys) = (RowBuffer::default(), ByteRows::default());
        Self { env, equals, ceiling, rows, keys, runs: None, written: 0, most: 0 }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.written + self.rows.len()
    }

    /// The most bytes of rows that were in memory.
    pub(super) fn most(&self) -> usize {
        self.most.max(self.rows.memory())
    }

    /// Adds rows; `put` appends their keys.
    pub(super) fn put(
        &mut self,
        batch: &Batch,
        put: impl FnOnce(&Batch, &mut ByteRows) -> SqlResult<()>,
    ) -> SqlResult<()> {
        put(batch, &mut self.keys)?;
        self.rows.append(batch)?;
        self.env.check()?;
        let own = self.rows.memory() + self.keys.memory() + self.rows.len() * ROW_BYTES;
        if is_full(self.env.rt, own, self.ceiling) { self.write() } else { Ok(()) }
    }

    /// Begins with rows that have just become too many to be kept, and their keys.
    pub(super) fn begin(&mut self, rows: &RowBuffer, keys: &ByteRows) -> SqlResult<()> {
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        for some in all.chunks(rows.at_once(BATCH_ROWS)) {
            self.put(&Batch::new(rows.gather(some), some.len()), |_, own| {
                some.iter().for_each(|&row| own.push(keys.get(row as usize)));
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Writes the rows in memory as a run.
    fn write(&mut self) -> SqlResult<()> {
        let runs = match &mut self.runs {
            Some(runs) => runs,
            runs => runs.insert(Runs::begin(self.env)?),
        };
        let order = self.equals.left(sorted(&self.keys)?, &self.keys);
        runs.add(&self.rows, &self.keys, &order)?;
        self.written += self.rows.len();
        self.most = self.most.max(self.rows.memory());
        (self.rows, self.keys) = (RowBuffer::default(), ByteRows::default());
        Ok(())
    }

    /// Sorts.
    pub(super) fn finish(mut self) -> SqlResult<Sorted<'r>> {
        if self.runs.is_some() && self.rows.len() > 0 {
            self.write()?;
        }
        if let Some(runs) = self.runs {
            return Ok(Sorted::Merged(runs.merge(self.equals)?));
        }
        let order = self.equals.left(sorted(&self.keys)?, &self.keys);
        Ok(Sorted::Kept { rows: self.rows, keys: self.keys, order })
    }
}

/// Sorted rows, given batch by batch.
pub(super) struct SortedRows<'r> {
    place: Place<'r>,
    /// Rows not to be given, from the next one on, and rows to be given behind them.
    skip: usize,
    left: usize,
}

enum Place<'r> {
    Kept { rows: RowBuffer, order: Vec<u32>, next: usize },
    Merged(Merge<'r>),
}

impl<'r> SortedRows<'r> {
    /// Rows in memory, in the order given.
    pub(super) fn kept(rows: RowBuffer, order: Vec<u32>) -> Self {
        Self { place: Place::Kept { rows, order, next: 0 }, skip: 0, left: usize::MAX }
    }

    /// The rows of a sorter.
    pub(super) fn of(sorted: Sorted<'r>) -> Self {
        match sorted {
            Sorted::Kept { rows, order, .. } => Self::kept(rows, order),
            Sorted::Merged(merge) => {
                Self { place: Place::Merged(merge), skip: 0, left: usize::MAX }
            }
        }
    }

    /// The same without the first `skip` rows, and at most `left` of the others.
    pub(super) fn part(self, skip: usize, left: usize) -> Self {
        Self { skip, left, ..self }
    }

    /// The next rows; `None` after the last.
    pub(super) fn next(&mut self) -> SqlResult<Option<Batch>> {
        while self.left > 0 {
            let Some(batch) = self.place.next()? else { return Ok(None) };
            let from = self.skip.min(batch.rows());
            let to = batch.rows().min(from.saturating_add(self.left));
            self.skip -= from;
            self.left -= to - from;
            if from < to {
                return Ok(Some(batch.slice(from, to)));
            }
        }
        Ok(None)
    }
}

impl Place<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        match self {
            Self::Kept { rows, order, next } => {
                let to = (*next + rows.at_once(BATCH_ROWS)).min(order.len());
                if *next >= to {
                    return Ok(None);
                }
                let some = &order[*next..to];
                *next = to;
                Ok(Some(Batch::new(rows.gather(some), some.len())))
            }
            Self::Merged(merge) => Ok(merge.next()?.map(without_last)),
        }
    }
}

/// The rows without their last column.
pub(super) fn without_last(batch: Batch) -> Batch {
    let rows = batch.rows();
    let mut columns = batch.into_columns();
    columns.pop();
    Batch::new(columns, rows)
}
