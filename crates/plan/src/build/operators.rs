//! Operators without alternatives: projections, set operations, common tables, windows. Their
//! estimates are made here too.

use selkie_engine::IndexPart;
use selkie_expr::Expr;

use super::aggregate::locked_rows;
use super::group_ends::{Wanted, table_of};
use super::{Builder, Built, Goal, Order};
use crate::cost;
use crate::logical::{
    ColumnId, ColumnSet, JsonTableNode, Logical, RecursiveNode, RelationId, SetNode, SortItem,
    WindowNode,
};
use crate::physical::{
    ColumnType, JsonTableJoin, Operator, PlanNode, RecursivePart, RecursiveUnion, SetOperation,
    SetOperator, SortKey, Window, WindowCall, WindowFunction,
};

/// Rows assumed for a common table that is not built yet.
const UNKNOWN_ROWS: f64 = 100.0;

impl Builder<'_> {
    /// Type of a column, nullable only if its definition is.
    pub(super) fn column_type(&self, id: ColumnId) -> ColumnType {
        let info = self.columns.get(id);
        ColumnType { ty: info.ty.clone(), nullable: info.nullable }
    }

    pub(super) fn project(
        &mut self,
        input: &Logical,
        columns: &[(ColumnId, Expr)],
        required: &ColumnSet,
        goal: Goal<'_>,
    ) -> Built {
        let kept: Vec<&(ColumnId, Expr)> = columns
            .iter()
            .filter(|(id, e)| required.contains(*id) || e.has_side_effects())
            .collect();
        let mut below = ColumnSet::default();
        kept.iter().for_each(|(_, e)| below.add_expr(e));
        let above = goal.order;
        let order = above.and_then(|keys| through(keys, columns));
        let goal = Goal { order: order.as_deref(), limit: goal.limit };
        let mut built = self.build(input, &below, goal);
        built.order = built.order.renamed(order.as_deref(), above);
        for (id, expr) in &kept {
            let distinct = self.estimator().expr_distinct(expr, built.node.rows);
            self.derived.insert(*id, distinct);
        }
        self.projected(built, &kept)
    }

    fn projected(&self, input: Built, columns: &[&(ColumnId, Expr)]) -> Built {
        let layout: Vec<ColumnId> = columns.iter().map(|(id, _)| *id).collect();
        let identity = columns.len() == input.layout.len()
            && columns.iter().zip(&input.layout).all(|((_, e), id)| e.as_column() == Some(*id));
        if identity && !columns.is_empty() {
            return Built { layout, ..input };
        }
        let exprs: Vec<Expr> = columns.iter().map(|(_, e)| input.place(e)).collect();
        let types = columns
            .iter()
            .zip(&exprs)
            .map(|((_, e), placed)| match placed.as_column() {
                Some(at) => input.node.columns[at].clone(),
                None => ColumnType { ty: e.ty.clone(), nullable: e.nullable },
            })
            .collect();
        let rows = input.node.rows;
        let subplans: f64 = columns.iter().map(|(_, e)| self.subplans_cost(e, rows)).sum();
        let each: f64 = columns.iter().map(|(_, e)| crate::estimate::condition_cost(e)).sum();
        let cost = input.node.cost + rows * each + subplans;
        let node = PlanNode::new(
            Operator::Project { input: Box::new(input.node), exprs },
            types,
            rows,
            cost,
        );
        Built { node, layout, order: input.order }
    }

    /// Builds operators without alternatives.
    pub(super) fn other(&mut self, plan: &Logical, required: &ColumnSet) -> Built {
        match plan {
            Logical::OneRow => self.leaf(Operator::OneRow, Vec::new(), 1.0, 0.0),
            Logical::Empty(columns) => {
                let layout = columns.iter().copied().filter(|c| required.contains(*c)).collect();
                self.leaf(Operator::Empty, layout, 0.0, 0.0)
            }
            Logical::CommonScan { table, columns } => self.common_scan(*table, columns),
            Logical::WorkScan { table, columns } => {
                self.leaf(Operator::WorkTableScan(*table), columns.clone(), 100.0, 5_000.0)
            }
            Logical::Values { rows, columns } => {
                let count = rows.len() as f64;
                let operator = Operator::Values(rows.clone());
                self.leaf(operator, columns.clone(), count, count * cost::SCAN_ROW)
            }
            Logical::Distinct { input, columns } => self.distinct_rows(input, columns),
            Logical::Set(node) => self.set(node),
            Logical::Recursive(node) => self.recursive(node),
            Logical::Window(node) => self.window(node, required),
            Logical::RowNumbers(node) => self.row_numbers(node, required),
            Logical::JsonTable(node) => self.json_table(node, required),
            _ => unreachable!("operators with alternatives are built elsewhere"),
        }
    }

    fn leaf(&self, operator: Operator, layout: Vec<ColumnId>, rows: f64, cost: f64) -> Built {
        let columns = layout.iter().map(|id| self.column_type(*id)).collect();
        Built { node: PlanNode::new(operator, columns, rows, cost), layout, order: Order::none() }
    }

    fn common_scan(&mut self, table: usize, columns: &[ColumnId]) -> Built {
        let known = self.common.get(table).and_then(Option::as_ref);
        let (rows, types, distinct) = match known {
            Some(common) => (common.rows, common.types.clone(), common.distinct.clone()),
            None => {
                let types = columns.iter().map(|id| self.column_type(*id)).collect();
                (UNKNOWN_ROWS, types, vec![UNKNOWN_ROWS; columns.len()])
            }
        };
        for (id, distinct) in columns.iter().zip(distinct) {
            self.derived.insert(*id, distinct);
        }
        let node =
            PlanNode::new(Operator::CommonTableScan(table), types, rows, rows * cost::JOIN_OUTPUT);
        Built { node, layout: columns.to_vec(), order: Order::none() }
    }

    /// `input` with exactly the columns `layout`, in this order.
    pub(super) fn arranged(&self, input: Built, layout: &[ColumnId]) -> Built {
        if input.layout == layout {
            return input;
        }
        let columns: Vec<(ColumnId, Expr)> =
            layout.iter().map(|id| (*id, self.columns.expr(*id))).collect();
        self.projected(input, &columns.iter().collect::<Vec<_>>())
    }

    fn distinct_rows(&mut self, input: &Logical, columns: &[ColumnId]) -> Built {
        self.under_distinct = makes_aggregates(input);
        let built = self.build(input, &columns.iter().copied().collect(), Goal::default());
        self.under_distinct = false;
        let built = match self.distinct_ends(input, &built) {
            Some((ends, true)) => return self.arranged(ends, columns),
            Some((ends, false)) => ends,
            None => built,
        };
        let built = self.arranged(built, columns);
        let rows = self.groups_of(columns, built.node.rows);
        let cost = built.node.cost + built.node.rows * cost::GROUP_ROW;
        let types = built.node.columns.clone();
        let node = PlanNode::new(Operator::Distinct(Box::new(built.node)), types, rows, cost);
        Built { node, layout: built.layout, order: Order::none() }
    }

    /// Whether rows differ in `columns`: a unique key without NULLs of their table is among them,
    /// or all keys by which they are grouped.
    pub(super) fn has_distinct_rows(&self, input: &Logical, columns: &[ColumnId]) -> bool {
        if holds_group_keys(input, columns.iter().copied().collect()) {
            return true;
        }
        let Logical::Project { input, columns: made } = input else { return false };
        let own = made.iter().filter(|(id, _)| columns.contains(id));
        let own: ColumnSet = own.filter_map(|(_, e)| e.as_column()).collect();
        table_of(input).is_some_and(|(relation, _)| self.are_told_apart(relation, &own))
    }

    /// Whether no two rows of a table are equal in `columns`: a unique key without NULLs is among
    /// them.
    pub(super) fn are_told_apart(&self, relation: RelationId, columns: &ColumnSet) -> bool {
        let info = self.relation(relation);
        info.table.def.indexes.iter().enumerate().any(|(at, index)| {
            let is_there = |part: &IndexPart| {
                part.prefix.is_none() && columns.contains(info.first + part.column)
            };
            info.table.def.is_identified_by(index)
                && !index.without_overlaps
                && index.parts.iter().all(is_there)
                // Rows that are gone by now may have had equal keys.
                && !self.source.is_too_young(&info.table, at)
        })
    }

    /// A read of only the ends of groups, if that is enough and costs less than reading all `rows`;
    /// and whether its rows are distinct.
    fn distinct_ends(&self, input: &Logical, rows: &Built) -> Option<(Built, bool)> {
        let Logical::Project { input, columns } = input else { return None };
        let exprs = || columns.iter().map(|(_, e)| e);
        let wanted = Wanted::every(exprs())?;
        let locks = locked_rows(rows) * cost::LOCK_ROW;
        let most = rows.node.cost + rows.node.rows * cost::GROUP_ROW + locks;
        let ends = self.group_ends(input, &wanted, None, most)?;
        let differ = self.tells_groups_apart(&ends, &exprs().filter_map(Expr::as_column).collect());
        Some((self.projected(ends, &columns.iter().collect::<Vec<_>>()), differ))
    }

    /// Number of groups by the given columns.
    fn groups_of(&self, columns: &[ColumnId], rows: f64) -> f64 {
        let estimator = self.estimator();
        let product: f64 = columns.iter().map(|id| estimator.distinct(*id)).product();
        product.min(rows).max(rows.min(1.0))
    }

    fn set(&mut self, node: &SetNode) -> Built {
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for (input, columns) in &node.inputs {
            let built = self.build(input, &columns.iter().copied().collect(), Goal::default());
            inputs.push(self.arranged(built, columns).node);
        }
        let total: f64 = inputs.iter().map(|i| i.rows).sum();
        let first = inputs[0].rows;
        let rows = match (node.operator, node.all) {
            (SetOperator::Union, true) => total,
            (SetOperator::Union, false) => (total * 0.8).max(1.0),
            (SetOperator::Intersect, _) => first * 0.5,
            (SetOperator::Except, _) => first * 0.5,
        };
        let hashed = node.operator != SetOperator::Union || !node.all;
        let cost = inputs.iter().map(|i| i.cost).sum::<f64>()
            + if hashed { total * cost::GROUP_ROW } else { total };
        let types = self.set_types(&node.columns, &inputs);
        let operation = SetOperation { operator: node.operator, all: node.all, inputs };
        let operator = Operator::SetOperation(Box::new(operation));
        let node_out = PlanNode::new(operator, types, rows, cost);
        Built { node: node_out, layout: node.columns.clone(), order: Order::none() }
    }

    fn set_types(&self, columns: &[ColumnId], inputs: &[PlanNode]) -> Vec<ColumnType> {
        let ty = |(at, id): (usize, &ColumnId)| ColumnType {
            ty: self.columns.get(*id).ty.clone(),
            nullable: inputs.iter().any(|i| i.columns[at].nullable),
        };
        columns.iter().enumerate().map(ty).collect()
    }

    fn recursive(&mut self, node: &RecursiveNode) -> Built {
        const ROUNDS: f64 = 10.0;
        let mut parts = Vec::with_capacity(node.parts.len());
        let (mut rows, mut cost) = (0.0, 0.0);
        for part in &node.parts {
            let anchor = self.arranged_part(&part.anchor);
            let step = part.step.as_ref().map(|step| self.arranged_part(step));
            if parts.is_empty() {
                rows = anchor.rows + step.as_ref().map_or(0.0, |s| s.rows * ROUNDS);
            }
            cost += anchor.cost + step.as_ref().map_or(0.0, |s| s.cost * ROUNDS);
            parts.push(RecursivePart {
                common_table: part.table,
                names: part.names.clone(),
                anchor,
                step,
                key: part.key.clone(),
            });
        }
        let layout = node.parts.first().map_or_else(Vec::new, |part| part.columns.clone());
        let columns = layout
            .iter()
            .map(|id| ColumnType { ty: self.columns.get(*id).ty.clone(), nullable: true })
            .collect();
        let operator = Operator::RecursiveUnion(Box::new(RecursiveUnion { parts }));
        Built { node: PlanNode::new(operator, columns, rows, cost), layout, order: Order::none() }
    }

    fn arranged_part(&mut self, (plan, columns): &(Logical, Vec<ColumnId>)) -> PlanNode {
        let built = self.build(plan, &columns.iter().copied().collect(), Goal::default());
        self.arranged(built, columns).node
    }

    fn window(&mut self, node: &WindowNode, required: &ColumnSet) -> Built {
        let mut below = required.clone();
        Logical::Window(Box::new(node.clone())).for_each_expr(&mut |e| below.add_expr(e));
        let made: ColumnSet = node.items.iter().map(|item| item.column).collect();
        below.subtract(&made);
        let input = self.build(&node.input, &below, Goal::default());
        let calls = node.items.iter().map(|item| {
            let mut function = item.function.clone();
            if let WindowFunction::Aggregate(call) = &mut function {
                for expr in call.inputs_mut() {
                    *expr = input.place(expr);
                }
            }
            let args = input.place_all(&item.args);
            let ty = self.columns.get(item.column).ty.clone();
            WindowCall { function, args, frame: item.frame.clone(), ty }
        });
        let calls: Vec<WindowCall> = calls.collect();
        let partition = input.place_all(&node.partition);
        let order = place_keys(&input, &node.order);
        let mut layout = input.layout.clone();
        let mut columns = input.node.columns.clone();
        for item in &node.items {
            layout.push(item.column);
            columns.push(self.column_type(item.column));
        }
        let rows = input.node.rows;
        let cost = input.node.cost + cost::sort(rows) + rows * cost::AGGREGATE;
        let window = Window { input: input.node, partition, order, calls };
        let operator = Operator::Window(Box::new(window));
        Built { node: PlanNode::new(operator, columns, rows, cost), layout, order: Order::none() }
    }

    fn json_table(&mut self, node: &JsonTableNode, required: &ColumnSet) -> Built {
        let mut below = required.clone();
        below.add_expr(&node.document);
        node.on.iter().for_each(|e| below.add_expr(e));
        let columns = node.columns.iter().enumerate();
        let used = columns.filter(|(_, id)| below.contains(**id)).map(|(at, _)| at).collect();
        below.subtract(&node.columns.iter().copied().collect());
        let input = self.build(&node.input, &below, Goal::default());
        let document = input.place(&node.document);
        let mut layout = input.layout.clone();
        let mut columns = input.node.columns.clone();
        for id in &node.columns {
            layout.push(*id);
            columns.push(self.column_type(*id));
        }
        let on = node.on.iter().map(|e| super::place(e, &layout)).collect();
        let rows = input.node.rows * JSON_TABLE_ROWS;
        let cost = input.node.cost + rows * cost::SCAN_ROW;
        let (table, outer) = (node.table.clone(), node.outer);
        let join = JsonTableJoin { input: input.node, document, table, used, outer, on };
        let operator = Operator::JsonTable(Box::new(join));
        Built { node: PlanNode::new(operator, columns, rows, cost), layout, order: Order::none() }
    }
}

