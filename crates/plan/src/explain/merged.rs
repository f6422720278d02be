//! Merges views into a printed query: EXPLAIN shows the tables below them. Works on syntax; the
//! plan does not depend on it.

use std::cell::Cell;

use selkie_catalog::{TableKind, View};
use selkie_sql::ast::{
    ColumnRef, Expr, ExprKind, Ident, Join, JoinCondition, JoinKind, OrderItem, Query, QueryBody,
    SelectItem, TableFactor, TableRef,
};
use selkie_types::charset::identifier_eq;
use selkie_types::stack;

use super::aliases;
use crate::bind::Names;
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
    let QueryBody::Select(select) = &mut query.body else { return };
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
    query.order_by.iter_mut().for_each(|item| replace(&mut item.expr));
    select.from.iter_mut().for_each(|table| replace_on(table, &views, left));
    if !conditions.is_empty() {
        let own = select.where_clause.take().into_iter().chain(conditions);
        let kind = ExprKind::And(own.collect());
        select.where_clause = Some(Expr { kind, span: Default::default() });
    }
    let plain = select.group_by.is_empty() && !select.options.distinct;
    if let (true, true, Some(order)) = (plain, query.order_by.is_empty(), order) {
        query.order_by = order;
    }
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
            other => other,
        }
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
