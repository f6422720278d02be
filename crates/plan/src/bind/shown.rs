//! Columns of merged queries that hold more digits than they show.
//!
//! Compat: MariaDB replaces the name of a merged query's column by its expression, so `q*3` over
//! `SELECT 7/3 q` is 7.0000. Here such a column holds all digits, and a reference reads it through
//! a conversion to its type, which arithmetic removes. A query whose rows are kept in a table
//! rounds them, and must not be handled here.

use selkie_expr::{Expr, build, cast};
use selkie_sql::ast;
use selkie_types::SqlType;

use super::Binder;
use crate::logical::{ColumnId, Logical};
use crate::updatable::merged_select;

impl Binder<'_> {
    /// Keeps all digits of a query's columns if it is merged into the outer query.
    pub(super) fn keep_digits(&mut self, query: &mut super::Query, syntax: &ast::Query) {
        // A multi-table UPDATE keeps the rows of all derived tables.
        let aggregates = |call: &ast::FunctionCall| self.is_stored_aggregate(call);
        let is_kept = merged_select(syntax, &aggregates).is_none();
        if self.derived_in_update.is_some() || is_kept {
            return;
        }
        let Logical::Project { columns, input } = &mut query.plan else { return };
        if matches!(**input, Logical::OneRow) || !input.is_plain_select() {
            return;
        }
        self.hold_digits(columns);
    }

    /// Keeps all digits of a scalar subquery's columns if its rows are computed while they are
    /// read: they are not kept for grouping, sorting or DISTINCT.
    pub(super) fn keep_digits_of_value(&mut self, query: &mut super::Query) {
        let Logical::Project { columns, input } = &mut query.plan else { return };
        if input.is_computed_as_read() && !columns.iter().any(|(id, _)| self.columns.get(*id).kept)
        {
            self.hold_digits(columns);
        }
    }

    fn hold_digits(&mut self, columns: &mut [(ColumnId, Expr)]) {
        for (id, value) in columns {
            if let Some(shown) = self.widen(*id, value) {
                self.columns.get_mut(*id).shown = Some(Box::new(shown));
            }
        }
    }

    /// Gives a query's results the digits that their target columns and variables can hold.
    pub(crate) fn give_digits(&mut self, plan: &mut Logical) {
        let Logical::Project { columns, .. } = plan else { return };
        for (id, value) in columns {
            self.widen(*id, value);
        }
    }

    /// Gives a column all digits of its value; returns the previous type if that has fewer.
    fn widen(&mut self, id: ColumnId, value: &mut Expr) -> Option<SqlType> {
        build::wider_scale(value)?;
        let before = value.ty.clone();
        build::unround(value);
        self.columns.get_mut(id).ty = value.ty.clone();
        Some(before)
    }

    /// The column that an expression reads, also if it shows fewer digits than the column holds.
    pub(super) fn column_read(&self, e: &Expr) -> Option<ColumnId> {
        let shown = |id: &ColumnId| self.columns.get(*id).shown.is_some();
        e.as_column().or_else(|| cast::shown_column(e).filter(shown))
    }
}
