//! The query that EXPLAIN EXTENDED returns as a note: names are qualified, `*` is expanded, and
//! values known before rows are read replace their columns. Works on syntax; must not change the
//! plan.

use selkie_expr::EvalContext;
use selkie_sql::ast::{
    ColumnRef, Expr, ExprKind, Ident, IsTest, Join, JoinCondition, JoinKind, Literal, Query,
    QueryBody, Select, SelectItem, TableFactor, TableName, TableRef,
};
use selkie_sql::{UnparseOptions, unparse_expr, unparse_numbered};
use selkie_types::charset::identifier_eq;
use selkie_types::{Condition, SqlType, Value, stack};

use super::aliases;
use super::arrange::Arranger;
use super::constants::{CACHE, cached, propagate};
use super::having::show_empty;
use super::kept_results::show_kept_results;
use super::merged::merge_views;
use super::numbers::numbers;
use super::outer_columns::each_outer_column;
use super::pulled::{pull_tables, show_pulled_first};
use super::versions::add_versions;
use crate::define::Qualifier;
use crate::planner::{PlanContext, bind_constant};

/// A table of which at most one row is read, before the others: its columns are constants.
#[derive(Clone, Debug)]
pub struct ConstantTable {
    /// Alias in the query.
    pub alias: Box<str>,
    /// Columns with their values.
    pub values: Vec<ConstantValue>,
    /// Whether the table has no other row, or has none and is outer joined: then it is left out of
    /// FROM.
    pub alone: bool,
}

/// The value of a column of a constant table.
#[derive(Clone, Debug)]
pub struct ConstantValue {
    /// Name of the column.
    pub name: Box<str>,
    /// Its type.
    pub ty: SqlType,
    /// The value as a literal.
    pub literal: Expr,
}

/// The reason why a SELECT gives no rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {
    /// A constant table's row fails the conditions of WHERE or does not exist.
    Where,
    /// The rows of constant tables fail HAVING.
    Having,
    /// HAVING is true for no row.
    Alone,
}

/// Facts about a SELECT of the outermost query that were found before EXPLAIN.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Its constant tables.
    pub tables: Vec<ConstantTable>,
    /// The reason why it gives no rows, if that is known.
    pub never: Option<Never>,
    /// Whether rows are kept before HAVING is tested.
    pub kept: bool,
    /// Aliases of tables that are not read, since their outer joins change nothing.
    pub eliminated: Vec<Box<str>>,
}

/// The rewritten text of a query that starts at `now_micros`, and the warnings raised while its
/// constants were computed. `known`: of each of its SELECTs in the order of [`selects`].
pub fn query_text(
    query: &Query,
    known: &[Known],
    context: &PlanContext<'_>,
    (now_micros, parameters): (i64, &[String]),
) -> (String, Vec<Condition>) {
    let numbers = numbers(&mut query.clone());
    let mut query = prepared(query, context);
    let pulled = pull_tables(&mut query, context);
    let none = Known::default();
    let known = if selects(&query).len() == known.len() { known } else { &[] };
    let shown = Shown { all: known, known: &none, context, parameters: parameters.len() };
    match &query.body {
        QueryBody::Select(_) => shown.of(0).query(&mut query),
        _ => shown.query(&mut query),
    }
    let conditions = propagate(&mut query, context, now_micros);
    shown.finish(&mut query.body);
    show_pulled_first(&mut query.body, &pulled);
    let charset = context.types.collation_connection.charset();
    let sql_mode = context.types.sql_mode;
    let names = selkie_sql::Names::Quoted;
    let options = UnparseOptions { charset: charset.name(), sql_mode, parameters, names };
    if context.settings.variables.joins.subquery_cache {
        show_kept_results(&mut query, &|e| unparse_expr(e, &options));
    }
    (unparse_numbered(&query, &options, &numbers), conditions)
}

