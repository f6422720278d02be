//! Merges views into a printed query: EXPLAIN shows the tables below them. Works on syntax; the
//! plan does not depend on it.

use std::cell::Cell;

use selkie_catalog::{TableKind, View};
use selkie_sql::ast::{
    ColumnRef, DerivedTable, Expr, ExprKind, Ident, Join, JoinCondition, JoinKind, OrderItem,
    Query, QueryBody, Select, SelectItem, TableFactor, TableRef,
};
use selkie_types::charset::identifier_eq;
use selkie_types::stack;

use super::aliases;
use super::outer_columns::each_outer_column;
use crate::bind::{Names, changes_by_row};
use crate::define::Qualifier;
use crate::planner::PlanContext;
use crate::updatable::of_view;

/// A merged view: its alias in the query, and the expressions of its columns.
struct Merged {
    alias: Ident,
    columns: Vec<(Box<str>, Expr)>,
}

/// Maximum number of nodes inserted in place of columns. A column `x+x` over a view of the same
/// kind doubles the size, and so on; the planner itself does not copy the expressions.
const MOST_NODES: usize = 100_000;

/// Replaces views by the tables and expressions below them, in a query with qualified names. If the
/// text would be too long, all views stay.
pub(super) fn merge_views(query: &mut Query, context: &PlanContext<'_>) {
    let left = Cell::new(MOST_NODES);
    let mut merged = query.clone();
    merge_within(&mut merged, context, &left);
    if left.get() > 0 {
        *query = merged;
    }
}

fn merge_within(query: &mut Query, context: &PlanContext<'_>, left: &Cell<usize>) {
    stack::ensure();
    match &mut query.body {
        QueryBody::Select(select) => {
            if let Some(order) = merge_select(select, &mut query.order_by, context, left) {
                query.order_by = order;
            }
        }
        body => merge_body(body, context, left),
    }
}

fn merge_body(body: &mut QueryBody, context: &PlanContext<'_>, left: &Cell<usize>) {
    stack::ensure();
    match body {
        QueryBody::Select(select) => {
            merge_select(select, &mut Vec::new(), context, left);
        }
        QueryBody::Values(_) => {}
        QueryBody::Nested(query) => merge_within(query, context, left),
        QueryBody::Combined { first, rest } => {
            merge_body(first, context, left);
            rest.iter_mut().for_each(|operand| merge_body(&mut operand.body, context, left));
        }
    }
}

/// Merges the views and derived tables of a SELECT. Returns the ORDER BY of the only one, if the
/// SELECT has none itself.
fn merge_select(
    select: &mut Select,
    order_by: &mut [OrderItem],
    context: &PlanContext<'_>,
    left: &Cell<usize>,
) -> Option<Vec<OrderItem>> {
    each_subquery(select, &mut |query| merge_within(query, context, left));
    let (views, conditions) = (Vec::new(), Vec::new());
    let mut merger = Merger { context, views, conditions, order: None, left };
    let from = std::mem::take(&mut select.from);
    select.from = from.into_iter().map(|table| merger.table(table, true)).collect();
    let Merger { views, conditions, order, .. } = merger;
    let replace = |e: &mut Expr| replace(e, &views, left);
    for item in &mut select.items {
        if let SelectItem::Expr { expr, .. } = item {
            replace(expr);
        }
    }
    select.where_clause.iter_mut().chain(&mut select.having).for_each(replace);
    select.group_by.iter_mut().for_each(|item| replace(&mut item.expr));
    order_by.iter_mut().for_each(|item| replace(&mut item.expr));
    select.from.iter_mut().for_each(|table| replace_on(table, &views, left));
    if !conditions.is_empty() {
        let own = select.where_clause.take().into_iter().chain(conditions);
        let kind = ExprKind::And(own.collect());
        select.where_clause = Some(Expr { kind, span: Default::default() });
    }
    let plain = select.group_by.is_empty() && !select.options.distinct;
    order.filter(|_| plain && order_by.is_empty())
}

