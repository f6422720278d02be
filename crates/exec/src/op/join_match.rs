//! Output of all joins: applies the residual condition to pairs and gives the rows of each join
//! kind. The operators find the pairs; they must report every pair of a left row before `finish`.

use std::borrow::Cow;
use std::sync::Arc;

use selkie_expr::{EvalContext, Expr};
use selkie_plan::physical::{ColumnType, JoinKind};
use selkie_types::{Batch, Bitmap, Column, ColumnData, NULL_ROW, Physical, SqlResult};

use crate::run::Env;
use crate::run::row_filter::keep_rows;
use crate::state::columns::scale_of;

/// Description of a join's output.
pub(super) struct Shape<'r> {
    pub(super) kind: JoinKind,
    /// Conditions over the joined row.
    pub(super) residual: Cow<'r, [Expr]>,
    /// Positions of the joined row that are output.
    pub(super) output: Cow<'r, [usize]>,
    /// Number of columns of the left input.
    pub(super) left_width: usize,
    /// Types of the columns of the right input.
    pub(super) right_types: Vec<ColumnType>,
    /// Place of the rows of a left join without a match.
    pub(super) unmatched: Unmatched,
    /// Whether left batches have one more column, the numbers of their rows, which becomes the last
    /// column of the output.
    pub(super) numbered: bool,
}

/// Place of the left rows without a match in the output of a left join.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unmatched {
    /// The place that the left input gives them.
    InOrder,
    /// Behind the matched rows of their batch. Compat: so does MariaDB, whose batch is the content
    /// of a join buffer.
    Behind,
}

/// Progress of the output for a left batch.
pub(super) struct Progress {
    /// Left rows with a match.
    pub(super) matched: Bitmap,
    /// Number of left rows whose output is complete.
    given: usize,
}

impl Unmatched {
    /// For a join before which MariaDB would fill a join buffer, or would not.
    pub(super) fn of(env: Env<'_>, buffered: bool) -> Self {
        if buffered && env.buffers_outer_joins() { Self::Behind } else { Self::InOrder }
    }
}

impl Progress {
    pub(super) fn new(rows: usize) -> Self {
        Self::of(Bitmap::zeros(rows))
    }

    pub(super) fn of(matched: Bitmap) -> Self {
        Self { matched, given: 0 }
    }
}

/// Makes output from the pairs of one left batch. It gathers only columns that are output or that
/// the residual reads.
pub(super) struct Matcher<'r> {
    shape: Shape<'r>,
    /// Positions of the joined row that the residual reads.
    used: Vec<bool>,
}

/// Gathers a right column, one row per pair.
pub(super) type RightColumn<'a> = &'a dyn Fn(usize) -> Arc<Column>;

impl<'r> Matcher<'r> {
    pub(super) fn new(shape: Shape<'r>) -> Self {
        let mut used = vec![false; shape.left_width + shape.right_types.len()];
        shape.residual.iter().for_each(|e| e.for_each_column(&mut |at| used[at] = true));
        Self { shape, used }
    }

    /// Whether each left row gives its match or NULLs, whatever else the rows hold.
    pub(super) fn is_plain_left(&self) -> bool {
        self.shape.kind == JoinKind::Left && self.shape.residual.is_empty()
    }

    /// Whether left batches have the numbers of their rows.
    pub(super) fn is_numbered(&self) -> bool {
        self.shape.numbered
    }

    /// Whether equal keys alone make a match, so that right rows are not needed.
    pub(super) fn keys_suffice(&self) -> bool {
        self.shape.residual.is_empty() && !self.shape.kind.keeps_right()
    }

    /// The pairs that satisfy the residual, `None` if all do.
    pub(super) fn keep(
        &self,
        eval: &EvalContext<'_>,
        pairs: usize,
        left: &dyn Fn(usize) -> Arc<Column>,
        right: RightColumn<'_>,
    ) -> SqlResult<Option<Bitmap>> {
        if self.shape.residual.is_empty() {
            return Ok(None);
        }
        let nothing = Arc::new(Column::nulls(Physical::Int, 0, pairs));
        let width = self.shape.left_width;
        let column = |at: usize| match (self.used[at], at < width) {
            (false, _) => nothing.clone(),
            (true, true) => left(at),
            (true, false) => right(at - width),
        };
        let joined = Batch::new((0..self.used.len()).map(column).collect(), pairs);
        keep_rows(eval, &self.shape.residual, &joined)
    }

    /// Joined rows of the pairs that `keep` selects.
    pub(super) fn joined(
        &self,
        pairs: usize,
        keep: Option<&Bitmap>,
        left: &dyn Fn(usize) -> Arc<Column>,
        right: RightColumn<'_>,
    ) -> Batch {
        let width = self.shape.left_width;
        let column = |&at: &usize| {
            let whole = if at < width { left(at) } else { right(at - width) };
            keep.map_or(whole.clone(), |keep| Arc::new(whole.filter(keep)))
        };
        let rows = keep.map_or(pairs, Bitmap::count_ones);
        let mut columns: Vec<_> = self.shape.output.iter().map(column).collect();
        if self.shape.numbered {
            let numbers = left(width);
            columns.push(keep.map_or(numbers.clone(), |keep| Arc::new(numbers.filter(keep))));
        }
        Batch::new(columns, rows)
    }

