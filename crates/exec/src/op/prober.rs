//! Probes a build table with the rows of one side, batch by batch. Must know no session, so that
//! any thread may use it: whoever probes evaluates the keys and gives the context.

use std::sync::Arc;

use selkie_expr::EvalContext;
use selkie_plan::physical::JoinKey;
use selkie_types::{Batch, Bitmap, Column, SqlResult};

use super::hash_table::NOT_FOUND;
use super::join_match::{Matcher, Progress, Shape};
use super::probe::{BuildTable, Pairs};

/// Probes with left rows a table of right rows.
pub(super) struct Prober<'r> {
    matcher: Matcher<'r>,
    null_safe: Vec<bool>,
}

/// A left batch whose pairs are being given.
pub(super) struct Probing {
    left: Batch,
    pairs: Pairs,
    progress: Progress,
}

/// The first step with a batch.
pub(super) enum Begun {
    /// All of its output.
    Whole(Option<Batch>),
    Pairs(Probing),
}

impl<'r> Prober<'r> {
    pub(super) fn new(keys: &[JoinKey], shape: Shape<'r>) -> Self {
        let null_safe = keys.iter().map(|k| k.null_safe).collect();
        Self { matcher: Matcher::new(shape), null_safe }
    }

    /// Whether left batches have the numbers of their rows.
    pub(super) fn is_numbered(&self) -> bool {
        self.matcher.is_numbered()
    }

    /// Output without making pairs, if the keys alone decide or each left row has one match at
    /// most.
    fn direct(&self, table: &BuildTable, left: &Batch, ids: &[u32]) -> Option<Option<Batch>> {
        if self.matcher.keys_suffice() {
            let matched = ids.iter().map(|&id| id != NOT_FOUND).collect();
            return Some(self.matcher.finish(left, &Progress::of(matched)));
        }
        let is_single = self.matcher.is_plain_left() && table.is_unique();
        if is_single && table.rows.at_once(ids.len()) == ids.len() {
            let left_column = |at: usize| left.column(at).clone();
            let right = |at: usize| table.rows.gather_column(at, ids);
            return Some(Some(self.matcher.joined(ids.len(), None, &left_column, &right)));
        }
        None
    }

    /// Looks up the rows of a batch, whose keys are `keys`.
    pub(super) fn begin(&self, table: &BuildTable, left: Batch, keys: &[Arc<Column>]) -> Begun {
        let ids = table.find(keys, &self.null_safe, left.rows());
        if let Some(output) = self.direct(table, &left, &ids) {
            return Begun::Whole(output);
        }
        let progress = Progress::new(left.rows());
        let pairs = Pairs::new(ids, &left, table);
        Begun::Pairs(Probing { left, pairs, progress })
    }

    /// The next output of a batch, and the batch if it may have more.
    pub(super) fn next(
        &self,
        eval: &EvalContext<'_>,
        table: &BuildTable,
        mut probing: Probing,
    ) -> SqlResult<(Option<Batch>, Option<Probing>)> {
        let (mut probe, mut build) = (Vec::new(), Vec::new());
        if !probing.pairs.next(table, &mut probe, &mut build) {
            return Ok((self.matcher.finish(&probing.left, &probing.progress), None));
        }
        let right = |at: usize| table.rows.gather_column(at, &build);
        let (left, complete) = (&probing.left, probing.pairs.complete());
        let out =
            self.matcher.pairs(eval, left, &probe, complete, &right, &mut probing.progress)?;
        Ok((out, Some(probing)))
    }
}

/// The pairs of right rows with left rows of a table that satisfy the residual, `None` if all do.
/// Their joined rows are given if there are some and `wanted`.
pub(super) fn joined_pairs(
    eval: &EvalContext<'_>,
    matcher: &Matcher<'_>,
    table: &BuildTable,
    (right, probe): (&Batch, &[u32]),
    (build, wanted): (&[u32], bool),
) -> SqlResult<(Option<Bitmap>, Option<Batch>)> {
    let left = |at: usize| table.rows.gather_column(at, build);
    let right = |at: usize| Arc::new(right.column(at).gather(probe));
    let keep = matcher.keep(eval, build.len(), &left, &right)?;
    let count = keep.as_ref().map_or(build.len(), Bitmap::count_ones);
    let joined =
        (wanted && count > 0).then(|| matcher.joined(build.len(), keep.as_ref(), &left, &right));
    Ok((keep, joined))
}
