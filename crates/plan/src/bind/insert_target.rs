//! The target of INSERT and REPLACE: a table, or the one table of a view that the given columns
//! belong to.

use std::sync::Arc;

use selkie_catalog::{ColumnInfo, DefaultValue, TableInfo, TableKind};
use selkie_expr::Expr;
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::*;
use selkie_types::{Privileges, SqlError, SqlResult, Value};

use super::Binder;
use super::access::{Guard, Wanted};
use super::scope::{Clause, Source, SourceColumns, TableNames};
use super::update::multiple_tables;
use super::view::{BoundCheck, KeptView, Meaning, open, resolve};
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
    /// The view again, if it has columns that are not just columns of `table`.
    computed: Option<ComputedView>,
    /// Privileges to check on its columns.
    pub guard: Option<Arc<Guard>>,
    /// Alias of the table: its name, or what the view calls it.
    pub alias: Box<str>,
    /// Whether LOAD DATA gives the rows.
    loads: bool,
}

/// The rows of an INSERT, as its expressions see them.
#[derive(Default)]
pub(super) struct InsertedRows {
    /// In ON DUPLICATE KEY UPDATE: the first column of the existing row, and the first column of
    /// the row to insert, which `VALUES(c)` reads.
    pub places: Option<(ColumnId, ColumnId)>,
    /// Values of computed columns of the view, over the rows.
    pub computed: Meaning,
}

/// A view with columns that are expressions or belong to other tables. They have values in a row,
/// but none can be given.
#[derive(Clone)]
struct ComputedView {
    info: Arc<TableInfo>,
    /// Place of the table that gets the rows, among those below the view.
    place: usize,
}

/// A row of the target as a table of FROM.
pub(super) struct TargetRow {
    pub source: Source,
    /// The number of the row's first column.
    pub first: ColumnId,
    /// The other tables below the view.
    others: Vec<RelationId>,
}

impl InsertTarget {
    fn of_table(table: Arc<TableInfo>, guard: Option<Arc<Guard>>, insert: &ast::Insert) -> Self {
        let columns = table.columns.iter().enumerate().filter(|(_, c)| !c.invisible);
        let columns = columns.map(|(at, c)| (c.name.clone(), at)).collect();
        let (schema, name): (_, Box<str>) = (table.schema().into(), table.name().into());
        let (alias, loads) = (name.clone(), loads(insert));
        Self { table, schema, name, columns, view: None, computed: None, guard, alias, loads }
    }

    /// The clause that an error about a name in `clause` tells.
    ///
    /// Compat: all names of LOAD DATA are in SELECT.
    pub(super) fn clause(&self, clause: Clause) -> Clause {
        if self.loads { Clause::Fields } else { clause }
    }

    /// The row with columns from `first` on as a table of FROM, if all its columns are the table's.
    fn source(&self, first: ColumnId) -> Source {
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
            return Ok(InsertTarget::of_table(info, guard, insert));
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
        let computed = (columns.len() < kept.ids.len()).then(|| ComputedView {
            info: info.clone(),
            place: self.tables_below(&kept).iter().position(|r| *r == relation).unwrap_or(0),
        });
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
        Ok(InsertTarget {
            table,
            schema,
            name,
            columns,
            view: Some(bound),
            computed,
            guard,
            alias: (*self.columns.relations[relation].alias).into(),
            loads: loads(insert),
        })
    }

    /// A new row of the target.
    pub(super) fn target_row(&mut self, target: &InsertTarget) -> SqlResult<TargetRow> {
        match &target.computed {
            Some(view) => self.computed_row(target, view),
            None => {
                let first = self.new_row(&target.table);
                Ok(TargetRow { source: target.source(first), first, others: Vec::new() })
            }
        }
    }

    /// A new row of a view with computed columns. The view is bound anew, over a new instance of
    /// the table, so that its expressions and their subqueries read this row.
    fn computed_row(
        &mut self,
        target: &InsertTarget,
        ComputedView { info, place }: &ComputedView,
    ) -> SqlResult<TargetRow> {
        let TableKind::View(view) = &info.kind else { return Err(not_insertable(info.name())) };
        self.kept_views.get_or_insert_default();
        self.push_scope();
        let bound = self.view(info, view, info.name());
        let source = self.pop_scope().sources.pop();
        let mut plan = bound?;
        let kept = source.as_ref().and_then(|s| self.kept_view(s)).cloned();
        let Some(kept) = kept else { return Err(not_insertable(info.name())) };
        let mut others = self.tables_below(&kept);
        let mut meaning = Meaning::new();
        open(&mut plan, &others, &self.columns, &mut meaning);
        let relation = others.remove(*place);
        let first = self.columns.relations[relation].first;
        let mut columns = Vec::with_capacity(kept.ids.len());
        for (column, id) in info.columns.iter().zip(&kept.ids) {
            let id = match self.columns.get(*id).written {
                Some((of, at)) if of == relation => first + at,
                _ => {
                    let mut value = self.columns.expr(*id);
                    resolve(&mut value, &meaning);
                    self.inserted.computed.insert(*id, value);
                    *id
                }
            };
            columns.push((column.name.clone(), id));
        }
        let (schema, name) = (target.schema.clone(), target.name.clone());
        let source = Source {
            schema,
            name,
            columns: SourceColumns::Listed(columns),
            nullable: false,
            merged: Vec::new(),
            view: None,
            guard: target.guard.clone(),
        };
        Ok(TargetRow { source, first, others })
    }

