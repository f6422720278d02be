//! Grouping by a hash table or by sorted groups (ROLLUP), and MIN and MAX read from the ends of an
//! index.

use selkie_engine::LockMode;
use selkie_expr::aggregate::{Aggregate as AggregateCall, AggregateKind};
use selkie_expr::{Expr, ExprKind};
use selkie_types::{TypeKind, stack};

use super::group_ends::Wanted;
use super::{Builder, Built, Goal, Order};
use crate::cost;
use crate::logical::{AggregateNode, ColumnId, ColumnSet, Logical, RelationId, SortItem};
use crate::physical::{
    Aggregate, AggregateStrategy, ColumnType, JoinKind, Limit, Operator, PlanNode, Sort,
};

/// Maximum number of index ends that are combined: each is a table of a join.
const MOST_ENDS: usize = 61;

impl Builder<'_> {
    pub(super) fn aggregate(&mut self, node: &AggregateNode, required: &ColumnSet) -> Built {
        if let Some(built) = self.index_ends(node) {
            return built;
        }
        let mut node = node.clone();
        node.aggregates.retain(|(id, _)| required.contains(*id));
        let given = node.clone();
        let under_distinct = std::mem::take(&mut self.under_distinct);
        self.drop_distinct(&mut node);
        let mut below = ColumnSet::default();
        node.groups.iter().for_each(|(_, e)| below.add_expr(e));
        for (_, call) in &node.aggregates {
            call.inputs().for_each(|e| below.add_expr(e));
        }
        let keys = group_order(&node);
        let wanted = if node.groups.is_empty() { None } else { Some(&keys[..]) };
        let mut input = self.build(&node.input, &below, Goal { order: wanted, limit: None });
        self.under_distinct = under_distinct;
        if let Some(ends) = self.ends_for(&given, &node, wanted, &input) {
            input = ends;
        }
        self.under_distinct = false;
        if node.rollup && !input.order.gives(&keys) {
            input = sorted(input, &keys);
        }
        let strategy = match input.order.gives(&keys) && !node.groups.is_empty() {
            true => AggregateStrategy::Sorted,
            false => AggregateStrategy::Hash,
        };
        if strategy == AggregateStrategy::Hash {
            let node = self.without_dependent_keys(node, required);
            return self.grouped(input, &node, strategy, required);
        }
        let mut built = self.grouped(input.relied_on(&keys), &node, strategy, required);
        if !node.rollup {
            built.order = Order::sorted_by(&self.made_order(&node));
        }
        built
    }

    /// Removes DISTINCT from aggregates of values that differ in all rows of a group, because the
    /// values and the keys of the group contain a unique key of the only table.
    fn drop_distinct(&self, node: &mut AggregateNode) {
        use AggregateKind::{Avg, Count, Sum};
        let is_wanted =
            |call: &AggregateCall| call.distinct && matches!(call.kind, Avg | Count | Sum);
        if !node.aggregates.iter().any(|(_, call)| is_wanted(call)) {
            return;
        }
        let Some(relation) = only_table(&node.input) else { return };
        // ROLLUP also combines groups.
        let keys = node.groups.iter().filter(|_| !node.rollup);
        let keys: ColumnSet = keys.filter_map(|(_, key)| key.as_column()).collect();
        for (_, call) in node.aggregates.iter_mut().filter(|(_, call)| is_wanted(call)) {
            let values = call.args.iter().filter_map(exact_column);
            let own: ColumnSet = keys.iter().chain(values).collect();
            call.distinct = !self.are_told_apart(relation, &own);
        }
    }

    /// A read of only the ends of groups, if that is enough for `given`, of which `node` lacks the
    /// needless DISTINCT, and costs less than reading all `rows`.
    fn ends_for(
        &self,
        given: &AggregateNode,
        node: &AggregateNode,
        order: Option<&[SortItem]>,
        rows: &Built,
    ) -> Option<Built> {
        let mut wanted = Wanted::of(given)?;
        wanted.all_rows = Wanted::of(node).is_none();
        wanted.is_known &= !self.under_distinct;
        let locks = locked_rows(rows) * cost::LOCK_ROW;
        let most = rows.node.cost + rows.node.rows * cost::AGGREGATE + locks;
        self.group_ends(&node.input, &wanted, order, most)
    }

    fn grouped(
        &mut self,
        input: Built,
        node: &AggregateNode,
        strategy: AggregateStrategy,
        required: &ColumnSet,
    ) -> Built {
        let before = input.node.rows;
        let rows = self.group_count(node, before);
        for (id, expr) in &node.groups {
            let distinct = self.estimator().expr_distinct(expr, before).min(rows);
            self.derived.insert(*id, distinct);
        }
        node.aggregates.iter().for_each(|(id, _)| {
            self.derived.insert(*id, (rows * 0.5).max(1.0));
        });
        let groups: Vec<Expr> = node.groups.iter().map(|(_, e)| input.place(e)).collect();
        let aggregates: Vec<_> = node
            .aggregates
            .iter()
            .map(|(_, call)| {
                let mut call = call.clone();
                call.inputs_mut().for_each(|e| *e = input.place(e));
                call
            })
            .collect();
        let made = node.groups.iter().map(|(id, _)| *id);
        let layout: Vec<ColumnId> = made.chain(node.aggregates.iter().map(|(id, _)| *id)).collect();
        let columns = layout.iter().map(|id| self.group_type(*id, node)).collect();
        let group_cost = match (strategy, groups.is_empty()) {
            (_, true) => 0.0,
            (AggregateStrategy::Hash, _) => cost::GROUP_ROW + spill(rows),
            (AggregateStrategy::Sorted, _) => cost::CONDITION,
        };
        let each: f64 = cost::AGGREGATE * aggregates.len() as f64;
        let own = before * (group_cost + each) + rows * cost::HASH_BUILD;
        let subplans: f64 = node.groups.iter().map(|(_, e)| self.subplans_cost(e, before)).sum();
        let cost = input.node.cost + own + subplans;
        let rollup = node.rollup;
        let shown = node.groups.iter().map(|(id, _)| required.contains(*id)).collect();
        let input = input.node;
        let aggregate = Aggregate { input, groups, aggregates, strategy, rollup, shown };
        let operator = Operator::Aggregate(Box::new(aggregate));
        let node = PlanNode::new(operator, columns, rows, cost);
        Built { node, layout, order: Order::none() }
    }

    /// The order of groups that are sorted by their keys, over the columns of the output.
    fn made_order(&self, node: &AggregateNode) -> Vec<SortItem> {
        let item = |(id, _): &(ColumnId, Expr)| SortItem {
            expr: self.columns.expr(*id),
            descending: false,
        };
        node.groups.iter().map(item).collect()
    }

    fn group_type(&self, id: ColumnId, node: &AggregateNode) -> ColumnType {
        let mut ty = self.column_type(id);
        ty.nullable |= node.rollup && node.groups.iter().any(|(g, _)| *g == id);
        ty
    }

    /// Expected number of groups: the product of the keys' distinct values, at most the number of
    /// rows.
    fn group_count(&self, node: &AggregateNode, rows: f64) -> f64 {
        if node.groups.is_empty() {
            return 1.0;
        }
        let estimator = self.estimator();
        let product: f64 =
            node.groups.iter().map(|(_, e)| estimator.expr_distinct(e, rows)).product();
        product.min(rows * 0.9).max(rows.min(1.0))
    }

    /// Several MIN and MAX of indexed columns: each is the first row in the order of an index.
    fn index_ends(&mut self, node: &AggregateNode) -> Option<Built> {
        if node.aggregates.len() < 2 {
            return self.index_end(node);
        }
        if !node.groups.is_empty() || node.aggregates.len() > MOST_ENDS {
            return None;
        }
        let mut parts = Vec::new();
        for call in &node.aggregates {
            let part = AggregateNode {
                input: node.input.clone(),
                groups: Vec::new(),
                rollup: node.rollup,
                descending: node.descending.clone(),
                aggregates: vec![call.clone()],
            };
            self.index_end(&part)?;
            parts.push(part);
        }
        let mut plans = parts.into_iter().map(|part| Logical::Aggregate(Box::new(part)));
        let first = plans.next()?;
        let all = plans.fold(first, |left, right| left.join(JoinKind::Inner, right, Vec::new()));
        let columns = node.aggregates.iter().map(|(id, _)| *id).collect();
        Some(self.build(&all, &columns, Goal::default()))
    }

    /// One MIN or MAX of an indexed column: the first row in index order.
    fn index_end(&mut self, node: &AggregateNode) -> Option<Built> {
        let [(id, call)] = &node.aggregates[..] else { return None };
        let descending = match call.kind {
            AggregateKind::Min => false,
            AggregateKind::Max => true,
            _ => return None,
        };
        let column = call.args.first().filter(|_| node.groups.is_empty())?;
        if call.args.len() != 1 || !is_table(&node.input) || column.as_column().is_none() {
            return None;
        }
        let mut input = node.input.clone();
        if column.nullable {
            input = input.filter(vec![not_null(column)]);
        }
        let keys = [SortItem { expr: column.clone(), descending }];
        let goal = Goal { order: Some(&keys), limit: Some(1.0) };
        let built = self.build(&input, &ColumnSet::of(column), goal);
        if !built.order.gives(&keys) {
            return None;
        }
        let built = built.relied_on(&keys);
        let columns = built.node.columns.clone();
        let cost_of_first = built.node.cost / built.node.rows.max(1.0);
        let first = PlanNode::new(
            Operator::Limit(Box::new(Limit {
                input: built.node,
                limit: Some(Expr::int(1)),
                offset: None,
                ties: None,
                counted: false,
            })),
            columns,
            1.0,
            cost_of_first,
        );
        let input = Built { node: first, layout: built.layout, order: Order::none() };
        let mut node = node.clone();
        node.aggregates = vec![(*id, call.clone())];
        Some(self.grouped(input, &node, AggregateStrategy::Hash, &ColumnSet::default()))
    }
}

