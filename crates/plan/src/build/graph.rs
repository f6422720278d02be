//! The join graph of a query block: its leaves, and the conditions that connect them.
//!
//! Inner joins are split into their inputs (*leaves*) and a pool of conditions. The right side of
//! every other join is a *dependent* leaf: it can be joined as soon as the leaves that its
//! conditions read are joined, and its order is otherwise free.

use selkie_expr::{CompareOp, Expr, ExprKind};
use selkie_types::stack;

use super::below::Below;
use super::{Builder, Built, Goal};
use crate::logical::{ColumnId, ColumnSet, Columns, Join, Logical, RelationId};
use crate::physical::JoinKind;
use crate::rewrite::{EqualityClasses, equality, implied_by_or};

/// A set of leaves.
pub(super) type Leaves = u64;

/// One input of the join.
pub(super) struct Leaf {
    /// Source of its rows.
    pub source: Source,
    /// Its columns.
    pub columns: ColumnSet,
    /// Leaves that must be joined before it.
    pub after: Leaves,
    /// The join of a leaf that is not joined by an inner join.
    pub dependent: Option<Dependent>,
    /// Rows after the leaf's own conditions.
    pub rows: f64,
    /// Rows of the table without conditions.
    pub table_rows: f64,
    /// Cost of producing its rows.
    pub cost: f64,
    /// Whether its rows are read by column groups: then a hash join that builds from other leaves
    /// can drop rows in the scan.
    pub grouped: bool,
    /// Costs of its aggregation that joins can save.
    pub below: Option<Below>,
}

/// Estimates of a leaf that is a table.
struct TableEstimate {
    rows: f64,
    cost: f64,
    table_rows: f64,
    grouped: bool,
}

/// Source of a leaf's rows.
pub(super) enum Source {
    /// A table with conditions.
    Table(RelationId, Vec<Expr>),
    /// A plan that is already built.
    Plan(Box<Built>),
}

/// The join of a leaf on the right side of a join that is not inner.
pub(super) struct Dependent {
    /// Kind of the join.
    pub kind: JoinKind,
    /// Conditions of the join; for null-aware kinds the first one is the IN comparison.
    pub on: Vec<Expr>,
    /// The column of a mark join.
    pub mark: Option<ColumnId>,
}

/// Columns of inner leaves that are equal in all rows of the join, with their leaves.
///
/// Invariant: the conditions of a leaf make all its members of the class equal. So any member
/// represents the leaf, and when two sets are joined by one member of each, all members in both are
/// equal.
pub(super) type Class = Vec<(usize, ColumnId)>;

/// A condition that reads several leaves.
pub(super) struct Connection {
    /// The condition.
    pub condition: Expr,
    /// Leaves that it reads.
    pub leaves: Leaves,
    /// Share of pairs for which it is true.
    pub selectivity: f64,
    /// Whether it is an equality that can be a hash or lookup key.
    pub equality: bool,
    /// If it is an equality: the leaves that each operand reads.
    pub sides: Option<(Leaves, Leaves)>,
}

/// The join graph.
pub(super) struct Graph {
    /// The inputs of the join.
    pub leaves: Vec<Leaf>,
    /// Conditions over several leaves that are not in a class.
    pub connections: Vec<Connection>,
    /// Columns of inner leaves that are equal.
    pub classes: Vec<Class>,
    /// Conditions tested after all joins: with correlated subqueries, constant, or with side
    /// effects.
    pub last: Vec<Expr>,
    /// Columns needed above.
    pub required: ColumnSet,
}

/// Number of leaves of a plan, without a limit.
fn leaves_in(plan: &Logical) -> usize {
    selkie_meter::tick(8);
    stack::ensure();
    match plan {
        Logical::Filter { input, .. } => leaves_in(input),
        Logical::Join(join) => leaves_in(&join.left) + leaves_on_right(join),
        _ => 1,
    }
}

