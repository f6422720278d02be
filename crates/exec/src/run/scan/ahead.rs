//! Reads blocks of column groups, and rows of parts that have none, ahead of a scan, in lanes.
//!
//! The scan cuts stretches of untouched blocks and parts without groups off its table and offers
//! them to the lanes. It takes
//! the results in the order of the blocks, and reads a stretch itself that no lane has begun when
//! its turn comes: the rows and their order are those of a scan without lanes. A block whose
//! conditions raise a warning or fail is left to the scan, which evaluates it again in its session.
//!
//! # Invariants
//! - LANE-1 A lane evaluates only expressions that read nothing but columns, constants and settings
//!   of types ([`suits_lanes`]).
//! - LANE-2 No stretch is being read when its scan has ended.

use std::collections::VecDeque;
use std::iter::Zip;
use std::mem;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use std::vec::IntoIter;

use parking_lot::{Condvar, Mutex};
use selkie_engine::{EngineResult, GroupView};
use selkie_expr::{EvalContext, Expr, ExprKind, NoSession, TypeContext};
use selkie_meter::Account;
use selkie_types::{BATCH_ROWS, Batch, ByteRows, SqlResult, Value};

use super::columns::{Block, ColumnParts, Extent, MOST_ROWS};
use super::encoded::Encoded;
use super::lane_rows::{LaneRows, RowsRead};
use crate::state::guard::guarded;
use crate::state::lanes::{Lanes, Work};

/// Bytes that the columns of a stretch should take.
const STRETCH: usize = 1 << 19;
/// Most blocks of a stretch.
const MOST_BLOCKS: usize = 16;
/// Time after which a scan that waits for a lane looks at its session.
const LOOK: Duration = Duration::from_millis(20);

/// Pure functions that use no session. Others may read its variables or time zone.
const FUNCTIONS: [&str; 6] = ["LIKE", "BETWEEN", "NOT BETWEEN", "+", "-", "*"];

/// Whether a lane may evaluate an expression.
pub(crate) fn suits_lanes(e: &Expr) -> bool {
    let suits = |e: &Expr| match &e.kind {
        ExprKind::Call(call) => {
            call.function.is_pure() && FUNCTIONS.contains(&call.function.name())
        }
        kind => kind.only_compares(),
    };
    !e.any(&mut |e| !suits(e))
}

/// Whether an expression reads a parameter: a lane has those of the conditions only.
pub(crate) fn has_parameter(e: &Expr) -> bool {
    e.any(&mut |e| matches!(e.kind, ExprKind::Parameter(_)))
}

/// Work on the rows of a stretch, whose result the operator above the scan takes.
pub(crate) trait Fold: Send + Sync {
    /// Folds rows, and keeps the result under a number. If it fails, the operator gets the rows.
    fn fold(
        &self,
        eval: &EvalContext<'_>,
        number: u64,
        batches: &mut dyn Iterator<Item = &Batch>,
    ) -> SqlResult<()>;

    /// Drops the result under a number: the operator gets the rows after all.
    fn forget(&self, number: u64);
}

/// A scan as lanes know it.
pub(crate) struct LaneScan {
    conditions: Vec<Expr>,
    /// Positions among the columns read of those given.
    given: Vec<usize>,
    /// Number of columns read.
    width: usize,
    types: TypeContext,
    now_micros: i64,
    parameters: Vec<Value>,
    strict_arithmetic: bool,
    /// Results from the blocks before, which one thread at a time uses.
    encoded: Mutex<Vec<Encoded>>,
    first: Encoded,
    fold: Option<Arc<dyn Fold>>,
    /// The rows of parts that lanes may read.
    rows: Option<LaneRows>,
    account: Option<Arc<Account>>,
}