/// Number of rows that the scan of a table locks.
pub(super) fn locked_rows(rows: &Built) -> f64 {
    match &rows.node.operator {
        Operator::TableScan(scan) if scan.lock.mode != LockMode::None => scan.examined,
        _ => 0.0,
    }
}

/// The table of which a plan has each row at most once.
fn only_table(plan: &Logical) -> Option<RelationId> {
    stack::ensure();
    match plan {
        Logical::Scan(relation) => Some(*relation),
        Logical::Filter { input, .. } => only_table(input),
        Logical::Join(join) if join.kind == JoinKind::Inner => {
            match (is_one_row(&join.left), is_one_row(&join.right)) {
                (true, _) => only_table(&join.right),
                (_, true) => only_table(&join.left),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_one_row(plan: &Logical) -> bool {
    stack::ensure();
    match plan {
        Logical::OneRow => true,
        Logical::Filter { input, .. } | Logical::Project { input, .. } => is_one_row(input),
        _ => false,
    }
}

/// The column that a value is, or whose integers it holds in another type.
fn exact_column(value: &Expr) -> Option<ColumnId> {
    match &value.kind {
        ExprKind::Call(call)
            if call.function.is_implicit() && value.ty.kind == TypeKind::Decimal =>
        {
            let [operand] = &call.args[..] else { return None };
            operand.as_column().filter(|_| operand.ty.is_integer())
        }
        _ => value.as_column(),
    }
}

/// Extra cost per row if the hash table exceeds the caches.
fn spill(groups: f64) -> f64 {
    if groups > cost::CACHED_ROWS { cost::HASH_PROBE_LARGE } else { 0.0 }
}

fn is_table(plan: &Logical) -> bool {
    stack::ensure();
    match plan {
        Logical::Scan(_) => true,
        Logical::Filter { input, .. } => is_table(input),
        _ => false,
    }
}

fn not_null(column: &Expr) -> Expr {
    let ty = Expr::boolean(true).ty;
    let is_null = Expr::new(ExprKind::IsNull(Box::new(column.clone())), ty.clone(), false);
    Expr::new(ExprKind::Not(Box::new(is_null)), ty, false)
}

/// An order in which the rows of each group are neighbours. A key that is named again adds nothing.
fn group_order(node: &AggregateNode) -> Vec<SortItem> {
    let is_new = |at: &usize| {
        let (earlier, key) = (&node.groups[..*at], &node.groups[*at].1);
        !earlier.iter().any(|(_, other)| other == key)
    };
    let key = |at: usize| {
        let descending = node.rollup && node.descending.get(at).copied().unwrap_or(false);
        SortItem { expr: node.groups[at].1.clone(), descending }
    };
    (0..node.groups.len()).filter(is_new).map(key).collect()
}

fn sorted(input: Built, keys: &[SortItem]) -> Built {
    let placed = super::operators::place_keys(&input, keys);
    let (rows, columns) = (input.node.rows, input.node.columns.clone());
    let cost = input.node.cost + cost::sort(rows);
    let sort = Sort { input: Box::new(input.node), keys: placed };
    let node = PlanNode::new(Operator::Sort(sort), columns, rows, cost);
    Built { node, layout: input.layout, order: Order::sorted_by(keys) }
}