fn leaves_on_right(join: &Join) -> usize {
    if join.kind == JoinKind::Inner { leaves_in(&join.right) } else { 1 }
}

/// Divides `room` leaves between both sides of a join.
fn rooms(join: &Join, room: usize) -> (usize, usize) {
    if room == usize::MAX {
        return (room, room);
    }
    let right = leaves_on_right(join);
    let left = leaves_in(&join.left).min(room - right.min(room / 2));
    (left, room - left)
}

/// A query block split into leaves and conditions, before anything is built.
#[derive(Default)]
struct Parts<'p> {
    leaves: Vec<Part<'p>>,
    pool: Vec<Expr>,
}

struct Part<'p> {
    plan: &'p Logical,
    join: Option<&'p Join>,
    after: Leaves,
}

impl<'p> Parts<'p> {
    /// Splits `plan` into at most [`MOST_LEAVES`] leaves. Subqueries that became joins can make
    /// more: then a join below becomes one leaf with its own join order.
    fn of(plan: &'p Logical) -> Self {
        let mut parts = Self::default();
        let room = if leaves_in(plan) <= MOST_LEAVES { usize::MAX } else { MOST_LEAVES };
        parts.flatten(plan, room);
        parts
    }

    /// Splits `plan` into at most `room` leaves, and returns the set of these leaves.
    fn flatten(&mut self, plan: &'p Logical, room: usize) -> Leaves {
        stack::ensure();
        match plan {
            Logical::Filter { input, conditions } => {
                let leaves = self.flatten(input, room);
                self.pool.extend(conditions.iter().cloned());
                leaves
            }
            Logical::Join(join) if room > 1 => {
                let (for_left, for_right) = rooms(join, room);
                let left = self.flatten(&join.left, for_left);
                if join.kind == JoinKind::Inner {
                    let right = self.flatten(&join.right, for_right);
                    self.pool.extend(join.on.iter().cloned());
                    if join.straight {
                        self.order_after(left, right);
                    }
                    return left | right;
                }
                self.leaves.push(Part { plan: &join.right, join: Some(join), after: 0 });
                left | 1 << (self.leaves.len() - 1)
            }
            other => {
                self.leaves.push(Part { plan: other, join: None, after: 0 });
                1 << (self.leaves.len() - 1)
            }
        }
    }

    fn order_after(&mut self, before: Leaves, after: Leaves) {
        for (at, leaf) in self.leaves.iter_mut().enumerate() {
            if after >> at & 1 == 1 {
                leaf.after |= before;
            }
        }
    }
}

impl Graph {
    /// Leaves that conditions connect with leaf `at`.
    pub(super) fn neighbours(&self, at: usize) -> Leaves {
        let leaf = 1 << at;
        let mut mask = self.leaves[at].after;
        for class in &self.classes {
            let members = class.iter().fold(0, |mask, (leaf, _)| mask | 1 << leaf);
            mask |= if members & leaf != 0 { members } else { 0 };
        }
        for connection in &self.connections {
            mask |= if connection.leaves & leaf != 0 { connection.leaves } else { 0 };
        }
        mask & !leaf
    }
}

/// Maximum number of leaves of one join; MariaDB's limit is 61.
pub(crate) const MOST_LEAVES: usize = 61;

