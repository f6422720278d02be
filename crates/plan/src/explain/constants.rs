//! Constant propagation in the text that EXPLAIN EXTENDED shows: columns equal to a constant are
//! replaced by it.
//!
//! A condition that becomes a true condition on constants is left out. Works on syntax with
//! qualified names; the plan does not depend on it.

use std::sync::Arc;

use selkie_catalog::{ColumnInfo, TableInfo, TableKind};
use selkie_sql::ast::{
    BinaryOp, ColumnRef, Expr, ExprKind, FunctionCall, Ident, JoinKind, Literal, Query, QueryBody,
    Select, TableRef,
};
use selkie_sql::{UnparseOptions, unparse_expr};
use selkie_types::charset::identifier_eq;
use selkie_types::{Condition, SqlType, TypeKind, stack};

use super::aliases;
use super::known::{Constants, Known, made};
use crate::planner::PlanContext;

/// Simplifies the conditions of `query`. Returns the warnings raised while constants were
/// evaluated.
pub(super) fn propagate(
    query: &mut Query,
    context: &PlanContext<'_>,
    now_micros: i64,
) -> Vec<Condition> {
    let constants = Constants { context, now_micros, conditions: Vec::new() };
    let mut walk = Walk { constants, sources: Vec::new() };
    walk.query(query);
    walk.constants.conditions
}

struct Walk<'a> {
    constants: Constants<'a>,
    /// Tables of the current SELECT with their aliases.
    sources: Vec<Source>,
}

/// A table of FROM.
struct Source {
    alias: Box<str>,
    table: Arc<TableInfo>,
    /// Whether it is the inner side of an outer join.
    outer: bool,
}