impl LaneScan {
    /// The part of a scan that lanes may read; `None` if its conditions need the session.
    pub(super) fn new(
        eval: &EvalContext<'_>,
        conditions: &[Expr],
        (given, width): (Vec<usize>, usize),
        first: &Encoded,
    ) -> Option<Self> {
        if !conditions.iter().all(suits_lanes) || eval.refuses_zero_dates() {
            return None;
        }
        Some(Self {
            conditions: conditions.to_vec(),
            given,
            width,
            types: eval.types.clone(),
            now_micros: eval.now_micros,
            parameters: if conditions.iter().any(has_parameter) {
                eval.parameters()
            } else {
                Vec::new()
            },
            strict_arithmetic: eval.is_strict_arithmetic(),
            encoded: Mutex::default(),
            first: first.afresh(),
            fold: None,
            rows: None,
            account: selkie_meter::account(),
        })
    }

    /// Lets lanes read rows too.
    pub(crate) fn with_rows(mut self, rows: Option<LaneRows>) -> Self {
        self.rows = rows;
        self
    }

    /// Lets lanes fold the rows.
    pub(crate) fn folded_by(mut self, fold: Option<Arc<dyn Fold>>) -> Self {
        self.fold = fold;
        self
    }

    fn blocks_at_once(&self) -> usize {
        (STRETCH / (BATCH_ROWS * 8 * self.width.max(1))).clamp(1, MOST_BLOCKS)
    }

    /// Most rows of a part that a lane reads; 0 if lanes read none.
    fn most_rows(&self) -> u32 {
        let reads = self.rows.as_ref().is_some_and(|rows| !rows.are_long());
        if reads { MOST_ROWS } else { 0 }
    }

    fn context(&self) -> EvalContext<'_> {
        let eval = EvalContext::new(self.types.clone(), &NoSession, self.now_micros);
        eval.set_parameters(self.parameters.iter().cloned());
        eval.set_strict_arithmetic(self.strict_arithmetic);
        eval
    }

    fn read(&self, extent: &Extent, number: u64) -> Outcome {
        match extent {
            Extent::Blocks(view, blocks) => self.read_blocks(view, number, blocks.clone()),
            Extent::Part(part) => self.read_part(*part, number),
        }
    }

    fn read_part(&self, part: usize, number: u64) -> Outcome {
        let Some(rows) = &self.rows else { return Outcome::Again };
        let eval = self.context();
        let mark = eval.conditions.borrow().mark();
        let read = rows.read(&eval, (&self.conditions, &self.given), part);
        let raised = eval.conditions.borrow_mut().forget_since(mark);
        let Ok(read) = read else { return Outcome::Again };
        if raised {
            return Outcome::Again;
        }
        let batches = || read.iter().filter_map(|(_, passed)| passed.as_ref());
        match self.folded(&eval, number, batches) {
            Some(rows) => Outcome::Folded(read.iter().map(|(read, _)| read).sum(), rows),
            None => Outcome::Rows(read),
        }
    }

    fn read_blocks(&self, view: &GroupView, number: u64, blocks: Range<usize>) -> Outcome {
        let eval = self.context();
        let kept = self.encoded.lock().pop();
        let mut encoded = kept.unwrap_or_else(|| self.first.afresh());
        let none = ByteRows::default();
        let read = |at| {
            let block = Block::untouched(view, at, &none);
            let given = self.given.iter().copied();
            match encoded.batch(&eval, &self.conditions, (given, self.width), &block) {
                Ok(Some(batch)) if batch.rows() == 0 => BlockRows::None,
                Ok(Some(batch)) => BlockRows::Some(batch),
                Ok(None) | Err(_) => BlockRows::Again,
            }
        };
        let rows: Vec<BlockRows> = blocks.clone().map(read).collect();
        self.encoded.lock().push(encoded);
        let batches = || rows.iter().filter_map(BlockRows::batch);
        let is_whole = !rows.iter().any(|rows| matches!(rows, BlockRows::Again));
        match is_whole.then(|| self.folded(&eval, number, batches)).flatten() {
            Some(passed) => Outcome::Folded(rows_in(view, &blocks), passed),
            None => Outcome::Blocks(rows),
        }
    }

    /// Number of rows folded; `None` if the operator above must have them.
    fn folded<'b, B: Iterator<Item = &'b Batch>>(
        &self,
        eval: &EvalContext<'_>,
        number: u64,
        batches: impl Fn() -> B,
    ) -> Option<usize> {
        let fold = self.fold.as_ref()?;
        let mark = eval.conditions.borrow().mark();
        let folded = fold.fold(eval, number, &mut batches());
        let raised = eval.conditions.borrow_mut().forget_since(mark);
        if folded.is_ok() && raised {
            fold.forget(number);
        }
        (folded.is_ok() && !raised).then(|| batches().map(Batch::rows).sum())
    }
}

