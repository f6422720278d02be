//! Estimates of the rows in a range, and samples of rows, from the shape of the tree.
//!
//! Estimates read nodes without a consistent view: they are guesses.

use super::handle::NativeTable;
use super::leaf_scan::{Step, Walk};
use super::value;
use crate::btree::{Hint, Node, Seek, Tree};
use crate::error::Result;
use crate::trx::{NativeTrx, Resolved, View};
use selkie_engine::{Bound, EngineResult, KeyRange, RangeEstimate, RowSet};

/// Number of leaves counted exactly before the estimate is a guess.
const COUNTED_LEAVES: usize = 4;
/// Largest number of leaves that a sample is drawn from.
const SAMPLED_LEAVES: usize = 256;

impl NativeTable {
    fn tree_of(&self, index: Option<usize>) -> &Tree {
        index.map_or(&*self.files.clustered, |at| &*self.trees[at])
    }

    pub(super) fn estimate_range(
        &self,
        index: Option<usize>,
        lower: &Bound,
        upper: &Bound,
    ) -> EngineResult<RangeEstimate> {
        let (tree, range) = (self.tree_of(index), KeyRange::new(lower, upper));
        let total = self.files.rows() as f64;
        if range.start.is_empty() && range.end.is_none() {
            return Ok(RangeEstimate { rows: total, exact: false });
        }
        let (from, to) = (range.start.clone(), range.end.clone());
        let mut walk = Walk::new(range, false);
        let mut counted = 0u64;
        for _ in 0..COUNTED_LEAVES {
            if walk.done {
                return Ok(RangeEstimate { rows: counted as f64, exact: true });
            }
            walk.leaf(tree, |node, at| {
                counted += u64::from(!value::is_deleted(node.value(at)));
                Step::Next
            })?;
        }
        let end = match &to {
            Some(end) => tree.rank(end)?,
            None => 1.0,
        };
        let share = (end - tree.rank(&from)?).max(0.0);
        Ok(RangeEstimate { rows: (share * total).max(counted as f64), exact: false })
    }

    pub(super) fn sample_rows(
        &self,
        trx: &NativeTrx,
        rows: usize,
        out: &mut RowSet,
    ) -> EngineResult<()> {
        let total = self.files.rows() as usize;
        let places = rows.clamp(1, SAMPLED_LEAVES);
        let mut sample = Sample { table: self, view: trx.view(), out, long: Vec::new() };
        if total <= rows * 2 {
            let mut walk = Walk::new(KeyRange::default(), false);
            // A few rows may lie behind any number of leaves whose rows were deleted.
            for _ in 0..SAMPLED_LEAVES.max(rows) {
                if walk.done || sample.len() >= rows {
                    break;
                }
                walk.leaf(&self.files.clustered, |node, at| {
                    sample.take(node, at);
                    if sample.len() < rows { Step::Next } else { Step::Stop }
                })?;
            }
        } else {
            for place in 0..places {
                let share = (place as f64 + 0.5) / places as f64;
                let key = self.files.clustered.key_at(share)?;
                let wanted = (rows * (place + 1) / places).saturating_sub(sample.len());
                self.files.clustered.read_near(&mut Hint::default(), Seek::At(&key), |node| {
                    let step = (node.count() / wanted.max(1)).max(1);
                    for at in (0..node.count()).step_by(step).take(wanted) {
                        sample.take(node, at);
                    }
                })?;
            }
        }
        sample.finish()
    }
}

/// Rows drawn from leaves.
struct Sample<'a> {
    table: &'a NativeTable,
    view: View<'a>,
    out: &'a mut RowSet,
    /// Values that can only be completed without a latch.
    long: Vec<Vec<u8>>,
}

impl Sample<'_> {
    fn len(&self) -> usize {
        self.out.rows.len() + self.long.len()
    }

    /// Adds a leaf's entry, if the view sees a row there.
    fn take(&mut self, node: Node<'_>, at: usize) {
        let (mut value, mut old) = (node.value(at), Vec::new());
        match self.view.resolve(value, &mut old) {
            Resolved::Gone => return,
            Resolved::Current => {}
            Resolved::Old => value = &old,
        }
        match value::chain_of(value) {
            None if !self.table.def.layout.is_earlier(value::row_start(value)) => {
                self.out.rows.push(value::row_start(value));
            }
            _ => self.long.push(value.to_vec()),
        }
    }

    fn finish(self) -> EngineResult<()> {
        for value in self.long {
            self.table.whole_row(&value, self.out.rows.buffer())?;
            self.out.rows.end_row();
        }
        Ok(())
    }
}

impl Tree {
    /// The estimated share of the tree's entries before `key`, from positions in the nodes above
    /// it.
    fn rank(&self, key: &[u8]) -> Result<f64> {
        let (mut below, mut width) = (0.0, 1.0);
        self.nodes_to(key, |node| {
            let at = match node.is_leaf() {
                Some(true) => node.lower_bound(key),
                _ => node.child_slot(key),
            };
            let count = node.count().max(1) as f64;
            below += width * at as f64 / count;
            width /= count;
        })?;
        Ok(below)
    }

    /// A key with about `share` of the entries before it.
    fn key_at(&self, share: f64) -> Result<Vec<u8>> {
        let mut share = share.clamp(0.0, 0.999_999);
        self.key_down(|node| {
            let place = share * node.count() as f64;
            share = place.fract();
            place as usize
        })
    }
}
