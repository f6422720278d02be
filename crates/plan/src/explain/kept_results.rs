//! Subqueries whose results MariaDB keeps by the values of the row that they run for, in the text
//! of a query: the values are shown around them. Works on syntax.

use selkie_expr::aggregate::AggregateKind;
use selkie_expr::function_named;
use selkie_sql::ast::{
    Expr, ExprKind, FunctionCall, Ident, JoinCondition, Literal, Mention, OrderItem, Query,
    QueryBody, Select, SelectItem, TableRef,
};
use selkie_types::stack;

use super::known::made;
use super::outer_columns::each_outer_column;

/// Shows the kept results of a query with qualified names. `text_of`: the text of an expression.
pub(super) fn show_kept_results(query: &mut Query, text_of: &dyn Fn(&Expr) -> String) {
    Walk { text_of, unnamed: Vec::new() }.query(query);
}

struct Walk<'a> {
    text_of: &'a dyn Fn(&Expr) -> String,
    /// Columns of the combined queries whose rows are sorted by the expression.
    unnamed: Vec<Box<str>>,
}

/// Place of an expression.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// A value of a row.
    Value,
    /// A condition, where EXISTS has a form of its own.
    Condition,
    /// Nothing is kept there.
    Within,
}

impl Walk<'_> {
    fn query(&mut self, query: &mut Query) {
        stack::ensure();
        if let Some(with) = &mut query.with {
            with.tables.iter_mut().for_each(|table| self.query(&mut table.query));
        }
        let cut = query.limit.as_ref().and_then(|limit| limit.count.as_ref());
        let place = if cut.is_some_and(is_zero) { Place::Within } else { Place::Value };
        match &mut query.body {
            QueryBody::Select(select) => self.select(select, &mut query.order_by, place),
            body => {
                self.body(body);
                let around = std::mem::replace(&mut self.unnamed, names_of(body));
                for item in &mut query.order_by {
                    self.expr(&mut item.expr, Place::Value);
                }
                self.unnamed = around;
            }
        }
    }

    fn body(&mut self, body: &mut QueryBody) {
        stack::ensure();
        match body {
            QueryBody::Select(select) => self.select(select, &mut [], Place::Value),
            QueryBody::Values(_) => {}
            QueryBody::Nested(query) => self.query(query),
            QueryBody::Combined { first, rest } => {
                self.body(first);
                rest.iter_mut().for_each(|operand| self.body(&mut operand.body));
            }
        }
    }

    fn select(&mut self, select: &mut Select, order_by: &mut [OrderItem], values: Place) {
        let around = std::mem::take(&mut self.unnamed);
        let never = values == Place::Within || select.where_clause.as_ref().is_some_and(is_zero);
        let place = |place| if never { Place::Within } else { place };
        for item in &mut select.items {
            if let SelectItem::Expr { expr, .. } = item {
                self.expr(expr, place(Place::Value));
            }
        }
        select.from.iter_mut().for_each(|table| self.table(table, place(Place::Condition)));
        for e in select.where_clause.iter_mut().chain(&mut select.having) {
            self.expr(e, place(Place::Condition));
        }
        for item in select.group_by.iter_mut().chain(order_by) {
            self.expr(&mut item.expr, place(Place::Value));
        }
        self.unnamed = around;
    }

    fn table(&mut self, table: &mut TableRef, place: Place) {
        stack::ensure();
        match table {
            TableRef::Table(_) | TableRef::JsonTable(_) => {}
            TableRef::Derived(derived) => self.query(&mut derived.query),
            TableRef::Join(join) => {
                self.table(&mut join.left, place);
                self.table(&mut join.right, place);
                if let JoinCondition::On(on) = &mut join.condition {
                    self.expr(on, place);
                }
            }
        }
    }

    fn expr(&mut self, e: &mut Expr, place: Place) {
        stack::ensure();
        if let ExprKind::Call(call) = &e.kind
            && call.name.value.starts_with('<')
        {
            return;
        }
        let place = if is_aggregate(e) { Place::Within } else { place };
        e.operands_mut().into_iter().for_each(|operand| self.expr(operand, place));
        let values = self.kept_by(e, place);
        if let Some(query) = e.query_mut() {
            self.query(query);
        }
        if !values.is_empty() {
            let name = Ident::new(format!("<expr_cache><{}>", values.join(",")));
            let inner = std::mem::replace(e, made(ExprKind::Literal(Literal::Null)));
            *e = made(ExprKind::Call(Box::new(FunctionCall::plain(name, vec![inner]))));
        }
    }

    /// The values by which the results of a subquery are kept; none if they are not.
    fn kept_by(&self, e: &mut Expr, place: Place) -> Vec<String> {
        let mut values = Vec::new();
        let query = match &mut e.kind {
            ExprKind::Subquery(query) if place != Place::Within && is_value(query) => query,
            ExprKind::Exists(query) if place == Place::Value => query,
            _ => return values,
        };
        if !is_repeatable(query) {
            return values;
        }
        each_outer_column(query, &self.unnamed, &mut |column| {
            let text = (self.text_of)(column);
            if !values.contains(&text) {
                values.push(text);
            }
        });
        values
    }
}

/// Names of the columns of combined queries, as the first of them names them.
fn names_of(body: &QueryBody) -> Vec<Box<str>> {
    stack::ensure();
    match body {
        QueryBody::Select(select) => {
            let alias = |item: &SelectItem| match item {
                SelectItem::Expr { alias, .. } => alias.as_ref().map(|alias| alias.value.clone()),
                SelectItem::Wildcard { .. } => None,
            };
            select.items.iter().filter_map(alias).collect()
        }
        QueryBody::Values(_) => Vec::new(),
        QueryBody::Nested(query) => names_of(&query.body),
        QueryBody::Combined { first, .. } => names_of(first),
    }
}

fn is_zero(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Literal(Literal::Int(0)))
}

fn is_aggregate(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::GroupConcat(_) => true,
        ExprKind::Call(call) if call.schema.is_none() => {
            AggregateKind::from_name(&call.name.value).is_some()
        }
        _ => false,
    }
}

/// Whether a subquery is one value. Compat: the results of rows are not kept.
fn is_value(query: &Query) -> bool {
    stack::ensure();
    let mut body = &query.body;
    loop {
        body = match body {
            QueryBody::Select(select) => return select.items.len() == 1,
            QueryBody::Values(_) => return false,
            QueryBody::Nested(query) => return is_value(query),
            QueryBody::Combined { first, .. } => first,
        };
    }
}

/// Whether a subquery gives the same result for the same values.
fn is_repeatable(query: &mut Query) -> bool {
    let mut repeatable = true;
    query.for_each_mention(&mut |mention| {
        repeatable &= match mention {
            Mention::Variable => false,
            Mention::Call(call) if call.schema.is_none() => {
                let is_aggregate = AggregateKind::from_name(&call.name.value).is_some();
                let found = function_named(&call.name.value);
                is_aggregate || found.is_some_and(|function| function.is_deterministic())
            }
            Mention::Call(_) => false,
            _ => true,
        };
    });
    repeatable
}
