//! The target of INSERT and REPLACE: a table, or the one table of a view that the given columns
//! belong to.

use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind};
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::*;
use selkie_types::{Privileges, SqlError, SqlResult};

use super::Binder;
use super::access::{Guard, Wanted};
use super::scope::{Clause, Source, SourceColumns, TableNames};
use super::update::multiple_tables;
use super::view::{BoundCheck, KeptView, Meaning, open};
use crate::logical::{ColumnId, RelationId};

/// A view through which rows are inserted.
pub(crate) struct BoundView {
    /// Its schema.
    pub schema: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// The condition that new rows must satisfy.
    pub check: Option<BoundCheck>,
    /// Expressions of its columns.
    pub meaning: Meaning,
    /// First column of the table instance `check` is about.
    pub first: ColumnId,
    /// The table's AUTO_INCREMENT column is among its columns.
    pub shows_auto_increment: bool,
}

/// Target of new rows.
pub(super) struct InsertTarget {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Schema of the table or view that the statement names.
    schema: Box<str>,
    /// Name of the table or view that the statement names.
    pub name: Box<str>,
    /// Names that stand for columns and their positions in the table, in the order of values
    /// without a column list; only visible columns.
    pub columns: Vec<(Box<str>, usize)>,
    /// The view, if the target is one.
    pub view: Option<BoundView>,
    /// Privileges to check on its columns.
    pub guard: Option<Arc<Guard>>,
}

impl InsertTarget {
    fn of_table(table: Arc<TableInfo>, guard: Option<Arc<Guard>>) -> Self {
        let columns = table.columns.iter().enumerate().filter(|(_, c)| !c.invisible);
        let columns = columns.map(|(at, c)| (c.name.clone(), at)).collect();
        let (schema, name) = (table.schema().into(), table.name().into());
        Self { table, schema, name, columns, view: None, guard }
    }

    /// The row with columns from `first` on as a table of FROM.
    pub(super) fn source(&self, first: ColumnId) -> Source {
        let listed = match self.view {
            Some(_) => self.columns.iter().map(|(name, at)| (name.clone(), first + at)).collect(),
            None => {
                let columns = self.table.columns.iter().enumerate();
                columns.map(|(at, c)| (c.name.clone(), first + at)).collect()
            }
        };
        Source {
            schema: self.schema.clone(),
            name: self.name.clone(),
            columns: SourceColumns::Listed(listed),
            nullable: false,
            merged: Vec::new(),
            view: None,
            guard: self.guard.clone(),
        }
    }
}

