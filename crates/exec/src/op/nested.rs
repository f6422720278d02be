//! Joins without keys: pairs every left row with every right row. The right rows are kept in
//! memory. Null-aware kinds compare inside the pairs.

use std::borrow::Cow;
use std::sync::Arc;

use selkie_plan::physical::{JoinKind, NestedLoopJoin as Plan};
use selkie_types::{Batch, Bitmap, SqlResult};

use super::join_match::{Matcher, Progress, Shape, Unmatched};
use super::{BoxOperator, Operator, RowBuffer, open as open_node};
use crate::run::Env;
use crate::run::rows::at_once;

/// Pairs per batch.
const PAIRS: usize = 2048;

struct Probing {
    left: Batch,
    /// Left row and right row of the next pair. When there is none, one is the number of rows.
    row: usize,
    right: usize,
    progress: Progress,
    /// Left rows whose result may be NULL, for the null-aware kinds.
    maybe: Bitmap,
}

/// The operator.
pub(super) struct NestedLoop<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    left: BoxOperator<'r>,
    rows: Option<RowBuffer>,
    matcher: Matcher<'r>,
    probing: Option<Probing>,
    /// Compat: each right row is paired with all left rows of a batch, the content of a join
    /// buffer, before the next right row.
    by_right: bool,
}

impl<'r> NestedLoop<'r> {
    pub(super) fn open(env: Env<'r>, plan: &'r Plan) -> SqlResult<Self> {
        let unmatched = Unmatched::of(env, plan.buffered);
        let shape = Shape {
            kind: plan.kind,
            residual: Cow::Borrowed(&plan.conditions),
            output: Cow::Borrowed(&plan.output),
            left_width: plan.left.columns.len(),
            right_types: plan.right.columns.clone(),
            unmatched,
            numbered: false,
        };
        Ok(Self {
            env,
            plan,
            left: open_node(env, &plan.left)?,
            rows: None,
            matcher: Matcher::new(shape),
            probing: None,
            by_right: plan.kind == JoinKind::Left && unmatched == Unmatched::Behind,
        })
    }

    fn build(&mut self) -> SqlResult<RowBuffer> {
        let mut rows = RowBuffer::new(&self.plan.right.columns);
        let mut right = open_node(self.env, &self.plan.right)?;
        while let Some(batch) = right.next()? {
            rows.append(&batch)?;
        }
        rows.share_strings()?;
        Ok(rows)
    }

    fn null_aware(&self) -> bool {
        matches!(self.plan.kind, JoinKind::NullAwareAnti | JoinKind::NullAwareMark)
    }

    /// The next pairs of a left batch, left row by left row.
    fn pairs(probing: &mut Probing, rows: &RowBuffer) -> (Vec<u32>, Vec<u32>) {
        let right_rows = rows.len();
        let batch = &probing.left;
        // Large rows make a batch smaller.
        let most = at_once(batch.memory(), batch.rows(), rows.at_once(PAIRS));
        let (mut left, mut right) = (Vec::new(), Vec::new());
        while probing.row < probing.left.rows() && left.len() < most {
            let take = (right_rows - probing.right).min(most - left.len());
            left.extend(std::iter::repeat_n(probing.row as u32, take));
            right.extend(probing.right as u32..(probing.right + take) as u32);
            probing.right += take;
            if probing.right == right_rows {
                probing.right = 0;
                probing.row += 1;
            }
        }
        (left, right)
    }

    /// The next pairs of a left batch, right row by right row.
    fn pairs_by_right(probing: &mut Probing, rows: &RowBuffer) -> (Vec<u32>, Vec<u32>) {
        let left_rows = probing.left.rows();
        let batch = &probing.left;
        let most = at_once(batch.memory(), batch.rows(), rows.at_once(PAIRS));
        let (mut left, mut right) = (Vec::new(), Vec::new());
        while probing.right < rows.len() && left.len() < most {
            let take = (left_rows - probing.row).min(most - left.len());
            left.extend(probing.row as u32..(probing.row + take) as u32);
            right.extend(std::iter::repeat_n(probing.right as u32, take));
            probing.row += take;
            if probing.row == left_rows {
                probing.row = 0;
                probing.right += 1;
            }
        }
        (left, right)
    }

