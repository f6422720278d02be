//! Views: their queries replace their names, and changes to their rows become changes to rows of
//! the tables below.
//!
//! A view is bound as a projection. For a change, the projections above the changed table let all
//! columns below through, including the row's key. Assignments to columns of the view become
//! assignments to columns of the table.

use std::sync::Arc;

use hashbrown::HashMap;
use selkie_catalog::{TableInfo, View};
use selkie_expr::Expr;
use selkie_types::error::catalogue::*;
use selkie_types::{CollationId, Condition, Privileges, SqlError, SqlResult, stack};

use super::scope::{Source, SourceColumns};
use super::{Binder, KeptText};
use crate::logical::{ColumnId, Columns, Logical, RelationId};
use crate::physical::{JoinKind, UnitKind};
use crate::updatable;

/// Maximum number of nodes that replace columns of views. A column `x+x` over a view of the same
/// kind doubles the size.
const MOST_NODES: usize = 1_000_000;

/// Expressions of the columns of views, over columns of the tables and views below.
pub(crate) type Meaning = HashMap<ColumnId, Expr>;

/// A view through which rows may be changed.
#[derive(Clone, Debug)]
pub(super) struct KeptView {
    /// Its definition.
    pub info: Arc<TableInfo>,
    /// Numbers of its columns.
    pub ids: Vec<ColumnId>,
    /// Its query.
    pub plan: Logical,
}

/// The condition of `WITH CHECK OPTION`, over columns of views and tables.
#[derive(Clone, Debug)]
pub(crate) struct BoundCheck {
    /// Schema of the view.
    pub schema: Box<str>,
    /// Name of the view.
    pub view: Box<str>,
    /// The condition.
    pub condition: Expr,
}

