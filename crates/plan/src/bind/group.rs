//! Expressions above a grouping: they read group keys, aggregates, and values of an arbitrary row.
//! Checks ONLY_FULL_GROUP_BY.

use selkie_expr::{CompareOp, Expr, ExprKind};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlMode, SqlResult, stack};

use super::Binder;
use crate::logical::{AggregateNode, ColumnId, ColumnSet, Logical, SortItem};

/// A grouping being bound.
pub(super) struct Grouping {
    /// Keys and their columns.
    pub groups: Vec<(ColumnId, Expr)>,
    /// Other values, taken from an arbitrary row of the group.
    pub carried: Vec<(ColumnId, Expr)>,
    /// Columns below the grouping.
    from: ColumnSet,
    /// `ONLY_FULL_GROUP_BY`.
    full: bool,
    /// Whether ROLLUP may make keys NULL.
    rollup: bool,
    /// Keys that entries of the select list already use.
    taken: Vec<ColumnId>,
}

impl Grouping {
    pub(super) fn new(
        binder: &mut Binder<'_>,
        keys: Vec<Expr>,
        from: ColumnSet,
        rollup: bool,
    ) -> Self {
        let full = binder.types.sql_mode.contains(SqlMode::ONLY_FULL_GROUP_BY);
        let (groups, carried, taken) = Default::default();
        let mut grouping = Self { groups, carried, from, full, rollup, taken };
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

    /// Rewrites an entry of the select list to read groups. With ROLLUP the same key may occur
    /// several times: entries use them in turn.
    pub(super) fn selected(&mut self, binder: &mut Binder<'_>, expr: &mut Expr) -> SqlResult<()> {
        let mut same = self.groups.iter().filter(|(_, key)| key == expr).map(|(id, _)| *id);
        let free = same.find(|id| !self.taken.contains(id));
        match free {
            Some(id) => {
                self.taken.push(id);
                *expr = same_claim(binder.columns.expr(id), expr);
                Ok(())
            }
            None => self.above(binder, expr, true),
        }
    }

    /// Rewrites `expr` to read groups. `checked`: `ONLY_FULL_GROUP_BY` applies.
    pub(super) fn above(
        &mut self,
        binder: &mut Binder<'_>,
        expr: &mut Expr,
        checked: bool,
    ) -> SqlResult<()> {
        stack::check()?;
        if let Some(replaced) = self.replacement(binder, expr, checked)? {
            *expr = replaced;
            return Ok(());
        }
        if let ExprKind::Subquery(subquery) = &expr.kind {
            self.inside(binder, subquery.id.0 as usize, checked)?;
        }
        let mut more_nulls = false;
        for child in expr.children_mut() {
            let before = child.nullable;
            self.above(binder, child, checked)?;
            more_nulls |= child.nullable && !before;
        }
        // Without rows every column is NULL.
        let of_nothing = self.groups.is_empty();
        expr.nullable |= match &expr.kind {
            ExprKind::IsNull(_) => false,
            ExprKind::Coalesce(choices) => of_nothing && choices.iter().all(|e| e.nullable),
            ExprKind::Compare(compare) if compare.op == CompareOp::NullSafeEq => false,
            _ => (self.rollup || of_nothing) && more_nulls,
        };
        Ok(())
    }

    fn replacement(
        &mut self,
        binder: &mut Binder<'_>,
        expr: &Expr,
        checked: bool,
    ) -> SqlResult<Option<Expr>> {
        if self.stays(binder, expr) {
            return Ok(None);
        }
        if let Some((id, _)) = self.groups.iter().find(|(_, key)| key == expr) {
            return Ok(Some(same_claim(binder.columns.expr(*id), expr)));
        }
        let ExprKind::Column(id) = expr.kind else { return Ok(None) };
        if !self.from.contains(id) {
            return Ok(None);
        }
        // Compat: row numbers need not be group keys.
        if self.full && checked && !binder.is_row_number(id) {
            return Err(self.not_grouped(binder, id));
        }
        if let Some((id, _)) = self.carried.iter().find(|(_, e)| e == expr) {
            return Ok(Some(same_claim(binder.columns.expr(*id), expr)));
        }
        let carried = binder.output_column(expr);
        binder.columns.get_mut(carried).nullable |= self.groups.is_empty();
        self.carried.push((carried, expr.clone()));
        Ok(Some(same_claim(binder.columns.expr(carried), expr)))
    }

    /// Whether an expression is the same above the grouping: a constant, also if it is a key.
    /// Compat: ROLLUP makes only entries of the select list NULL that are constant keys.
    fn stays(&self, binder: &Binder<'_>, expr: &Expr) -> bool {
        if matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Parameter(_)) {
            return true;
        }
        if !self.rollup || !expr.is_deterministic() || expr.has_side_effects() {
            return false;
        }
        let mut read = ColumnSet::default();
        binder.add_columns(expr, &mut read);
        read.is_disjoint(&self.from)
    }