impl Builder<'_> {
    /// The graph of a block. Everything below its leaves is built.
    pub(super) fn graph(&mut self, plan: &Logical, required: &ColumnSet) -> Graph {
        stack::ensure();
        let parts = Parts::of(plan);
        let mut pool = parts.pool;
        let mut needed = required.clone();
        pool.iter().for_each(|c| needed.add_expr(c));
        for part in &parts.leaves {
            part.join.iter().for_each(|join| join.on.iter().for_each(|c| needed.add_expr(c)));
        }
        let sets: Vec<ColumnSet> =
            parts.leaves.iter().map(|p| leaf_columns(p, self.columns)).collect();
        let classes = take_classes(&mut pool, &parts.leaves, &sets, self.columns);
        let mut leaves = Vec::with_capacity(parts.leaves.len());
        for (at, part) in parts.leaves.iter().enumerate() {
            let own = match part.join {
                None => take_own(&mut pool, &sets[at]),
                Some(_) => Vec::new(),
            };
            leaves.push(self.join_leaf(part, own, &sets, at, &needed));
        }
        self.connect(leaves, classes, pool, required.clone())
    }

    fn join_leaf(
        &mut self,
        part: &Part<'_>,
        mut own: Vec<Expr>,
        sets: &[ColumnSet],
        at: usize,
        needed: &ColumnSet,
    ) -> Leaf {
        let columns = sets[at].clone();
        let dependent = part.join.map(|join| Dependent {
            kind: join.kind,
            on: join.on.clone(),
            mark: join.mark,
        });
        let mut after = part.after;
        for condition in dependent.iter().flat_map(|d| &d.on) {
            after |= leaves_of(condition, sets) & !(1 << at);
        }
        if dependent.is_some() && after == 0 {
            after = (1u64 << at) - 1;
        }
        let mut plan = part.plan;
        while let Logical::Filter { input, conditions } = plan {
            own.extend(conditions.iter().cloned());
            plan = input;
        }
        if let Logical::Scan(relation) = plan {
            let read = self.table_estimate(*relation, &own, needed);
            let TableEstimate { rows, cost, table_rows, grouped } = read;
            let source = Source::Table(*relation, own);
            let below = None;
            return Leaf {
                source,
                columns,
                after,
                dependent,
                rows,
                table_rows,
                cost,
                grouped,
                below,
            };
        }
        let mut visible = columns.clone();
        let mut hidden = columns.clone();
        hidden.subtract(needed);
        visible.subtract(&hidden);
        own.iter().for_each(|c| visible.add_expr(c));
        let built = self.build(plan, &visible, Goal::default());
        let mut built = self.filtered(built, own);
        let below = self.below(&mut built.node, &built.layout);
        let (rows, cost) = (built.node.rows, built.node.cost);
        let source = Source::Plan(Box::new(built));
        let (table_rows, grouped) = (rows, false);
        Leaf { source, columns, after, dependent, rows, table_rows, cost, grouped, below }
    }

    fn table_estimate(
        &self,
        relation: RelationId,
        own: &[Expr],
        needed: &ColumnSet,
    ) -> TableEstimate {
        let info = self.relation(relation);
        if matches!(info.table.kind, selkie_catalog::TableKind::System) {
            let rows = (100.0 * self.estimator().all(own)).max(1.0);
            return TableEstimate { rows, cost: 100_000.0, table_rows: 100.0, grouped: false };
        }
        let mut read = needed.clone();
        own.iter().for_each(|c| read.add_expr(c));
        let columns = info.positions(&read);
        let path = self.best_path(relation, own, &columns, Goal::default());
        let whole = path.index.is_none() && path.union.is_empty() && path.text.is_none();
        TableEstimate {
            rows: path.rows,
            cost: path.cost,
            table_rows: crate::estimate::table_rows(&info.table, self.source),
            grouped: whole && self.grouped_share(info, &columns) > 0.5,
        }
    }

    /// Divides the pool into connections and conditions that are tested last.
    fn connect(
        &self,
        leaves: Vec<Leaf>,
        classes: Vec<Class>,
        pool: Vec<Expr>,
        required: ColumnSet,
    ) -> Graph {
        let sets: Vec<ColumnSet> = leaves.iter().map(|l| l.columns.clone()).collect();
        let mut connections = Vec::new();
        let mut last = Vec::new();
        for condition in pool {
            let mask = leaves_of(&condition, &sets);
            let correlated = condition.any(&mut |e| match &e.kind {
                ExprKind::Subquery(s) => s.reads_rows(),
                _ => false,
            });
            if mask == 0
                || correlated
                || !condition.is_deterministic()
                || condition.has_side_effects()
            {
                last.push(condition);
                continue;
            }
            connections.push(self.connection(condition, mask, &sets));
        }
        Graph { leaves, connections, classes, last, required }
    }

    fn connection(&self, condition: Expr, leaves: Leaves, sets: &[ColumnSet]) -> Connection {
        let equality = matches!(&condition.kind, ExprKind::Compare(c)
            if matches!(c.op, CompareOp::Eq | CompareOp::NullSafeEq));
        let selectivity = self.pair_share(&condition, sets);
        let sides = match &condition.kind {
            ExprKind::Compare(c) if equality && !condition.has_subquery() => {
                Some((leaves_of(&c.left, sets), leaves_of(&c.right, sets)))
            }
            _ => None,
        };
        let sides = sides.filter(|(a, b)| *a != 0 && *b != 0 && a & b == 0);
        Connection { condition, leaves, selectivity, equality, sides }
    }
}