/// The SELECTs that a query combines, in order of the text; none if it combines anything else.
pub fn selects(query: &Query) -> Vec<&Select> {
    let mut found = Vec::new();
    match add_selects(&query.body, &mut found) {
        true => found,
        false => Vec::new(),
    }
}

fn add_selects<'q>(body: &'q QueryBody, found: &mut Vec<&'q Select>) -> bool {
    stack::ensure();
    match body {
        QueryBody::Select(select) => found.push(select),
        QueryBody::Nested(query) => match &query.body {
            QueryBody::Select(select) => found.push(select),
            _ => return false,
        },
        QueryBody::Values(_) => return false,
        QueryBody::Combined { first, rest } => {
            return add_selects(first, found)
                && rest.iter().all(|operand| add_selects(&operand.body, found));
        }
    }
    true
}

/// A query with qualified names, over the tables that it reads.
pub(super) fn prepared(query: &Query, context: &PlanContext<'_>) -> Query {
    let mut query = query.clone();
    let qualifier = Qualifier::new(context.names(), context.settings.schema);
    qualifier.whole().query(&mut query, true);
    merge_views(&mut query, context);
    add_versions(&mut query, context);
    query
}

/// Rewrites a qualified query into the form that is shown.
pub(super) struct Shown<'a> {
    /// Facts about all SELECTs of the outermost query.
    pub all: &'a [Known],
    /// Those about the SELECT that is rewritten.
    pub known: &'a Known,
    pub context: &'a PlanContext<'a>,
    /// Number of placeholders that are variables.
    pub parameters: usize,
}

