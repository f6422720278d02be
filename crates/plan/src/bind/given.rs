//! Ways in which MariaDB gives the rows of a block, which clients see in the metadata of columns.
//!
//! Must not change the rows or their order.

use selkie_expr::{CompareOp, Expr, ExprKind};
use selkie_sql::ast;

use super::Binder;
use super::select::Item;
use crate::logical::{ColumnSet, SortItem};

/// The way in which the block of a column gives its rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// The name of a computed value in the temporary table from which the rows come, if they do
    /// and the value is in it.
    pub kept: Option<Box<str>>,
    /// Whether it is among the keys of that table.
    pub is_key: bool,
    /// Whether there are groups, and no temporary table keeps them.
    pub in_order: bool,
    /// Whether there are groups.
    pub grouped: bool,
}

/// Keys of a block.
pub(super) struct Keys<'k> {
    /// Those of GROUP BY.
    pub groups: &'k [Expr],
    /// The values that conditions make equal to a constant.
    pub fixed: &'k [Expr],
    /// Those of ORDER BY.
    pub order: &'k [SortItem],
}

impl Binder<'_> {
    /// The ways in which the entries of a select list are given; `from`: the columns of FROM.
    ///
    /// Compat: MariaDB keeps groups, distinct rows, sorted rows of joins, rows that are sorted by
    /// random values and rows below a window, and announces their columns so; by name for kept rows
    /// without groups. Values computed from aggregates or windows are not kept, and constants
    /// neither.
    pub(super) fn given(
        &mut self,
        select: &ast::Select,
        items: &[Item],
        keys: Keys<'_>,
        from: &ColumnSet,
    ) -> Vec<Given> {
        let Keys { groups, fixed, order } = keys;
        let distinct = select.options.distinct;
        let scope = self.scope();
        let joined = scope.sources.len() > 1;
        let windowed = !scope.windows.nodes.is_empty();
        let plain = groups.is_empty() && scope.aggregates.calls.is_empty();
        let random = plain && order.iter().any(|key| calls_random(&key.expr));
        let is_fixed = |key: &Expr| key.is_constant() || fixed.contains(key);
        let kept = !from.is_empty()
            && match groups.is_empty() {
                true if distinct => !self.follows_key(items.iter().map(|i| &i.expr)),
                true => random || joined && plain && !order.is_empty(),
                // Compat: rows that are all equal in the keys are one group.
                false if groups.iter().all(is_fixed) => false,
                false => self.groups_in_table(groups, select.rollup),
            };
        let named = windowed || random && !distinct || joined && plain;
        let scope = self.scope();
        let name = |item: &Item| {
            let computed = item.expr.as_column().is_none() && scope.aggregates.contains(&item.expr);
            let above = computed || item.expr.is_constant() || item.expr.has_subquery();
            if !(kept || windowed) || above || scope.windows.contains(&item.expr) {
                return None;
            }
            Some(if named { item.name.as_str().into() } else { "".into() })
        };
        let grouped = !groups.is_empty();
        let given = |item: &Item| Given {
            kept: name(item),
            is_key: groups.contains(&item.expr) || distinct && !grouped,
            in_order: grouped && !kept,
            grouped,
        };
        items.iter().map(given).collect()
    }

    /// Whether rows of the only table come sorted by these values, because one is the first column
    /// of its primary key.
    pub(super) fn follows_key<'e>(&self, mut values: impl Iterator<Item = &'e Expr>) -> bool {
        let one_table = self.scopes.last().is_some_and(|scope| scope.sources.len() == 1);
        let is_first = |e: &Expr| {
            let column = e.as_column().and_then(|id| self.columns.table_column(id));
            column.is_some_and(|(relation, at)| {
                let indexes = &relation.table.def.indexes;
                indexes.iter().any(|i| i.kind.is_primary() && i.parts[0].column == at)
            })
        };
        one_table && values.any(is_first)
    }
}

/// The values that conditions make equal to a constant.
pub(super) fn fixed_by(conditions: &[Expr]) -> Vec<Expr> {
    let fixed = |condition: &Expr| match &condition.kind {
        ExprKind::Compare(compare) if compare.op == CompareOp::Eq => {
            match (compare.left.is_constant(), compare.right.is_constant()) {
                (false, true) => Some(compare.left.clone()),
                (true, false) => Some(compare.right.clone()),
                _ => None,
            }
        }
        _ => None,
    };
    conditions.iter().filter_map(fixed).collect()
}

/// Whether an expression calls a function like RAND().
fn calls_random(e: &Expr) -> bool {
    e.any(
        &mut |part| matches!(&part.kind, ExprKind::Call(call) if !call.function.is_deterministic()),
    )
}
