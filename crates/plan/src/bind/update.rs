//! UPDATE of one or more tables. Assignments to columns of views become assignments to columns of
//! the tables below.

use selkie_catalog::{DefaultValue, TableInfo};
use selkie_engine::LockMode;
use selkie_expr::Expr;
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{Privileges, SqlError, SqlMode, SqlResult, SqlType};

use super::Binder;
use super::access::Wanted;
use super::portion::BoundPortion;
use super::row_number::RowNumbers;
use super::scope::{Clause, Source, SourceColumns};
use super::select::{Tail, limited, sorted};
use super::view::{BoundCheck, Meaning, open, resolve};
use crate::logical::{ColumnId, ColumnSet, Logical, RelationId, SortItem};
use crate::physical::RowRules;

/// A bound UPDATE.
pub(crate) struct BoundUpdate {
    pub source: Logical,
    pub targets: Vec<BoundTarget>,
    pub ignore: bool,
    /// Whether it has several tables, or reads its own in a subquery. Then all rows are found
    /// before any is changed.
    pub multiple: bool,
    /// Whether it has ORDER BY.
    pub ordered: bool,
    /// Expressions of the columns of views.
    pub meaning: Meaning,
}

/// A table changed by an UPDATE.
pub(crate) struct BoundTarget {
    pub relation: RelationId,
    pub key: ColumnId,
    pub assignments: Vec<(usize, Option<Expr>)>,
    pub rules: RowRules,
    pub check: Option<BoundCheck>,
    pub portion: Option<BoundPortion>,
}

