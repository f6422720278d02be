//! Builds the operators for the chosen join order. It makes no choice of its own: order and methods
//! come from `order.rs`.

use selkie_expr::{Compare, CompareBy, CompareOp, Expr, ExprKind};

use super::graph::{Dependent, Graph, Leaves, MOST_LEAVES, Source};
use super::lookup::Lookup;
use super::order::{Entry, Method, Table};
use super::tested::tested_beside;
use super::{Builder, Built, Goal, Order, place};
use crate::cost;
use crate::logical::{ColumnId, ColumnSet, Logical};
use crate::physical::{
    ColumnType, HashJoin, IndexJoin, IndexLookup, JoinKey, JoinKind, NestedLoopJoin, Operator,
    PlanNode, RowLock, Shown,
};
use crate::rewrite::as_they_are;

/// An equality between two sets: one expression over the left set, one over the right set.
pub(super) struct Key {
    left: Expr,
    right: Expr,
    by: CompareBy,
    null_safe: bool,
    /// Position of its condition: among the connections, or in the ON of a dependent leaf.
    condition: Option<usize>,
}

/// Equalities that connect `left` and `right`.
pub(super) fn keys(builder: &Builder<'_>, graph: &Graph, left: Leaves, right: Leaves) -> Vec<Key> {
    let sides = (columns_of(graph, left), columns_of(graph, right));
    let dependent = dependent_of(graph, right);
    if let Some(dependent) = dependent {
        let null_aware = dependent.kind.is_null_aware();
        let found = dependent.on.iter().enumerate();
        let keys: Vec<Key> = found
            .filter_map(|(at, c)| key(c, &sides).map(|k| Key { condition: Some(at), ..k }))
            .collect();
        let comparison_first = keys.first().is_some_and(|k| k.condition == Some(0));
        return if null_aware && !comparison_first { Vec::new() } else { keys };
    }
    let mut keys = Vec::new();
    for class in &graph.classes {
        let member = |set: Leaves| class.iter().find(|(leaf, _)| set >> leaf & 1 == 1);
        if let (Some((_, a)), Some((_, b))) = (member(left), member(right)) {
            let (a, b) = (builder.columns.expr(*a), builder.columns.expr(*b));
            let by = as_they_are(&a.ty);
            keys.push(Key { left: a, right: b, by, null_safe: false, condition: None });
        }
    }
    for (at, connection) in graph.connections.iter().enumerate() {
        if connection.equality && connection.leaves & !(left | right) == 0 {
            keys.extend(
                key(&connection.condition, &sides).map(|k| Key { condition: Some(at), ..k }),
            );
        }
    }
    keys
}

fn key(condition: &Expr, sides: &(ColumnSet, ColumnSet)) -> Option<Key> {
    let ExprKind::Compare(compare) = &condition.kind else { return None };
    if !matches!(compare.op, CompareOp::Eq | CompareOp::NullSafeEq) || condition.has_subquery() {
        return None;
    }
    let Compare { left: a, right: b, by, op } = &**compare;
    let (x, y) = (ColumnSet::of(a), ColumnSet::of(b));
    if x.is_empty() || y.is_empty() {
        return None;
    }
    let (left, right) = if x.is_subset(&sides.0) && y.is_subset(&sides.1) {
        (a, b)
    } else if x.is_subset(&sides.1) && y.is_subset(&sides.0) {
        (b, a)
    } else {
        return None;
    };
    let null_safe = *op == CompareOp::NullSafeEq;
    Some(Key { left: left.clone(), right: right.clone(), by: *by, null_safe, condition: None })
}

fn columns_of(graph: &Graph, set: Leaves) -> ColumnSet {
    let mut columns = ColumnSet::default();
    for (at, leaf) in graph.leaves.iter().enumerate() {
        if set >> at & 1 == 1 {
            columns.union(&leaf.columns);
        }
    }
    columns
}

