//! Subqueries over the rows that a statement changes: each run sees what was changed before it.
//!
//! Must not touch subqueries of the rows' source, which is read before the first change.

use selkie_catalog::TableInfo;
use selkie_expr::{Expr, ExprKind, SubqueryId};
use selkie_types::{SqlResult, stack};

use super::Draft;
use crate::logical::Logical;

impl Draft {
    /// Prepares the expressions over the rows of `table` that the statement changes.
    pub(super) fn settle_rows(&mut self, table: &TableInfo) -> SqlResult<()> {
        self.row_exprs.refuse_ranks()?;
        self.read_changes(table);
        Ok(())
    }

    /// Lets the subqueries of RETURNING and ON DUPLICATE KEY UPDATE run for every row if they read
    /// `table`, which the statement changes.
    ///
    /// Compat: one that depends on no row runs once.
    fn read_changes(&mut self, table: &TableInfo) {
        if self.subqueries.is_empty() {
            return;
        }
        let rows = &self.row_exprs;
        let assigned = rows.assigned.iter().filter_map(|(_, value)| value.as_ref());
        let exprs = assigned.chain(rows.returned.iter().map(|(_, expr)| expr));
        let mut found = Vec::new();
        exprs.for_each(|expr| self.add_readers(expr, table, &mut found));
        for id in found {
            self.subqueries[id.0 as usize].volatile = true;
        }
    }

    /// Adds the subqueries in `expr`, and theirs, that depend on outer rows and read `table`.
    fn add_readers(&self, expr: &Expr, table: &TableInfo, found: &mut Vec<SubqueryId>) {
        stack::ensure();
        expr.visit(&mut |e| {
            let ExprKind::Subquery(subquery) = &e.kind else { return };
            let plan = &self.subqueries[subquery.id.0 as usize].plan;
            let before = found.len();
            plan.for_each_expr_deep(&mut |inner| self.add_readers(inner, table, found));
            let is_reader = found.len() > before || self.reads_table(plan, table);
            if is_reader && !plan.free_columns(&self.columns).is_empty() {
                found.push(subquery.id);
            }
        });
    }

    fn reads_table(&self, plan: &Logical, table: &TableInfo) -> bool {
        stack::ensure();
        match plan {
            Logical::Scan(relation) => {
                self.columns.relations[*relation].table.def.id == table.def.id
            }
            _ => plan.inputs().into_iter().any(|input| self.reads_table(input, table)),
        }
    }
}