impl Binder<'_> {
    pub(crate) fn update(&mut self, update: &ast::Update) -> SqlResult<BoundUpdate> {
        self.ignore = update.ignore;
        self.push_scope();
        self.watch_reads();
        let bound = self.update_in_scope(update);
        self.pop_scope();
        let mut bound = bound?;
        // Compat: MariaDB makes it an UPDATE of several tables, whose values are all of old rows.
        bound.multiple |= self.was_read(bound.targets.iter().map(|target| target.relation));
        Ok(bound)
    }

    fn update_in_scope(&mut self, update: &ast::Update) -> SqlResult<BoundUpdate> {
        let single = matches!(&update.tables[..], [ast::TableRef::Table(_)]);
        let wanted = match single {
            true => Wanted::all(Privileges::UPDATE),
            // The changed tables are known after the assignments are bound.
            false => Wanted { tables: Privileges::SELECT, instead: Some(Privileges::UPDATE) },
        };
        self.derived_in_update = (!single).then_some(0);
        self.reading.changes_one = single;
        let mut source = self.using_tables(wanted, |b| b.changed_from(&update.tables))?;
        let sources = self.scope().sources.clone();
        if update.portion.is_some() {
            self.check_portion_source(&sources)?;
        }
        let multiple = sources.len() > 1 || self.check_only_source(&sources)?;
        source = self.chosen_rows(source, update.where_clause.as_ref())?;
        let (portion, mut source) = self.portion_of_update(update, &sources, source)?;
        self.scope().rows.numbers = RowNumbers::Accepted(None);
        let mut targets: Vec<BoundTarget> = Vec::new();
        // Compat: values of several tables are in the select list.
        let clause = if multiple { Clause::Fields } else { Clause::Set };
        for assignment in &update.assignments {
            let (relation, at) = self.assigned_column(&sources, &assignment.column)?;
            let table = self.columns.relations[relation].table.clone();
            refuse_no_default(&table, at, &assignment.value)?;
            let row = (&*table, self.columns.relations[relation].first);
            let value = self.assigned_value(row, at, &assignment.value, clause)?;
            match targets.iter_mut().find(|t| t.relation == relation) {
                Some(target) => {
                    self.refuse_second_value(&sources, target, at)?;
                    target.assignments.push((at, value));
                }
                None => targets.push(self.update_target(&sources, relation, (at, value))?),
            }
        }
        targets.iter_mut().for_each(|target| self.settle_bounds(target));
        self.set_portion(portion, &mut targets)?;
        if multiple {
            self.check_read_only_sources(&sources, &targets)?;
        }
        self.check_one_table_of_each_view(&sources, &targets)?;
        self.check_key_of_one(&sources, &targets)?;
        if update.limit.is_some() {
            for target in &targets {
                let Some(over) = self.source_over(&sources, target.relation) else { continue };
                if self.refuses_limit(&sources[over], target.relation) {
                    let name = &sources[over].name;
                    return Err(SqlError::new(&ER_NON_UPDATABLE_TABLE, &[name, &"UPDATE"]));
                }
            }
        }
        // Rows are updated, and counted by SET, in the order of ORDER BY.
        let numbers = std::mem::take(&mut self.scope().rows.numbers);
        source = self.dml_tail(source, &update.order_by, update.limit.as_deref())?;
        self.scope().rows.numbers = numbers;
        source = self.numbered(source, &mut ColumnSet::default());
        let mut meaning = Meaning::new();
        let mut changed: Vec<RelationId> = targets.iter().map(|t| t.relation).collect();
        // A check may read all tables of its view.
        let checked = targets.iter().filter(|t| t.check.is_some());
        let checked = checked.filter_map(|t| self.source_over(&sources, t.relation));
        let views = { checked }.filter_map(|at| self.kept_view(&sources[at]));
        views.for_each(|view| changed.extend(self.tables_below(view)));
        open(&mut source, &changed, &self.columns, &mut meaning);
        for (_, value) in targets.iter_mut().flat_map(|t| &mut t.assignments) {
            value.iter_mut().for_each(|e| resolve(e, &meaning));
        }
        let ordered = !update.order_by.is_empty();
        Ok(BoundUpdate { source, targets, ignore: update.ignore, multiple, ordered, meaning })
    }

    /// An error (4140) if all values are assigned simultaneously and the column already has one.
    fn refuse_second_value(
        &self,
        sources: &[Source],
        target: &BoundTarget,
        at: usize,
    ) -> SqlResult<()> {
        let simultaneous = self.types.sql_mode.contains(SqlMode::SIMULTANEOUS_ASSIGNMENT);
        if simultaneous && target.assignments.iter().any(|(column, _)| *column == at) {
            let table = &self.columns.relations[target.relation].table;
            // A table below a view has no alias in the statement.
            let named = sources.iter().find(
                |s| matches!(s.columns, SourceColumns::Table(relation) if relation == target.relation),
            );
            let name = named.map_or(&*table.def.name, |source| &*source.name);
            let column = &table.def.columns[at].name;
            return Err(SqlError::new(&ER_UPDATED_COLUMN_ONLY_ONCE, &[&name, column]));
        }
        Ok(())
    }

    /// An error (1142) unless the tables that are not changed may be read.
    fn check_read_only_sources(
        &self,
        sources: &[Source],
        targets: &[BoundTarget],
    ) -> SqlResult<()> {
        let changed = targets.iter().filter_map(|t| self.source_over(sources, t.relation));
        let changed: Vec<usize> = changed.collect();
        for (_, source) in sources.iter().enumerate().filter(|(at, _)| !changed.contains(at)) {
            self.check_target_access(source.guard.as_deref(), Privileges::SELECT)?;
        }
        Ok(())
    }

    /// FROM of a statement that may change rows through views.
    pub(super) fn changed_from(&mut self, tables: &[ast::TableRef]) -> SqlResult<Logical> {
        self.kept_views.get_or_insert_default();
        let from = self.from(tables, false)?;
        // Compat: the order of a view does not affect changes of its rows, nor LIMIT.
        let through_view = match &self.scope().sources[..] {
            [source] => source.view.is_some(),
            _ => false,
        };
        Ok(if through_view { unsorted(from) } else { from })
    }

    /// An error if the only source cannot be a target; returns whether it has several tables.
    fn check_only_source(&self, sources: &[Source]) -> SqlResult<bool> {
        let [source] = sources else { return Ok(false) };
        let Some(view) = self.kept_view(source) else { return Ok(false) };
        match self.tables_below(view).len() {
            0 | 1 if !self.is_updatable(view) => {
                Err(SqlError::new(&ER_NON_UPDATABLE_TABLE, &[&source.name, &"UPDATE"]))
            }
            count => Ok(count > 1),
        }
    }

    /// An error if a table is changed under two names and its clustered key is assigned.
    fn check_key_of_one(&self, sources: &[Source], targets: &[BoundTarget]) -> SqlResult<()> {
        let table = |target: &BoundTarget| &self.columns.relations[target.relation].table;
        let moves = |target: &BoundTarget| {
            let parts = table(target).def.primary().into_iter().flat_map(|key| &key.parts);
            let assigned = |at| target.assignments.iter().any(|(column, _)| *column == at);
            { parts }.any(|part| assigned(part.column))
        };
        let name = |target: &BoundTarget| {
            let over = self.source_over(sources, target.relation);
            over.map_or_else(|| table(target).name().into(), |at| sources[at].name.clone())
        };
        for (at, target) in targets.iter().enumerate() {
            let same = |other: &&BoundTarget| table(other).def.id == table(target).def.id;
            let earlier = targets[..at].iter().find(same);
            if let Some(earlier) = earlier.filter(|earlier| moves(earlier) || moves(target)) {
                let arguments: [&dyn std::fmt::Display; 2] = [&name(earlier), &name(target)];
                return Err(SqlError::new(&ER_MULTI_UPDATE_KEY_CONFLICT, &arguments));
            }
        }
        Ok(())
    }

    fn check_one_table_of_each_view(
        &self,
        sources: &[Source],
        targets: &[BoundTarget],
    ) -> SqlResult<()> {
        for source in sources {
            let Some(view) = self.kept_view(source) else { continue };
            let below = self.tables_below(view);
            if targets.iter().filter(|t| below.contains(&t.relation)).count() > 1 {
                return Err(multiple_tables(view.info.schema(), view.info.name()));
            }
        }
        Ok(())
    }

    fn update_target(
        &mut self,
        sources: &[Source],
        relation: RelationId,
        assignment: (usize, Option<Expr>),
    ) -> SqlResult<BoundTarget> {
        let table = self.columns.relations[relation].table.clone();
        match sources {
            [source] if source.view.is_none() => self.check_only_target(&table, "UPDATE")?,
            _ => self.check_target(&table, "UPDATE")?,
        }
        self.refuse_historical(relation)?;
        let key = self.row_key(relation);
        let over = self.source_over(sources, relation);
        if let Some(at) = over {
            self.check_written(&sources[at], relation, Privileges::UPDATE)?;
        }
        if over.is_none_or(|at| sources[at].view.is_none()) {
            self.check_locked(&table, &self.columns.relations[relation].alias, true)?;
        }
        let view = over.and_then(|at| self.kept_view(&sources[at]));
        let check = view.map_or(Ok(None), |view| self.view_check(view))?;
        let all = check.is_some();
        let rules = self.row_rules(&table, &|_| all)?;
        let (assignments, portion) = (vec![assignment], None);
        Ok(BoundTarget { relation, key, assignments, rules, check, portion })
    }

    /// Makes a table instance give row keys, with an exclusive lock.
    pub(super) fn row_key(&mut self, relation: RelationId) -> ColumnId {
        let key = SqlType::varchar(3_072, selkie_types::CollationId::BINARY);
        let id = self.columns.add(key, true);
        let changed_alone = self.reading.changes_one;
        let info = &mut self.columns.relations[relation];
        (info.lock, info.changed_alone) = (LockMode::Exclusive, changed_alone);
        *info.row_key.get_or_insert(id)
    }

    fn assigned_column(
        &mut self,
        sources: &[Source],
        name: &ast::ColumnRef,
    ) -> SqlResult<(RelationId, usize)> {
        let column =
            self.in_clause(Clause::Set, |b| b.using_columns(Privileges::NONE, |b| b.column(name)))?;
        let Some(id) = self.column_read(&column).filter(|id| !self.is_hidden(*id)) else {
            return Err(SqlError::unknown_column(name, Clause::Set.name()));
        };
        let is_of = |s: &&Source| self.name_in_source(s, id).is_some();
        let Some(source) = sources.iter().find(is_of) else {
            return Err(SqlError::unknown_column(name, Clause::Set.name()));
        };
        self.check_target_access(source.guard.as_deref(), Privileges::UPDATE)?;
        self.check_column(source.guard.as_deref(), &name.name.value, Privileges::UPDATE)?;
        let origin = self.columns.get(id).written;
        let view = self.kept_view(source);
        let below = view.map(|view| self.tables_below(view));
        match (&source.columns, below, origin) {
            (super::scope::SourceColumns::Table(_), _, Some(origin)) => Ok(origin),
            (_, Some(below), Some(origin)) if below.contains(&origin.0) => Ok(origin),
            (_, Some(below), _) if !below.is_empty() => {
                Err(super::insert_target::not_updatable(name))
            }
            _ => Err(SqlError::new(&ER_NON_UPDATABLE_TABLE, &[&source.name, &"UPDATE"])),
        }
    }

    /// ORDER BY and LIMIT of UPDATE and DELETE.
    pub(super) fn dml_tail(
        &mut self,
        source: Logical,
        order_by: &[ast::OrderItem],
        limit: Option<&ast::Limit>,
    ) -> SqlResult<Logical> {
        let mut keys = Vec::with_capacity(order_by.len());
        for key in order_by {
            // There is no select list to which a position could refer.
            if super::select::position_of(&key.expr).is_some() {
                return Err(self.no_such_position(&key.expr, Clause::Order));
            }
            let expr = self.in_clause(Clause::Order, |b| b.scalar(&key.expr))?;
            keys.push(SortItem { expr, descending: key.descending });
        }
        let tail = Tail { limit, ..Tail::default() };
        let limit = self.limit(tail)?;
        Ok(limited(sorted(source, keys, 0), limit))
    }
}

