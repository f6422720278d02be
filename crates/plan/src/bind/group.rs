//! What expressions above a grouping read: group keys, aggregates, and values of any row.

use selkie_expr::{Expr, ExprKind};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlMode, SqlResult};

use super::Binder;
use crate::logical::{ColumnId, ColumnSet};

/// A grouping being bound.
pub(super) struct Grouping {
    /// Keys and their columns.
    pub groups: Vec<(ColumnId, Expr)>,
    /// Other values, of any row of the group.
    pub carried: Vec<(ColumnId, Expr)>,
    /// Columns below the grouping.
    from: ColumnSet,
    /// `ONLY_FULL_GROUP_BY`.
    full: bool,
}

impl Grouping {
    pub(super) fn new(
        binder: &mut Binder<'_>,
        keys: Vec<Expr>,
        from: ColumnSet,
        rollup: bool,
    ) -> Self {
        let full = binder.settings.sql_mode.contains(SqlMode::ONLY_FULL_GROUP_BY);
        let mut grouping = Self { groups: Vec::new(), carried: Vec::new(), from, full };
        for key in keys {
            if !rollup && grouping.groups.iter().any(|(_, e)| *e == key) {
                continue;
            }
            let id = binder.output_column(&key);
            binder.columns.get_mut(id).nullable |= rollup;
            grouping.groups.push((id, key));
        }
        grouping
    }

    /// Makes `expr` read groups. `name` is what error 1055 calls it.
    pub(super) fn above(
        &mut self,
        binder: &mut Binder<'_>,
        expr: &mut Expr,
        name: &str,
    ) -> SqlResult<()> {
        if let Some(replaced) = self.replacement(binder, expr, name)? {
            *expr = replaced;
            return Ok(());
        }
        if let ExprKind::Subquery(subquery) = &expr.kind {
            self.inside(binder, subquery.id.0 as usize, name)?;
        }
        for child in expr.children_mut() {
            self.above(binder, child, name)?;
        }
        Ok(())
    }

    fn replacement(
        &mut self,
        binder: &mut Binder<'_>,
        expr: &Expr,
        name: &str,
    ) -> SqlResult<Option<Expr>> {
        if let Some((id, _)) = self.groups.iter().find(|(_, key)| key == expr) {
            return Ok(Some(same_claim(binder.columns.expr(*id), expr)));
        }
        let ExprKind::Column(id) = expr.kind else { return Ok(None) };
        if !self.from.contains(id) {
            return Ok(None);
        }
        if self.full && !self.determines(binder, id) {
            return Err(SqlError::new(&ER_WRONG_FIELD_WITH_GROUP, &[&name]));
        }
        if let Some((id, _)) = self.carried.iter().find(|(_, e)| e == expr) {
            return Ok(Some(same_claim(binder.columns.expr(*id), expr)));
        }
        let carried = binder.output_column(expr);
        binder.columns.get_mut(carried).nullable |= self.groups.is_empty();
        self.carried.push((carried, expr.clone()));
        Ok(Some(same_claim(binder.columns.expr(carried), expr)))
    }

    /// Whether the group keys include a unique key of the column's table.
    fn determines(&self, binder: &Binder<'_>, id: ColumnId) -> bool {
        let Some((relation, _)) = binder.columns.table_column(id) else { return false };
        let grouped = |column: usize| {
            self.groups.iter().any(|(_, e)| e.as_column() == Some(relation.first + column))
        };
        let never_null = |column: usize| !relation.table.columns[column].nullable;
        relation.table.def.indexes.iter().any(|index| {
            index.is_unique()
                && index.parts.iter().all(|p| grouped(p.column) && never_null(p.column))
        })
    }

    /// The same inside a subquery that reads columns of this block.
    fn inside(&mut self, binder: &mut Binder<'_>, id: usize, name: &str) -> SqlResult<()> {
        let mut plan =
            std::mem::replace(&mut binder.subqueries[id].plan, crate::logical::Logical::OneRow);
        let mut result = Ok(());
        plan.for_each_expr_deep_mut(&mut |e| {
            if result.is_ok() {
                result = self.columns_inside(binder, e, name);
            }
        });
        binder.subqueries[id].plan = plan;
        result
    }

    fn columns_inside(
        &mut self,
        binder: &mut Binder<'_>,
        expr: &mut Expr,
        name: &str,
    ) -> SqlResult<()> {
        self.above(binder, expr, name)
    }
}

/// A replacement keeps the collation claim of what it replaces.
fn same_claim(mut expr: Expr, original: &Expr) -> Expr {
    expr.coercibility = original.coercibility;
    expr
}