/// Calls `visit` with the subqueries in the expressions of a SELECT.
fn each_subquery(select: &mut Select, visit: &mut dyn FnMut(&mut Query)) {
    for item in &mut select.items {
        if let SelectItem::Expr { expr, .. } = item {
            subqueries_of(expr, visit);
        }
    }
    let conditions = select.where_clause.iter_mut().chain(&mut select.having);
    conditions.for_each(|e| subqueries_of(e, visit));
}

fn subqueries_of(e: &mut Expr, visit: &mut dyn FnMut(&mut Query)) {
    stack::ensure();
    if let Some(query) = e.query_mut() {
        visit(query);
    }
    e.operands_mut().into_iter().for_each(|e| subqueries_of(e, visit));
}

struct Merger<'a> {
    context: &'a PlanContext<'a>,
    views: Vec<Merged>,
    /// Conditions of the merged views.
    conditions: Vec<Expr>,
    /// ORDER BY of the view, if the query has only one view.
    order: Option<Vec<OrderItem>>,
    /// Number of nodes that may still be inserted; 0 if there were too many.
    left: &'a Cell<usize>,
}

impl Merger<'_> {
    /// A table, or the tables of its view if the view can be merged. `inner`: its rows are not
    /// optional.
    fn table(&mut self, table: TableRef, inner: bool) -> TableRef {
        stack::ensure();
        match table {
            TableRef::Table(factor) => match self.view(&factor, inner) {
                Some(below) => below,
                None => TableRef::Table(factor),
            },
            TableRef::Join(mut join) => {
                let (left, right) = match join.kind {
                    JoinKind::Left => (inner, false),
                    JoinKind::Right => (false, inner),
                    _ => (inner, inner),
                };
                join.left = self.table(join.left, left);
                join.right = self.table(join.right, right);
                TableRef::Join(join)
            }
            TableRef::Derived(mut derived) => {
                merge_within(&mut derived.query, self.context, self.left);
                match inner || is_single(&derived.query) {
                    true => self.derived(derived),
                    false => TableRef::Derived(derived),
                }
            }
            other => other,
        }
    }

    /// A derived table, or the tables below it.
    fn derived(&mut self, derived: Box<DerivedTable>) -> TableRef {
        let merges = self.context.settings.variables.derived.merge
            && derived.system_time.is_none()
            && is_mergeable(&derived.query);
        let QueryBody::Select(select) = &derived.query.body else {
            return TableRef::Derived(derived);
        };
        if !merges {
            return TableRef::Derived(derived);
        }
        let mut select = select.clone();
        let mut columns = Vec::new();
        for item in std::mem::take(&mut select.items) {
            let SelectItem::Expr { expr, alias: Some(alias), .. } = item else {
                return TableRef::Derived(derived);
            };
            columns.push((alias.value, expr));
        }
        let Some(below) = std::mem::take(&mut select.from).into_iter().reduce(joined) else {
            return TableRef::Derived(derived);
        };
        self.conditions.extend(select.where_clause);
        self.views.push(Merged { alias: derived.alias, columns });
        below
    }

    fn view(&mut self, factor: &TableFactor, inner: bool) -> Option<TableRef> {
        let schema = factor.name.schema.as_ref()?;
        let tables = self.context.tables;
        let info = tables.table(&schema.value, &factor.name.name.value)?;
        let TableKind::View(view) = &info.kind else { return None };
        if &*view.algorithm == "TEMPTABLE" || !of_view(tables, info, view).merges {
            return None;
        }
        let query = self.definition(view, &schema.value)?;
        if changes_by_row(&query) {
            return None;
        }
        let QueryBody::Select(select) = query.body else { return None };
        if !inner && select.where_clause.is_some() {
            return None;
        }
        let items = select.items.into_iter().map(|item| match item {
            SelectItem::Expr { expr, .. } => Some(expr),
            SelectItem::Wildcard { .. } => None,
        });
        let items: Vec<Expr> = items.collect::<Option<_>>()?;
        let names = info.columns.iter().map(|c| c.name.clone());
        let alias = factor.alias.clone().unwrap_or_else(|| factor.name.name.clone());
        let below = select.from.into_iter().reduce(joined)?;
        self.conditions.extend(select.where_clause);
        self.order = Some(query.order_by).filter(|order| !order.is_empty());
        self.views.push(Merged { alias, columns: names.zip(items).collect() });
        Some(below)
    }

    /// The query of a view, with qualified names and its own views merged.
    fn definition(&self, view: &View, schema: &str) -> Option<Query> {
        let text = view.select.as_bytes();
        let mut query = crate::parse::query(text, self.context.types.sql_mode).ok()?;
        let names = Names { text, ..self.context.names() };
        Qualifier::new(names, Some(schema)).whole().query(&mut query, true);
        merge_within(&mut query, self.context, self.left);
        Some(query)
    }
}