impl Walk<'_> {
    fn query(&mut self, query: &mut Query) {
        stack::ensure();
        if let Some(with) = &mut query.with {
            with.tables.iter_mut().for_each(|table| self.query(&mut table.query));
        }
        self.body(&mut query.body);
    }

    fn body(&mut self, body: &mut QueryBody) {
        stack::ensure();
        match body {
            QueryBody::Select(select) => self.select(select),
            QueryBody::Values(_) => {}
            QueryBody::Nested(query) => self.query(query),
            QueryBody::Combined { first, rest } => {
                self.body(first);
                rest.iter_mut().for_each(|operand| self.body(&mut operand.body));
            }
        }
    }

    fn select(&mut self, select: &mut Select) {
        let outer = std::mem::take(&mut self.sources);
        select.from.iter_mut().for_each(|table| self.table(table));
        if let Some(condition) = select.where_clause.take() {
            let always = || made(ExprKind::Literal(Literal::Int(1)));
            select.where_clause = Some(self.condition(condition).unwrap_or_else(always));
        }
        self.sources = outer;
    }

    fn table(&mut self, table: &mut TableRef) {
        stack::ensure();
        match table {
            TableRef::Table(factor) => {
                let Some(schema) = &factor.name.schema else { return };
                let tables = self.constants.context.tables;
                let Some(found) = tables.table(&schema.value, &factor.name.name.value) else {
                    return;
                };
                let alias = factor.alias.as_ref().unwrap_or(&factor.name.name);
                if !matches!(found.kind, TableKind::View(_)) {
                    let alias = alias.value.clone();
                    self.sources.push(Source { alias, table: found.clone(), outer: false });
                }
            }
            TableRef::Derived(derived) => {
                let sources = std::mem::take(&mut self.sources);
                self.query(&mut derived.query);
                self.sources = sources;
            }
            TableRef::JsonTable(_) => {}
            TableRef::Join(join) => {
                let start = self.sources.len();
                self.table(&mut join.left);
                let middle = self.sources.len();
                self.table(&mut join.right);
                let inner = match join.kind {
                    JoinKind::Left => middle..self.sources.len(),
                    JoinKind::Right => start..middle,
                    _ => return,
                };
                self.sources[inner].iter_mut().for_each(|source| source.outer = true);
            }
        }
    }

    fn subqueries(&mut self, e: &mut Expr) {
        if let Some(query) = e.query_mut() {
            self.query(query);
        }
        e.operands_mut().into_iter().for_each(|operand| self.subqueries(operand));
    }

    /// A simplified condition; `None` if it is true.
    fn condition(&mut self, e: Expr) -> Option<Expr> {
        let e = self.with_zero_dates(e);
        self.simplified(e)
    }

    /// A condition in which `IS NULL` is replaced by its meaning for each column that has zero
    /// dates in place of NULL. Must run once only: for a column of an outer join the meaning is the
    /// zero date or NULL, which contains `IS NULL` again.
    fn with_zero_dates(&self, mut e: Expr) -> Expr {
        stack::ensure();
        match &mut e.kind {
            ExprKind::And(parts) | ExprKind::Or(parts) => {
                let expanded = std::mem::take(parts).into_iter().map(|e| self.with_zero_dates(e));
                *parts = expanded.collect();
                e
            }
            _ => self.zero_date(&e).unwrap_or(e),
        }
    }

    fn simplified(&mut self, e: Expr) -> Option<Expr> {
        stack::ensure();
        let span = e.span;
        match e.kind {
            ExprKind::Or(parts) => {
                let mut kept = Vec::with_capacity(parts.len());
                for part in parts {
                    kept.push(self.simplified(part)?);
                }
                Some(Expr { kind: ExprKind::Or(kept), span })
            }
            ExprKind::And(parts) => {
                let mut parts = self.conjunction(parts);
                match parts.len() {
                    0 | 1 => parts.pop(),
                    _ => Some(Expr { kind: ExprKind::And(parts), span }),
                }
            }
            kind => self.conjunction(vec![Expr { kind, span }]).pop(),
        }
    }

    fn conjunction(&mut self, parts: Vec<Expr>) -> Vec<Expr> {
        stack::ensure();
        let (mut known, mut rest) = (Vec::new(), Vec::new());
        for mut part in parts {
            self.subqueries(&mut part);
            self.years(&mut part);
            match self.equality(&part) {
                Some(found) => self.add(found, part, &mut known, &mut rest),
                None => rest.push(part),
            }
        }
        self.spread(&mut known, &mut rest);
        let computed = computed_constants(&rest, &|e| self.constants.bind(e).is_some());
        let mut out: Vec<Expr> = known.iter().map(shown_equality).collect();
        for (at, part) in rest.into_iter().enumerate() {
            out.extend(self.remaining(part, at, &known, &computed));
        }
        out
    }

    /// Records a constant of a column. If the column already has another constant, the condition
    /// stays.
    fn add(&mut self, found: Known, part: Expr, known: &mut Vec<Known>, rest: &mut Vec<Expr>) {
        match known.iter().find(|k| same_column(&k.column, &found.column)) {
            None => known.push(found),
            Some(first) => {
                let both = equality(first.compared.clone(), found.compared);
                if !self.constants.is_true(&both) {
                    rest.push(part);
                }
            }
        }
    }

    /// Recognizes `column = constant` in either order.
    fn equality(&mut self, part: &Expr) -> Option<Known> {
        let ExprKind::Binary { op: BinaryOp::Eq, left, right } = &part.kind else { return None };
        let (column, constant) = match (&left.kind, &right.kind) {
            (ExprKind::Column(column), _) => (column, right),
            (_, ExprKind::Column(column)) => (column, left),
            _ => return None,
        };
        let ty = self.type_of(column)?;
        self.constants.known(column, &ty, constant)
    }

    /// Adds integer columns that are equal to one with a known value.
    fn spread(&mut self, known: &mut Vec<Known>, rest: &mut Vec<Expr>) {
        while let Some((at, found)) =
            rest.iter().enumerate().find_map(|(at, part)| Some((at, self.follows(part, known)?)))
        {
            rest.remove(at);
            known.push(found);
        }
    }

    fn follows(&self, part: &Expr, known: &[Known]) -> Option<Known> {
        let ExprKind::Binary { op: BinaryOp::Eq, left, right } = &part.kind else { return None };
        let (ExprKind::Column(a), ExprKind::Column(b)) = (&left.kind, &right.kind) else {
            return None;
        };
        let value = |column: &ColumnRef| known.iter().find(|k| same_column(&k.column, column));
        let (from, to) = match (value(a), value(b)) {
            (Some(from), None) => (from, b),
            (None, Some(from)) => (from, a),
            _ => return None,
        };
        let ty = self.type_of(to)?;
        let alike = |ty: &SqlType| ty.is_integer() || ty.kind == TypeKind::Year;
        if !alike(&from.ty) || !alike(&ty) {
            return None;
        }
        let plain = !ty.zerofill && ty.is_integer();
        let identical = plain.then(|| from.compared.clone());
        Some(Known { column: to.clone(), ty, compared: from.compared.clone(), identical })
    }

    fn type_of(&self, column: &ColumnRef) -> Option<SqlType> {
        self.column_of(column).map(|(_, found)| found.ty.clone())
    }

    fn column_of(&self, column: &ColumnRef) -> Option<(&Source, &ColumnInfo)> {
        let table = column.table.as_ref()?;
        let aliases = self.sources.iter().map(|s| &*s.alias);
        let source = &self.sources[aliases::position(aliases, &table.value)?];
        let mut columns = source.table.columns.iter();
        let found = columns.find(|c| identifier_eq(&c.name, &column.name.value))?;
        Some((source, found))
    }

    /// The condition for `IS NULL` of a column that has a zero date in place of NULL.
    fn zero_date(&self, e: &Expr) -> Option<Expr> {
        let operand = e.tested_null()?;
        let ExprKind::Column(column) = &operand.kind else { return None };
        let (source, found) = self.column_of(column)?;
        if found.nullable || !matches!(found.ty.kind, TypeKind::Date | TypeKind::DateTime) {
            return None;
        }
        let is_zero = equality(operand.clone(), made(ExprKind::Literal(Literal::Int(0))));
        Some(match source.outer {
            true => made(ExprKind::Or(vec![is_zero, e.clone()])),
            false => is_zero,
        })
    }

    /// Replaces integers compared with a YEAR by the year they mean.
    fn years(&mut self, part: &mut Expr) {
        let ExprKind::Binary { op, left, right } = &mut part.kind else { return };
        if !is_comparison(*op) {
            return;
        }
        let (column, constant) = match (&left.kind, &right.kind) {
            (ExprKind::Column(column), _) => (column, right),
            (_, ExprKind::Column(column)) => (column, left),
            _ => return,
        };
        if let Some(ty) = self.type_of(column).filter(|ty| ty.kind == TypeKind::Year)
            && let Some(year) = self.constants.as_year(&ty, constant)
        {
            **constant = year;
        }
    }

    /// A condition after constants are inserted; `None` if it is true.
    fn remaining(
        &mut self,
        part: Expr,
        at: usize,
        known: &[Known],
        computed: &[(usize, String, Expr)],
    ) -> Option<Expr> {
        if let ExprKind::Or(_) = part.kind {
            return self.simplified(part);
        }
        let mut replaced = part.clone();
        let mut changed = self.replace(&mut replaced, known);
        for (_, text, constant) in computed.iter().filter(|(from, ..)| *from != at) {
            changed |= replace_computed(&mut replaced, text, constant);
        }
        if !changed {
            return Some(part);
        }
        if self.constants.bind(&replaced).is_some() {
            return (!self.constants.is_true(&replaced)).then_some(part);
        }
        if !self.compute_text(&mut replaced) {
            self.cache(&mut replaced);
        }
        Some(replaced)
    }

    /// Compat: a text that became constant is computed if it is compared with a text column.
    /// Returns whether it was.
    fn compute_text(&mut self, part: &mut Expr) -> bool {
        let ExprKind::Binary { op: BinaryOp::Eq, left, right } = &mut part.kind else {
            return false;
        };
        let (column, constant) = match (&left.kind, &right.kind) {
            (ExprKind::Column(column), _) => (column, right),
            (_, ExprKind::Column(column)) => (column, left),
            _ => return false,
        };
        let is_text = self.type_of(column).is_some_and(|ty| ty.is_string());
        let text = if is_text { self.constants.as_text(constant) } else { None };
        let computed = text.is_some();
        text.into_iter().for_each(|text| **constant = text);
        computed
    }

    /// Replaces columns by constants; returns whether there was one.
    fn replace(&self, e: &mut Expr, known: &[Known]) -> bool {
        stack::ensure();
        let compares = is_compared(e);
        let mut changed = false;
        let constant: Vec<bool> =
            e.operands().iter().map(|o| compares && self.constants.bind(o).is_some()).collect();
        let types: Vec<bool> = e.operands().iter().map(|o| self.is_integer(o)).collect();
        for (at, operand) in e.operands_mut().into_iter().enumerate() {
            let ExprKind::Column(column) = &operand.kind else {
                changed |= self.replace(operand, known);
                continue;
            };
            let Some(found) = known.iter().find(|k| same_column(&k.column, column)) else {
                continue;
            };
            let others = || (0..constant.len()).filter(|other| *other != at);
            let alike = |other: usize| found.ty.is_temporal() || types[other];
            let direct = compares && others().all(|other| constant[other] && alike(other));
            let value = match direct {
                true => Some(&found.compared),
                false if compares => None,
                false => found.identical.as_ref(),
            };
            if let Some(value) = value {
                *operand = value.clone();
                changed = true;
            }
        }
        changed
    }

    fn is_integer(&self, e: &Expr) -> bool {
        self.constants.bind(e).is_some_and(|bound| bound.ty.is_integer())
    }

    /// Marks expressions that are computed once.
    fn cache(&self, e: &mut Expr) {
        stack::ensure();
        for operand in e.operands_mut() {
            let computed = !matches!(operand.kind, ExprKind::Literal(_) | ExprKind::Row(_));
            if !computed || self.constants.bind(operand).is_none() {
                self.cache(operand);
                continue;
            }
            let inner = std::mem::replace(operand, made(ExprKind::Literal(Literal::Null)));
            *operand = made(ExprKind::Call(Box::new(cached(inner))));
        }
    }
}

