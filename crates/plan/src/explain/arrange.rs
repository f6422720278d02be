//! Order of the conditions in an AND or OR that EXPLAIN shows. Compat: equalities of columns, and
//! of columns with constants of their kind, come first. The column of the later table is on the
//! left.

use std::sync::Arc;

use selkie_catalog::{ColumnInfo, TableInfo};
use selkie_sql::ast::{
    BinaryOp, ColumnRef, Expr, ExprKind, Literal, TableFactor, TableRef, UnaryOp,
};
use selkie_types::charset::identifier_eq;
use selkie_types::{Physical, TypeKind, stack};

use super::aliases;
use crate::planner::PlanContext;

/// Tables of a FROM clause by name.
pub(super) struct Arranger<'a> {
    tables: Vec<(Box<str>, Option<&'a Arc<TableInfo>>)>,
}

impl<'a> Arranger<'a> {
    pub(super) fn new(from: &[TableRef], context: &PlanContext<'a>) -> Self {
        let mut arranger = Self { tables: Vec::new() };
        from.iter().for_each(|table| arranger.add(table, context));
        arranger
    }

    fn add(&mut self, table: &TableRef, context: &PlanContext<'a>) {
        stack::ensure();
        match table {
            TableRef::Table(factor) => self.add_factor(factor, context),
            TableRef::Derived(derived) => self.tables.push((derived.alias.value.clone(), None)),
            TableRef::JsonTable(json) => self.tables.push((json.alias.value.clone(), None)),
            TableRef::Join(join) => {
                self.add(&join.left, context);
                self.add(&join.right, context);
            }
        }
    }

    fn add_factor(&mut self, factor: &TableFactor, context: &PlanContext<'a>) {
        let name = &factor.name.name.value;
        let schema = factor.name.schema.as_ref();
        let table = schema.and_then(|schema| context.tables.table(&schema.value, name));
        let alias = factor.alias.as_ref().map_or(name, |alias| &alias.value);
        self.tables.push((alias.clone(), table));
    }

    /// Position of the column's table, and the column's definition.
    fn column(&self, expr: &Expr) -> Option<(usize, &'a ColumnInfo)> {
        let ExprKind::Column(ColumnRef { table: Some(table), name, .. }) = &expr.kind else {
            return None;
        };
        let aliases = self.tables.iter().map(|(alias, _)| &**alias);
        let at = aliases::position(aliases, &table.value)?;
        let columns = &self.tables[at].1?.columns;
        let column = columns.iter().find(|c| identifier_eq(&c.name, &name.value))?;
        Some((at, column))
    }

    /// A condition with its lists of conditions in order.
    pub(super) fn arranged(&self, mut expr: Expr) -> Expr {
        match &mut expr.kind {
            ExprKind::And(list) => {
                self.arrange_all(list);
                list.sort_by_key(|condition| !self.is_equality(condition));
            }
            ExprKind::Or(list) => self.arrange_all(list),
            ExprKind::Binary { op: BinaryOp::Eq, left, right } if self.is_turned(left, right) => {
                std::mem::swap(left, right);
            }
            _ => {}
        }
        expr
    }

    fn arrange_all(&self, list: &mut Vec<Expr>) {
        let arranged = std::mem::take(list).into_iter().map(|e| self.arranged(e));
        *list = arranged.collect();
    }

    fn is_turned(&self, left: &Expr, right: &Expr) -> bool {
        match (self.column(left), self.column(right)) {
            (Some((a, x)), Some((b, y))) => a < b && is_same_kind(x, y),
            (None, Some((_, column))) => is_of_kind(left, column),
            _ => false,
        }
    }

    fn is_equality(&self, condition: &Expr) -> bool {
        let ExprKind::Binary { op: BinaryOp::Eq, left, right } = &condition.kind else {
            return false;
        };
        match (self.column(left), self.column(right)) {
            (Some((_, x)), Some((_, y))) => is_same_kind(x, y),
            (Some((_, column)), None) => is_of_kind(right, column),
            _ => false,
        }
    }
}

fn is_same_kind(a: &ColumnInfo, b: &ColumnInfo) -> bool {
    let integers = a.ty.is_integer() && b.ty.is_integer();
    integers || a.ty.physical() == b.ty.physical() && a.ty.collation == b.ty.collation
}

/// Whether a literal has the kind of a column, so that one can replace the other.
fn is_of_kind(expr: &Expr, column: &ColumnInfo) -> bool {
    match &expr.kind {
        ExprKind::Literal(Literal::Int(_)) => {
            column.ty.is_integer() || column.ty.kind == TypeKind::Year
        }
        ExprKind::Literal(Literal::Temporal { .. }) => column.ty.is_temporal(),
        ExprKind::Literal(Literal::String(_)) => column.ty.physical() == Physical::Bytes,
        ExprKind::Unary { op: UnaryOp::Neg, expr } => {
            matches!(expr.kind, ExprKind::Literal(Literal::Int(_))) && column.ty.is_integer()
        }
        _ => false,
    }
}
