//! Groups that lanes make of the rows that they read, for an aggregation right above a scan or a
//! join that lanes make.
//!
//! Each stretch of rows becomes a grouping of its own or, if the rows are sorted by the keys, a
//! [`Run`]. The aggregation takes them in the order of the rows: groups, their order and their
//! results are those of rows added one after another. Must not fold what depends on the order of
//! additions, such as sums of floating-point numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_expr::aggregate::{Aggregate, AggregateKind};
use selkie_expr::{EvalContext, Expr};
use selkie_plan::physical::{Aggregate as Plan, AggregateStrategy, ColumnType, PlanNode};
use selkie_types::{Batch, Physical, SqlError, SqlResult};

use super::group::{Grouping, Inputs};
use super::runs::Run;
use crate::run::scan::{Fold, has_parameter, suits_lanes};

/// Most groups expected of rows in any order. Merging more takes as long as adding the rows.
const MOST_GROUPS: f64 = 256.0;

/// Groups that a lane has made of a stretch.
pub(super) enum Folded {
    Groups(Box<Grouping>),
    /// Those of sorted rows; `None` for no rows.
    Run(Option<Box<Run>>),
}

/// Groups that lanes have made and the aggregation has not taken.
pub(super) struct Folding {
    strategy: AggregateStrategy,
    types: Vec<ColumnType>,
    groups: Vec<Expr>,
    aggregates: Vec<Aggregate>,
    /// Number of the columns of a row.
    width: usize,
    done: Mutex<HashMap<u64, Folded>>,
    /// Whether lanes make no more groups, because the aggregation wants to move rows to a file.
    is_over: AtomicBool,
    /// Lanes that are making groups.
    active: AtomicUsize,
}

/// Counts a lane as long as it makes groups.
struct Active<'f>(&'f AtomicUsize);

impl<'f> Active<'f> {
    fn begin(count: &'f AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Folding {
    /// A folding for the rows of an aggregation's input, which takes folds; `None` if the
    /// aggregation must have the rows.
    pub(super) fn of(plan: &Plan, node: &PlanNode, types: &[ColumnType]) -> Option<Arc<Self>> {
        let exprs = || plan.groups.iter().chain(plan.aggregates.iter().flat_map(|a| a.inputs()));
        let is_cheap = match plan.strategy {
            AggregateStrategy::Hash => node.rows <= MOST_GROUPS,
            AggregateStrategy::Sorted => !plan.groups.is_empty(),
        };
        let can_fold = is_cheap
            && plan.aggregates.iter().all(is_exact)
            && exprs().all(|e| suits_lanes(e) && !has_parameter(e));
        can_fold.then(|| {
            Arc::new(Self {
                strategy: plan.strategy,
                types: types.to_vec(),
                groups: plan.groups.clone(),
                aggregates: plan.aggregates.to_vec(),
                width: plan.input.columns.len(),
                done: Mutex::default(),
                is_over: AtomicBool::new(false),
                active: AtomicUsize::new(0),
            })
        })
    }

    /// Lets lanes give rows from now on. True once no grouping is being made or waits to be taken.
    pub(super) fn has_ended(&self) -> bool {
        self.is_over.store(true, Ordering::SeqCst);
        // A lane counts itself before it looks whether it may begin, and until its grouping waits.
        self.active.load(Ordering::SeqCst) == 0 && self.done.lock().is_empty()
    }

    /// The groups under a number.
    pub(super) fn take(&self, number: u64) -> SqlResult<Folded> {
        let folded = self.done.lock().remove(&number);
        folded.ok_or_else(|| SqlError::internal("a lane has lost its groups"))
    }

    /// Makes groups of rows.
    pub(super) fn make(
        &self,
        eval: &EvalContext<'_>,
        batches: &mut dyn Iterator<Item = &Batch>,
    ) -> SqlResult<Folded> {
        let inputs = Inputs::new(&self.groups, &self.aggregates, self.width);
        let mut grouping = match self.strategy {
            AggregateStrategy::Hash => Grouping::new(&self.types, &self.aggregates),
            AggregateStrategy::Sorted => Grouping::of_sorted(&self.types, &self.aggregates),
        };
        for batch in batches {
            let (keys, args) = (inputs.keys(eval, batch)?, inputs.args(eval, batch)?);
            grouping.update(eval, &keys, &args, batch.rows())?;
        }
        Ok(match self.strategy {
            AggregateStrategy::Hash => Folded::Groups(Box::new(grouping)),
            AggregateStrategy::Sorted => {
                let run = Run::of(eval, grouping, (&self.types, &self.aggregates))?;
                Folded::Run(run.map(Box::new))
            }
        })
    }
}

/// Whether the result is the same however the rows are split.
fn is_exact(aggregate: &Aggregate) -> bool {
    let is_exact = |e: &Expr| !matches!(e.ty.physical(), Physical::Double | Physical::Bytes);
    let is_foldable = match aggregate.kind {
        AggregateKind::Count => true,
        AggregateKind::Sum | AggregateKind::Avg | AggregateKind::Min | AggregateKind::Max => {
            aggregate.args.iter().all(is_exact)
        }
        _ => false,
    };
    is_foldable && !aggregate.distinct
}

impl Fold for Folding {
    fn fold(
        &self,
        eval: &EvalContext<'_>,
        number: u64,
        batches: &mut dyn Iterator<Item = &Batch>,
    ) -> SqlResult<()> {
        let _active = Active::begin(&self.active);
        if self.is_over.load(Ordering::SeqCst) {
            return Err(SqlError::internal("the aggregation has asked for rows"));
        }
        let folded = self.make(eval, batches)?;
        self.done.lock().insert(number, folded);
        Ok(())
    }

    fn forget(&self, number: u64) {
        self.done.lock().remove(&number);
    }
}