    /// Values of a new row cannot read the other tables of a join view.
    pub(super) fn refuse_other_tables<'e>(
        &self,
        target: &InsertTarget,
        row: &TargetRow,
        mut values: impl Iterator<Item = &'e Expr>,
    ) -> SqlResult<()> {
        let ranges: Vec<_> = row.others.iter().map(|other| self.columns_of_table(*other)).collect();
        match !ranges.is_empty() && values.any(|e| ranges.iter().any(|r| self.reads_row(e, r))) {
            true => Err(multiple_tables(&target.schema, &target.name)),
            false => Ok(()),
        }
    }

    /// Tells of a computed column of the view that an entry names.
    pub(super) fn tell_computed(&mut self, written: &ast::Expr, item: &mut super::select::Item) {
        let ast::ExprKind::Column(name) = &written.kind else { return };
        if self.inserted.computed.is_empty() || !item.table.is_empty() {
            return;
        }
        let names = self.table_names();
        let sources = self.scopes.last().map(|s| s.sources.as_slice()).unwrap_or_default();
        let found = sources.iter().filter(|s| names.is_of(s, name)).find_map(|source| {
            let (_, id) = self.source_column(source, &name.name.value)?;
            Some((source, self.name_in_source(source, id)?))
        });
        if let Some((source, column)) = found {
            item.schema = source.schema.clone();
            item.table = source.name.clone();
            item.column = column;
        }
    }

    /// Compat: in RETURNING, columns of the other tables of a join view have their defaults.
    pub(super) fn give_defaults(&mut self, row: &TargetRow) {
        for other in &row.others {
            let columns = self.columns_of_table(*other);
            let table = self.columns.relations[*other].table.clone();
            let defaults: Meaning = columns.zip(&table.columns).map(default_value).collect();
            self.inserted.computed.values_mut().for_each(|value| resolve(value, &defaults));
        }
    }

    fn columns_of_table(&self, relation: RelationId) -> std::ops::Range<ColumnId> {
        let info = &self.columns.relations[relation];
        info.first..info.first + info.table.columns.len()
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
                let clause = if loads(insert) { Clause::Fields } else { Clause::Into };
                return Err(SqlError::unknown_column(column, clause.name()));
            };
            match (origin(at), found) {
                (Some((relation, _)), None) if below.contains(&relation) => found = Some(relation),
                (Some((relation, _)), Some(other)) if relation == other => {}
                (Some((relation, _)), Some(_)) if below.contains(&relation) => {
                    return Err(multiple_tables(schema, name));
                }
                // Compat: LOAD DATA answers like UPDATE.
                _ if loads(insert) => return Err(not_updatable(column)),
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
        if let Some((_, at)) = columns.find(|(n, _)| identifier_eq(n, &name.name.value)) {
            return Ok(*at);
        }
        let view = target.computed.as_ref().filter(|_| own);
        let is_shown = view.is_some_and(|v| v.info.column_position(&name.name.value).is_some());
        Err(match is_shown {
            true => not_updatable(name),
            false => SqlError::unknown_column(name, clause.name()),
        })
    }
}

/// A column's number and its default. One that is computed counts as absent.
fn default_value((id, column): (ColumnId, &ColumnInfo)) -> (ColumnId, Expr) {
    let value = match &column.default {
        DefaultValue::Literal(value) | DefaultValue::Written { value, .. } => value.clone(),
        _ if column.nullable => Value::Null,
        _ => Value::zero_of(&column.ty),
    };
    (id, Expr::literal(value, column.ty.clone()))
}

/// Whether LOAD DATA gives the rows.
pub(super) fn loads(insert: &ast::Insert) -> bool {
    insert.origin == ast::InsertOrigin::Load
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

/// 1348: nothing can be assigned to a column.
pub(super) fn not_updatable(column: &ast::ColumnRef) -> SqlError {
    SqlError::new(&ER_NONUPDATEABLE_COLUMN, &[&column.name])
}

/// 1471: rows cannot be inserted into `name`.
pub(super) fn not_insertable(name: &str) -> SqlError {
    SqlError::new(&ER_NON_INSERTABLE_TABLE, &[&name, &"INSERT"])
}
