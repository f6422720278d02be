//! Subqueries in expressions.
//!
//! Until subqueries are unnested, an expression's operands stand under placeholder columns and the
//! predicate of IN, ANY and ALL compares those with the columns of the subquery.

use selkie_expr::{CompareOp, Expr, ExprKind, Subquery, SubqueryId, SubqueryKind, build};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult, SqlType};

use super::{Binder, Query};
use crate::logical::SubqueryState;

impl Binder<'_> {
    fn subquery(&mut self, query: &ast::Query) -> SqlResult<(SubqueryId, Query)> {
        let bound = self.query(query)?;
        let id = self.add_subquery(&bound);
        Ok((id, bound))
    }

    fn add_subquery(&mut self, query: &Query) -> SubqueryId {
        let mut volatile = false;
        query.plan.for_each_expr_deep(&mut |e| volatile |= !e.is_deterministic());
        self.subqueries.push(SubqueryState {
            plan: query.plan.clone(),
            output: query.ids(),
            prepared: false,
            finished: false,
            args: Vec::new(),
            volatile,
        });
        SubqueryId(self.subqueries.len() as u32 - 1)
    }

    /// Gives an expression subqueries of its own, equal to those it has.
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
        let (id, query) = self.subquery(query)?;
        let value = |(at, column): (usize, &super::Named)| {
            let ty = self.columns.get(column.id).ty.clone();
            build::scalar_subquery(id, at, SqlType { zerofill: false, ..ty })
        };
        Ok(row_of(query.columns.iter().enumerate().map(value).collect()))
    }

    pub(super) fn exists(&mut self, query: &ast::Query) -> SqlResult<Expr> {
        let (id, _) = self.subquery(query)?;
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
        if query.limit.is_some() {
            return Err(SqlError::not_supported("LIMIT & IN/ALL/ANY/SOME subquery"));
        }
        let left = self.expr(left)?;
        if matches!(left.kind, ExprKind::Row(_)) && (all || op != CompareOp::Eq) {
            return Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&1]));
        }
        let (id, query) = self.subquery(query)?;
        let values = match left.kind {
            ExprKind::Row(values) => values,
            _ => vec![left],
        };
        if values.len() != query.columns.len() {
            return Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&values.len()]));
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

fn row_of(mut values: Vec<Expr>) -> Expr {
    if values.len() == 1 { values.remove(0) } else { Expr::row(values) }
}
