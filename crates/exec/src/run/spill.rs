//! Rows in temporary files: written batch by batch, read back in the same order.
//!
//! A block in a file holds the rows of some batches: their number, then each column as a length and
//! a segment of crate `column`. Must not change a value, and must not decide what is written: the
//! operators do, when [`is_full`] says so.

use std::sync::Arc;

use selkie_column::{BLOCK_ROWS, Segment, encode};
use selkie_types::{Batch, SqlResult};

use crate::run::Runtime;
use crate::run::rows::RowBuffer;
use crate::state::session::bump;
use crate::state::temporary::{Place, TemporaryFile};

/// Bytes that an operator may keep however little memory is left: writing less is not worth its
/// cost.
const LEAST: usize = 64 << 10;

/// Most bytes that an operator keeps: strings of a column are addressed with 32 bits.
const MOST: usize = 2 << 30;

/// Bytes of a block, about.
const BLOCK_BYTES: std::ops::RangeInclusive<usize> = 8 << 10..=256 << 10;

/// Whether an operator that holds `own` bytes must move rows to a file. `ceiling` is the most that
/// the session allows it.
///
/// Each operator leaves two thirds of what it finds: a vector that grows needs room for its old and
/// its new buffer at once, and the operators above need some too.
pub(crate) fn is_full(rt: &Runtime<'_>, own: usize, ceiling: usize) -> bool {
    // Rows that wait in a file would be lost when LIMIT ROWS EXAMINED ends the reading.
    !rt.examined.is_limited() && exceeds(own, ceiling)
}

fn exceeds(own: usize, ceiling: usize) -> bool {
    own > ceiling.min(MOST)
        || (own >= LEAST && (own as i64).saturating_mul(2) > selkie_meter::left())
}

/// Creates a temporary file for an operator.
pub(crate) fn create(rt: &Runtime<'_>) -> SqlResult<Arc<TemporaryFile>> {
    bump(&rt.session.core.counters.created_tmp_files, 1);
    rt.instance.temporary.create()
}

/// Rows on their way to a file.
#[derive(Debug)]
pub(crate) struct Stream {
    file: Arc<TemporaryFile>,
    blocks: Vec<Place>,
    /// Rows of the next block.
    pending: RowBuffer,
    block_bytes: usize,
    /// Most bytes of a block's rows.
    largest: usize,
}

/// Rows in a file.
#[derive(Debug)]
pub(crate) struct Written {
    file: Arc<TemporaryFile>,
    blocks: Vec<Place>,
    largest: usize,
}

impl Written {
    /// Bytes of memory that reading takes, about: a block of rows, and as it was in the file.
    pub(crate) fn memory(&self) -> usize {
        2 * self.largest
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}

impl Stream {
    /// A stream without rows.
    pub(crate) fn new(file: &Arc<TemporaryFile>) -> Self {
        let fit = usize::try_from(selkie_meter::left() / 512).unwrap_or(0);
        Self {
            file: Arc::clone(file),
            blocks: Vec::new(),
            pending: RowBuffer::default(),
            largest: 0,
            block_bytes: fit.clamp(*BLOCK_BYTES.start(), *BLOCK_BYTES.end()),
        }
    }

    /// Appends the rows of a batch.
    pub(crate) fn push(&mut self, batch: &Batch) -> SqlResult<()> {
        let (memory, rows) = (batch.memory(), batch.rows());
        if memory > self.block_bytes && rows > 1 {
            let each = (rows * self.block_bytes / memory).clamp(1, rows - 1);
            return (0..rows)
                .step_by(each)
                .try_for_each(|at| self.append(&batch.slice(at, (at + each).min(rows))));
        }
        self.append(batch)
    }

    fn append(&mut self, batch: &Batch) -> SqlResult<()> {
        // Decimals keep their scale: a column has that of its first rows.
        if !self.pending.has_scales_of(batch) {
            self.flush()?;
        }
        self.pending.append(batch)?;
        match self.pending.memory() < self.block_bytes && self.pending.len() < 64 * BLOCK_ROWS {
            true => Ok(()),
            false => self.flush(),
        }
    }

    fn flush(&mut self) -> SqlResult<()> {
        let rows = std::mem::take(&mut self.pending);
        if rows.len() > 0 {
            self.largest = self.largest.max(rows.memory());
            self.blocks.push(self.file.write(&block_of(&rows.batch()))?);
        }
        Ok(())
    }

    /// Ends the stream.
    pub(crate) fn end(mut self) -> SqlResult<Written> {
        self.flush()?;
        Ok(Written { file: self.file, blocks: self.blocks, largest: self.largest })
    }
}

fn block_of(batch: &Batch) -> Vec<u8> {
    let mut out = (batch.rows() as u32).to_le_bytes().to_vec();
    for column in batch.columns() {
        let segment = encode(column);
        out.extend_from_slice(&(segment.bytes().len() as u64).to_le_bytes());
        out.extend_from_slice(segment.bytes());
    }
    out
}

/// A block that is being read.
#[derive(Debug, Default)]
struct Block {
    rows: usize,
    columns: Vec<Segment>,
    /// Number of the next batch.
    next: usize,
}

impl Block {
    /// `None` if the bytes are no block.
    fn of(bytes: &[u8]) -> Option<Self> {
        let (rows, mut rest) = bytes.split_first_chunk()?;
        let rows = u32::from_le_bytes(*rows) as usize;
        let mut columns = Vec::new();
        while !rest.is_empty() {
            let (len, behind) = rest.split_first_chunk()?;
            let (segment, behind) =
                behind.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
            columns.push(Segment::read(segment.into()).ok()?);
            rest = behind;
        }
        columns.iter().all(|c| c.rows() == rows).then_some(Self { rows, columns, next: 0 })
    }

