//! Reads a table by its column groups, block by block, and the parts without groups by rows.
//!
//! Rows come in key order, as a scan of the rows gives them: rows of touched keys are put between
//! the positions of their block.

use std::ops::Range;
use std::sync::Arc;

use selkie_column::{BLOCK_ROWS, Codes, Damaged, Segment, Zone};
use selkie_engine::{
    ColumnReader, ColumnSpec, Cursor, EngineError, EngineResult, GroupShape, GroupView, PartRows,
    RowSet, StatementContext, Table,
};
use selkie_types::{BATCH_ROWS, ByteRows, Column, RowLayout, SqlError, SqlResult};

use crate::run::OpenTable;
use crate::state::error::corrupt;

const _: () = assert!(BLOCK_ROWS == BATCH_ROWS, "a block is a batch");

/// Rows of one block of a group.
pub(crate) struct Block<'s> {
    view: &'s GroupView,
    block: usize,
    /// Rows of touched keys in the block's range.
    patches: &'s ByteRows,
    /// The rows in key order: numbers of positions, then of patches. `None`: just the positions.
    order: Option<&'s [u32]>,
    rows: usize,
}

/// A segment that was in memory only must not be damaged.
fn damaged(_: Damaged) -> SqlError {
    corrupt(selkie_types::RowCorrupt)
}

impl<'s> Block<'s> {
    /// A block that nothing has touched; `none` are no rows.
    pub(super) fn untouched(view: &'s GroupView, block: usize, none: &'s ByteRows) -> Self {
        let rows = (view.rows as usize).saturating_sub(block * BLOCK_ROWS).min(BLOCK_ROWS);
        Self { view, block, patches: none, order: None, rows }
    }
}

impl Block<'_> {
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Whether its rows are just those of the group, which nothing has touched.
    pub(crate) fn is_untouched(&self) -> bool {
        self.order.is_none()
    }

    /// The segment of one of the reader's columns.
    pub(crate) fn segment(&self, at: usize) -> &Arc<Segment> {
        &self.view.segments[at]
    }

    /// Bounds of a column's values, if they are known. Rows of touched keys may be outside.
    pub(crate) fn zone(&self, at: usize) -> Option<Zone> {
        self.segment(at).zone(self.block)
    }

    /// The values of a column of an untouched block.
    pub(crate) fn whole(&self, at: usize) -> SqlResult<Column> {
        self.segment(at).decode(self.block).map_err(damaged)
    }

    /// The values of a column of an untouched block for rows with rising numbers.
    pub(crate) fn selected(&self, at: usize, rows: &[u32]) -> SqlResult<Column> {
        self.segment(at).decode_selected(self.block, rows).map_err(damaged)
    }

    /// The codes of a column with a dictionary, as in [`Segment::codes`].
    pub(crate) fn codes(&self, at: usize) -> SqlResult<Option<Codes>> {
        self.segment(at).codes(self.block).map_err(damaged)
    }

    /// One of the reader's columns, which the layout has at `place`, for all rows or those with the
    /// given numbers.
    pub(crate) fn column(
        &self,
        layout: &RowLayout,
        (at, place): (usize, usize),
        numbers: Option<&[u32]>,
    ) -> SqlResult<Column> {
        let segment = &self.view.segments[at];
        let mut column = segment.decode(self.block).map_err(damaged)?;
        let Some(order) = self.order else {
            return Ok(match numbers {
                None => column,
                Some(numbers) => column.gather(numbers),
            });
        };
        if !self.patches.is_empty() {
            column.append(&layout.decode(self.patches, place).map_err(corrupt)?);
        }
        Ok(match numbers {
            None => column.gather(order),
            Some(numbers) => {
                let chosen: Vec<u32> = numbers.iter().map(|row| order[*row as usize]).collect();
                column.gather(&chosen)
            }
        })
    }
}

