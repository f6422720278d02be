//! Hash joins: one side is built into a table in memory, the other probes it. This one builds from
//! the right side; [`build_left`](super::build_left) and [`null_aware`](super::null_aware) are the
//! other forms.
//!
//! If the table does not fit into memory, the rows of both sides are spread over parts of a file by
//! their keys, and parts are joined one by one. The output comes in the order of the left rows all
//! the same, because operators above may rely on it.

use std::borrow::Cow;
use std::sync::Arc;

use selkie_expr::{Expr, ExprKind};
use selkie_plan::physical::{ColumnType, HashJoin as Plan, JoinKind};
use selkie_types::{Batch, SqlResult};

use super::join_match::{Shape, Unmatched};
use super::key_sorter::SortedRows;
use super::lane_join::{self, LaneJoin, Laned, Step};
use super::null_aware::NullAware;
use super::overflow::{InOrder, Parts};
use super::probe::{Build, BuildTable, KeySide, forget_filters, key_columns, key_columns_again};
use super::prober::{Begun, Prober, Probing};
use super::spread::{PartRows, Spread, numbered, put_numbered};
use super::{BoxOperator, Operator, Rows, open as open_node, sliced};
use crate::run::Env;
use crate::run::scan::Fold;
use crate::state::session::bump;

pub(super) fn open<'r>(env: Env<'r>, plan: &'r Plan) -> SqlResult<BoxOperator<'r>> {
    if matches!(plan.kind, JoinKind::NullAwareAnti | JoinKind::NullAwareMark) {
        return Ok(Box::new(NullAware::open(env, plan)?));
    }
    if builds_left(env, plan) {
        return Ok(Box::new(super::build_left::BuildLeft::open(env, plan)?));
    }
    Ok(Box::new(HashJoin::open(env, plan)?))
}

/// Whether the table is built from the left side. Unmatched left rows come in their order only if
/// that side probes.
fn builds_left(env: Env<'_>, plan: &Plan) -> bool {
    plan.build_left && (plan.kind != JoinKind::Left || env.buffers_outer_joins())
}

/// The parts of the plan that the matcher needs.
pub(super) fn shape_of<'r>(env: Env<'_>, plan: &'r Plan) -> Shape<'r> {
    Shape {
        kind: plan.kind,
        residual: Cow::Borrowed(&plan.residual),
        output: Cow::Borrowed(&plan.output),
        left_width: plan.left.columns.len(),
        right_types: plan.right.columns.clone(),
        unmatched: Unmatched::of(env, plan.buffered),
        numbered: false,
    }
}

/// The operator that builds from the right side and probes with the left.
struct HashJoin<'r> {
    env: Env<'r>,
    plan: &'r Plan,
    left: BoxOperator<'r>,
    table: Option<Arc<BuildTable>>,
    prober: Prober<'r>,
    probing: Option<Probing>,
    lanes: Laned,
    /// The whole output, if the table did not fit into memory.
    spread: Option<SortedRows<'r>>,
}

impl<'r> HashJoin<'r> {
    fn open(env: Env<'r>, plan: &'r Plan) -> SqlResult<Self> {
        forget_filters(env, &plan.fills);
        Ok(Self {
            env,
            plan,
            left: sliced::for_values(
                open_node(env, &plan.left)?,
                plan.keys.iter().map(|k| &k.left),
            ),
            table: None,
            prober: Prober::new(&plan.keys, shape_of(env, plan)),
            probing: None,
            lanes: Laned::default(),
            spread: None,
        })
    }

    /// A join of left rows with numbers, which become the last column of its output.
    fn of_part(env: Env<'r>, plan: &'r Plan, left: BoxOperator<'r>, table: BuildTable) -> Self {
        Self {
            env,
            plan,
            left,
            table: Some(Arc::new(table)),
            prober: Prober::new(&plan.keys, Shape { numbered: true, ..shape_of(env, plan) }),
            probing: None,
            lanes: Laned::default(),
            spread: None,
        }
    }

    /// Reads the right side. If it does not fit into memory, makes the whole output.
    fn build(&mut self) -> SqlResult<()> {
        let (env, plan) = (self.env, self.plan);
        let right = open_node(env, &plan.right)?;
        let mut right = sliced::for_values(right, plan.keys.iter().map(|k| &k.right));
        match build_side(env, plan, &mut *right, &plan.right.columns, |k| &k.right, 0)? {
            Build::Kept(table) => {
                // The filters of the plan are for the other side's keys if it builds from the left.
                if !plan.build_left {
                    table.fill(env, &plan.fills);
                }
                self.table = Some(Arc::from(table));
            }
            Build::Spread(right) => {
                bump(&env.counters().created_tmp_disk_tables, 1);
                let left = Spread::begin(env, &plan.keys, |k| &k.left, 0)?.read(&mut *self.left)?;
                let mut all = InOrder::new(env);
                join_parts(env, plan, left, right, &mut all)?;
                self.spread = Some(all.finish()?);
            }
        }
        Ok(())
    }