impl Binder<'_> {
    /// The target that an INSERT names.
    pub(super) fn insert_target(&mut self, insert: &ast::Insert) -> SqlResult<InsertTarget> {
        let wanted = insert_privileges(insert);
        let info = self.using_tables(Wanted::all(wanted), |b| b.find_table(&insert.table))?;
        let is_view = matches!(info.kind, TableKind::View(_));
        self.use_locked(&info, info.name(), insert.table.name.span, !is_view)?;
        let guard = self.guard(&info);
        let is_delayed = insert.priority == Some(ast::InsertPriority::Delayed);
        if is_delayed && !matches!(info.kind, TableKind::Base | TableKind::Temporary) {
            let arguments: [&dyn std::fmt::Display; 3] =
                [&info.schema(), &info.name(), &"BASE TABLE"];
            return Err(SqlError::new(&ER_WRONG_OBJECT, &arguments));
        }
        // Compat: only these engines could delay rows.
        let of_query = matches!(insert.source, ast::InsertSource::Query(_));
        if is_delayed && !of_query && !info.engine.statements.delayed {
            return Err(SqlError::new(&ER_DELAYED_NOT_SUPPORTED, &[&info.name()]));
        }
        let TableKind::View(view) = &info.kind else {
            self.check_only_target(&info, "INSERT")?;
            return Ok(InsertTarget::of_table(info, guard));
        };
        self.kept_views.get_or_insert_default();
        self.push_scope();
        let bound = self.view(&info, view, info.name());
        let source = self.pop_scope().sources.pop();
        let mut plan = bound?;
        let kept = source.as_ref().and_then(|s| self.kept_view(s)).cloned();
        let Some(kept) = kept.filter(|kept| self.is_updatable(kept)) else {
            return Err(not_insertable(info.name()));
        };
        let relation = self.inserted_relation(&kept, insert)?;
        if let Some(source) = &source {
            self.check_written(source, relation, wanted)?;
        }
        let table = self.columns.relations[relation].table.clone();
        self.check_target(&table, "INSERT")?;
        let mut meaning = Meaning::new();
        open(&mut plan, &self.tables_below(&kept), &self.columns, &mut meaning);
        let columns = self.columns_of(&kept, relation);
        let bound = BoundView {
            schema: info.schema().into(),
            name: info.name().into(),
            check: self.view_check(&kept)?,
            meaning,
            first: self.columns.relations[relation].first,
            shows_auto_increment: table
                .def
                .auto_increment
                .is_none_or(|auto| columns.iter().any(|(_, at)| *at == auto)),
        };
        let (schema, name) = (bound.schema.clone(), bound.name.clone());
        Ok(InsertTarget { table, schema, name, columns, view: Some(bound), guard })
    }

    /// The table below a view that gets the row: the one that the given columns belong to.
    fn inserted_relation(&self, view: &KeptView, insert: &ast::Insert) -> SqlResult<RelationId> {
        let (schema, name) = (view.info.schema(), view.info.name());
        let below = self.tables_below(view);
        let origin = |at: usize| self.columns.get(view.ids[at]).written;
        let names: Vec<&ast::ColumnRef> = match (&insert.columns, &insert.source) {
            (_, ast::InsertSource::Set(list)) => list.iter().map(|a| &a.column).collect(),
            (Some(columns), _) => columns.iter().collect(),
            (None, _) => Vec::new(),
        };
        if names.is_empty() {
            let [relation] = below[..] else {
                return Err(SqlError::new(&ER_VIEW_NO_INSERT_FIELD_LIST, &[&schema, &name]));
            };
            let mut seen = Vec::new();
            for at in 0..view.ids.len() {
                match origin(at) {
                    Some(origin) if !seen.contains(&origin) => seen.push(origin),
                    _ => return Err(not_insertable(name)),
                }
            }
            return Ok(relation);
        }
        let mut found: Option<RelationId> = None;
        for column in names {
            let Some(at) = position(self.table_names(), view, column) else {
                return Err(SqlError::unknown_column(column, Clause::Into.name()));
            };
            match (origin(at), found) {
                (Some((relation, _)), None) if below.contains(&relation) => found = Some(relation),
                (Some((relation, _)), Some(other)) if relation == other => {}
                (Some((relation, _)), Some(_)) if below.contains(&relation) => {
                    return Err(multiple_tables(schema, name));
                }
                _ => return Err(not_insertable(name)),
            }
        }
        found.ok_or_else(|| not_insertable(name))
    }

    /// The view's columns that are just columns of `relation`.
    fn columns_of(&self, view: &KeptView, relation: RelationId) -> Vec<(Box<str>, usize)> {
        let columns = view.info.columns.iter().zip(&view.ids);
        let own = columns.filter_map(|(column, id)| {
            let (of, at) = self.columns.get(*id).written?;
            (of == relation).then(|| (column.name.clone(), at))
        });
        own.collect()
    }

    /// The position in the table of the column a column list or an assignment names.
    pub(super) fn insert_position(
        &self,
        target: &InsertTarget,
        name: &ast::ColumnRef,
        clause: Clause,
    ) -> SqlResult<usize> {
        let wanted = match clause {
            // Compat: a column that is set to a constant counts as read, too.
            Clause::Duplicate => {
                let name = &name.name.value;
                self.check_column(target.guard.as_deref(), name, Privileges::SELECT)?;
                Privileges::UPDATE
            }
            _ => Privileges::INSERT,
        };
        self.check_column(target.guard.as_deref(), &name.name.value, wanted)?;
        if target.view.is_none() {
            return self.target_column(&target.table, &target.name, name, clause);
        }
        let own =
            name.table.as_ref().is_none_or(|t| self.table_names().is_same(&t.value, &target.name));
        let mut columns = target.columns.iter().filter(|_| own);
        let found = columns.find(|(n, _)| identifier_eq(n, &name.name.value));
        found.map(|(_, at)| *at).ok_or_else(|| SqlError::unknown_column(name, clause.name()))
    }
}

/// Privileges that the target of an INSERT needs.
fn insert_privileges(insert: &ast::Insert) -> Privileges {
    match (insert.replace, insert.on_duplicate.is_empty()) {
        (true, _) => Privileges::INSERT | Privileges::DELETE,
        (false, false) => Privileges::INSERT | Privileges::UPDATE,
        _ => Privileges::INSERT,
    }
}

fn position(names: TableNames, view: &KeptView, name: &ast::ColumnRef) -> Option<usize> {
    let own = name.table.as_ref().is_none_or(|t| names.is_same(&t.value, view.info.name()));
    view.info.column_position(&name.name.value).filter(|_| own)
}

/// 1471: rows cannot be inserted into `name`.
pub(super) fn not_insertable(name: &str) -> SqlError {
    SqlError::new(&ER_NON_INSERTABLE_TABLE, &[&name, &"INSERT"])
}
