//! Dependencies between common tables, and the standard's restrictions on a recursive part. Works
//! on syntax alone.

use selkie_expr::aggregate::AggregateKind;
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::ER_NOT_STANDARD_COMPLIANT_RECURSIVE;
use selkie_types::{SqlError, SqlResult, stack};

use super::Binder;
use crate::updatable::is_stored_aggregate;

/// Dependencies between the tables of a WITH.
pub(super) struct Dependencies {
    names: Vec<Box<str>>,
    /// Including reads through other tables.
    reads: Vec<Vec<bool>>,
    direct: Vec<Vec<bool>>,
}

impl Dependencies {
    pub(super) fn of(tables: &[ast::CommonTable]) -> Self {
        let names: Vec<Box<str>> = tables.iter().map(|t| t.name.value.clone()).collect();
        let direct: Vec<Vec<bool>> = tables
            .iter()
            .map(|table| names.iter().map(|name| mentions(&table.query, &[name]) > 0).collect())
            .collect();
        Self { reads: closure(direct.clone()), direct, names }
    }

    pub(super) fn recursive(&self, at: usize) -> bool {
        self.reads[at][at]
    }

    /// Groups of tables that read each other, in the order of the text, after the groups they read.
    pub(super) fn groups(&self) -> Vec<Vec<usize>> {
        let count = self.names.len();
        let together = |a: usize, b: usize| a == b || (self.reads[a][b] && self.reads[b][a]);
        let mut done = vec![false; count];
        let mut groups = Vec::new();
        while let Some(next) = (0..count).find(|at| {
            let ready =
                |other: usize| done[other] || !self.reads[*at][other] || together(*at, other);
            !done[*at] && (0..count).all(ready)
        }) {
            let group: Vec<usize> = (0..count).filter(|at| together(next, *at)).collect();
            group.iter().for_each(|at| done[*at] = true);
            groups.push(group);
        }
        groups
    }

    /// Whether some of `tables` read each other without other tables in between.
    pub(super) fn is_cyclic(&self, tables: &[&ast::CommonTable]) -> bool {
        let inside = |at: usize| tables.iter().any(|t| *t.name.value == *self.names[at]);
        let mut direct = self.direct.clone();
        for (at, row) in direct.iter_mut().enumerate() {
            for (other, reads) in row.iter_mut().enumerate() {
                *reads &= inside(at) && inside(other);
            }
        }
        closure(direct).iter().enumerate().any(|(at, row)| row[at])
    }
}

fn closure(mut reads: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    for through in 0..reads.len() {
        for from in 0..reads.len() {
            for to in 0..reads.len() {
                reads[from][to] |= reads[from][through] && reads[through][to];
            }
        }
    }
    reads
}

/// Number of references to tables called `names` in a query.
fn mentions(query: &ast::Query, names: &[&str]) -> usize {
    let mut found = 0;
    query.clone().for_each_mention(&mut |mention| {
        if let ast::Mention::Table(factor) = mention {
            let named = |n: &&str| identifier_eq(n, &factor.name.name.value);
            found += usize::from(factor.name.schema.is_none() && names.iter().any(named));
        }
    });
    found
}

pub(super) fn mentions_any(query: &ast::Query, names: &[&str]) -> bool {
    mentions(query, names) > 0
}

/// An error unless a recursive part reads the group `names` exactly once, in FROM and not on the
/// inner side of an outer join, and has no aggregates and window functions.
pub(super) fn check_part(
    part: &ast::Query,
    names: &[&str],
    table: &ast::Ident,
    is_aggregate: &dyn Fn(&ast::Expr) -> bool,
) -> SqlResult<()> {
    let ast::QueryBody::Select(select) = &part.body else { return Ok(()) };
    let in_from: usize = select.from.iter().map(|table| in_table(table, names)).sum();
    let violated = in_from != 1
        || mentions(part, names) > in_from
        || select.from.iter().any(|table| on_inner_side(table, names))
        || aggregates(select, &|e| is_aggregate(e) || is_window_function(e));
    match violated {
        true => Err(SqlError::new(&ER_NOT_STANDARD_COMPLIANT_RECURSIVE, &[table])),
        false => Ok(()),
    }
}

fn in_table(table: &ast::TableRef, names: &[&str]) -> usize {
    stack::ensure();
    match table {
        ast::TableRef::Table(factor) => {
            let named = |n: &&str| identifier_eq(n, &factor.name.name.value);
            usize::from(factor.name.schema.is_none() && names.iter().any(named))
        }
        ast::TableRef::Derived(derived) => mentions(&derived.query, names),
        ast::TableRef::JsonTable(_) => 0,
        ast::TableRef::Join(join) => in_table(&join.left, names) + in_table(&join.right, names),
    }
}

fn on_inner_side(table: &ast::TableRef, names: &[&str]) -> bool {
    stack::ensure();
    let ast::TableRef::Join(join) = table else { return false };
    let inner = match join.kind {
        ast::JoinKind::Left => in_table(&join.right, names) > 0,
        ast::JoinKind::Right => in_table(&join.left, names) > 0,
        _ => false,
    };
    inner || on_inner_side(&join.left, names) || on_inner_side(&join.right, names)
}

/// Whether an expression is a call of a built-in aggregate without OVER.
pub(crate) fn is_built_in_aggregate(e: &ast::Expr) -> bool {
    match &e.kind {
        ast::ExprKind::GroupConcat(_) => true,
        ast::ExprKind::Call(call) => {
            call.over.is_none()
                && call.schema.is_none()
                && AggregateKind::from_name(&call.name.value).is_some()
        }
        _ => false,
    }
}

pub(super) fn is_window_function(e: &ast::Expr) -> bool {
    matches!(&e.kind, ast::ExprKind::Call(call) if call.over.is_some())
}

impl Binder<'_> {
    /// Whether an expression is a call of an aggregate without OVER.
    pub(super) fn is_aggregate(&self, e: &ast::Expr) -> bool {
        is_built_in_aggregate(e)
            || matches!(&e.kind, ast::ExprKind::Call(call) if self.is_stored_aggregate(call))
    }

    /// Whether a call is one of an aggregate function that is stored.
    pub(super) fn is_stored_aggregate(&self, call: &ast::FunctionCall) -> bool {
        let schema = self.schema.as_deref().or(self.settings.schema).unwrap_or_default();
        is_stored_aggregate(self.names.tables.snapshot, schema, call)
    }
}

fn aggregates(select: &ast::Select, is_aggregate: &dyn Fn(&ast::Expr) -> bool) -> bool {
    let items = select.items.iter().filter_map(|item| match item {
        ast::SelectItem::Expr { expr, .. } => Some(expr),
        ast::SelectItem::Wildcard { .. } => None,
    });
    let mut all = items.chain(&select.having);
    all.any(|e| e.find(&mut |e| is_aggregate(e).then_some(())).is_some())
}