    /// Compat: functional dependence of the column on the keys does not count.
    fn not_grouped(&self, binder: &Binder<'_>, id: ColumnId) -> SqlError {
        if self.groups.is_empty() {
            return SqlError::new(&ER_MIX_OF_GROUP_FUNC_AND_FIELDS, &[]);
        }
        let name = match binder.columns.table_column(id) {
            Some((relation, at)) => {
                let column = relation.table.columns.get(at).map_or("", |c| &c.name);
                format!("{}.{}.{column}", relation.table.schema(), relation.alias)
            }
            None => binder.listed_name(id).unwrap_or_default(),
        };
        SqlError::new(&ER_WRONG_FIELD_WITH_GROUP, &[&name])
    }

    /// As [`Self::above`], inside a subquery that reads columns of this block.
    fn inside(&mut self, binder: &mut Binder<'_>, id: usize, checked: bool) -> SqlResult<()> {
        let mut plan =
            std::mem::replace(&mut binder.subqueries[id].plan, crate::logical::Logical::OneRow);
        let mut result = Ok(());
        plan.for_each_expr_deep_mut(&mut |e| {
            if result.is_ok() {
                result = self.above(binder, e, checked);
            }
        });
        binder.subqueries[id].plan = plan;
        result
    }
}

impl Binder<'_> {
    /// `table.column` of a derived table in FROM.
    fn listed_name(&self, id: ColumnId) -> Option<String> {
        let sources = self.scopes.last()?.sources.iter();
        sources.rev().find_map(|source| {
            let columns = self.source_columns(source);
            let (name, _) = columns.into_iter().find(|(_, column)| *column == id)?;
            Some(format!("{}.{name}", source.name))
        })
    }
}

/// Whether a SELECT gives rows of its only table as they come.
pub(super) fn gives_rows_of_one(select: &ast::Select) -> bool {
    let is_column = |item: &ast::SelectItem| match item {
        ast::SelectItem::Wildcard { .. } => true,
        ast::SelectItem::Expr { expr, .. } => matches!(expr.kind, ast::ExprKind::Column(_)),
    };
    let one = matches!(&select.from[..], [ast::TableRef::Table(_) | ast::TableRef::Derived(_)]);
    let plain = select.group_by.is_empty() && select.having.is_none() && !select.options.distinct;
    one && plain && select.items.iter().all(is_column)
}

/// The grouping that gives the rows of a query.
fn grouping_of(plan: &Logical) -> Option<&AggregateNode> {
    stack::ensure();
    match plan {
        Logical::Filter { input, .. } => grouping_of(input),
        Logical::Aggregate(node) if !node.rollup && !node.groups.is_empty() => Some(node),
        _ => None,
    }
}

impl Binder<'_> {
    /// Compat: groups of a query in FROM come sorted, which shows if it is the only table.
    pub(super) fn sort_groups(&mut self, plan: &mut Logical) {
        if let Logical::CommonScan { table, .. } = plan {
            let common = &mut self.common[*table];
            if common.recursive || common.references != 1 {
                return;
            }
            let mut below = std::mem::replace(&mut common.plan, Logical::OneRow);
            let table = *table;
            self.sort_projected(&mut below);
            self.common[table].plan = below;
            return;
        }
        self.sort_projected(plan);
    }

    fn sort_projected(&self, plan: &mut Logical) {
        let Logical::Project { input, .. } = plan else { return };
        let Some(node) = grouping_of(input) else { return };
        let key = |(at, (id, _)): (usize, &(ColumnId, Expr))| SortItem {
            expr: self.columns.expr(*id),
            descending: node.descending.get(at).copied().unwrap_or(false),
        };
        let keys = node.groups.iter().enumerate().map(key).collect();
        let unit = node.groups.iter().map(|(id, _)| self.columns.get(*id).unit).max().unwrap_or(0);
        let rows = std::mem::replace(&mut **input, Logical::OneRow);
        **input = Logical::Sort { input: Box::new(rows), keys, unit };
    }
}

/// A replacement keeps the collation claim of what it replaces.
fn same_claim(mut expr: Expr, original: &Expr) -> Expr {
    expr.coercibility = original.coercibility;
    expr
}
