//! What a join makes of pairs: the residual condition and the rows each kind gives.

use std::sync::Arc;

use selkie_expr::Expr;
use selkie_plan::physical::{ColumnType, JoinKind};
use selkie_types::{Batch, Bitmap, Column, ColumnData, NULL_ROW, SqlResult};

use super::{keep_rows, scale_of};
use crate::run::Env;

/// Makes output of the pairs of one left batch.
pub(super) struct Matcher<'r> {
    env: Env<'r>,
    pub(super) kind: JoinKind,
    residual: &'r [Expr],
    right_types: Vec<ColumnType>,
}

impl<'r> Matcher<'r> {
    pub(super) fn new(
        env: Env<'r>,
        kind: JoinKind,
        residual: &'r [Expr],
        right_types: Vec<ColumnType>,
    ) -> Self {
        Self { env, kind, residual, right_types }
    }

    /// Whether a pair of equal keys is a match without looking at the right row.
    pub(super) fn keys_suffice(&self) -> bool {
        self.residual.is_empty() && !self.kind.keeps_right()
    }

    /// Notes the left rows of matching pairs in `matched` and gives the joined rows, if the kind
    /// has such. `pairs` are the left rows, `right` the right columns, a row for each pair.
    pub(super) fn pairs(
        &self,
        left: &Batch,
        pairs: &[u32],
        right: Vec<Arc<Column>>,
        matched: &mut Bitmap,
    ) -> SqlResult<Option<Batch>> {
        if pairs.is_empty() {
            return Ok(None);
        }
        let whole =
            pairs.len() == left.rows() && pairs.iter().enumerate().all(|(i, p)| i as u32 == *p);
        let mut joined = if whole { left.clone() } else { left.gather(pairs) };
        joined = joined.zip(&Batch::new(right, pairs.len()));
        let Some(keep) = keep_rows(self.env.eval, self.residual, &joined)? else {
            pairs.iter().for_each(|&row| matched.set(row as usize, true));
            return Ok(self.kind.keeps_right().then_some(joined));
        };
        keep.iter_ones().for_each(|pair| matched.set(pairs[pair] as usize, true));
        let wanted = self.kind.keeps_right() && keep.count_ones() > 0;
        Ok(wanted.then(|| joined.filter(&keep)))
    }

    /// The rows a left batch gives once all its pairs were seen.
    pub(super) fn finish(&self, left: &Batch, matched: &Bitmap) -> Option<Batch> {
        let rows = |wanted: bool| -> Vec<u32> {
            (0..left.rows() as u32).filter(|&row| matched.get(row as usize) == wanted).collect()
        };
        let some = |rows: Vec<u32>| (!rows.is_empty()).then(|| left.gather(&rows));
        match self.kind {
            JoinKind::Inner => None,
            JoinKind::Left => some(rows(false)).map(|batch| self.pad_right(batch)),
            JoinKind::Semi => some(rows(true)),
            JoinKind::Anti | JoinKind::NullAwareAnti => some(rows(false)),
            JoinKind::Mark | JoinKind::NullAwareMark => {
                let marks = (0..left.rows()).map(|row| matched.get(row).into()).collect();
                Some(with_marks(left, marks, None))
            }
        }
    }

    /// Left rows beside NULLs.
    pub(super) fn pad_right(&self, left: Batch) -> Batch {
        let rows = left.rows();
        let null = |c: &ColumnType| Arc::new(Column::nulls(c.ty.physical(), scale_of(&c.ty), rows));
        left.zip(&Batch::new(self.right_types.iter().map(null).collect(), rows))
    }
}

/// Rows with one more column: 1, 0 or NULL.
pub(super) fn with_marks(left: &Batch, marks: Vec<i64>, known: Option<Bitmap>) -> Batch {
    let rows = marks.len();
    let column = Column::from_data(ColumnData::Int(marks), known);
    left.clone().zip(&Batch::new(vec![Arc::new(column)], rows))
}

/// Row numbers that stand for NULLs where a key was not found.
const _: () = assert!(NULL_ROW == super::hash_table::NOT_FOUND);
