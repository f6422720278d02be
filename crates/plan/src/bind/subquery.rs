//! Subqueries in expressions.
//!
//! Until subqueries are unnested, placeholder columns stand for an expression's operands. The
//! predicate of IN, ANY and ALL compares them with the columns of the subquery.

use std::borrow::Cow;

use selkie_expr::{CompareOp, Expr, ExprKind, Subquery, SubqueryId, SubqueryKind, build};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{Physical, SqlError, SqlResult, SqlType, TypeKind, stack};

use super::{Binder, Query};
use crate::logical::{Logical, SubqueryState, UnitId};
use crate::physical::UnitKind;

impl Binder<'_> {
    fn subquery(&mut self, query: &ast::Query) -> SqlResult<(SubqueryId, Query)> {
        let (bound, unit) = self.query_of(query, UnitKind::Compared)?;
        let id = self.add_subquery(&bound, unit);
        Ok((id, bound))
    }

    /// Binds a subquery as a unit.
    fn query_of(&mut self, query: &ast::Query, kind: UnitKind) -> SqlResult<(Query, UnitId)> {
        let around = self.columns.units.open(kind, "");
        let bound = self.query(query);
        let unit = self.columns.units.close(around);
        Ok((bound?, unit))
    }

    fn add_subquery(&mut self, query: &Query, unit: UnitId) -> SubqueryId {
        let mut volatile = false;
        query.plan.for_each_expr_deep(&mut |e| volatile |= !e.is_deterministic());
        self.subqueries.push(SubqueryState {
            plan: query.plan.clone(),
            output: query.ids(),
            prepared: false,
            finished: false,
            args: Vec::new(),
            volatile,
            unit,
        });
        SubqueryId(self.subqueries.len() as u32 - 1)
    }

    /// Replaces the subqueries of an expression by copies of its own.
    pub(super) fn copy_subqueries(&mut self, expr: &mut Expr) {
        let subqueries = &mut self.subqueries;
        expr.transform(&mut |e| {
            let ExprKind::Subquery(subquery) = &e.kind else { return None };
            let mut copy = subquery.clone();
            subqueries.push(subqueries[subquery.id.0 as usize].clone());
            copy.id = SubqueryId(subqueries.len() as u32 - 1);
            Some(Expr { kind: ExprKind::Subquery(copy), ..e.clone() })
        });
    }

    /// `(SELECT ...)` as a value, or as a row of values.
    pub(super) fn scalar_subquery(&mut self, query: &ast::Query) -> SqlResult<Expr> {
        let (mut whole, unit) = self.query_of(query, UnitKind::Subquery)?;
        if let Some(value) = self.reduced(query, &whole)? {
            self.columns.units.reduce(unit);
            return Ok(value);
        }
        self.keep_digits_of_value(&mut whole);
        let (id, query) = (self.add_subquery(&whole, unit), whole);
        let value = |(at, column): (usize, &super::Named)| {
            let info = self.columns.get(column.id);
            let ty = SqlType { zerofill: false, ..self.columns.operand_type(column.id) };
            let mut value = build::scalar_subquery(id, at, ty);
            if let Some(coercibility) = info.coercibility {
                value.coercibility = coercibility;
            }
            if let Some(shown) = &info.shown {
                selkie_expr::cast::to_shown(&mut value, shown);
            }
            // Compat: a member of an ENUM or SET is a text here.
            selkie_expr::cast::members_to_text(&mut value, self.types);
            value
        };
        Ok(row_of(query.columns.iter().enumerate().map(value).collect()))
    }

    /// The value selected by a query without tables and conditions, which replaces the query.
    /// Compat: the result then has the kind of that expression, for example a JSON document, and
    /// the query's clauses have no effect, not even LIMIT 0.
    fn reduced(&mut self, query: &ast::Query, whole: &Query) -> SqlResult<Option<Expr>> {
        if !is_reduced(query, &|e| self.is_aggregate(e)) {
            return Ok(None);
        }
        let only = |plan: &Logical| match plan {
            Logical::Project { input, columns } if matches!(**input, Logical::OneRow) => {
                columns.first().map(|(_, e)| e.clone())
            }
            _ => None,
        };
        match only(&whole.plan) {
            Some(value) => Ok(Some(value)),
            None => Ok(only(&self.query_of(&core_of(query), UnitKind::Subquery)?.0.plan)),
        }
    }

    pub(super) fn exists(&mut self, query: &ast::Query) -> SqlResult<Expr> {
        // Compat: conditions of this subquery are moved only if it runs.
        let moved = self.warnings.converted.moved.len();
        let (id, _) = self.subquery(query)?;
        self.warnings.converted.moved.truncate(moved);
        Ok(build::exists(id, Vec::new()))
    }

    /// `left [NOT] IN (query)`.
    pub(super) fn in_subquery(
        &mut self,
        left: &ast::Expr,
        negated: bool,
        query: &ast::Query,
    ) -> SqlResult<Expr> {
        let any = self.quantified(left, CompareOp::Eq, false, query)?;
        if negated { build::not(any) } else { Ok(any) }
    }

    /// `left op ANY (query)` or `ALL`.
    pub(super) fn quantified(
        &mut self,
        left: &ast::Expr,
        op: CompareOp,
        all: bool,
        query: &ast::Query,
    ) -> SqlResult<Expr> {
        if all && op == CompareOp::Ne {
            return self.in_subquery(left, true, query);
        }
        // ROWS EXAMINED limits the work, not the rows.
        if query.limit.as_ref().is_some_and(|limit| limit.count.is_some() || limit.offset.is_some())
        {
            return Err(SqlError::not_supported("LIMIT & IN/ALL/ANY/SOME subquery"));
        }
        let around = self.operand_in.replace(self.scopes.len());
        let left = self.expr(left);
        self.operand_in = around;
        let left = left?;
        let is_row = matches!(left.kind, ExprKind::Row(_));
        if is_row && (all || op != CompareOp::Eq) {
            return Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&1]));
        }
        let query = &*with_numbers(query, &left);
        let before = self.columns.relations.len();
        let (whole, unit) = self.query_of(query, UnitKind::Compared)?;
        if self.reading.changes_one && !all && op == CompareOp::Eq {
            self.columns.relations[before..].iter_mut().for_each(|r| r.answers = true);
        }
        if !is_row && let Some(value) = self.reduced(query, &whole)? {
            self.columns.units.reduce(unit);
            return build::comparison(op, left, value, self.types);
        }
        let whole = match all || op != CompareOp::Eq {
            true => whole,
            false => self.narrowed(whole, &left)?,
        };
        let (id, query) = (self.add_subquery(&whole, unit), whole);
        let values = match left.kind {
            ExprKind::Row(values) => values,
            _ => vec![left],
        };
        if values.len() != query.columns.len() {
            return Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&values.len()]));
        }
        // A subquery has no rows inside its rows.
        let inner_row = values.iter().find_map(|value| match &value.kind {
            ExprKind::Row(parts) => Some(parts.len()),
            _ => None,
        });
        if let Some(width) = inner_row {
            return Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&width]));
        }
        let mut operands = Vec::with_capacity(values.len());
        let mut placeholders = Vec::with_capacity(values.len());
        for value in values {
            let placeholder = self.columns.add(value.ty.clone(), value.nullable);
            let mut expr = self.columns.expr(placeholder);
            expr.coercibility = value.coercibility;
            placeholders.push(expr);
            operands.push((placeholder, value));
        }
        let inner: Vec<Expr> = query.columns.iter().map(|c| self.columns.expr(c.id)).collect();
        let predicate = build::comparison(op, row_of(placeholders), row_of(inner), self.types)?;
        let nullable = predicate.nullable;
        let ty = predicate.ty.clone();
        let kind = if all { SubqueryKind::All(predicate) } else { SubqueryKind::Any(predicate) };
        let subquery = Subquery { id, kind, args: Vec::new(), operands, placed: false };
        Ok(Expr::new(ExprKind::Subquery(Box::new(subquery)), ty, nullable))
    }
}