impl Binder<'_> {
    /// Adds a view to the current scope.
    pub(super) fn view(
        &mut self,
        info: &Arc<TableInfo>,
        view: &View,
        alias: &str,
    ) -> SqlResult<Logical> {
        stack::check()?;
        let name: (Box<str>, Box<str>) = (info.schema().into(), info.name().into());
        if self.views.contains(&name) {
            return Err(SqlError::new(&ER_VIEW_RECURSIVE, &[&name.0, &name.1]));
        }
        let text = view.select.as_bytes();
        let statement = crate::parse::query(text, self.types.sql_mode)?;
        let guard = self.guard(info);
        if !view.security_invoker {
            self.names.environment.permissions().check_definer(&view.definer)?;
        }
        self.views.push(name);
        let who = self.who.clone();
        if !view.security_invoker {
            self.who = Some(view.definer.as_str().into());
        }
        let schema = self.schema.replace(info.schema().into());
        let visible = std::mem::take(&mut self.visible);
        self.text.push(text.to_vec());
        let collation = CollationId::from_name(&view.connection_collation);
        let kept = KeptText { is_stored: true, collation };
        let around = std::mem::replace(&mut self.kept_text, kept);
        let tables = self.names.tables;
        self.names.tables = tables.shared();
        let merged = &*view.algorithm != "TEMPTABLE"
            && crate::updatable::of_view(self.names.tables, info, view).merges;
        self.reading.locking = self.scope().rows.locking.filter(|_| merged);
        let around_view = self.enter(merged.then_some((alias, info)));
        let around_unit = self.columns.units.open_text(UnitKind::Merged, alias);
        let bound = self.query_apart(&statement);
        let unit = self.columns.units.close(around_unit);
        self.leave(around_view);
        self.names.tables = tables;
        self.kept_text = around;
        self.text.pop();
        self.visible = visible;
        self.schema = schema;
        self.who = who;
        self.views.pop();
        let mut query = bound.map_err(|e| invalid_view(e, info))?;
        if merged {
            self.keep_digits(&mut query, &statement);
            self.let_keys_through(&mut query);
        }
        let names: Vec<Box<str>> = info.columns.iter().map(|c| c.name.clone()).collect();
        self.keep_columns(&query);
        // Compat: `derived_merge=off` does not concern views.
        if !merged || !self.merges(&statement, &query) {
            let columns: Vec<_> = names.iter().cloned().zip(query.ids()).collect();
            self.columns.units.keep(unit, &query.plan, &columns);
        }
        let ids = query.ids();
        let kept = self.kept_views.as_mut().map(|views| {
            views.push(KeptView { info: info.clone(), ids: ids.clone(), plan: query.plan.clone() });
            views.len() - 1
        });
        self.add_listed(alias, names, ids);
        if let Some(source) = self.scope().sources.last_mut() {
            source.schema = info.schema().into();
            source.view = kept;
            source.guard = guard;
        }
        Ok(query.plan)
    }

    /// An error unless rows of `relation` may be changed through the view `source`.
    pub(super) fn check_written(
        &self,
        source: &Source,
        relation: RelationId,
        wanted: Privileges,
    ) -> SqlResult<()> {
        let Some(view) = self.kept_view(source) else { return Ok(()) };
        let guard = self.guards.iter().find(|(guarded, _)| *guarded == relation);
        let checked = self.check_target_access(guard.map(|(_, guard)| &**guard), wanted);
        checked.map_err(|error| invalid_view(error, &view.info))
    }

    /// The view of a source, if it is one.
    pub(super) fn kept_view(&self, source: &Source) -> Option<&KeptView> {
        self.kept_views.as_ref()?.get(source.view?)
    }

    /// Whether INSERT and DELETE may go through a view, and UPDATE if it has one table.
    pub(super) fn is_updatable(&self, view: &KeptView) -> bool {
        let selkie_catalog::TableKind::View(definition) = &view.info.kind else { return false };
        updatable::of_view(self.names.tables, &view.info, definition).updatable
    }

    /// Handles LIMIT in changes through a view that does not show a unique key of its table, so
    /// that rows cannot be identified: a warning, or `true` if it must be an error.
    pub(super) fn refuses_limit(&mut self, source: &Source, relation: RelationId) -> bool {
        let Some(view) = self.kept_view(source) else { return false };
        let shown: Vec<usize> = view
            .ids
            .iter()
            .filter_map(|id| self.columns.get(*id).origin)
            .filter_map(|(of, at)| (of == relation).then_some(at))
            .collect();
        let table = &self.columns.relations[relation].table;
        let is_key = |index: &selkie_engine::IndexDef| {
            let whole = |p: &selkie_engine::IndexPart| {
                shown.contains(&p.column) && !table.columns[p.column].nullable
            };
            index.is_unique() && index.parts.iter().all(whole)
        };
        let all = (0..table.columns.len()).all(|at| shown.contains(&at));
        if all || table.def.indexes.iter().any(is_key) {
            return false;
        }
        if self.settings.variables.updatable_views_with_limit {
            self.warnings.conditions.push(Condition::note(&ER_WARN_VIEW_WITHOUT_KEY, &[]));
        }
        !self.settings.variables.updatable_views_with_limit
    }

    /// The tables whose rows a view shows.
    pub(super) fn tables_below(&self, view: &KeptView) -> Vec<RelationId> {
        match &view.info.kind {
            selkie_catalog::TableKind::View(v) if v.algorithm != "TEMPTABLE" => leaves(&view.plan),
            _ => Vec::new(),
        }
    }

    /// The table instance of a source, or the only table whose rows a view shows.
    pub(super) fn only_table(&self, source: &Source) -> Option<RelationId> {
        match (&source.columns, self.kept_view(source)) {
            (SourceColumns::Table(relation), _) => Some(*relation),
            (_, Some(view)) => match self.tables_below(view)[..] {
                [relation] => Some(relation),
                _ => None,
            },
            _ => None,
        }
    }

    /// The source in FROM that shows rows of `relation`.
    pub(super) fn source_over(&self, sources: &[Source], relation: RelationId) -> Option<usize> {
        sources.iter().position(|source| match (&source.columns, self.kept_view(source)) {
            (SourceColumns::Table(r), _) => *r == relation,
            (_, Some(view)) => self.tables_below(view).contains(&relation),
            _ => false,
        })
    }

    /// The condition that new rows of a view must satisfy.
    pub(super) fn view_check(&self, view: &KeptView) -> SqlResult<Option<BoundCheck>> {
        let mut conditions = Vec::new();
        self.own_conditions(view, false, &mut conditions);
        let condition = match conditions.len() {
            0 => return Ok(None),
            1 => conditions.remove(0),
            _ => selkie_expr::build::and(conditions)?,
        };
        let (schema, view) = (view.info.schema().into(), view.info.name().into());
        Ok(Some(BoundCheck { schema, view, condition }))
    }

    /// Conditions of a view and, with CASCADED, of the views below. Compat: with LOCAL or no
    /// option, the options of the views below do not count.
    fn own_conditions(&self, view: &KeptView, cascaded: bool, out: &mut Vec<Expr>) {
        let selkie_catalog::TableKind::View(definition) = &view.info.kind else { return };
        let cascaded = cascaded || definition.check_option == "CASCADED";
        if !cascaded && definition.check_option != "LOCAL" {
            return;
        }
        match &view.plan {
            Logical::Project { input, .. } => self.conditions_in(input, cascaded, out),
            other => self.conditions_in(other, cascaded, out),
        }
    }

    fn conditions_in(&self, plan: &Logical, cascaded: bool, out: &mut Vec<Expr>) {
        stack::ensure();
        match plan {
            Logical::Filter { input, conditions } => {
                self.conditions_in(input, cascaded, out);
                out.extend(conditions.iter().cloned());
            }
            Logical::Join(join) => {
                self.conditions_in(&join.left, cascaded, out);
                self.conditions_in(&join.right, cascaded, out);
                out.extend(join.on.iter().cloned());
            }
            Logical::Sort { input, .. } => self.conditions_in(input, cascaded, out),
            Logical::Project { columns, .. } => {
                let views = self.kept_views.iter().flatten();
                let is_it = |v: &&KeptView| v.ids.iter().eq(columns.iter().map(|(id, _)| id));
                if let Some(view) = { views }.find(is_it).filter(|_| cascaded) {
                    self.own_conditions(view, true, out);
                }
            }
            _ => {}
        }
    }
}