fn dependent_of(graph: &Graph, set: Leaves) -> Option<&Dependent> {
    if set.count_ones() != 1 {
        return None;
    }
    graph.leaves[set.trailing_zeros() as usize].dependent.as_ref()
}

/// Both inputs of a join, and its search entry.
struct Inputs<'g> {
    left: Built,
    entry: Entry,
    dependent: Option<&'g Dependent>,
    kind: JoinKind,
    /// Columns needed above the join.
    needed: ColumnSet,
    /// Whether MariaDB would fill a join buffer for this outer join.
    buffered: bool,
}

impl Builder<'_> {
    /// The plan for a block of joins and filters.
    pub(super) fn joins(&mut self, plan: &Logical, required: &ColumnSet, goal: Goal<'_>) -> Built {
        if let Some(built) = self.single(plan, required, goal) {
            return built;
        }
        let graph = self.graph(plan, required);
        debug_assert!(graph.leaves.len() <= MOST_LEAVES);
        let table = self.join_order(&graph, goal);
        let all = (1u64 << graph.leaves.len()) - 1;
        let mut needed = required.clone();
        graph.last.iter().for_each(|c| needed.add_expr(c));
        let best = self.best_entry(table.get(&all), goal);
        let Some(best) = best else {
            return self.other(&Logical::Empty(required.iter().collect()), required);
        };
        let built = self.construct(&graph, &table, all, best, &needed, goal);
        self.tell_fewer_values(&graph);
        self.filtered(built, graph.last)
    }

    /// Notes for the operators above how many values equal columns have: not more than any of their
    /// leaves has rows.
    fn tell_fewer_values(&mut self, graph: &Graph) {
        for class in &graph.classes {
            let of = |(at, id): &(usize, ColumnId)| self.distinct(*id).min(graph.leaves[*at].rows);
            let least = class.iter().map(of).fold(f64::INFINITY, f64::min).max(1.0);
            self.derived.extend(class.iter().map(|(_, id)| (*id, least)));
        }
    }

    /// A single table, which needs no search for a join order.
    fn single(&mut self, plan: &Logical, required: &ColumnSet, goal: Goal<'_>) -> Option<Built> {
        let (relation, conditions) = match plan {
            Logical::Scan(relation) => (*relation, &[][..]),
            Logical::Filter { input, conditions } => match &**input {
                Logical::Scan(relation) => (*relation, &conditions[..]),
                _ => return None,
            },
            _ => return None,
        };
        let late = |c: &Expr| c.has_subquery() || !c.is_deterministic() || c.has_side_effects();
        if !conditions.iter().any(late) {
            return Some(self.scan(relation, conditions, required, goal));
        }
        let is_last = |c: &Expr| late(c) && !is_constant_query(c);
        let (last, own): (Vec<Expr>, Vec<Expr>) = conditions.iter().cloned().partition(is_last);
        let mut needed = required.clone();
        conditions.iter().filter(|c| late(c)).for_each(|c| needed.add_expr(c));
        let built = self.scan(relation, &own, &needed, goal);
        Some(self.filtered(built, last))
    }

    fn best_entry(&self, entries: Option<&[Option<Entry>; 2]>, goal: Goal<'_>) -> Option<Entry> {
        let [plain, ordered] = entries?;
        let share = |e: &Entry| goal.limit.map_or(1.0, |l| (l / e.rows.max(1.0)).min(1.0));
        let sort = |e: &Entry| match (goal.order, goal.limit) {
            (None, _) => 0.0,
            (Some(_), Some(limit)) => cost::top_n(e.rows, limit),
            (Some(_), None) => cost::sort(e.rows),
        };
        match (plain, ordered) {
            (Some(plain), Some(ordered)) => {
                let better = ordered.cost * share(ordered) < plain.cost + sort(plain);
                Some(if better { *ordered } else { *plain })
            }
            (plain, ordered) => plain.or(*ordered),
        }
    }

    /// `input` filtered by conditions that are tested last.
    pub(super) fn filtered(&self, input: Built, conditions: Vec<Expr>) -> Built {
        if conditions.is_empty() {
            return input;
        }
        let conditions = self.in_test_order(conditions);
        let rows = input.node.rows * self.estimator().all(&conditions);
        let cost = input.node.cost + self.conditions_cost(&conditions, input.node.rows);
        let placed = input.place_all(&conditions);
        let columns = input.node.columns.clone();
        let filter = Operator::Filter { input: Box::new(input.node), conditions: placed };
        let node = PlanNode::new(filter, columns, rows, cost);
        Built { node, layout: input.layout, order: input.order }
    }

    fn construct(
        &mut self,
        graph: &Graph,
        table: &Table,
        set: Leaves,
        entry: Entry,
        needed: &ColumnSet,
        goal: Goal<'_>,
    ) -> Built {
        if entry.method == Method::Leaf {
            let goal =
                if entry.ordered { Goal { limit: Some(1.0), ..goal } } else { Goal::default() };
            return self.construct_leaf(graph, set.trailing_zeros() as usize, needed, goal);
        }
        let (left, right) = (entry.left, entry.right);
        let dependent = dependent_of(graph, right);
        let joined_keys = keys(self, graph, left, right);
        let applied = applied_connections(graph, left, right);
        let mut below = needed.clone();
        for key in &joined_keys {
            below.add_expr(&key.left);
            below.add_expr(&key.right);
        }
        applied.iter().for_each(|at| below.add_expr(&graph.connections[*at].condition));
        dependent.iter().for_each(|d| d.on.iter().for_each(|c| below.add_expr(c)));
        let pick = |set: Leaves, ordered: bool| {
            let entries = table.get(&set).copied().unwrap_or_default();
            if ordered { entries[1] } else { entries[0].or(entries[1]) }
        };
        let Some(left_entry) = pick(left, entry.ordered) else {
            return self.other(&Logical::OneRow, needed);
        };
        let left_built = self.construct(graph, table, left, left_entry, &below, goal);
        let kind = dependent.map_or(JoinKind::Inner, |d| d.kind);
        let mut needed = needed.clone();
        let after: Vec<Expr> = match dependent {
            Some(_) => applied.iter().map(|at| graph.connections[*at].condition.clone()).collect(),
            None => Vec::new(),
        };
        after.iter().for_each(|c| needed.add_expr(c));
        let buffered = kind == JoinKind::Left && self.is_buffered(graph, left, right);
        let inputs = Inputs { left: left_built, entry, dependent, kind, needed, buffered };
        let conditions = join_conditions(graph, dependent, &applied, &joined_keys);
        let built = match entry.method {
            Method::Lookup => {
                let at = right.trailing_zeros() as usize;
                match self.lookup(graph, left, at) {
                    Some(lookup) => self.index_join(
                        inputs,
                        (graph, at),
                        lookup,
                        joined_keys,
                        conditions,
                        &below,
                    ),
                    None => inputs.left,
                }
            }
            method => {
                let Some(right_built) = self.construct_right(graph, table, right, &below) else {
                    return inputs.left;
                };
                match method {
                    Method::Loop => self.loop_join(inputs, right_built, joined_keys, conditions),
                    _ => self.hash_join(inputs, right_built, joined_keys, conditions),
                }
            }
        };
        self.filtered(built, after)
    }

    /// Whether MariaDB would fill a join buffer before it reads the inner side of an outer join: it
    /// looks single rows up, and rows of a temporary table, for which it makes an index.
    fn is_buffered(&self, graph: &Graph, left: Leaves, right: Leaves) -> bool {
        let at = right.trailing_zeros() as usize;
        match &graph.leaves[at].source {
            Source::Table(..) => !self.lookup(graph, left, at).is_some_and(|lookup| lookup.unique),
            Source::Plan(built) => {
                built.node.is_join() || keys(self, graph, left, right).is_empty()
            }
        }
    }

    /// The right input of a join.
    fn construct_right(
        &mut self,
        graph: &Graph,
        table: &Table,
        right: Leaves,
        below: &ColumnSet,
    ) -> Option<Built> {
        if dependent_of(graph, right).is_some() {
            let at = right.trailing_zeros() as usize;
            return Some(self.construct_leaf(graph, at, below, Goal::default()));
        }
        let entries = table.get(&right).copied().unwrap_or_default();
        let entry = entries[0].or(entries[1])?;
        Some(self.construct(graph, table, right, entry, below, Goal::default()))
    }

    fn construct_leaf(
        &mut self,
        graph: &Graph,
        at: usize,
        needed: &ColumnSet,
        goal: Goal<'_>,
    ) -> Built {
        match &graph.leaves[at].source {
            Source::Table(relation, own) => {
                let mut built = self.scan(*relation, own, needed, goal);
                self.tell_possible(graph, at, &mut built.node);
                built
            }
            Source::Plan(built) => (**built).clone(),
        }
    }

    fn hash_join(
        &self,
        inputs: Inputs<'_>,
        right: Built,
        keys: Vec<Key>,
        conditions: Vec<Expr>,
    ) -> Built {
        let (layout, types, output) = output_of(&inputs, &right.layout, &right.node.columns);
        let joined = joined_layout(&inputs.left, &right.layout);
        let keys = keys
            .iter()
            .map(|k| JoinKey {
                left: inputs.left.place(&k.left),
                right: right.place(&k.right),
                by: k.by,
                null_safe: k.null_safe,
            })
            .collect();
        let join = HashJoin {
            kind: inputs.kind,
            keys,
            residual: conditions.iter().map(|c| place(c, &joined)).collect(),
            output,
            build_left: inputs.entry.method == Method::HashLeft,
            buffered: inputs.buffered,
            fills: Vec::new(),
            left: inputs.left.node,
            right: right.node,
        };
        finish(Operator::HashJoin(Box::new(join)), layout, types, inputs.entry, inputs.left.order)
    }

    fn loop_join(
        &self,
        inputs: Inputs<'_>,
        right: Built,
        mut keys: Vec<Key>,
        mut conditions: Vec<Expr>,
    ) -> Built {
        let (layout, types, output) = output_of(&inputs, &right.layout, &right.node.columns);
        let joined = joined_layout(&inputs.left, &right.layout);
        let mut null_aware = None;
        if inputs.kind.is_null_aware() {
            let first = inputs.dependent.and_then(|d| d.on.first());
            // Another condition may be the same comparison. For that one NULL counts as false.
            if let Some(at) = keys.iter().position(|key| key.condition == Some(0)) {
                keys.remove(at);
            } else if let Some(at) = conditions.iter().position(|c| Some(c) == first) {
                conditions.remove(at);
            }
            null_aware = first.map(|c| place(c, &joined));
        }
        conditions.extend(keys.into_iter().map(comparison));
        let join = NestedLoopJoin {
            kind: inputs.kind,
            conditions: conditions.iter().map(|c| place(c, &joined)).collect(),
            null_aware,
            buffered: inputs.buffered,
            output,
            left: inputs.left.node,
            right: right.node,
        };
        finish(
            Operator::NestedLoopJoin(Box::new(join)),
            layout,
            types,
            inputs.entry,
            inputs.left.order,
        )
    }

    fn index_join(
        &self,
        inputs: Inputs<'_>,
        (graph, at): (&Graph, usize),
        lookup: Lookup,
        keys: Vec<Key>,
        mut conditions: Vec<Expr>,
        below: &ColumnSet,
    ) -> Built {
        let Source::Table(relation, own) = &graph.leaves[at].source else { return inputs.left };
        let info = self.relation(*relation);
        let (ranked, mut own): (Vec<Expr>, Vec<Expr>) =
            own.iter().cloned().partition(|c| super::text::is_ranked(info, c));
        super::scan::constants_first(info, &mut own);
        conditions.extend(ranked);
        conditions.extend(keys.into_iter().filter(|k| !is_looked_up(k, &lookup)).map(comparison));
        let mut read = inputs.needed.clone();
        own.iter().chain(&conditions).for_each(|c| read.add_expr(c));
        let mut wanted = read.clone();
        wanted.union(below);
        let columns = info.positions(&read);
        let mut right_layout: Vec<ColumnId> = columns.iter().map(|at| info.first + at).collect();
        let left: Vec<&Expr> = own.iter().filter(|c| !self.is_fixed_by(c, &lookup)).collect();
        let tested = tested_beside(info, &lookup, left.iter().copied().chain(&conditions));
        let filter = left.iter().map(|c| place(c, &right_layout)).collect();
        let row_keys = info.row_key.filter(|id| read.contains(*id));
        right_layout.extend(row_keys);
        let right_types: Vec<ColumnType> =
            right_layout.iter().map(|id| self.column_type(*id)).collect();
        let (layout, types, output) = output_of(&inputs, &right_layout, &right_types);
        let joined = joined_layout(&inputs.left, &right_layout);
        let used: Vec<usize> = lookup.columns.iter().map(|id| id - info.first).collect();
        let shown = Shown {
            possible_keys: self.possible_in_join(graph, at, &lookup),
            share: self.shown_share_beside(info, &own, &used),
            key_only: self.reads_key_only(info, &columns),
            entry_only: self.reads_entry_only(info, lookup.index, &columns),
            tested,
            rows_per_key: self.shown_rows_of(info, &lookup),
            answers: info.answers,
            unit: self.columns.get(info.first).unit,
        };
        let index_lookup = IndexLookup {
            table: info.table.clone(),
            alias: info.alias.clone(),
            computed: super::scan::computed(info, &columns),
            columns,
            index: lookup.index,
            keys: inputs.left.place_all(&lookup.keys),
            null_safe: lookup.null_safe,
            unique: lookup.unique,
            covering: lookup.covering,
            entry_locks: lookup.entry_locks,
            filter,
            parts: super::scan::parts_read(info, &own),
            lock: RowLock { mode: info.lock, wait: info.wait },
            row_keys: row_keys.is_some(),
            matches: lookup.matches,
            shown,
        };
        let join = IndexJoin {
            kind: inputs.kind,
            lookup: index_lookup,
            residual: conditions.iter().map(|c| place(c, &joined)).collect(),
            output,
            left: inputs.left.node,
        };
        finish(Operator::IndexJoin(Box::new(join)), layout, types, inputs.entry, inputs.left.order)
    }

    /// Whether a condition compares a column with the constant by which the column is looked up.
    fn is_fixed_by(&self, condition: &Expr, lookup: &Lookup) -> bool {
        let ExprKind::Compare(compare) = &condition.kind else { return false };
        let Compare { op, left, right, .. } = &**compare;
        lookup.parts().any(|(column, key, null_safe)| {
            let pair = |a: &Expr, b: &Expr| a.as_column() == Some(column) && b == key;
            let strict = match op {
                CompareOp::Eq => !null_safe,
                CompareOp::NullSafeEq => true,
                _ => false,
            };
            strict && key.columns().is_empty() && (pair(left, right) || pair(right, left))
        })
    }
}