impl Binder<'_> {
    /// The rows of `query` on which `left IN (query)` depends, if `left` is a constant: those equal
    /// to it, and NULL. If the constant may be NULL itself, it depends on every row then. An index
    /// finds these rows, and UNION keeps no others. Only values that are compared as they are: a
    /// conversion would warn of rows twice, and of texts that are equal UNION keeps the first.
    fn narrowed(&self, mut query: Query, left: &Expr) -> SqlResult<Query> {
        let [column] = &query.columns[..] else { return Ok(query) };
        let value = self.columns.expr(column.id);
        let physical = left.ty.physical();
        let alike = physical == value.ty.physical() && physical != Physical::Bytes;
        if !alike || left.ty.kind == TypeKind::Null || !left.is_constant() {
            return Ok(query);
        }
        let unknown = [&value, left].into_iter().filter(|e| e.nullable).cloned();
        let unknown = unknown.map(build::is_null).collect::<SqlResult<Vec<_>>>()?;
        let equal = build::comparison(CompareOp::Eq, value, left.clone(), self.types)?;
        let mut wanted = match unknown.is_empty() {
            true => equal,
            false => build::or([vec![equal], unknown].concat())?,
        };
        query.plan = match query.plan {
            Logical::Project { input, columns } => {
                let shown = columns.iter().find(|(id, _)| *id == column.id).map(|(_, e)| e);
                match shown.filter(|e| e.is_deterministic() && !e.has_subquery()) {
                    Some(shown) => {
                        wanted
                            .substitute_columns(&mut |id| (id == column.id).then(|| shown.clone()));
                        Logical::Project { input: Box::new(input.filter(vec![wanted])), columns }
                    }
                    None => Logical::Project { input, columns },
                }
            }
            other => other.filter(vec![wanted]),
        };
        Ok(query)
    }
}