/// The table instances whose rows a plan gives, each at most once per row.
fn leaves(plan: &Logical) -> Vec<RelationId> {
    stack::ensure();
    match plan {
        Logical::Scan(relation) => vec![*relation],
        Logical::Project { input, .. }
        | Logical::Filter { input, .. }
        | Logical::Sort { input, .. } => leaves(input),
        Logical::Join(join) if matches!(join.kind, JoinKind::Inner | JoinKind::Left) => {
            [leaves(&join.left), leaves(&join.right)].concat()
        }
        _ => Vec::new(),
    }
}

/// Makes the projections of views above `targets` let the columns of the tables below through, and
/// records the expressions of the views' columns.
pub(super) fn open(
    plan: &mut Logical,
    targets: &[RelationId],
    columns: &Columns,
    meaning: &mut Meaning,
) -> bool {
    stack::ensure();
    match plan {
        Logical::Scan(relation) => targets.contains(relation),
        Logical::Filter { input, .. }
        | Logical::Sort { input, .. }
        | Logical::Limit { input, .. } => open(input, targets, columns, meaning),
        Logical::RowNumbers(node) => open(&mut node.input, targets, columns, meaning),
        Logical::Join(join) => {
            let left = open(&mut join.left, targets, columns, meaning);
            open(&mut join.right, targets, columns, meaning) || left
        }
        Logical::Project { input, columns: made } => {
            if !open(input, targets, columns, meaning) {
                return false;
            }
            meaning.extend(made.iter().cloned());
            made.extend(input.columns(columns).iter().map(|id| (id, columns.expr(id))));
            true
        }
        _ => false,
    }
}

/// Replaces columns of views in `expr` by their expressions. The statement fails if the result is
/// too large.
pub(crate) fn resolve(expr: &mut Expr, meaning: &Meaning) {
    if !meaning.is_empty() {
        let mut left = MOST_NODES;
        resolve_within(expr, meaning, &mut left);
    }
}

fn resolve_within(expr: &mut Expr, meaning: &Meaning, left: &mut usize) {
    stack::ensure();
    expr.substitute_columns(&mut |id| {
        let mut below = meaning.get(&id)?.clone();
        match below.size_within(*left) {
            Some(size) => *left -= size,
            None => stack::end(SqlError::new(&ER_OUT_OF_RESOURCES, &[])),
        }
        resolve_within(&mut below, meaning, left);
        Some(below)
    });
}

/// Errors inside a view name the outermost view.
fn invalid_view(error: SqlError, info: &TableInfo) -> SqlError {
    /// Number of those that are told too.
    const TOLD: usize = 3;
    let inside = [
        &ER_NO_SUCH_TABLE,
        &ER_BAD_FIELD_ERROR,
        &ER_SP_DOES_NOT_EXIST,
        &ER_VIEW_INVALID,
        &ER_TABLEACCESS_DENIED_ERROR,
        &ER_COLUMNACCESS_DENIED_ERROR,
        &ER_PROCACCESS_DENIED_ERROR,
    ];
    if inside.iter().any(|def| error.is(def)) {
        let invalid = SqlError::new(&ER_VIEW_INVALID, &[&info.schema(), &info.name()]);
        // Compat: the missing table, column or function is told too.
        return match error.earlier() {
            Some(missing) => invalid.after(missing.clone()),
            None if inside[..TOLD].iter().any(|def| error.is(def)) => invalid.after(error),
            None => invalid,
        };
    }
    error
}