    /// Whether a left batch has more pairs.
    fn has_pairs(&self, probing: &Probing, rows: &RowBuffer) -> bool {
        match self.by_right {
            true => probing.right < rows.len(),
            false => probing.row < probing.left.rows() && rows.len() > 0,
        }
    }

    fn step(&self, rows: &RowBuffer, probing: &mut Probing) -> SqlResult<Option<Batch>> {
        let (left, right) = match self.by_right {
            true => Self::pairs_by_right(probing, rows),
            false => Self::pairs(probing, rows),
        };
        let right_column = |at: usize| rows.gather_column(at, &right);
        if !self.null_aware() {
            let (batch, complete) = (&probing.left, probing.row);
            let progress = &mut probing.progress;
            return self.matcher.pairs(
                self.env.eval,
                batch,
                &left,
                complete,
                &right_column,
                progress,
            );
        }
        let left_column = |at: usize| Arc::new(probing.left.column(at).gather(&left));
        let keep = self.matcher.keep(self.env.eval, left.len(), &left_column, &right_column)?;
        let joined = probing.left.gather(&left).zip(&Batch::new(rows.gather(&right), left.len()));
        let Some(comparison) = &self.plan.null_aware else { return Ok(None) };
        let truth = comparison.eval(self.env.eval, &joined)?;
        for (pair, &row) in left.iter().enumerate() {
            if keep.as_ref().is_some_and(|keep| !keep.get(pair)) {
                continue;
            }
            match truth.value(pair) {
                selkie_types::Value::Null => probing.maybe.set(row as usize, true),
                selkie_types::Value::Int(0) => {}
                _ => probing.progress.matched.set(row as usize, true),
            }
        }
        Ok(None)
    }

    fn finish(&self, probing: &Probing) -> Option<Batch> {
        let (left, maybe) = (&probing.left, &probing.maybe);
        let yes = &probing.progress.matched;
        match self.plan.kind {
            JoinKind::NullAwareMark => {
                let marks = (0..left.rows()).map(|row| yes.get(row).into()).collect();
                let known = (0..left.rows()).map(|row| yes.get(row) || !maybe.get(row)).collect();
                Some(self.matcher.with_marks(left, marks, Some(known)))
            }
            JoinKind::NullAwareAnti => {
                let out: Vec<u32> = (0..left.rows() as u32)
                    .filter(|&row| !yes.get(row as usize) && !maybe.get(row as usize))
                    .collect();
                self.matcher.left_rows(left, &out)
            }
            _ => self.matcher.finish(left, &probing.progress),
        }
    }

    fn run(&mut self, rows: &RowBuffer) -> SqlResult<Option<Batch>> {
        loop {
            self.env.check()?;
            let Some(mut probing) = self.probing.take() else {
                let Some(left) = self.left.next()? else { return Ok(None) };
                let (progress, maybe) = (Progress::new(left.rows()), Bitmap::zeros(left.rows()));
                self.probing = Some(Probing { left, row: 0, right: 0, progress, maybe });
                continue;
            };
            let output = if self.has_pairs(&probing, rows) {
                let output = self.step(rows, &mut probing)?;
                self.probing = Some(probing);
                output
            } else {
                self.finish(&probing)
            };
            if output.is_some() {
                return Ok(output);
            }
        }
    }
}

impl Operator for NestedLoop<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let rows = match self.rows.take() {
            Some(rows) => rows,
            None => self.build()?,
        };
        let result = self.run(&rows);
        self.rows = Some(rows);
        result
    }
}