impl Shown<'_> {
    fn query(&self, query: &mut Query) {
        stack::ensure();
        match &mut query.body {
            QueryBody::Select(select) => {
                self.select(select);
                query.order_by.iter_mut().for_each(|item| self.constants(&mut item.expr));
            }
            body => self.parts(body, &mut 0),
        }
    }

    /// The same for the SELECT at a position.
    fn of(&self, at: usize) -> Shown<'_> {
        Shown { known: self.all.get(at).unwrap_or(self.known), ..*self }
    }

    fn parts(&self, body: &mut QueryBody, at: &mut usize) {
        stack::ensure();
        match body {
            QueryBody::Select(select) => {
                self.of(*at).select(select);
                *at += 1;
            }
            QueryBody::Values(_) => {}
            QueryBody::Nested(query) => {
                self.of(*at).query(query);
                *at += 1;
            }
            QueryBody::Combined { first, rest } => {
                self.parts(first, at);
                rest.iter_mut().for_each(|operand| self.parts(&mut operand.body, at));
            }
        }
    }

    fn select(&self, select: &mut Select) {
        let mut conditions: Vec<Expr> = Vec::new();
        select.where_clause.take().into_iter().for_each(|e| add_conjuncts(e, &mut conditions));
        let mut from = Vec::new();
        let before = select.from.len();
        for table in std::mem::take(&mut select.from) {
            flatten(table, &mut from, &mut conditions);
        }
        let has_having = select.having.is_some();
        let mut having = self.having(select);
        conditions.append(&mut having.moved);
        let conditional = !conditions.is_empty() || from.iter().any(is_outer_join);
        let never = self.known.never == Some(Never::Where);
        let empty = if never { self.empty_columns(&from, &conditions) } else { Vec::new() };
        let order = Arranger::new(&from, self.context);
        let kept = from.into_iter().filter_map(|table| self.kept(table, &order));
        select.from = kept.collect();
        if select.from.is_empty() && before > 0 {
            select.from.push(dual());
        }
        for item in &mut select.items {
            if let SelectItem::Expr { expr, .. } = item {
                self.constants(expr);
                show_empty(expr, &empty);
            }
        }
        for item in &mut select.group_by {
            self.constants(&mut item.expr);
            show_empty(&mut item.expr, &empty);
        }
        if never {
            select.where_clause = Some(number(0));
        } else if conditional {
            select.where_clause = Some(self.all(conditions));
        }
        select.having = has_having.then(|| self.shown_having(having));
    }

    /// The part of a table reference shown in FROM; `None` for a constant table with one row only,
    /// and nothing of an outer join with a table that has none.
    fn kept(&self, table: TableRef, order: &Arranger<'_>) -> Option<TableRef> {
        stack::ensure();
        if self.is_left_out(&table) {
            return None;
        }
        let TableRef::Join(mut join) = table else { return Some(table) };
        if join.kind == JoinKind::Left && self.is_eliminated(&join.right) {
            return self.kept(join.left, order);
        }
        let Some(left) = self.kept(join.left, order) else { return Some(join.right) };
        if self.is_left_out(&join.right) {
            return Some(left);
        }
        join.left = left;
        if let JoinCondition::On(on) = join.condition {
            let mut conditions = Vec::new();
            add_conjuncts(on, &mut conditions);
            let on = order.arranged(self.all(conditions));
            join.condition = JoinCondition::On(self.cached(on));
        }
        Some(TableRef::Join(join))
    }

    /// Sorts conditions, and marks the parts that are computed once.
    fn finish(&self, body: &mut QueryBody) {
        stack::ensure();
        match body {
            QueryBody::Select(select) => {
                let order = Arranger::new(&select.from, self.context);
                let condition = select.where_clause.take();
                select.where_clause = condition.map(|e| self.cached(order.arranged(e)));
            }
            QueryBody::Values(_) => {}
            QueryBody::Nested(query) => self.finish(&mut query.body),
            QueryBody::Combined { first, rest } => {
                self.finish(first);
                rest.iter_mut().for_each(|operand| self.finish(&mut operand.body));
            }
        }
    }

    fn is_eliminated(&self, table: &TableRef) -> bool {
        stack::ensure();
        match table {
            TableRef::Table(factor) => {
                let name = factor.alias.as_ref().unwrap_or(&factor.name.name);
                let mut eliminated = self.known.eliminated.iter();
                eliminated.any(|alias| identifier_eq(alias, &name.value))
            }
            TableRef::Join(join) => {
                self.is_eliminated(&join.left) && self.is_eliminated(&join.right)
            }
            _ => false,
        }
    }

    fn is_left_out(&self, table: &TableRef) -> bool {
        let TableRef::Table(factor) = table else { return false };
        let name = factor.alias.as_ref().unwrap_or(&factor.name.name);
        self.table(&name.value).is_some_and(|table| table.alone)
    }

    pub(super) fn table(&self, alias: &str) -> Option<&ConstantTable> {
        let tables = &self.known.tables;
        let at = aliases::position(tables.iter().map(|table| &*table.alias), alias)?;
        Some(&tables[at])
    }

    /// The value of a column of a constant table.
    fn value(&self, column: &ColumnRef) -> Option<&Expr> {
        self.constant(column).map(|(value, _)| value)
    }

    /// The value of a column of a constant table, and the column's type.
    pub(super) fn constant(&self, column: &ColumnRef) -> Option<(&Expr, &SqlType)> {
        let table = self.table(&column.table.as_ref()?.value)?;
        let found = table.values.iter().find(|v| identifier_eq(&v.name, &column.name.value));
        found.map(|value| (&value.literal, &value.ty))
    }

    /// Replaces columns by their values.
    pub(super) fn constants(&self, expr: &mut Expr) {
        if self.known.tables.is_empty() {
            return;
        }
        if let ExprKind::Column(column) = &expr.kind {
            if let Some(value) = self.value(column) {
                *expr = value.clone();
            }
            return;
        }
        expr.window_exprs_mut().into_iter().for_each(|e| self.constants(e));
        expr.operands_mut().into_iter().for_each(|e| self.constants(e));
        if let Some(query) = expr.query_mut() {
            each_outer_column(query, &[], &mut |column| self.constants(column));
        }
    }

    /// The conjunction of `conditions`, without those that are true.
    fn all(&self, conditions: Vec<Expr>) -> Expr {
        let shown = conditions.into_iter().map(|condition| {
            let tested = self.is_tested(&condition);
            let mut condition = match self.context.settings.variables.joins.runs_subqueries {
                true => self.run_each(condition),
                false => condition,
            };
            self.constants(&mut condition);
            match tested && self.is_fixed(&condition) {
                true => number(1),
                false => condition,
            }
        });
        let span = Default::default();
        self.folded(Expr { kind: ExprKind::And(shown.collect()), span })
    }

    /// Whether a condition is on one constant table only. That table's row has passed it.
    fn is_tested(&self, condition: &Expr) -> bool {
        let mut tables: Vec<Option<&Ident>> = Vec::new();
        condition.find(&mut |e| -> Option<()> {
            if let ExprKind::Column(column) = &e.kind {
                tables.push(column.table.as_deref());
            }
            None
        });
        let Some(Some(first)) = tables.first().copied() else { return false };
        let one = tables.iter().all(|t| t.is_some_and(|t| identifier_eq(&t.value, &first.value)));
        one && self.table(&first.value).is_some()
    }

    /// Whether an expression has the same value in every execution.
    fn is_fixed(&self, expr: &Expr) -> bool {
        bind_constant(expr, self.context).is_ok_and(|bound| bound.is_foldable())
    }

    /// A condition without the parts whose truth value is known.
    pub(super) fn folded(&self, expr: Expr) -> Expr {
        stack::ensure();
        match expr.kind {
            ExprKind::And(list) => self.folded_list(list, true),
            ExprKind::Or(list) => self.folded_list(list, false),
            _ => match self.truth(&expr) {
                Some(truth) => number(truth.into()),
                None => expr,
            },
        }
    }

    fn folded_list(&self, list: Vec<Expr>, and: bool) -> Expr {
        let mut left = Vec::new();
        for expr in list {
            let expr = self.folded(expr);
            match known_truth(&expr) {
                Some(truth) if truth == and => {}
                Some(_) => return expr,
                None => left.push(expr),
            }
        }
        match left.len() {
            0 => number(and.into()),
            1 => left.remove(0),
            _ => {
                let kind = if and { ExprKind::And(left) } else { ExprKind::Or(left) };
                Expr { kind, span: Default::default() }
            }
        }
    }

    /// The truth value of a condition, if it is constant.
    fn truth(&self, expr: &Expr) -> Option<bool> {
        let (inner, span) = (Box::new(expr.clone()), expr.span);
        let kind = ExprKind::Is { expr: inner, test: IsTest::True, negated: false };
        let bound = bind_constant(&Expr { kind, span }, self.context).ok()?;
        if !bound.is_foldable() {
            return None;
        }
        let value = bound.eval_value(&EvalContext::detached(self.context.types)).ok()?;
        Some(value == Value::Int(1))
    }

    /// Compat: parts of a condition that are computed once are marked.
    fn cached(&self, mut expr: Expr) -> Expr {
        stack::ensure();
        if matches!(expr.kind, ExprKind::And(_) | ExprKind::Or(_)) {
            for operand in expr.operands_mut() {
                let taken = std::mem::replace(operand, number(0));
                *operand = self.cached(taken);
            }
            return expr;
        }
        expr.operands_mut().into_iter().for_each(|e| self.mark_cached(e));
        expr
    }

    fn mark_cached(&self, expr: &mut Expr) {
        let variable = matches!(expr.kind, ExprKind::Param(at) if (at as usize) < self.parameters);
        if !variable && (is_basic(expr) || expr.has_subquery()) {
            return;
        }
        if variable || bind_constant(expr, self.context).is_ok_and(|bound| bound.is_constant()) {
            let taken = std::mem::replace(expr, number(0));
            *expr = Expr { span: taken.span, kind: ExprKind::Call(Box::new(cached(taken))) };
            return;
        }
        expr.operands_mut().into_iter().for_each(|e| self.mark_cached(e));
    }
}