    /// Starts with a left batch; gives output if that needs no pairs.
    fn begin(&mut self, table: &BuildTable, left: Batch) -> SqlResult<Option<Batch>> {
        let keys = self.plan.keys.iter().map(|k| &k.left);
        let columns = match self.prober.is_numbered() {
            true => key_columns_again(self.env.eval, keys, &left)?,
            false => key_columns(self.env.eval, keys, &left)?,
        };
        match self.prober.begin(table, left, &columns) {
            Begun::Whole(output) => Ok(output),
            Begun::Pairs(probing) => {
                self.probing = Some(probing);
                Ok(None)
            }
        }
    }

    /// The next output, folded or as rows.
    fn run(&mut self, table: &BuildTable) -> SqlResult<Option<Rows>> {
        let nothing = table.rows.len() == 0;
        if nothing && matches!(self.plan.kind, JoinKind::Inner | JoinKind::Semi) {
            return Ok(None);
        }
        loop {
            let output = match self.probing.take() {
                Some(probing) => {
                    let (output, rest) = self.prober.next(self.env.eval, table, probing)?;
                    self.probing = rest;
                    output
                }
                None => {
                    self.env.check()?;
                    match self.lanes.next(&mut *self.left)? {
                        None => return Ok(None),
                        Some(Step::Probe(left)) => self.begin(table, left)?,
                        Some(Step::Output(rows)) => return Ok(Some(rows)),
                    }
                }
            };
            if let Some(output) = output {
                return Ok(Some(Rows::Given(output)));
            }
        }
    }

    /// The next output for an operator that may fold it.
    fn next_rows(&mut self, then: Option<&Arc<dyn Fold>>) -> SqlResult<Option<Rows>> {
        if self.table.is_none() && self.spread.is_none() {
            self.build()?;
            if let Some(table) = self.table.as_ref().filter(|_| self.takes_folds()) {
                let shape = shape_of(self.env, self.plan);
                self.lanes.begin(LaneJoin::of_left(self.plan, shape, table.clone(), then.cloned()));
            }
        }
        if let Some(rows) = &mut self.spread {
            return Ok(rows.next()?.map(Rows::Given));
        }
        let Some(table) = self.table.clone() else { return Ok(None) };
        self.run(&table)
    }
}

impl Operator for HashJoin<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        Rows::given(self.next_rows(None)?)
    }

    fn takes_folds(&self) -> bool {
        self.left.takes_folds() && lane_join::may_probe(self.plan, false)
    }

    fn next_for(&mut self, fold: &Arc<dyn Fold>) -> SqlResult<Option<Rows>> {
        self.next_rows(Some(fold))
    }
}

/// Reads a build side whose rows were spread `level` times. Only rows of joins whose keys and
/// conditions always give the same may be spread, because those are evaluated in another order, and
/// keys more than once.
pub(super) fn build_side(
    env: Env<'_>,
    plan: &Plan,
    op: &mut dyn Operator,
    types: &[ColumnType],
    side: KeySide,
    level: u32,
) -> SqlResult<Build> {
    let keys = plan.keys.iter().flat_map(|key| [&key.left, &key.right]);
    let mut exprs = keys.chain(&plan.residual);
    // A subquery may vary in any way.
    let has_subquery = |expr: &Expr| expr.any(&mut |e| matches!(e.kind, ExprKind::Subquery(_)));
    let is_fixed = |e: &Expr| e.is_deterministic() && !e.has_side_effects() && !has_subquery(e);
    match exprs.all(is_fixed) {
        true => BuildTable::build_or_spread(env, op, types, &plan.keys, side, level),
        false => BuildTable::build(env, op, types, &plan.keys, side)
            .map(|table| Build::Kept(Box::new(table))),
    }
}

/// Joins each left part with its right part.
fn join_parts<'r>(
    env: Env<'r>,
    plan: &'r Plan,
    left: Parts,
    right: Parts,
    all: &mut InOrder<'r>,
) -> SqlResult<()> {
    let (level, types) = (right.level, numbered(&plan.right.columns));
    for (left, right) in left.parts.into_iter().zip(right.parts) {
        if left.is_empty() {
            continue;
        }
        let mut left = PartRows::new(left);
        let mut right = PartRows::new(right);
        match build_side(env, plan, &mut right, &types, |k| &k.right, level)? {
            Build::Kept(table) => {
                let mut join = HashJoin::of_part(env, plan, Box::new(left), *table);
                while let Some(batch) = join.next()? {
                    put_numbered(batch, all)?;
                }
            }
            Build::Spread(right) => {
                let spread = Spread::begin(env, &plan.keys, |k| &k.left, level)?;
                join_parts(env, plan, spread.read(&mut left)?, right, all)?;
            }
        }
    }
    Ok(())
}
