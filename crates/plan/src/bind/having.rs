//! Entries of the select list that may give another value each time: if HAVING reads one, they are
//! computed once for a row, below HAVING, so that a row has the value it was chosen for.

use selkie_expr::Expr;

use super::Binder;
use super::select::Item;
use crate::logical::{ColumnId, Logical, SortItem};

/// Whether an entry may give another value, or has another effect, if it is computed again.
pub(super) fn varies(entry: &Expr) -> bool {
    entry.as_column().is_none() && (!entry.is_deterministic() || entry.has_side_effects())
}

impl Binder<'_> {
    /// Adds columns with the values of such entries to `plan`, if `having` reads one, and makes the
    /// entries, the keys and `having` read them.
    pub(super) fn keep_entries(
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