/// Name of the function shown around an expression that is computed once.
pub(super) const CACHE: &str = "<cache>";

pub(super) fn cached(inner: Expr) -> FunctionCall {
    FunctionCall::plain(Ident::new(CACHE), vec![inner])
}

/// Expressions other than columns that equal a constant: position of the condition, text of the
/// expression, the constant.
fn computed_constants(
    parts: &[Expr],
    is_constant: &dyn Fn(&Expr) -> bool,
) -> Vec<(usize, String, Expr)> {
    let found = parts.iter().enumerate().filter_map(|(at, part)| {
        let ExprKind::Binary { op: BinaryOp::Eq, left, right } = &part.kind else { return None };
        let literal = |e: &Expr| matches!(e.kind, ExprKind::Literal(_));
        let (e, constant) = match (literal(left), literal(right)) {
            (false, true) => (left, right),
            (true, false) => (right, left),
            _ => return None,
        };
        let computed = !matches!(e.kind, ExprKind::Column(_)) && !e.has_subquery();
        (computed && !is_constant(e)).then(|| (at, text(e), (**constant).clone()))
    });
    found.collect()
}

/// Replaces a compared expression with the text `wanted` by `constant`.
fn replace_computed(part: &mut Expr, wanted: &str, constant: &Expr) -> bool {
    let ExprKind::Binary { op, left, right } = &mut part.kind else { return false };
    if !is_comparison(*op) {
        return false;
    }
    for side in [left, right] {
        if !matches!(side.kind, ExprKind::Literal(_)) && text(side) == wanted {
            **side = constant.clone();
            return true;
        }
    }
    false
}

fn text(e: &Expr) -> String {
    unparse_expr(e, &UnparseOptions::default())
}

fn shown_equality(known: &Known) -> Expr {
    equality(made(ExprKind::Column(known.column.clone())), known.compared.clone())
}

fn equality(left: Expr, right: Expr) -> Expr {
    let (left, right) = (Box::new(left), Box::new(right));
    made(ExprKind::Binary { op: BinaryOp::Eq, left, right })
}

fn same_column(a: &ColumnRef, b: &ColumnRef) -> bool {
    let table = |column: &ColumnRef| column.table.as_ref().map(|t| t.value.clone());
    identifier_eq(&a.name.value, &b.name.value)
        && match (table(a), table(b)) {
            (Some(a), Some(b)) => identifier_eq(&a, &b),
            _ => false,
        }
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Eq | NullSafeEq | Ne | Lt | Le | Gt | Ge)
}

fn is_compared(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Binary { op, .. } => is_comparison(*op),
        ExprKind::Between { .. } | ExprKind::InList { .. } => true,
        _ => false,
    }
}