/// Whether an expression is already a value, or is not an expression of its own.
fn is_basic(expr: &Expr) -> bool {
    use selkie_sql::ast::UnaryOp;
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Column(_) | ExprKind::Param(_) => true,
        ExprKind::UserVar(_) | ExprKind::Row(_) => true,
        ExprKind::Call(call) => &*call.name.value == CACHE,
        ExprKind::Unary { op: UnaryOp::Neg | UnaryOp::Plus, expr } => {
            matches!(expr.kind, ExprKind::Literal(_))
        }
        _ => false,
    }
}

pub(super) fn known_truth(expr: &Expr) -> Option<bool> {
    match expr.kind {
        ExprKind::Literal(Literal::Int(n)) => Some(n != 0),
        _ => None,
    }
}

pub(super) fn number(n: u64) -> Expr {
    Expr { kind: ExprKind::Literal(Literal::Int(n)), span: Default::default() }
}

/// The table shown when FROM has no table left.
fn dual() -> TableRef {
    TableRef::Table(Box::new(TableFactor {
        name: TableName { schema: None, name: Ident::new("dual") },
        partitions: Vec::new(),
        system_time: None,
        alias: None,
        hints: Vec::new(),
    }))
}

pub(super) fn add_conjuncts(expr: Expr, out: &mut Vec<Expr>) {
    stack::ensure();
    match expr.kind {
        ExprKind::And(list) => list.into_iter().for_each(|e| add_conjuncts(e, out)),
        _ => out.push(expr),
    }
}