/// Rows assumed for a document.
const JSON_TABLE_ROWS: f64 = 40.0;

/// Sort keys with positions in the rows of `input`.
pub(super) fn place_keys(input: &Built, keys: &[SortItem]) -> Vec<SortKey> {
    let place = |k: &SortItem| SortKey { expr: input.place(&k.expr), descending: k.descending };
    keys.iter().map(place).collect()
}

/// Sort keys over a projection's input.
fn through(keys: &[SortItem], columns: &[(ColumnId, Expr)]) -> Option<Vec<SortItem>> {
    let translate = |key: &SortItem| {
        let id = key.expr.as_column()?;
        selkie_meter::tick(columns.len());
        let (_, expr) = columns.iter().find(|(c, _)| *c == id)?;
        Some(SortItem { expr: expr.clone(), descending: key.descending })
    };
    keys.iter().map(translate).collect()
}

/// Whether rows are groups, some of which may be left out, and all their keys are among `columns`.
pub(super) fn holds_group_keys(plan: &Logical, columns: ColumnSet) -> bool {
    let (mut plan, mut columns) = (plan, columns);
    loop {
        plan = match plan {
            Logical::Aggregate(node) => {
                return !node.rollup && node.groups.iter().all(|(id, _)| columns.contains(*id));
            }
            Logical::Project { input, columns: made } => {
                let kept = made.iter().filter(|(id, _)| columns.contains(*id));
                columns = kept.filter_map(|(_, e)| e.as_column()).collect();
                input
            }
            Logical::Filter { input, .. }
            | Logical::Sort { input, .. }
            | Logical::Distinct { input, .. } => input,
            _ => return false,
        };
    }
}

/// Whether rows are those of groups with aggregates.
pub(super) fn makes_aggregates(plan: &Logical) -> bool {
    selkie_types::stack::ensure();
    match plan {
        Logical::Project { input, .. } | Logical::Filter { input, .. } => makes_aggregates(input),
        Logical::Aggregate(node) => !node.aggregates.is_empty(),
        _ => false,
    }
}
