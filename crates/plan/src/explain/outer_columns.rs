//! Columns of the blocks around a query, in a query with qualified names.
//!
//! Works on syntax. Must not visit a column of a table that any block inside the query names.

use selkie_sql::ast::{Expr, ExprKind, OrderItem, Query, QueryBody, Select, SelectItem, TableRef};
use selkie_types::charset::identifier_eq;
use selkie_types::stack;

use super::syntax::SyntaxWalk;

/// Calls `visit` with each column in a query that belongs to a block around it, in the order in
/// which MariaDB shows them: WHERE, ON, HAVING, select list, keys. `unnamed`: the columns
/// around it that have no table, those of combined queries.
pub(super) fn each_outer_column(
    query: &mut Query,
    unnamed: &[Box<str>],
    visit: &mut dyn FnMut(&mut Expr),
) {
    Walk { inside: Vec::new(), unnamed, visit }.query(query);
}

struct Walk<'a> {
    /// Aliases of the tables inside the query.
    inside: Vec<Box<str>>,
    unnamed: &'a [Box<str>],
    visit: &'a mut dyn FnMut(&mut Expr),
}

impl SyntaxWalk for Walk<'_> {
    fn query(&mut self, query: &mut Query) {
        stack::ensure();
        if let Some(with) = &mut query.with {
            with.tables.iter_mut().for_each(|table| self.query(&mut table.query));
        }
        match &mut query.body {
            QueryBody::Select(select) => self.select(select, &mut query.order_by),
            body => {
                self.body(body);
                self.keys(&mut query.order_by);
            }
        }
    }

    fn select(&mut self, select: &mut Select, order_by: &mut [OrderItem]) {
        let before = self.inside.len();
        select.from.iter().for_each(|table| add_aliases(table, &mut self.inside));
        select.where_clause.iter_mut().for_each(|e| self.expr(e));
        select.from.iter_mut().for_each(|table| self.table(table));
        select.having.iter_mut().for_each(|e| self.expr(e));
        for item in &mut select.items {
            if let SelectItem::Expr { expr, .. } = item {
                self.expr(expr);
            }
        }
        self.keys(order_by);
        self.keys(&mut select.group_by);
        self.inside.truncate(before);
    }

    fn expr(&mut self, e: &mut Expr) {
        stack::ensure();
        if let ExprKind::Column(column) = &e.kind {
            let is_outer = match &column.table {
                Some(table) => !self.inside.iter().any(|own| identifier_eq(own, &table.value)),
                None => self.unnamed.iter().any(|name| identifier_eq(name, &column.name.value)),
            };
            if is_outer {
                (self.visit)(e);
            }
            return;
        }
        e.operands_mut().into_iter().for_each(|e| self.expr(e));
        e.window_exprs_mut().into_iter().for_each(|e| self.expr(e));
        if let Some(query) = e.query_mut() {
            self.query(query);
        }
    }
}

fn add_aliases(table: &TableRef, out: &mut Vec<Box<str>>) {
    stack::ensure();
    match table {
        TableRef::Table(factor) => {
            out.push(factor.alias.as_ref().unwrap_or(&factor.name.name).value.clone());
        }
        TableRef::Derived(derived) => out.push(derived.alias.value.clone()),
        TableRef::JsonTable(json) => out.push(json.alias.value.clone()),
        TableRef::Join(join) => {
            add_aliases(&join.left, out);
            add_aliases(&join.right, out);
        }
    }
}