fn leaf_columns(part: &Part<'_>, all: &Columns) -> ColumnSet {
    let mut set = part.plan.columns(all);
    if let Some(mark) = part.join.and_then(|join| join.mark) {
        set.insert(mark);
    }
    set
}

impl Builder<'_> {
    /// Share of pairs for which a condition is true. The parts of an OR that follow for each leaf
    /// alone are already tested there and do not count again.
    fn pair_share(&self, condition: &Expr, sets: &[ColumnSet]) -> f64 {
        let estimator = self.estimator();
        let whole = estimator.one(condition);
        let implied = sets.iter().filter_map(|set| implied_by_or(condition, set));
        let tested: f64 = implied.map(|part| estimator.one(&part)).product();
        (whole / tested.max(1e-9)).min(1.0)
    }
}

/// The leaves that an expression reads.
pub(super) fn leaves_of(expr: &Expr, sets: &[ColumnSet]) -> Leaves {
    let mut mask = 0;
    expr.for_each_column(&mut |id| {
        if let Some(at) = sets.iter().position(|set| set.contains(id)) {
            mask |= 1 << at;
        }
    });
    mask
}

/// Moves the equalities of columns of two inner leaves from the pool into classes. Equalities that
/// follow for columns of one leaf are added to the pool instead.
fn take_classes(
    pool: &mut Vec<Expr>,
    parts: &[Part<'_>],
    sets: &[ColumnSet],
    columns: &Columns,
) -> Vec<Class> {
    let inner = |id: ColumnId| {
        let at = sets.iter().position(|set| set.contains(id))?;
        parts[at].join.is_none().then_some((at, id))
    };
    let mut equal = EqualityClasses::default();
    pool.retain(|condition| {
        let all_inner = condition.columns().into_iter().all(|id| inner(id).is_some());
        let two = leaves_of(condition, sets).count_ones() == 2;
        !(all_inner && two && equal.add(condition, columns))
    });
    let with_leaves = |class: &Vec<ColumnId>| class.iter().filter_map(|id| inner(*id)).collect();
    let classes: Vec<Class> = equal.classes.iter().map(with_leaves).collect();
    for class in &classes {
        for (at, (leaf, id)) in class.iter().enumerate() {
            if let Some((_, first)) = class[..at].iter().find(|(other, _)| other == leaf) {
                let implied = equality(columns.expr(*first), columns.expr(*id));
                pool.push(implied);
            }
        }
    }
    classes
}

/// Moves the conditions that read columns of one leaf only out of the pool.
fn take_own(pool: &mut Vec<Expr>, columns: &ColumnSet) -> Vec<Expr> {
    let own = |c: &mut Expr| {
        let used = ColumnSet::of(c);
        let movable = c.is_deterministic() && !c.has_side_effects();
        let correlated = c.any(&mut |e| match &e.kind {
            ExprKind::Subquery(s) => s.reads_rows(),
            _ => false,
        });
        !used.is_empty() && used.is_subset(columns) && movable && !correlated
    };
    pool.extract_if(.., |c| own(c)).collect()
}
