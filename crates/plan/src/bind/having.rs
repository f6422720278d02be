//! Entries of the select list that may give another value each time: if HAVING reads one, they are
//! computed once for a row, below HAVING, so that a row has the value it was chosen for.

use selkie_expr::{Expr, ExprKind};

use super::Binder;
use super::select::Item;
use crate::logical::{AggregateNode, ColumnId, ColumnSet, Logical, SortItem};
use crate::rewrite::{is_false, is_quiet};

/// Whether an entry may give another value, or has another effect, if it is computed again.
pub(super) fn varies(entry: &Expr) -> bool {
    entry.as_column().is_none() && (!entry.is_deterministic() || entry.has_side_effects())
}

/// Whether a sort key must be computed before the rows are sorted, once for each row: it assigns,
/// or it is an entry of the select list with an effect or another value each time.
pub(super) fn is_computed_once(key: &Expr, columns: &[(ColumnId, Expr)]) -> bool {
    let assigns = |e: &Expr| matches!(e.kind, ExprKind::AssignUserVariable(..));
    let is_entry = || columns.iter().any(|(_, e)| e == key);
    let varies = || key.has_side_effects() || !key.is_deterministic();
    key.any(&mut { assigns }) || varies() && is_entry()
}

/// Whether a condition is `IS NULL` of a column that is never NULL. Compat: a zero date is NULL.
fn is_null_of_not_null(condition: &Expr) -> bool {
    let ExprKind::IsNull(value) = &condition.kind else { return false };
    value.as_column().is_some() && !value.nullable
}

impl Binder<'_> {
    /// The rows of `plan` for which `having` is true. Compat: without a reason to keep rows, HAVING
    /// computes the entries for itself.
    pub(super) fn having_filter(
        &mut self,
        mut plan: Logical,
        mut having: Expr,
        readers: (&mut [Item], &mut [SortItem]),
    ) -> Logical {
        if self.scope().rows.entries_vary {
            plan = self.keep_entries(plan, &mut having, readers);
        }
        let conditions = Self::conjuncts(having);
        let is_never = |c: &Expr| is_false(c) || is_null_of_not_null(c);
        if conditions.iter().any(is_never) {
            self.columns.units.has_no_groups();
            return plan.filter(vec![Expr::boolean(false)]);
        }
        match plan {
            Logical::Aggregate(node) => {
                self.note_moved(&node, &conditions);
                Logical::Aggregate(node).filter(conditions)
            }
            // Compat: rows that are not joined are not tested, which warnings show.
            plan if plan.has_join() && !conditions.iter().all(is_quiet) => {
                plan.apart(self.columns.units.current()).filter(conditions)
            }
            plan => plan.filter(conditions),
        }
    }

    /// Notes the constants of conditions that read keys of groups and nothing else of the groups.
    fn note_moved(&mut self, node: &AggregateNode, conditions: &[Expr]) {
        let keys = node.groups.iter().filter(|(_, key)| key.as_column().is_some());
        let keys: ColumnSet = keys.map(|(id, _)| *id).collect();
        let others = node.groups.iter().map(|(id, _)| *id);
        let others = others.chain(node.aggregates.iter().map(|(id, _)| *id));
        let others: ColumnSet = others.filter(|id| !keys.contains(*id)).collect();
        for condition in conditions.iter().filter(|c| !node.rollup && !c.has_subquery()) {
            let read = ColumnSet::of(condition);
            if !read.is_disjoint(&keys) && read.is_disjoint(&others) {
                self.warnings.converted.add_moved(condition);
            }
        }
    }

    /// Adds columns with the values of such entries to `plan`, if `having` reads one, and makes the
    /// entries, the keys and `having` read them.
    fn keep_entries(
        &mut self,
        plan: Logical,
        having: &mut Expr,
        (items, order): (&mut [Item], &mut [SortItem]),
    ) -> Logical {
        let is_read = |item: &Item| varies(&item.expr) && having.any(&mut |e| *e == item.expr);
        if !items.iter().any(is_read) {
            return plan;
        }
        let mut kept: Vec<(ColumnId, Expr)> = Vec::new();
        for item in items.iter_mut().filter(|item| varies(&item.expr)) {
            // Windows are computed above HAVING.
            if self.scope().windows.contains(&item.expr) {
                continue;
            }
            let id = self.output_column(&item.expr);
            let entry = std::mem::replace(&mut item.expr, self.columns.expr(id));
            kept.push((id, entry));
        }
        let column_of = |e: &Expr| {
            let (id, _) = kept.iter().find(|(_, entry)| entry == e)?;
            Some(self.columns.expr(*id))
        };
        having.transform(&mut { column_of });
        for key in order {
            if let Some(column) = column_of(&key.expr) {
                key.expr = column;
            }
        }
        let below = plan.columns(&self.columns);
        let columns = below.iter().map(|id| (id, self.columns.expr(id)));
        let columns: Vec<(ColumnId, Expr)> = columns.collect();
        let columns = columns.into_iter().chain(kept).collect();
        Logical::Project { input: Box::new(plan), columns }
    }
}