/// Splits inner joins: their tables become separate entries of FROM, their conditions go to WHERE.
pub(super) fn flatten(table: TableRef, from: &mut Vec<TableRef>, conditions: &mut Vec<Expr>) {
    stack::ensure();
    let TableRef::Join(mut join) = table else { return from.push(table) };
    if !matches!(join.condition, JoinCondition::On(_) | JoinCondition::None) {
        return from.push(TableRef::Join(join));
    }
    if join.kind == JoinKind::Right {
        std::mem::swap(&mut join.left, &mut join.right);
        join.kind = JoinKind::Left;
    }
    match join.kind {
        JoinKind::Inner => {
            flatten(join.left, from, conditions);
            flatten(join.right, from, conditions);
            if let JoinCondition::On(on) = join.condition {
                add_conjuncts(on, conditions);
            }
        }
        JoinKind::Left => {
            flatten(join.left, from, conditions);
            let (mut inner, mut on) = (Vec::new(), Vec::new());
            if let JoinCondition::On(condition) = join.condition {
                add_conjuncts(condition, &mut on);
            }
            flatten(join.right, &mut inner, &mut on);
            let joined = inner.into_iter().reduce(|left, right| joined(left, right, Vec::new()));
            if let (Some(left), Some(right)) = (from.pop(), joined) {
                from.push(joined_by(left, right, JoinKind::Left, on));
            }
        }
        _ => from.push(TableRef::Join(join)),
    }
}

fn joined(left: TableRef, right: TableRef, on: Vec<Expr>) -> TableRef {
    joined_by(left, right, JoinKind::Inner, on)
}

fn joined_by(left: TableRef, right: TableRef, kind: JoinKind, on: Vec<Expr>) -> TableRef {
    let condition = match on.is_empty() {
        true => JoinCondition::None,
        false => JoinCondition::On(Expr { kind: ExprKind::And(on), span: Default::default() }),
    };
    TableRef::Join(Box::new(Join { left, right, kind, condition }))
}

fn is_outer_join(table: &TableRef) -> bool {
    matches!(table, TableRef::Join(join) if join.kind == JoinKind::Left)
}
