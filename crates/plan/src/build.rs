//! From the rewritten logical plan to the physical plan: access paths, join order and methods,
//! sorts, groupings. Costs are compared only here, except between variants of a whole plan.
//!
//! Expressions refer to columns by number until an operator is built. [`Built::layout`] holds the
//! column number at each position of an operator's rows, and [`Built::place`] rewrites expressions
//! to positions.

mod access;
mod aggregate;
mod below;
mod bounds;
mod cardinality;
mod construct;
mod dependent;
mod filters;
mod graph;
mod group_ends;
mod lookup;
mod operators;
mod order;
mod ordering;
mod passing;
mod possible;
mod reading;
mod row_numbers;
mod scan;
mod shown;
mod sizes;
mod sort;
mod tested;
mod text;
mod union;

pub(crate) use graph::MOST_LEAVES;
use hashbrown::HashMap;
pub(crate) use ordering::Order;
pub(crate) use reading::tell_scans;
use selkie_expr::Expr;
use selkie_types::stack;
pub use sizes::reads_of;

use crate::estimate::Estimator;
use crate::logical::{ColumnId, ColumnSet, Columns, Logical, RelationInfo, SortItem};
use crate::physical::{ColumnType, PlanNode};
use crate::settings::StatisticsSource;

/// A physical operator with the columns of its rows.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    /// The operator.
    pub node: PlanNode,
    /// Column number at each position.
    pub layout: Vec<ColumnId>,
    /// Order of its rows.
    pub order: Order,
}

/// Wishes of a parent beyond the rows themselves.
#[derive(Clone, Copy, Default)]
pub(crate) struct Goal<'a> {
    /// An order that the parent must otherwise make itself.
    pub order: Option<&'a [SortItem]>,
    /// The parent stops after about this many rows (of an ordered input, if `order` is set).
    pub limit: Option<f64>,
}

/// Estimates of a common table that is already built.
#[derive(Clone, Debug)]
pub(crate) struct CommonEstimate {
    /// Number of rows.
    pub rows: f64,
    /// Column types.
    pub types: Vec<ColumnType>,
    /// Distinct values of each column.
    pub distinct: Vec<f64>,
}

/// Cost of a subplan.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SubplanCost {
    /// Cost of one run.
    pub cost: f64,
    /// Whether it depends on outer values.
    pub correlated: bool,
}

/// Builds physical plans.
pub(crate) struct Builder<'a> {
    /// Whether the aggregates being built are above made distinct.
    pub under_distinct: bool,
    /// Columns of the statement.
    pub columns: &'a Columns,
    /// Source of row counts.
    pub source: &'a dyn StatisticsSource,
    /// Distinct values of computed columns.
    pub derived: HashMap<ColumnId, f64>,
    /// Common tables that are already built.
    pub common: Vec<Option<CommonEstimate>>,
    /// Subplans that are already built, by number.
    pub subplans: Vec<SubplanCost>,
}