/// Whether the lookup itself compares the pair. A lookup that matches NULL with NULL does not test
/// `=`.
fn is_looked_up(key: &Key, lookup: &Lookup) -> bool {
    lookup.parts().any(|(column, value, null_safe)| {
        let strict = key.null_safe || !null_safe;
        strict && key.right.as_column() == Some(column) && key.left == *value
    })
}

fn comparison(key: Key) -> Expr {
    let op = if key.null_safe { CompareOp::NullSafeEq } else { CompareOp::Eq };
    let nullable = !key.null_safe && (key.left.nullable || key.right.nullable);
    let compare = Compare { op, left: key.left, right: key.right, by: key.by };
    Expr::new(ExprKind::Compare(Box::new(compare)), Expr::boolean(true).ty, nullable)
}

/// Connections that can be tested as soon as both sets are joined.
fn applied_connections(graph: &Graph, left: Leaves, right: Leaves) -> Vec<usize> {
    let both = left | right;
    let now = |c: Leaves| c & !both == 0 && c & !left != 0 && c & !right != 0;
    let alone = |c: Leaves| c & !both == 0 && c == right && dependent_of(graph, right).is_some();
    (0..graph.connections.len())
        .filter(|at| now(graph.connections[*at].leaves) || alone(graph.connections[*at].leaves))
        .collect()
}