/// Whether a query is replaced by the value it selects. Compat: not if it selects a column or uses
/// aggregates.
fn is_reduced(query: &ast::Query, is_aggregate: &dyn Fn(&ast::Expr) -> bool) -> bool {
    let ast::QueryBody::Select(select) = &query.body else { return false };
    let [ast::SelectItem::Expr { expr, .. }] = &select.items[..] else { return false };
    let is_window = |e: &ast::Expr| matches!(&e.kind, ast::ExprKind::Call(c) if c.over.is_some());
    let keeps = |e: &ast::Expr| is_window(e) || is_aggregate(e);
    select.from.is_empty()
        && select.where_clause.is_none()
        && select.having.is_none()
        && query.into.is_none()
        && !matches!(expr.kind, ast::ExprKind::Column(_))
        && expr.find(&mut |e| keeps(e).then_some(())).is_none()
}

/// The query of `left IN (query)` with numbers in place of the hexadecimal and bit literals that
/// its SELECTs give beside numbers of the left side.
///
/// Compat: every SELECT of a union is compared by itself, and such a literal is a number then.
fn with_numbers<'q>(query: &'q ast::Query, left: &Expr) -> Cow<'q, ast::Query> {
    let is_number: Vec<bool> = match &left.kind {
        ExprKind::Row(values) => values.iter().map(|value| value.ty.is_numeric()).collect(),
        _ => vec![left.ty.is_numeric()],
    };
    if !is_number.contains(&true) || !gives_digits(&query.body, &is_number) {
        return Cow::Borrowed(query);
    }
    let mut query = query.clone();
    to_numbers(&mut query.body, &is_number);
    Cow::Owned(query)
}

/// Whether a SELECT gives a hexadecimal or bit literal as one of the numbers.
fn gives_digits(body: &ast::QueryBody, is_number: &[bool]) -> bool {
    stack::ensure();
    match body {
        ast::QueryBody::Select(select) => {
            select.items.iter().zip(is_number).any(|(item, is_number)| {
                let ast::SelectItem::Expr { expr, .. } = item else { return false };
                *is_number && number_of_digits(expr).is_some()
            })
        }
        ast::QueryBody::Values(_) => false,
        ast::QueryBody::Nested(query) => gives_digits(&query.body, is_number),
        ast::QueryBody::Combined { first, rest } => {
            gives_digits(first, is_number)
                || rest.iter().any(|operand| gives_digits(&operand.body, is_number))
        }
    }
}

fn to_numbers(body: &mut ast::QueryBody, is_number: &[bool]) {
    stack::ensure();
    match body {
        ast::QueryBody::Select(select) => {
            for (item, _) in select.items.iter_mut().zip(is_number).filter(|(_, is)| **is) {
                if let ast::SelectItem::Expr { expr, .. } = item
                    && let Some(number) = number_of_digits(expr)
                {
                    expr.kind = ast::ExprKind::Literal(ast::Literal::Int(number));
                }
            }
        }
        ast::QueryBody::Values(_) => {}
        ast::QueryBody::Nested(query) => to_numbers(&mut query.body, is_number),
        ast::QueryBody::Combined { first, rest } => {
            to_numbers(first, is_number);
            rest.iter_mut().for_each(|operand| to_numbers(&mut operand.body, is_number));
        }
    }
}

fn number_of_digits(expr: &ast::Expr) -> Option<u64> {
    let ast::ExprKind::Literal(
        ast::Literal::Hex { bytes, hybrid: true } | ast::Literal::Bit(bytes),
    ) = &expr.kind
    else {
        return None;
    };
    Some(selkie_expr::cast::integer_of_hex(bytes))
}

/// The query without the clauses that have no effect on its only value.
fn core_of(query: &ast::Query) -> ast::Query {
    let mut core = query.clone();
    core.order_by.clear();
    core.limit = None;
    if let ast::QueryBody::Select(select) = &mut core.body {
        select.group_by.clear();
        select.rollup = false;
        select.options.distinct = false;
    }
    core
}

fn row_of(mut values: Vec<Expr>) -> Expr {
    if values.len() == 1 { values.remove(0) } else { Expr::row(values) }
}
