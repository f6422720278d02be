//! Subqueries of IN over one table that a unique key finds by the operand: MariaDB shows the table
//! among those of the SELECT around it. Works on syntax with qualified names; the plan does not
//! depend on it.

use selkie_catalog::{TableInfo, TableKind};
use selkie_engine::IndexPart;
use selkie_sql::ast::{
    BinaryOp, Expr, ExprKind, Query, QueryBody, Select, SelectItem, TableFactor, TableRef,
};
use selkie_types::charset::identifier_eq;
use selkie_types::stack;

use super::known::made;
use super::text::add_conjuncts;
use crate::planner::PlanContext;

/// Pulls such tables up in all SELECTs of a query. They stand last in FROM; returns how many they
/// are for each SELECT by the start of its text.
pub(super) fn pull_tables(query: &mut Query, context: &PlanContext<'_>) -> Vec<(u32, usize)> {
    let mut pulled = Vec::new();
    if context.settings.variables.joins.semijoin {
        in_body(&mut query.body, context, &mut pulled);
    }
    pulled
}

/// Puts the tables that were pulled up first.
pub(super) fn show_pulled_first(body: &mut QueryBody, pulled: &[(u32, usize)]) {
    stack::ensure();
    match body {
        QueryBody::Select(select) => {
            let start = select.span.start;
            let Some((_, count)) = pulled.iter().find(|(of, _)| *of == start) else { return };
            let at = select.from.len().saturating_sub(*count);
            let mut from = select.from.split_off(at);
            from.reverse();
            from.append(&mut select.from);
            select.from = from;
        }
        QueryBody::Values(_) => {}
        QueryBody::Nested(query) => show_pulled_first(&mut query.body, pulled),
        QueryBody::Combined { first, rest } => {
            show_pulled_first(first, pulled);
            rest.iter_mut().for_each(|operand| show_pulled_first(&mut operand.body, pulled));
        }
    }
}

fn in_body(body: &mut QueryBody, context: &PlanContext<'_>, pulled: &mut Vec<(u32, usize)>) {
    stack::ensure();
    match body {
        QueryBody::Select(select) => in_select(select, context, pulled),
        QueryBody::Values(_) => {}
        QueryBody::Nested(query) => in_body(&mut query.body, context, pulled),
        QueryBody::Combined { first, rest } => {
            in_body(first, context, pulled);
            rest.iter_mut().for_each(|operand| in_body(&mut operand.body, context, pulled));
        }
    }
}

fn in_select(select: &mut Select, context: &PlanContext<'_>, pulled: &mut Vec<(u32, usize)>) {
    let Some(condition) = select.where_clause.take() else { return };
    if select.from.is_empty() || select.options.straight_join {
        select.where_clause = Some(condition);
        return;
    }
    let (mut conditions, mut kept, mut added) = (Vec::new(), Vec::new(), Vec::new());
    add_conjuncts(condition, &mut conditions);
    let before = select.from.len();
    for condition in conditions {
        match pulled_up(&condition, &select.from, context) {
            Some((table, mut own)) => {
                select.from.push(TableRef::Table(Box::new(table)));
                added.append(&mut own);
            }
            None => kept.push(condition),
        }
    }
    kept.append(&mut added);
    select.where_clause = match kept.len() {
        1 => kept.pop(),
        _ => Some(made(ExprKind::And(kept))),
    };
    let count = select.from.len() - before;
    pulled.extend((count > 0).then_some((select.span.start, count)));
}

/// The table of a subquery that can be pulled up, and the conditions in its stead.
fn pulled_up(
    condition: &Expr,
    around: &[TableRef],
    context: &PlanContext<'_>,
) -> Option<(TableFactor, Vec<Expr>)> {
    let (operand, query) = match &condition.kind {
        ExprKind::InSubquery { expr, negated: false, query }
        | ExprKind::Quantified { left: expr, op: BinaryOp::Eq, all: false, query } => (expr, query),
        _ => return None,
    };
    let QueryBody::Select(select) = &query.body else { return None };
    let is_plain = query.with.is_none()
        && query.limit.is_none()
        && select.group_by.is_empty()
        && select.having.is_none();
    let [TableRef::Table(factor)] = &select.from[..] else { return None };
    let alias = &factor.alias.as_ref().unwrap_or(&factor.name.name).value;
    if !is_plain || around.iter().any(|table| has_alias(table, alias)) {
        return None;
    }
    let schema = &factor.name.schema.as_ref()?.value;
    let info = context.tables.table(schema, &factor.name.name.value)?;
    let operands: Vec<Expr> = match &operand.kind {
        ExprKind::Row(values) => values.clone(),
        _ => vec![(**operand).clone()],
    };
    if !matches!(info.kind, TableKind::Base) || operands.len() != select.items.len() {
        return None;
    }
    if operands.iter().any(Expr::has_subquery) {
        return None;
    }
    let (mut conditions, mut columns) = (Vec::new(), Vec::new());
    select.where_clause.clone().into_iter().for_each(|e| add_conjuncts(e, &mut conditions));
    for (operand, item) in operands.into_iter().zip(&select.items) {
        let SelectItem::Expr { expr: column, .. } = item else { return None };
        columns.push(number_column(column, alias, info)?);
        let (left, right) = (Box::new(operand), Box::new(column.clone()));
        conditions.push(made(ExprKind::Binary { op: BinaryOp::Eq, left, right }));
    }
    finds_one(info, &columns).then(|| ((**factor).clone(), conditions))
}

/// Position of an integer column of a table, if an expression is one. Compat: values of other types
/// may be compared in a way in which no key finds them.
fn number_column(e: &Expr, alias: &str, info: &TableInfo) -> Option<usize> {
    let ExprKind::Column(column) = &e.kind else { return None };
    let own = column.table.as_ref().is_some_and(|table| identifier_eq(&table.value, alias));
    let at = info.column_position(&column.name.value)?;
    (own && info.columns[at].ty.is_integer()).then_some(at)
}

/// Whether values of these columns belong to one row at most.
fn finds_one(info: &TableInfo, columns: &[usize]) -> bool {
    let is_given = |part: &IndexPart| part.prefix.is_none() && columns.contains(&part.column);
    info.def.indexes.iter().any(|index| index.is_unique() && index.parts.iter().all(is_given))
}

fn has_alias(table: &TableRef, alias: &str) -> bool {
    stack::ensure();
    match table {
        TableRef::Table(factor) => {
            identifier_eq(&factor.alias.as_ref().unwrap_or(&factor.name.name).value, alias)
        }
        TableRef::Derived(derived) => identifier_eq(&derived.alias.value, alias),
        TableRef::JsonTable(json) => identifier_eq(&json.alias.value, alias),
        TableRef::Join(join) => has_alias(&join.left, alias) || has_alias(&join.right, alias),
    }
}