/// Whether a query is a SELECT of one table without conditions.
fn is_single(query: &Query) -> bool {
    let QueryBody::Select(select) = &query.body else { return false };
    select.where_clause.is_none() && select.from.len() == 1
}

/// Whether MariaDB merges a derived table's query into the one around it.
fn is_mergeable(query: &Query) -> bool {
    let plain = query.with.is_none() && query.limit.is_none() && query.procedure.is_none();
    let QueryBody::Select(select) = &query.body else { return false };
    let plain = plain
        && !select.options.distinct
        && select.group_by.is_empty()
        && select.having.is_none()
        && !select.from.is_empty();
    let computes = |e: &Expr| match &e.kind {
        ExprKind::GroupConcat(_) => true,
        ExprKind::Call(call) => {
            let is_known = selkie_expr::function_named(&call.name.value).is_some();
            call.over.is_some() || call.schema.is_some() || !is_known
        }
        _ => false,
    };
    let item_computes = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => expr.find(&mut |e| computes(e).then_some(())).is_some(),
        SelectItem::Wildcard { .. } => true,
    };
    plain && !changes_by_row(query) && !select.items.iter().any(item_computes)
}

fn joined(left: TableRef, right: TableRef) -> TableRef {
    let (kind, condition) = (JoinKind::Inner, JoinCondition::None);
    TableRef::Join(Box::new(Join { left, right, kind, condition }))
}

/// Replaces columns of views by their expressions.
fn replace(e: &mut Expr, views: &[Merged], left: &Cell<usize>) {
    stack::ensure();
    if let ExprKind::Column(ColumnRef { table: Some(table), name, .. }) = &e.kind {
        let view = aliases::position(views.iter().map(|v| &*v.alias.value), &table.value);
        let mut columns = view.into_iter().flat_map(|at| &views[at].columns);
        if let Some((_, below)) = columns.find(|(column, _)| identifier_eq(column, &name.value)) {
            left.set(left.get().saturating_sub(size(below, left.get())));
            if left.get() > 0 {
                *e = below.clone();
            }
        }
        return;
    }
    e.window_exprs_mut().into_iter().for_each(|e| replace(e, views, left));
    e.operands_mut().into_iter().for_each(|e| replace(e, views, left));
    if let Some(query) = e.query_mut() {
        each_outer_column(query, &[], &mut |column| replace(column, views, left));
    }
}

/// Number of nodes, at most `most`.
fn size(e: &Expr, most: usize) -> usize {
    let mut size = 0;
    e.find(&mut |_| {
        size += 1;
        (size >= most).then_some(())
    });
    size
}

fn replace_on(table: &mut TableRef, views: &[Merged], left: &Cell<usize>) {
    stack::ensure();
    if let TableRef::Join(join) = table {
        replace_on(&mut join.left, views, left);
        replace_on(&mut join.right, views, left);
        if let JoinCondition::On(on) = &mut join.condition {
            replace(on, views, left);
        }
    }
}