    /// Marks the left rows of matching pairs, and gives joined rows if the kind has them. `pairs`
    /// holds the left row of each pair. Where unmatched rows come in order, the pairs do, too, and
    /// all pairs of the left rows before `complete` are among these and earlier ones.
    pub(super) fn pairs(
        &self,
        eval: &EvalContext<'_>,
        left: &Batch,
        pairs: &[u32],
        complete: usize,
        right: RightColumn<'_>,
        progress: &mut Progress,
    ) -> SqlResult<Option<Batch>> {
        if pairs.is_empty() {
            return Ok(None);
        }
        let in_order = || pairs.iter().enumerate().all(|(at, row)| at as u32 == *row);
        let whole = pairs.len() == left.rows() && in_order();
        let left_column = |at: usize| match whole {
            true => left.column(at).clone(),
            false => Arc::new(left.column(at).gather(pairs)),
        };
        let keep = self.keep(eval, pairs.len(), &left_column, right)?;
        let matched = &mut progress.matched;
        match &keep {
            None => pairs.iter().for_each(|&row| matched.set(row as usize, true)),
            Some(keep) => keep.iter_ones().for_each(|pair| matched.set(pairs[pair] as usize, true)),
        }
        let any = keep.as_ref().is_none_or(|keep| keep.count_ones() > 0);
        if !self.shape.kind.keeps_right() || !any {
            return Ok(None);
        }
        if let Some(lefts) = self.unmatched_before(complete, progress) {
            let merged = merge(pairs, keep.as_ref(), &lefts);
            return Ok(Some(self.merged(left, &merged, right)));
        }
        Ok(Some(self.joined(pairs.len(), keep.as_ref(), &left_column, right)))
    }

    /// Left rows that have no match and whose turn has come.
    fn unmatched_before(&self, complete: usize, progress: &mut Progress) -> Option<Vec<u32>> {
        if self.shape.kind != JoinKind::Left || self.shape.unmatched == Unmatched::Behind {
            return None;
        }
        let rows = progress.given..complete;
        progress.given = complete;
        let rows = rows.filter(|&row| !progress.matched.get(row)).map(|row| row as u32);
        Some(rows.collect::<Vec<_>>()).filter(|rows| !rows.is_empty())
    }

    /// Rows of pairs, and left rows with NULLs: a left row and the number of a pair each.
    fn merged(
        &self,
        left: &Batch,
        (lefts, pairs): &(Vec<u32>, Vec<u32>),
        right: RightColumn<'_>,
    ) -> Batch {
        let left_column = |at: usize| Arc::new(left.column(at).gather(lefts));
        let right = |at: usize| Arc::new(right(at).gather(pairs));
        self.joined(lefts.len(), None, &left_column, &right)
    }

    /// Rows that a left batch gives after all its pairs were seen.
    pub(super) fn finish(&self, left: &Batch, progress: &Progress) -> Option<Batch> {
        let rows = |wanted: bool| -> Vec<u32> {
            let rows = progress.given as u32..left.rows() as u32;
            rows.filter(|&row| progress.matched.get(row as usize) == wanted).collect()
        };
        let matched = &progress.matched;
        match self.shape.kind {
            JoinKind::Inner => None,
            JoinKind::Semi => self.left_rows(left, &rows(true)),
            JoinKind::Left | JoinKind::Anti | JoinKind::NullAwareAnti => {
                self.left_rows(left, &rows(false))
            }
            JoinKind::Mark | JoinKind::NullAwareMark => {
                let marks = (0..left.rows()).map(|row| matched.get(row).into()).collect();
                Some(self.with_marks(left, marks, None))
            }
        }
    }

    /// Some left rows as output, with NULLs for right columns.
    pub(super) fn left_rows(&self, left: &Batch, rows: &[u32]) -> Option<Batch> {
        if rows.is_empty() {
            return None;
        }
        let left_column = |at: usize| match rows.len() == left.rows() {
            true => left.column(at).clone(),
            false => Arc::new(left.column(at).gather(rows)),
        };
        let right = |at: usize| {
            let ty = &self.shape.right_types[at].ty;
            Arc::new(Column::nulls(ty.physical(), scale_of(ty), rows.len()))
        };
        Some(self.joined(rows.len(), None, &left_column, &right))
    }

    /// Left rows with a mark column: 1, 0 or NULL.
    pub(super) fn with_marks(&self, left: &Batch, marks: Vec<i64>, known: Option<Bitmap>) -> Batch {
        let rows = marks.len();
        let mut columns: Vec<_> =
            self.shape.output.iter().map(|&at| left.column(at).clone()).collect();
        columns.push(Arc::new(Column::from_data(ColumnData::Int(marks), known)));
        if self.shape.numbered {
            columns.push(left.column(self.shape.left_width).clone());
        }
        Batch::new(columns, rows)
    }
}

/// Left row and number of the pair of each output row, in the order of the left rows: of the pairs
/// that `keep` selects, and of left rows without one.
fn merge(pairs: &[u32], keep: Option<&Bitmap>, alone: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let most = pairs.len() + alone.len();
    let (mut lefts, mut numbers) = (Vec::with_capacity(most), Vec::with_capacity(most));
    let mut alone = alone.iter().copied().peekable();
    for (number, &row) in pairs.iter().enumerate() {
        if keep.is_some_and(|keep| !keep.get(number)) {
            continue;
        }
        while let Some(row) = alone.next_if(|alone| *alone < row) {
            lefts.push(row);
            numbers.push(NULL_ROW);
        }
        lefts.push(row);
        numbers.push(number as u32);
    }
    numbers.resize(numbers.len() + alone.len(), NULL_ROW);
    lefts.extend(alone);
    (lefts, numbers)
}

// A key that was not found gathers a row of NULLs, because both numbers are equal.
const _: () = assert!(NULL_ROW == super::hash_table::NOT_FOUND);
