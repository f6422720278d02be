//! Joins that lanes make of the rows that they read, for a hash join right above a scan, or above
//! another such join.
//!
//! Each stretch of rows is joined by itself, and the join gives the results in the order of the
//! stretches: the rows and their order are those of batches joined one after another. A join that
//! only notes which rows of its table have a match has no output of stretches. Must not keep
//! what many stretches of large output take: such a stretch goes to the join as rows.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_expr::{EvalContext, Expr};
use selkie_plan::physical::{HashJoin as Plan, JoinKey, JoinKind};
use selkie_types::error::catalogue::ER_OUT_OF_RESOURCES;
use selkie_types::{Batch, Bitmap, SqlError, SqlResult};

use super::join_match::{Matcher, Shape};
use super::probe::{BuildTable, Pairs, key_columns};
use super::prober::{Begun, Prober, joined_pairs};
use super::{Operator, Rows};
use crate::run::scan::{Fold, has_parameter, suits_lanes};

/// Most bytes of the output of a stretch.
const MOST_BYTES: usize = 16 << 20;

/// Whether lanes may probe with the left side, or with the right one.
pub(super) fn may_probe(plan: &Plan, builds_left: bool) -> bool {
    let is_possible = match builds_left {
        // A left join gives pairs and notes which rows of the table have a match.
        true => plan.kind == JoinKind::Inner || marks(plan.kind),
        false => !matches!(plan.kind, JoinKind::NullAwareAnti | JoinKind::NullAwareMark),
    };
    let key = |key| if builds_left { probe_right(key) } else { probe_left(key) };
    let mut exprs = plan.keys.iter().map(key).chain(&plan.residual);
    is_possible && exprs.all(|e| suits_lanes(e) && !has_parameter(e))
}

/// Whether a join that builds from the left only notes which of its rows have a match.
pub(super) fn marks(kind: JoinKind) -> bool {
    matches!(kind, JoinKind::Semi | JoinKind::Anti | JoinKind::Mark)
}

fn probe_left(key: &JoinKey) -> &Expr {
    &key.left
}

fn probe_right(key: &JoinKey) -> &Expr {
    &key.right
}