/// Rows that were read together.
pub(crate) enum Piece<'s> {
    /// Of a group.
    Block(Block<'s>),
    /// Of a part without a group.
    Rows(&'s RowSet),
}

/// A part that is being read.
enum Part<'r> {
    Group {
        view: GroupView,
        /// The next block.
        block: usize,
    },
    Rows(Box<dyn Cursor + 'r>),
}

/// A piece of a table that a lane may read.
#[derive(Clone)]
pub(super) enum Extent {
    /// Blocks of one group that nothing has touched.
    Blocks(GroupView, Range<usize>),
    /// The rows of a part, which has no group or not the columns of the scan.
    Part(usize),
}

/// Most rows of a part that a lane reads at once.
pub(super) const MOST_ROWS: u32 = 2 * GroupShape::USUAL.rows;

/// A read of a whole table by its columns.
pub(crate) struct ColumnParts<'r> {
    reader: Box<dyn ColumnReader<'r> + 'r>,
    /// Number of the next part.
    next: usize,
    part: Option<Part<'r>>,
    /// A part before `part` that a lane has failed to read.
    again: Option<Box<dyn Cursor + 'r>>,
    set: RowSet,
    /// Positions before which the patches belong.
    at: Vec<u32>,
    order: Vec<u32>,
}

impl<'r> ColumnParts<'r> {
    /// Begins to read a table that has columns.
    pub(crate) fn open(
        open: &'r OpenTable<'r>,
        context: &'r dyn StatementContext,
        spec: ColumnSpec,
    ) -> EngineResult<ColumnParts<'r>> {
        let table: &'r dyn Table = &*open.handle.table;
        let source = table.columns().ok_or(EngineError::Unsupported("columns"))?;
        Ok(ColumnParts {
            reader: source.open_columns(open.trx, context, spec)?,
            next: 0,
            part: None,
            again: None,
            set: RowSet::default(),
            at: Vec::new(),
            order: Vec::new(),
        })
    }

    /// The next rows, at least one; `None` after the last ones.
    pub(crate) fn next(&mut self) -> EngineResult<Option<Piece<'_>>> {
        loop {
            match self.part.take() {
                None if self.next == self.reader.parts() => return Ok(None),
                None => self.part = Some(self.open_next()?),
                Some(Part::Rows(mut cursor)) => {
                    self.set.clear();
                    if cursor.next_batch(&mut self.set, BATCH_ROWS)? {
                        self.part = Some(Part::Rows(cursor));
                        return Ok(Some(Piece::Rows(&self.set)));
                    }
                }
                Some(Part::Group { view, block }) => {
                    if self.read_block(view, block)? {
                        return Ok(self.block(block));
                    }
                }
            }
        }
    }

    fn open_next(&mut self) -> EngineResult<Part<'r>> {
        let part = match self.reader.group(self.next) {
            Some(view) => Part::Group { view, block: 0 },
            None => Part::Rows(self.reader.rows(self.next)?),
        };
        self.next += 1;
        Ok(part)
    }

    /// The rows of the parts, for lanes.
    pub(crate) fn part_rows(&self) -> EngineResult<Arc<dyn PartRows>> {
        self.reader.part_rows()
    }

    /// Whether any part has rows that may be read by [`Self::part_rows`].
    pub(crate) fn has_rows_for_lanes(&self) -> bool {
        let is_for_lanes =
            |part| self.has_at_most(MOST_ROWS, part) && self.reader.group(part).is_none();
        (0..self.reader.parts()).any(is_for_lanes)
    }

    /// Whether a part is known to have few rows.
    fn has_at_most(&self, most: u32, part: usize) -> bool {
        self.reader.rows_when_built(part).is_some_and(|rows| rows <= most)
    }

    /// Reads the rows of a part in front of what comes next.
    pub(crate) fn read_again(&mut self, part: usize) -> EngineResult<()> {
        self.again = Some(self.reader.rows(part)?);
        Ok(())
    }

    /// The next rows of the part given to [`Self::read_again`]; `None` after the last ones.
    pub(crate) fn next_again(&mut self) -> EngineResult<Option<Piece<'_>>> {
        let Some(mut cursor) = self.again.take() else { return Ok(None) };
        self.set.clear();
        if !cursor.next_batch(&mut self.set, BATCH_ROWS)? {
            return Ok(None);
        }
        self.again = Some(cursor);
        Ok(Some(Piece::Rows(&self.set)))
    }

    /// Cuts off what comes next for a lane: at most `most` blocks of one group, if nothing has
    /// touched them, or a part of at most `most_rows` whose rows are to be read.
    pub(super) fn stretch(&mut self, most: usize, most_rows: u32) -> EngineResult<Option<Extent>> {
        loop {
            let (view, first) = match &mut self.part {
                None if self.next == self.reader.parts() => return Ok(None),
                None => {
                    let part = self.next;
                    let opened = self.open_next()?;
                    if matches!(opened, Part::Rows(_)) && self.has_at_most(most_rows, part) {
                        return Ok(Some(Extent::Part(part)));
                    }
                    self.part = Some(opened);
                    continue;
                }
                Some(Part::Rows(_)) => return Ok(None),
                Some(Part::Group { view, block }) => (view, block),
            };
            let blocks = (view.rows as usize).div_ceil(BLOCK_ROWS);
            if *first > 0 && *first >= blocks {
                self.part = None;
                continue;
            }
            let bounds = |at: usize| {
                let from = (at * BLOCK_ROWS) as u32;
                (from, view.rows.min(from + BLOCK_ROWS as u32))
            };
            let is_untouched = |at: &usize| {
                let (from, to) = bounds(*at);
                view.touched(from, to).is_empty()
            };
            let end = blocks.min(*first + most);
            let count = (*first..end).take_while(is_untouched).count();
            if count == 0 {
                return Ok(None);
            }
            let range = *first..*first + count;
            let whole = (bounds(range.start).0, bounds(range.end - 1).1);
            // It finds no rows, and counts what is read.
            self.set.clear();
            self.at.clear();
            self.reader.patches(view, whole, &mut self.set, &mut self.at)?;
            *first = range.end;
            return Ok(Some(Extent::Blocks(view.clone(), range)));
        }
    }

    /// Reads a block's patches and orders its rows. False if there are no rows. A group without
    /// positions has one block, of its patches.
    fn read_block(&mut self, view: GroupView, block: usize) -> EngineResult<bool> {
        let from = (block * BLOCK_ROWS) as u32;
        if from >= view.rows && block > 0 {
            return Ok(false);
        }
        let to = view.rows.min(from + BLOCK_ROWS as u32);
        self.set.clear();
        self.at.clear();
        self.reader.patches(&view, (from, to), &mut self.set, &mut self.at)?;
        put_order(&view, (from, to), &self.at, &mut self.order);
        self.part = Some(Part::Group { view, block: block + 1 });
        Ok(true)
    }

    fn block(&self, block: usize) -> Option<Piece<'_>> {
        let Some(Part::Group { view, .. }) = &self.part else { return None };
        let from = (block * BLOCK_ROWS) as u32;
        let to = view.rows.min(from + BLOCK_ROWS as u32);
        let is_whole = view.touched(from, to).is_empty();
        let order = (!is_whole).then_some(&self.order[..]);
        let rows = order.map_or((to - from) as usize, <[u32]>::len);
        Some(Piece::Block(Block { view, block, patches: &self.set.rows, order, rows }))
    }
}

/// Puts the numbers of live positions, counted from the first, and of patches, counted from the
/// last position on, in key order.
fn put_order(view: &GroupView, (from, to): (u32, u32), at: &[u32], out: &mut Vec<u32>) {
    out.clear();
    if view.touched(from, to).is_empty() {
        return;
    }
    let rows = to - from;
    let mut patches = at.iter().enumerate().map(|(n, at)| (rows + n as u32, *at)).peekable();
    for position in from..to {
        while let Some((number, _)) = patches.next_if(|(_, at)| *at <= position) {
            out.push(number);
        }
        if !view.touched.is_dead(position) {
            out.push(position - from);
        }
    }
    out.extend(patches.map(|(number, _)| number));
}