/// Rows of a block.
pub(crate) enum BlockRows {
    None,
    Some(Batch),
    /// The scan must read the block.
    Again,
}

impl BlockRows {
    fn batch(&self) -> Option<&Batch> {
        match self {
            Self::Some(batch) => Some(batch),
            Self::None | Self::Again => None,
        }
    }
}

/// Number of rows in blocks of a group.
fn rows_in(view: &GroupView, blocks: &Range<usize>) -> usize {
    let before = |block: usize| (block * BATCH_ROWS).min(view.rows as usize);
    before(blocks.end) - before(blocks.start)
}

/// Result of reading a stretch.
enum Outcome {
    Blocks(Vec<BlockRows>),
    /// Rows of a part.
    Rows(Vec<RowsRead>),
    /// Of so many rows read, so many passed and are folded.
    Folded(usize, usize),
    /// The scan must read them.
    Again,
}

enum Progress {
    Waiting,
    Begun,
    Done(Outcome),
}

/// A piece of the table that is read at once.
struct Stretch {
    scan: Arc<LaneScan>,
    extent: Extent,
    /// Its position among the stretches of the scan.
    number: u64,
    progress: Mutex<Progress>,
    done: Condvar,
}

impl Stretch {
    /// Reads it, unless somebody has begun to.
    fn read(&self) -> bool {
        let mut progress = self.progress.lock();
        if !matches!(*progress, Progress::Waiting) {
            return false;
        }
        *progress = Progress::Begun;
        drop(progress);
        let outcome = guarded(|| Ok(self.scan.read(&self.extent, self.number)));
        // The scan finds the reason itself.
        *self.progress.lock() = Progress::Done(outcome.unwrap_or(Outcome::Again));
        self.done.notify_all();
        true
    }
}

impl Work for Stretch {
    fn run(self: Arc<Self>) {
        let account = self.scan.account.clone();
        let _charged = account.as_ref().map(selkie_meter::attach);
        self.read();
        // The last owner frees the memory, which counts for the session.
        drop(self);
    }
}

/// The next result of an [`Ahead`].
pub(crate) enum Read {
    /// A block by its number, for [`Ahead::with_block`].
    Block(usize, BlockRows),
    /// Rows that are in no group: their number, and those that passed.
    Rows(usize, Option<Batch>),
    /// A stretch of `read` rows, of which `rows` passed and are folded under a number.
    Folded { number: u64, read: usize, rows: usize, by_rows: bool },
    /// A part that the scan must read by rows itself.
    Again(usize),
}

/// The stretches of a scan that are being read.
pub(crate) struct Ahead<'r> {
    lanes: &'r Lanes,
    scan: Arc<LaneScan>,
    /// Most stretches at a time.
    most: usize,
    queue: VecDeque<Arc<Stretch>>,
    /// Number of the next stretch.
    next: u64,
    /// The group whose blocks are given.
    now: Option<GroupView>,
    blocks: Zip<Range<usize>, IntoIter<BlockRows>>,
    rows: IntoIter<RowsRead>,
}

impl<'r> Ahead<'r> {
    /// Begins to read with `lanes` threads, the session's among them, or all that there are.
    pub(crate) fn new(pool: &'r Lanes, lanes: usize, scan: LaneScan) -> Self {
        Self {
            lanes: pool,
            scan: Arc::new(scan),
            most: 2 * lanes.min(pool.threads() + 1),
            queue: VecDeque::new(),
            next: 0,
            now: None,
            blocks: (0..0).zip(Vec::new()),
            rows: Vec::new().into_iter(),
        }
    }