/// Conditions of a join besides its keys.
fn join_conditions(
    graph: &Graph,
    dependent: Option<&Dependent>,
    applied: &[usize],
    keys: &[Key],
) -> Vec<Expr> {
    let is_key = |at: usize| keys.iter().any(|k| k.condition == Some(at));
    match dependent {
        Some(dependent) => {
            let on = dependent.on.iter().enumerate();
            on.filter(|(at, _)| !is_key(*at)).map(|(_, c)| c.clone()).collect()
        }
        None => applied
            .iter()
            .filter(|at| !is_key(**at))
            .map(|at| graph.connections[*at].condition.clone())
            .collect(),
    }
}

fn joined_layout(left: &Built, right: &[ColumnId]) -> Vec<ColumnId> {
    left.layout.iter().chain(right).copied().collect()
}

/// Output columns of a join: those needed above, and the mark.
fn output_of(
    inputs: &Inputs<'_>,
    right_layout: &[ColumnId],
    right_types: &[ColumnType],
) -> (Vec<ColumnId>, Vec<ColumnType>, Vec<usize>) {
    let left = inputs.left.layout.len();
    let width = if inputs.kind.keeps_right() { left + right_layout.len() } else { left };
    let (mut layout, mut types, mut output) = (Vec::new(), Vec::new(), Vec::new());
    let mut given = ColumnSet::default();
    for at in 0..width {
        let (id, mut ty) = match at.checked_sub(left) {
            None => (inputs.left.layout[at], inputs.left.node.columns[at].clone()),
            Some(right) => (right_layout[right], right_types[right].clone()),
        };
        if !inputs.needed.contains(id) || given.contains(id) {
            continue;
        }
        given.insert(id);
        ty.nullable |= at >= left && inputs.kind == JoinKind::Left;
        layout.push(id);
        types.push(ty);
        output.push(at);
    }
    if let Some(mark) = inputs.dependent.and_then(|d| d.mark) {
        layout.push(mark);
        let nullable = inputs.kind == JoinKind::NullAwareMark;
        types.push(ColumnType { ty: selkie_types::SqlType::bigint(), nullable });
    }
    (layout, types, output)
}

fn finish(
    operator: Operator,
    layout: Vec<ColumnId>,
    columns: Vec<ColumnType>,
    entry: Entry,
    left: Order,
) -> Built {
    let order = if operator.keeps_left_order() { left } else { Order::none() };
    let node = PlanNode::new(operator, columns, entry.rows, entry.cost);
    Built { node, layout, order }
}

/// Whether a condition's subqueries depend on no outer column: it is as good as a comparison with a
/// constant.
fn is_constant_query(condition: &Expr) -> bool {
    let correlated = condition.any(&mut |e| match &e.kind {
        ExprKind::Subquery(s) => s.reads_rows(),
        _ => false,
    });
    !correlated && condition.is_deterministic() && !condition.has_side_effects()
}
