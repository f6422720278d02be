//! Conditions on versions of rows in a printed query: those that FOR SYSTEM_TIME stands for.
//!
//! Works on syntax; the plan does not depend on it.

use selkie_catalog::{SystemTime, TableInfo};
use selkie_sql::ast::{
    self, BinaryOp, ColumnRef, Expr, ExprKind, FunctionCall, HistoryPoint, Ident, JoinCondition,
    JoinKind, Literal, Query, QueryBody, TableFactor, TableRef, TemporalKind,
};
use selkie_types::stack;

use crate::planner::PlanContext;

/// Adds the conditions to a query with qualified names.
pub(super) fn add_versions(query: &mut Query, context: &PlanContext<'_>) {
    Versions { context }.query(query, None);
}

struct Versions<'a> {
    context: &'a PlanContext<'a>,
}

type Outer<'a> = Option<&'a ast::SystemTime>;

impl Versions<'_> {
    fn query(&self, query: &mut Query, outer: Outer<'_>) {
        stack::ensure();
        self.body(&mut query.body, outer);
    }

    fn body(&self, body: &mut QueryBody, outer: Outer<'_>) {
        stack::ensure();
        match body {
            QueryBody::Select(select) => {
                let mut conditions = Vec::new();
                let from = select.from.iter_mut();
                from.for_each(|table| self.table(table, outer, &mut conditions));
                if !conditions.is_empty() {
                    let own = select.where_clause.take();
                    select.where_clause = Some(all(own, conditions));
                }
            }
            QueryBody::Nested(query) => self.query(query, outer),
            QueryBody::Combined { first, rest } => {
                self.body(first, outer);
                rest.iter_mut().for_each(|operand| self.body(&mut operand.body, outer));
            }
            QueryBody::Values(_) => {}
        }
    }

    fn table(&self, table: &mut TableRef, outer: Outer<'_>, out: &mut Vec<Expr>) {
        stack::ensure();
        match table {
            TableRef::Table(factor) => self.factor(factor, outer, out),
            TableRef::Derived(derived) => {
                let own = derived.system_time.take();
                self.query(&mut derived.query, own.as_ref().or(outer));
            }
            TableRef::Join(join) => {
                let (mut left, mut right) = (Vec::new(), Vec::new());
                self.table(&mut join.left, outer, &mut left);
                self.table(&mut join.right, outer, &mut right);
                let inner = match join.kind {
                    JoinKind::Left => &mut right,
                    JoinKind::Right => &mut left,
                    _ => &mut Vec::new(),
                };
                if let (JoinCondition::On(on), false) = (&mut join.condition, inner.is_empty()) {
                    *on = all(Some(on.clone()), std::mem::take(inner));
                }
                out.extend(left);
                out.extend(right);
            }
            TableRef::JsonTable(_) => {}
        }
    }

    fn factor(&self, factor: &mut TableFactor, outer: Outer<'_>, out: &mut Vec<Expr>) {
        let Some(schema) = factor.name.schema.clone() else { return };
        let found = self.context.tables.table(&schema.value, &factor.name.name.value);
        let Some((info, period)) = found.and_then(|t| Some((t.clone(), t.system_time()?))) else {
            return;
        };
        if factor.system_time.is_none() {
            factor.system_time = outer.cloned();
        }
        let alias = factor.alias.as_ref().unwrap_or(&factor.name.name);
        let column = |at: usize| column(&schema, alias, &info, at);
        let (start, end) = (column(period.start), column(period.end));
        if info.is_versioned_by_transaction() {
            out.extend(numbered((start, end), factor.system_time.as_ref()));
            return;
        }
        let from = |at: &HistoryPoint| binary(BinaryOp::Gt, end.clone(), at.expr.clone());
        let upto = |op, to: &HistoryPoint| binary(op, start.clone(), to.expr.clone());
        match &factor.system_time {
            None => out.push(binary(BinaryOp::Eq, end, self.last())),
            Some(ast::SystemTime::All | ast::SystemTime::Ended(_)) => {}
            Some(ast::SystemTime::AsOf(at)) => out.extend([from(at), upto(BinaryOp::Le, at)]),
            Some(ast::SystemTime::Between(a, b)) => {
                out.extend([from(a), upto(BinaryOp::Le, b)]);
            }
            Some(ast::SystemTime::FromTo(a, b)) => out.extend([from(a), upto(BinaryOp::Lt, b)]),
        }
    }

    /// The end of current rows in the session's time zone.
    fn last(&self) -> Expr {
        let mut text = Vec::new();
        self.context.types.time_zone.to_local(SystemTime::END).write_to(&mut text, 6);
        let literal = Literal::Temporal { kind: TemporalKind::Timestamp, text: text.into() };
        Expr { kind: ExprKind::Literal(literal), span: Default::default() }
    }
}

fn column(schema: &Ident, alias: &Ident, table: &TableInfo, at: usize) -> Expr {
    let name = ColumnRef {
        schema: Some(Box::new(schema.clone())),
        table: Some(Box::new(alias.clone())),
        name: Ident::new(&*table.columns[at].name),
    };
    Expr { kind: ExprKind::Column(name), span: Default::default() }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let kind = ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) };
    Expr { kind, span: Default::default() }
}

fn all(own: Option<Expr>, conditions: Vec<Expr>) -> Expr {
    let list: Vec<Expr> = own.into_iter().chain(conditions).collect();
    Expr { kind: ExprKind::And(list), span: Default::default() }
}

/// The conditions on versions of a table whose bounds are numbers of transactions.
fn numbered((start, end): (Expr, Expr), time: Option<&ast::SystemTime>) -> Vec<Expr> {
    let sees = |a: Expr, b: Expr| call("trt_trx_sees", vec![a, b]);
    let sees_or_is = |a: Expr, b: Expr| call("trt_trx_sees_eq", vec![a, b]);
    match time {
        None => {
            let last = ExprKind::Literal(Literal::Int(u64::MAX));
            vec![binary(BinaryOp::Eq, end, Expr { kind: last, span: Default::default() })]
        }
        Some(ast::SystemTime::All | ast::SystemTime::Ended(_)) => Vec::new(),
        Some(ast::SystemTime::AsOf(at)) => {
            vec![sees(end, number(at)), sees_or_is(number(at), start)]
        }
        Some(ast::SystemTime::Between(a, b)) => {
            vec![sees_or_is(end, number(a)), sees_or_is(number(b), start)]
        }
        Some(ast::SystemTime::FromTo(a, b)) => {
            vec![sees_or_is(end, number(a)), sees(number(b), start)]
        }
    }
}

/// The transaction of a point in history.
fn number(point: &HistoryPoint) -> Expr {
    match point.is_transaction {
        true => point.expr.clone(),
        false => call("trt_trx_id", vec![point.expr.clone()]),
    }
}

fn call(name: &str, args: Vec<Expr>) -> Expr {
    let call = FunctionCall::plain(Ident::new(name), args);
    Expr { kind: ExprKind::Call(Box::new(call)), span: Default::default() }
}