impl Builder<'_> {
    /// The physical plan for `plan`, with at least the `required` columns.
    pub(crate) fn build(&mut self, plan: &Logical, required: &ColumnSet, goal: Goal<'_>) -> Built {
        stack::ensure();
        let mut built = self.built(plan, required, goal);
        if self.columns.units.has_inner() && built.node.of_units.is_none() {
            self.mark(plan, &mut built);
        }
        built
    }

    /// Marks a node with the unit that made it.
    fn mark(&self, plan: &Logical, built: &mut Built) {
        let of =
            |ids: &mut dyn Iterator<Item = ColumnId>| ids.map(|id| self.columns.get(id).unit).max();
        let unit = match plan {
            Logical::Limit { cut, .. } => Some(cut.unit),
            Logical::Sort { unit, .. } if *unit > 0 => Some(*unit),
            Logical::Project { columns, .. } => of(&mut columns.iter().map(|(id, _)| *id)),
            Logical::Aggregate(node) => {
                let groups = node.groups.iter().map(|(id, _)| *id);
                of(&mut groups.chain(node.aggregates.iter().map(|(id, _)| *id)))
            }
            Logical::Distinct { columns, .. }
            | Logical::CommonScan { columns, .. }
            | Logical::Empty(columns)
            | Logical::Values { columns, .. } => of(&mut columns.iter().copied()),
            Logical::Set(node) => of(&mut node.columns.iter().copied()),
            Logical::Window(node) => node.items.first().map(|i| self.columns.get(i.column).unit),
            Logical::RowNumbers(node) => Some(self.columns.get(node.column).unit),
            _ => None,
        };
        if let Some(unit) = unit {
            built.node.of_units = Some(Box::new(self.columns.units.mark(unit, &built.layout)));
        }
    }

    fn built(&mut self, plan: &Logical, required: &ColumnSet, goal: Goal<'_>) -> Built {
        match plan {
            Logical::Scan(_) | Logical::Join(_) | Logical::Filter { .. } => {
                self.joins(plan, required, goal)
            }
            Logical::Project { input, columns } => self.project(input, columns, required, goal),
            Logical::Aggregate(node) => self.aggregate(node, required),
            Logical::Sort { input, keys, .. } => self.sort(input, keys, None, required, goal),
            Logical::Limit { input, cut } => self.limit(input, cut, required),
            Logical::Distinct { input, columns } if self.has_distinct_rows(input, columns) => {
                self.under_distinct = operators::makes_aggregates(input);
                let built = self.build(input, &columns.iter().copied().collect(), goal);
                self.under_distinct = false;
                self.arrange(built, columns)
            }
            other => self.other(other, required),
        }
    }

    /// `input` with exactly the columns `layout`, in this order.
    pub(crate) fn arrange(&self, input: Built, layout: &[ColumnId]) -> Built {
        self.arranged(input, layout)
    }

    /// Distinct values of a column.
    pub(crate) fn distinct(&self, id: ColumnId) -> f64 {
        self.estimator().distinct(id)
    }

    /// An estimator over the estimates made so far.
    fn estimator(&self) -> Estimator<'_> {
        Estimator { columns: self.columns, source: self.source, derived: &self.derived }
    }

    fn relation(&self, id: usize) -> &RelationInfo {
        &self.columns.relations[id]
    }

    /// Cost of evaluating `conditions` on `rows` rows. Each condition is only evaluated for the
    /// rows that passed the earlier ones.
    fn conditions_cost(&self, conditions: &[Expr], rows: f64) -> f64 {
        let estimator = self.estimator();
        let mut left = rows;
        let mut cost = 0.0;
        for condition in conditions {
            cost += left * crate::estimate::condition_cost(condition);
            cost += self.subplans_cost(condition, left);
            left *= estimator.one(condition);
        }
        cost
    }

    /// Cost of running the subplans of an expression for `rows` rows.
    fn subplans_cost(&self, expr: &Expr, rows: f64) -> f64 {
        let mut cost = 0.0;
        expr.visit(&mut |e| {
            if let selkie_expr::ExprKind::Subquery(subquery) = &e.kind {
                let subplan =
                    self.subplans.get(subquery.id.0 as usize).copied().unwrap_or_default();
                let estimator = self.estimator();
                let runs = match subplan.correlated {
                    false => 1.0,
                    true => {
                        let each =
                            subquery.args.iter().map(|(_, e)| estimator.expr_distinct(e, rows));
                        each.product::<f64>().min(rows).max(1.0)
                    }
                };
                cost += runs * (subplan.cost + crate::cost::SUBPLAN);
            }
        });
        cost
    }
}

impl Built {
    /// Rewrites column numbers to positions in this operator's rows.
    pub(crate) fn place(&self, expr: &Expr) -> Expr {
        stack::ensure();
        place(expr, &self.layout)
    }

    /// As [`Built::place`], for several expressions.
    pub(crate) fn place_all(&self, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|e| self.place(e)).collect()
    }
}

/// A position that no row has. A missing column must fail the statement, not read another column.
const NOWHERE: usize = usize::MAX;

/// Position of `id` in `layout`. The columns of a table, and those of a list of aggregates behind
/// them, are usually consecutive, so distances from both ends are good guesses.
fn position(layout: &[ColumnId], id: ColumnId) -> Option<usize> {
    let from_first = id.wrapping_sub(*layout.first()?);
    let from_last = (layout.len() - 1).wrapping_sub(layout.last()?.wrapping_sub(id));
    for likely in [from_first, from_last] {
        if layout.get(likely) == Some(&id) {
            return Some(likely);
        }
    }
    selkie_meter::tick(layout.len());
    layout.iter().position(|column| *column == id)
}

/// `expr` with positions in rows of `layout`.
pub(crate) fn place(expr: &Expr, layout: &[ColumnId]) -> Expr {
    stack::ensure();
    let mut placed = expr.clone();
    placed.map_columns(&mut |id| {
        let at = position(layout, id);
        debug_assert!(at.is_some(), "column {id} is not in {layout:?}");
        at.unwrap_or(NOWHERE)
    });
    placed
}