    /// Offers the next stretches to the lanes.
    pub(crate) fn fill(&mut self, parts: &mut ColumnParts<'_>) -> EngineResult<()> {
        let (blocks, rows) = (self.scan.blocks_at_once(), self.scan.most_rows());
        while self.queue.len() < self.most
            && let Some(extent) = parts.stretch(blocks, rows)?
        {
            let stretch = Arc::new(Stretch {
                scan: self.scan.clone(),
                extent,
                number: self.next,
                progress: Mutex::new(Progress::Waiting),
                done: Condvar::new(),
            });
            self.next += 1;
            self.queue.push_back(stretch.clone());
            self.lanes.offer(stretch);
        }
        Ok(())
    }

    /// Whether rows of a stretch are left.
    pub(crate) fn is_within(&self) -> bool {
        self.blocks.len() > 0 || self.rows.len() > 0
    }

    /// The next result; `None` if no stretch was cut off. `check` fails when the statement is to
    /// end.
    pub(crate) fn next(&mut self, check: impl Fn() -> SqlResult<()>) -> SqlResult<Option<Read>> {
        loop {
            if let Some((at, rows)) = self.blocks.next() {
                return Ok(Some(Read::Block(at, rows)));
            }
            if let Some((read, passed)) = self.rows.next() {
                return Ok(Some(Read::Rows(read, passed)));
            }
            let Some(stretch) = self.queue.front().cloned() else { return Ok(None) };
            // It stays in the queue until it is read (LANE-2).
            let outcome = self.wait_for(&stretch, &check)?;
            self.queue.pop_front();
            let number = stretch.number;
            match (outcome, &stretch.extent) {
                (Outcome::Folded(read, rows), extent) => {
                    let by_rows = matches!(extent, Extent::Part(_));
                    return Ok(Some(Read::Folded { number, read, rows, by_rows }));
                }
                (Outcome::Rows(rows), _) => self.rows = rows.into_iter(),
                (_, Extent::Part(part)) => return Ok(Some(Read::Again(*part))),
                (outcome, Extent::Blocks(view, blocks)) => {
                    let rows = match outcome {
                        Outcome::Blocks(rows) => rows,
                        _ => blocks.clone().map(|_| BlockRows::Again).collect(),
                    };
                    self.blocks = blocks.clone().zip(rows);
                    self.now = Some(view.clone());
                }
            }
        }
    }

    /// The block with a number, of those of the last [`Self::next`].
    pub(crate) fn with_block<R>(&self, at: usize, f: impl FnOnce(&Block<'_>) -> R) -> Option<R> {
        let view = self.now.as_ref()?;
        Some(f(&Block::untouched(view, at, &ByteRows::default())))
    }

    /// The result of a stretch. While a lane reads it, this thread reads others.
    fn wait_for(&self, stretch: &Stretch, check: impl Fn() -> SqlResult<()>) -> SqlResult<Outcome> {
        stretch.read();
        loop {
            let mut progress = stretch.progress.lock();
            if let Progress::Done(outcome) = &mut *progress {
                return Ok(mem::replace(outcome, Outcome::Again));
            }
            drop(progress);
            check()?;
            if self.queue.iter().any(|other| other.read()) {
                continue;
            }
            let mut progress = stretch.progress.lock();
            if matches!(*progress, Progress::Begun) {
                stretch.done.wait_for(&mut progress, LOOK);
            }
        }
    }
}

impl Drop for Ahead<'_> {
    /// Takes back what no lane has begun and nobody has taken, and waits for the rest (LANE-2).
    fn drop(&mut self) {
        for stretch in &self.queue {
            let mut progress = stretch.progress.lock();
            if !matches!(*progress, Progress::Begun) {
                *progress = Progress::Done(Outcome::Again);
            }
        }
        for stretch in &self.queue {
            let mut progress = stretch.progress.lock();
            while matches!(*progress, Progress::Begun) {
                stretch.done.wait(&mut progress);
            }
        }
    }
}