    /// Whether the last rows were given.
    fn is_over(&self) -> bool {
        self.next * BLOCK_ROWS >= self.rows
    }

    /// The next rows; `None` after the last.
    fn batch(&mut self) -> Option<Result<Batch, selkie_column::Damaged>> {
        let left = self.rows.saturating_sub(self.next * BLOCK_ROWS);
        if left == 0 {
            return None;
        }
        let columns = self.columns.iter().map(|column| column.decode(self.next).map(Arc::new));
        let columns = columns.collect::<Result<Vec<_>, _>>();
        self.next += 1;
        Some(columns.map(|columns| Batch::new(columns, left.min(BLOCK_ROWS))))
    }
}

/// Gives the rows of a file in the order in which they were written.
#[derive(Debug)]
pub(crate) struct Reader<W: std::ops::Deref<Target = Written>> {
    written: W,
    next: usize,
    block: Block,
}

impl<W: std::ops::Deref<Target = Written>> Reader<W> {
    /// A reader at the first row.
    pub(crate) fn new(written: W) -> Self {
        Self { written, next: 0, block: Block::default() }
    }

    /// The next rows; `None` after the last.
    pub(crate) fn next(&mut self) -> SqlResult<Option<Batch>> {
        loop {
            if let Some(batch) = self.block.batch() {
                if self.block.is_over() {
                    self.block = Block::default();
                }
                return batch.map(Some).map_err(|_| self.written.file.damaged());
            }
            let Some(&place) = self.written.blocks.get(self.next) else { return Ok(None) };
            self.next += 1;
            let bytes = self.written.file.read(place)?;
            self.block = Block::of(&bytes).ok_or_else(|| self.written.file.damaged())?;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selkie_types::{Column, Decimal, Physical, Value};

    use super::*;
    use crate::state::temporary::TemporaryFiles;

    type Row = (Option<i64>, Option<Vec<u8>>, i64);

    fn batch(rows: &[Row]) -> Batch {
        let mut numbers = Column::new(Physical::Int, 0, rows.len());
        let mut texts = Column::new(Physical::Bytes, 0, rows.len());
        let mut amounts = Column::new(Physical::Decimal, 2, rows.len());
        for (number, text, amount) in rows {
            numbers.push(&number.map_or(Value::Null, Value::Int));
            texts.push(&text.as_ref().map_or(Value::Null, Value::bytes));
            amounts.push(&Value::Decimal(Decimal::from_i128((*amount).into(), 2)));
        }
        let columns = [numbers, texts, amounts].map(Arc::new).to_vec();
        Batch::new(columns, rows.len())
    }

    fn rows_of(batches: &[Batch]) -> Vec<Vec<Value>> {
        let row = |batch: &Batch, at| batch.columns().iter().map(|c| c.value(at)).collect();
        batches.iter().flat_map(|batch| (0..batch.rows()).map(|at| row(batch, at))).collect()
    }

    proptest! {
        #[test]
        fn rows_come_back_as_they_were_written(
            batches in prop::collection::vec(
                prop::collection::vec(
                    (any::<Option<i64>>(), any::<Option<Vec<u8>>>(), any::<i64>()),
                    1..300,
                ),
                0..8,
            ),
            block_bytes in 1usize..50_000,
        ) {
            let batches: Vec<Batch> = batches.iter().map(|rows| batch(rows)).collect();
            let file = TemporaryFiles::default().create().unwrap();
            let mut stream = Stream { block_bytes, ..Stream::new(&file) };
            batches.iter().for_each(|batch| stream.push(batch).unwrap());
            let written = stream.end().unwrap();
            let mut reader = Reader::new(&written);
            let mut read = Vec::new();
            while let Some(batch) = reader.next().unwrap() {
                prop_assert!(batch.rows() > 0);
                read.push(batch);
            }
            prop_assert_eq!(rows_of(&read), rows_of(&batches));
        }

        #[test]
        fn any_bytes_are_a_block_or_an_error(bytes in any::<Vec<u8>>()) {
            if let Some(mut block) = Block::of(&bytes) {
                while let Some(Ok(_)) = block.batch() {}
            }
        }
    }

    #[test]
    fn rows_without_columns_keep_their_number() {
        let file = TemporaryFiles::default().create().unwrap();
        let mut stream = Stream::new(&file);
        stream.push(&Batch::new(Vec::new(), 3000)).unwrap();
        let written = stream.end().unwrap();
        let mut reader = Reader::new(&written);
        let mut rows = 0;
        while let Some(batch) = reader.next().unwrap() {
            rows += batch.rows();
        }
        assert_eq!(rows, 3000);
    }

    #[test]
    fn a_ceiling_is_the_most() {
        assert!(exceeds(11, 10));
        assert!(!exceeds(10, 10));
        assert!(!exceeds(MOST, usize::MAX));
        assert!(exceeds(MOST + 1, usize::MAX));
    }
}