/// A view's plan without its sorts.
fn unsorted(plan: Logical) -> Logical {
    match plan {
        Logical::Sort { input, .. } => unsorted(*input),
        Logical::Filter { input, conditions } => {
            Logical::Filter { input: Box::new(unsorted(*input)), conditions }
        }
        Logical::Project { input, columns } => {
            Logical::Project { input: Box::new(unsorted(*input)), columns }
        }
        other => other,
    }
}

/// Compat: DEFAULT of a column without a default is error 1364 in any mode, even for an ENUM.
fn refuse_no_default(table: &TableInfo, at: usize, value: &ast::Expr) -> SqlResult<()> {
    let column = &table.columns[at];
    let none = matches!(column.default, DefaultValue::Implicit) && !column.nullable;
    let needed = none && column.generated.is_none() && !column.auto_increment;
    if (needed || column.system.is_bound()) && matches!(value.kind, ast::ExprKind::Default(None)) {
        return Err(SqlError::new(&ER_NO_DEFAULT_FOR_FIELD, &[&column.name]));
    }
    Ok(())
}

/// Error 1393 for a view.
pub(super) fn multiple_tables(schema: &str, view: &str) -> SqlError {
    SqlError::new(&ER_VIEW_MULTIUPDATE, &[&schema, &view])
}