/// The side that probes.
enum Side {
    Left(Prober<'static>),
    Right(Matcher<'static>, Vec<bool>, Option<Marks>),
}

/// Rows of the table that have a match, as far as stretches have found them. A stretch that is read
/// again finds the same.
struct Marks {
    words: Box<[AtomicU64]>,
}

impl Marks {
    fn new(rows: usize) -> Self {
        Self { words: (0..rows.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() }
    }

    fn set(&self, rows: impl Iterator<Item = u32>) {
        for row in rows {
            let (word, bit) = (&self.words[row as usize / 64], 1 << (row % 64));
            // Most rows with several matches are set already; reading shares the line.
            if word.load(Ordering::Relaxed) & bit == 0 {
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
    }

    fn add_to(&self, matched: &mut Bitmap) {
        for (at, word) in self.words.iter().enumerate() {
            let mut left = word.load(Ordering::Relaxed);
            while left != 0 {
                matched.set(at * 64 + left.trailing_zeros() as usize, true);
                left &= left - 1;
            }
        }
    }
}

/// The output of a stretch.
#[derive(Default)]
struct Joined {
    rows: usize,
    /// The output itself, unless the operator above has folded it.
    batches: Vec<Batch>,
}

/// The part of a join that lanes may make, and the output that they have made.
#[derive(Default)]
pub(super) struct Laned {
    join: Option<Arc<LaneJoin>>,
    output: VecDeque<Batch>,
}

/// The next step of a join that probes.
pub(super) enum Step {
    /// Rows to probe with.
    Probe(Batch),
    /// Output that lanes have made, as rows or folded.
    Output(Rows),
}

impl Laned {
    /// Lets lanes make the join from now on.
    pub(super) fn begin(&mut self, join: Arc<LaneJoin>) {
        self.join = Some(join);
    }

    /// Adds the rows of the table that lanes have found a match for, once all rows are read.
    pub(super) fn add_matched(&self, matched: &mut Bitmap) {
        if let Some(Side::Right(.., Some(marks))) = self.join.as_ref().map(|join| &join.side) {
            marks.add_to(matched);
        }
    }

    /// The next step with the rows of the probing side; `None` after the last.
    pub(super) fn next(&mut self, side: &mut dyn Operator) -> SqlResult<Option<Step>> {
        let Some(join) = &self.join else { return Ok(side.next()?.map(Step::Probe)) };
        let fold: Arc<dyn Fold> = join.clone();
        loop {
            if let Some(batch) = self.output.pop_front() {
                return Ok(Some(Step::Output(Rows::Given(batch))));
            }
            match side.next_for(&fold)? {
                None => return Ok(None),
                Some(Rows::Given(batch)) => return Ok(Some(Step::Probe(batch))),
                Some(Rows::Folded { number, .. }) => {
                    let joined = join.take(number)?;
                    if join.then.is_some() {
                        let rows = joined.rows;
                        return Ok(Some(Step::Output(Rows::Folded { number, rows })));
                    }
                    self.output.extend(joined.batches);
                }
            }
        }
    }
}

/// A join as lanes know it.
pub(super) struct LaneJoin {
    table: Arc<BuildTable>,
    side: Side,
    keys: Vec<Expr>,
    /// The fold of the operator above, for the output.
    then: Option<Arc<dyn Fold>>,
    done: Mutex<HashMap<u64, Joined>>,
    /// Whether a stretch had too large an output: later ones are not tried.
    is_over: AtomicBool,
}

fn owned(shape: Shape<'_>) -> Shape<'static> {
    Shape {
        residual: Cow::Owned(shape.residual.into_owned()),
        output: Cow::Owned(shape.output.into_owned()),
        kind: shape.kind,
        left_width: shape.left_width,
        right_types: shape.right_types,
        unmatched: shape.unmatched,
        numbered: shape.numbered,
    }
}

impl LaneJoin {
    /// A join that probes with left rows, for which [`may_probe`] holds.
    pub(super) fn of_left(
        plan: &Plan,
        shape: Shape<'_>,
        table: Arc<BuildTable>,
        then: Option<Arc<dyn Fold>>,
    ) -> Arc<Self> {
        let side = Side::Left(Prober::new(&plan.keys, owned(shape)));
        Self::new(side, plan.keys.iter().map(probe_left), table, then)
    }

    /// The same for right rows.
    pub(super) fn of_right(
        plan: &Plan,
        shape: Shape<'_>,
        table: Arc<BuildTable>,
        then: Option<Arc<dyn Fold>>,
    ) -> Arc<Self> {
        let null_safe = plan.keys.iter().map(|key| key.null_safe).collect();
        let marks = marks(plan.kind).then(|| Marks::new(table.rows.len()));
        let side = Side::Right(Matcher::new(owned(shape)), null_safe, marks);
        Self::new(side, plan.keys.iter().map(probe_right), table, then)
    }

    fn new<'k>(
        side: Side,
        keys: impl Iterator<Item = &'k Expr>,
        table: Arc<BuildTable>,
        then: Option<Arc<dyn Fold>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            table,
            side,
            keys: keys.cloned().collect(),
            then,
            done: Mutex::default(),
            is_over: AtomicBool::new(false),
        })
    }

    /// Takes the output of a stretch.
    fn take(&self, number: u64) -> SqlResult<Joined> {
        let joined = self.done.lock().remove(&number);
        joined.ok_or_else(|| SqlError::internal("a lane has lost its joined rows"))
    }

    fn join(&self, eval: &EvalContext<'_>, batch: &Batch, out: &mut Output) -> SqlResult<()> {
        let keys = key_columns(eval, self.keys.iter(), batch)?;
        match &self.side {
            Side::Left(prober) => match prober.begin(&self.table, batch.clone(), &keys) {
                Begun::Whole(output) => out.put(output),
                Begun::Pairs(probing) => {
                    let mut more = Some(probing);
                    while let Some(probing) = more {
                        let (output, rest) = prober.next(eval, &self.table, probing)?;
                        out.put(output)?;
                        more = rest;
                    }
                    Ok(())
                }
            },
            Side::Right(matcher, null_safe, marks) => {
                let ids = self.table.find(&keys, null_safe, batch.rows());
                let mut pairs = Pairs::new(ids, batch, &self.table);
                let (mut probe, mut build) = (Vec::new(), Vec::new());
                while pairs.next(&self.table, &mut probe, &mut build) {
                    if build.is_empty() {
                        continue;
                    }
                    if let Some(marks) = marks.as_ref().filter(|_| matcher.keys_suffice()) {
                        marks.set(build.iter().copied());
                        continue;
                    }
                    let (right, left) = ((batch, &probe[..]), (&build[..], marks.is_none()));
                    let (keep, output) = joined_pairs(eval, matcher, &self.table, right, left)?;
                    match (marks, keep) {
                        (None, _) => out.put(output)?,
                        (Some(marks), None) => marks.set(build.iter().copied()),
                        (Some(marks), Some(keep)) => {
                            marks.set(keep.iter_ones().map(|pair| build[pair]));
                        }
                    }
                }
                Ok(())
            }
        }
    }
}

/// The output of a stretch so far.
#[derive(Default)]
struct Output {
    joined: Joined,
    bytes: usize,
}

impl Output {
    fn put(&mut self, batch: Option<Batch>) -> SqlResult<()> {
        selkie_meter::check()?;
        let Some(batch) = batch else { return Ok(()) };
        self.bytes += batch.memory();
        if self.bytes > MOST_BYTES {
            return Err(SqlError::new(&ER_OUT_OF_RESOURCES, &[]));
        }
        self.joined.rows += batch.rows();
        self.joined.batches.push(batch);
        Ok(())
    }
}

impl Fold for LaneJoin {
    fn fold(
        &self,
        eval: &EvalContext<'_>,
        number: u64,
        batches: &mut dyn Iterator<Item = &Batch>,
    ) -> SqlResult<()> {
        if self.is_over.load(Ordering::Relaxed) {
            return Err(SqlError::new(&ER_OUT_OF_RESOURCES, &[]));
        }
        let mut out = Output::default();
        for batch in batches {
            if let Err(error) = self.join(eval, batch, &mut out) {
                self.is_over.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        let mut joined = out.joined;
        if let Some(then) = &self.then {
            then.fold(eval, number, &mut joined.batches.iter())?;
            joined.batches = Vec::new();
        }
        self.done.lock().insert(number, joined);
        Ok(())
    }

    fn forget(&self, number: u64) {
        self.done.lock().remove(&number);
        if let Some(then) = &self.then {
            then.forget(number);
        }
    }
}
