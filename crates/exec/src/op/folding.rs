//! Groups that lanes make of the rows that they read, for an aggregation right above a scan or a
//! join that lanes make.
//!
//! Each stretch of rows becomes a grouping of its own, and the aggregation merges them in the order
//! of the rows: groups, their order and their results are those of rows added one after another.
//! Must not fold what depends on the order of additions, such as sums of floating-point numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_expr::aggregate::{Aggregate, AggregateKind};
use selkie_expr::{EvalContext, Expr};
use selkie_plan::physical::{Aggregate as Plan, AggregateStrategy, ColumnType, PlanNode};
use selkie_types::{Batch, Physical, SqlError, SqlResult};

use super::group::{Grouping, Inputs};
use crate::run::scan::{Fold, has_parameter, suits_lanes};

/// Most groups expected. Merging more takes as long as adding the rows.
const MOST_GROUPS: f64 = 256.0;

/// The groupings that lanes have made and the aggregation has not taken.
pub(super) struct Folding {
    types: Vec<ColumnType>,
    groups: Vec<Expr>,
    aggregates: Vec<Aggregate>,
    /// Number of the columns of a row.
    width: usize,
    done: Mutex<HashMap<u64, Grouping>>,
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
        let can_fold = plan.strategy == AggregateStrategy::Hash
            && node.rows <= MOST_GROUPS
            && plan.aggregates.iter().all(is_exact)
            && exprs().all(|e| suits_lanes(e) && !has_parameter(e));
        can_fold.then(|| {
            Arc::new(Self {
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

    /// The grouping with a number; `None` if it was taken.
    pub(super) fn take(&self, number: u64) -> Option<Grouping> {
        self.done.lock().remove(&number)
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
        let inputs = Inputs::new(&self.groups, &self.aggregates, self.width);
        let mut grouping = Grouping::new(&self.types, &self.aggregates);
        for batch in batches {
            let (keys, args) = (inputs.keys(eval, batch)?, inputs.args(eval, batch)?);
            grouping.update(eval, &keys, &args, batch.rows())?;
        }
        self.done.lock().insert(number, grouping);
        Ok(())
    }

    fn forget(&self, number: u64) {
        self.done.lock().remove(&number);
    }
}
