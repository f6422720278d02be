//! FROM: tables, views, derived tables, joins. Each adds its sources to the current scope, in the
//! order of the text.

use std::sync::Arc;

use hashbrown::HashSet;

use selkie_catalog::{TableInfo, TableKind};
use selkie_engine::LockMode;
use selkie_expr::{CompareOp, Expr, build};
use selkie_sql::ast;
use selkie_types::charset::{first_duplicate, identifier_eq, in_one_case};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult, pace, stack};

use super::Binder;
use super::scope::{Clause, Scope, Source, SourceColumns, Within};
use crate::logical::{ColumnId, Join, Logical, RelationId, UnitId};
use crate::physical::{JoinKind, UnitKind};

/// The leaves that a `PARTITION` clause names, rising; `None` without one.
pub(super) fn listed_parts(
    table: &TableInfo,
    names: &[ast::Ident],
) -> SqlResult<Option<Arc<[u16]>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let Some(partitions) = &table.partitions else {
        return Err(SqlError::new(&ER_PARTITION_CLAUSE_ON_NONPARTITIONED, &[]));
    };
    let mut leaves: Vec<u16> = Vec::new();
    for name in names {
        let found = partitions
            .leaves_of(&name.value)
            .ok_or_else(|| SqlError::new(&ER_UNKNOWN_PARTITION, &[&name.value, &table.name()]))?;
        leaves.extend(found.map(|leaf| leaf as u16));
    }
    leaves.sort_unstable();
    leaves.dedup();
    Ok(Some(leaves.into()))
}

impl Binder<'_> {
    /// Binds a comma-separated FROM into the current scope.
    pub(super) fn from(&mut self, refs: &[ast::TableRef], straight: bool) -> SqlResult<Logical> {
        let around = self.late_error.take();
        let bound = self.all_of_from(refs, straight);
        match std::mem::replace(&mut self.late_error, around) {
            Some(late) if bound.is_ok() => Err(late),
            _ => bound,
        }
    }

    fn all_of_from(&mut self, refs: &[ast::TableRef], straight: bool) -> SqlResult<Logical> {
        let mut plan: Option<Logical> = None;
        for table in refs {
            if let ast::TableRef::JsonTable(table) = table {
                plan = Some(self.json_table(table, plan.unwrap_or(Logical::OneRow))?);
                continue;
            }
            let right = self.table_ref(table, straight)?;
            plan = Some(match plan {
                None => right,
                Some(left) => inner(left, right, Vec::new(), straight),
            });
        }
        if self.scope().sources.len() > crate::build::MOST_LEAVES {
            return Err(SqlError::new(&ER_TOO_MANY_TABLES, &[&crate::build::MOST_LEAVES]));
        }
        self.check_unique_names()?;
        Ok(plan.unwrap_or(Logical::OneRow))
    }

    fn check_unique_names(&mut self) -> SqlResult<()> {
        let names = self.table_names();
        let sources = &self.scope().sources;
        for (at, source) in sources.iter().enumerate() {
            let same = |other: &Source| {
                names.is_same(&other.name, &source.name) && other.schema == source.schema
            };
            if sources[..at].iter().any(same) {
                return Err(SqlError::new(&ER_NONUNIQ_TABLE, &[&source.name]));
            }
        }
        Ok(())
    }

    fn table_ref(&mut self, table: &ast::TableRef, straight: bool) -> SqlResult<Logical> {
        match table {
            ast::TableRef::Table(factor) => self.table_factor(factor),
            ast::TableRef::Derived(derived) => self.derived(derived),
            ast::TableRef::JsonTable(table) => self.json_table(table, Logical::OneRow),
            ast::TableRef::Join(join) => self.join(join, straight),
        }
    }

    fn table_factor(&mut self, factor: &ast::TableFactor) -> SqlResult<Logical> {
        stack::check()?;
        let alias = factor.alias.as_ref().unwrap_or(&factor.name.name);
        if factor.name.schema.is_none()
            && let Some(plan) =
                self.common_table(&factor.name.name, &alias.value, factor.system_time.as_ref())?
        {
            return Ok(plan);
        }
        if factor.name.schema.is_none() && factor.name.name.is("dual") {
            return Ok(Logical::OneRow);
        }
        let info = self.find_table(&factor.name)?;
        // A view's tables are checked instead of the view, if their rows are to be locked.
        let written =
            self.scope().rows.locking.is_some_and(|(mode, _)| mode == LockMode::Exclusive)
                && !matches!(info.kind, TableKind::View(_));
        self.use_locked(&info, &alias.value, factor.name.name.span, written)?;
        if let TableKind::View(view) = &info.kind {
            // Compat: a PARTITION clause on a view has no effect.
            self.refuse_view_history(&info, factor.system_time.as_ref())?;
            return self.at_time(factor.system_time.as_ref(), &alias.value, |b| {
                b.view(&info, view, &alias.value)
            });
        }
        let parts = listed_parts(&info, &factor.partitions)?;
        let relation = self.add_table(info, &alias.value)?;
        self.columns.relations[relation].parts = parts;
        self.hints(relation, &factor.hints)?;
        let versions = self.versions(relation, factor.system_time.as_ref())?;
        Ok(Logical::Scan(relation).filter(versions))
    }

    /// Adds a table instance to the current scope.
    pub(super) fn add_table(
        &mut self,
        info: std::sync::Arc<TableInfo>,
        alias: &str,
    ) -> SqlResult<RelationId> {
        let schema = info.schema().into();
        let guard = self.guard(&info);
        let computed = self.computed_columns(&info)?;
        self.note_read(&info, alias);
        let relation = self.columns.add_relation(info, alias);
        self.columns.relations[relation].computed = computed;
        self.guards.extend(guard.iter().map(|guard| (relation, guard.clone())));
        if self.reading.locks_all {
            self.columns.relations[relation].lock = LockMode::Shared;
        }
        if let Some((mode, wait)) = self.scope().rows.locking {
            let relation = &mut self.columns.relations[relation];
            (relation.lock, relation.wait) = (mode, wait);
        }
        self.scope().sources.push(Source {
            schema,
            name: alias.into(),
            columns: SourceColumns::Table(relation),
            nullable: false,
            merged: Vec::new(),
            view: None,
            guard,
        });
        Ok(relation)
    }

    fn hints(&mut self, relation: RelationId, hints: &[ast::IndexHint]) -> SqlResult<()> {
        for hint in hints {
            if hint.purpose.is_some_and(|p| p != ast::HintPurpose::Join) {
                continue;
            }
            let info = &mut self.columns.relations[relation];
            let mut named = Vec::new();
            for name in &hint.indexes {
                let found =
                    info.table.def.indexes.iter().position(|i| identifier_eq(&i.name, &name.value));
                let is_text =
                    |i: &selkie_catalog::TextIndex| identifier_eq(&i.def.name, &name.value);
                // Compat: MATCH uses its index whatever hints say.
                if found.is_none() && info.table.fulltext.iter().any(is_text) {
                    continue;
                }
                let Some(at) = found else {
                    return Err(SqlError::new(&ER_KEY_DOES_NOT_EXISTS, &[&name, &info.alias]));
                };
                named.push(at);
            }
            let all = 0..info.table.def.indexes.len();
            match hint.action {
                ast::HintAction::Ignore => {
                    let before = info.allowed.take().unwrap_or_else(|| all.collect());
                    info.allowed =
                        Some(before.into_iter().filter(|i| !named.contains(i)).collect());
                }
                action => {
                    info.allowed.get_or_insert_with(Vec::new).extend(named);
                    info.forced |= action == ast::HintAction::Force;
                }
            }
        }
        Ok(())
    }

    fn derived(&mut self, derived: &ast::DerivedTable) -> SqlResult<Logical> {
        let time = derived.system_time.as_ref();
        let around = self.columns.units.open(UnitKind::Merged, &derived.alias.value);
        let mut query =
            self.at_time(time, &derived.alias.value, |b| b.closed_query(&derived.query))?;
        let unit = self.columns.units.close(around);
        self.keep_digits(&mut query, &derived.query);
        self.let_keys_through(&mut query);
        let ids = query.ids();
        let names = self.derived_names(&query, &[])?;
        self.keep_columns(&query);
        let merges = self.merges(&derived.query, &query);
        self.keep_unit(unit, &query, (merges, &names));
        self.add_listed(&derived.alias.value, names, ids);
        Ok(query.plan)
    }

    /// Whether MariaDB merges a query into the one around it, although it may read tables whose
    /// rows are kept.
    pub(super) fn merges(&self, query: &ast::Query, bound: &super::Query) -> bool {
        let ast::QueryBody::Select(select) = &query.body else { return bound.plan.is_merged() };
        let is_plain = query.limit.is_none()
            && !select.options.distinct
            && select.group_by.is_empty()
            && select.having.is_none()
            && !select.from.is_empty();
        let is_window =
            |e: &ast::Expr| matches!(&e.kind, ast::ExprKind::Call(c) if c.over.is_some());
        let mut computes = |item: &ast::SelectItem| match item {
            ast::SelectItem::Expr { expr, .. } => {
                let found = |e: &ast::Expr| is_window(e) || self.is_aggregate(e);
                expr.find(&mut |e| found(e).then_some(())).is_some()
            }
            ast::SelectItem::Wildcard { .. } => false,
        };
        is_plain && !select.items.iter().any(&mut computes) && !changes_by_row(query)
    }

    /// Notes that MariaDB keeps the rows of a table, unless it merges its query.
    pub(super) fn keep_unit(
        &mut self,
        unit: UnitId,
        query: &super::Query,
        (merges, names): (bool, &[Box<str>]),
    ) {
        if !merges || !self.settings.variables.derived.merge {
            let columns: Vec<_> = names.iter().cloned().zip(query.ids()).collect();
            self.columns.units.keep(unit, &query.plan, &columns);
        }
    }

    /// Marks the columns of a derived table that is not merged into the outer query.
    pub(super) fn keep_columns(&mut self, query: &super::Query) {
        if !query.plan.is_merged() {
            query.columns.iter().for_each(|c| self.columns.get_mut(c.id).kept = true);
        }
        self.note_hex(query);
    }

    /// Marks hexadecimal literals among the columns of a query that is merged into another.
    pub(super) fn note_hex(&mut self, query: &super::Query) {
        if !query.plan.is_plain_select() {
            return;
        }
        for (id, _) in query.plan.projected().iter().filter(|(_, e)| e.is_hex()) {
            self.columns.get_mut(*id).hex = true;
        }
    }

    /// Column names of a derived table: the given ones or the query's own, without duplicates.
    pub(super) fn derived_names(
        &self,
        query: &super::Query,
        given: &[ast::Ident],
    ) -> SqlResult<Vec<Box<str>>> {
        if !given.is_empty() && given.len() != query.columns.len() {
            return Err(SqlError::new(&ER_WITH_COL_WRONG_LIST, &[]));
        }
        let names: Vec<Box<str>> = match given.is_empty() {
            true => query.columns.iter().map(|c| c.name.as_str().into()).collect(),
            false => given.iter().map(|i| i.value.clone()).collect(),
        };
        match first_duplicate(names.iter().map(|name| &**name)) {
            Some(at) => Err(SqlError::new(&ER_DUP_FIELDNAME, &[&names[at]])),
            None => Ok(names),
        }
    }

    /// Adds a derived table to the current scope.
    pub(super) fn add_listed(&mut self, alias: &str, names: Vec<Box<str>>, ids: Vec<ColumnId>) {
        self.scope().sources.push(Source {
            schema: "".into(),
            name: alias.into(),
            columns: SourceColumns::Listed(names.into_iter().zip(ids).collect()),
            nullable: false,
            merged: Vec::new(),
            view: None,
            guard: None,
        });
    }

    /// Binds a query that cannot see outer names.
    pub(super) fn closed_query(&mut self, query: &ast::Query) -> SqlResult<super::Query> {
        let around = self.enter(None);
        let bound = self.query_apart(query);
        self.leave(around);
        bound
    }

    /// As [`Self::closed_query`], for a query that may be merged into the outer one.
    pub(super) fn query_apart(&mut self, query: &ast::Query) -> SqlResult<super::Query> {
        let scopes = std::mem::take(&mut self.scopes);
        let around = self.derived_in_update;
        self.derived_in_update = around.map(|depth| depth + 1);
        let bound = self.query(query);
        self.derived_in_update = around;
        self.scopes = scopes;
        bound
    }

    fn join(&mut self, join: &ast::Join, straight: bool) -> SqlResult<Logical> {
        stack::check()?;
        let before = self.scope().sources.len();
        let numbered = self.scope().rows.numbered.len();
        let left = self.table_ref(&join.left, straight)?;
        let middle = self.scope().sources.len();
        if let ast::TableRef::JsonTable(table) = &join.right {
            return self.join_json_table(join, table, left, before..middle);
        }
        let right = self.table_ref(&join.right, straight)?;
        let after = self.scope().sources.len();
        let mut on = self.using(join, before, middle, after)?;
        let chooses = !matches!(join.kind, ast::JoinKind::Left | ast::JoinKind::Right);
        if let ast::JoinCondition::On(condition) = &join.condition {
            match self.on_condition(condition, before, chooses) {
                Ok(bound) => on.extend(Self::conjuncts(bound)),
                Err(error) if error.code() == ER_BAD_FIELD_ERROR.code => {
                    self.late_error.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        let on = self.join_conditions(join.kind, on, numbered)?;
        let straight = straight || join.kind == ast::JoinKind::Straight;
        Ok(match join.kind {
            ast::JoinKind::Inner | ast::JoinKind::Straight => inner(left, right, on, straight),
            ast::JoinKind::Left => {
                self.make_nullable(middle..after);
                left.join(JoinKind::Left, right, on)
            }
            ast::JoinKind::Right => {
                self.make_nullable(before..middle);
                right.join(JoinKind::Left, left, on)
            }
        })
    }

    /// The conditions of a join that do not read row numbers. The others are tested with WHERE,
    /// which means the same unless an outer join is above them. `before` conditions were kept
    /// before this join.
    fn join_conditions(
        &mut self,
        kind: ast::JoinKind,
        on: Vec<Expr>,
        before: usize,
    ) -> SqlResult<Vec<Expr>> {
        let on = self.without_numbers(on);
        let is_outer = matches!(kind, ast::JoinKind::Left | ast::JoinKind::Right);
        match is_outer && self.scope().rows.numbered.len() > before {
            true => Err(SqlError::not_supported("ROWNUM() in a condition of an outer join")),
            false => Ok(on),
        }
    }

    /// ON sees the two sides of its join and the outer blocks, but not other tables of FROM.
    pub(super) fn on_condition(
        &mut self,
        condition: &ast::Expr,
        first: usize,
        inner: bool,
    ) -> SqlResult<Expr> {
        let scope = self.scope();
        let hidden: Vec<Source> = scope.sources.drain(..first).collect();
        let bound = self.filter_join(condition, inner);
        self.scope().sources.splice(0..0, hidden);
        bound
    }

    pub(super) fn make_nullable(&mut self, sources: std::ops::Range<usize>) {
        self.scope().sources[sources].iter_mut().for_each(|s| s.nullable = true);
    }

    /// The equalities of USING and NATURAL. The merged columns are hidden on one side.
    fn using(
        &mut self,
        join: &ast::Join,
        before: usize,
        middle: usize,
        after: usize,
    ) -> SqlResult<Vec<Expr>> {
        let names: Vec<Box<str>> = match &join.condition {
            ast::JoinCondition::Using(names) => names.iter().map(|n| n.value.clone()).collect(),
            ast::JoinCondition::Natural => self.common_names(before..middle, middle..after),
            _ => return Ok(Vec::new()),
        };
        let mut star = Vec::new();
        let mut on = Vec::new();
        for name in &names {
            let left = self.side_column(before..middle, name)?;
            let right = self.side_column(middle..after, name)?;
            let (a, b) = (self.side_expr(left), self.side_expr(right));
            on.push(build::comparison(CompareOp::Eq, a, b, self.types)?);
            let right_wins = join.kind == ast::JoinKind::Right;
            let (kept, hidden) = if right_wins { (right, left) } else { (left, right) };
            self.scope().sources[hidden.0].merged.push(hidden.1);
            star.push((kept.0, kept.1));
        }
        let mut sides = [before..middle, middle..after];
        if join.kind == ast::JoinKind::Right {
            sides.reverse();
        }
        let mut order = std::mem::take(&mut self.scope().star);
        let sources = self.scope().sources.clone();
        order.join(star, sides, &|at| self.free_columns(&sources[at]));
        self.scope().star = order;
        Ok(on)
    }

    /// Positions of a source's columns that USING and NATURAL have not merged.
    pub(super) fn free_columns(&self, source: &Source) -> Vec<usize> {
        let merged: HashSet<usize> = source.merged.iter().copied().collect();
        let width = self.source_width(source);
        pace::tick(16 * width);
        (0..width).filter(|at| !merged.contains(at)).collect()
    }

    fn common_names(
        &self,
        left: std::ops::Range<usize>,
        right: std::ops::Range<usize>,
    ) -> Vec<Box<str>> {
        let sources = self.innermost();
        let visible = |side: std::ops::Range<usize>| -> Vec<Box<str>> {
            let columns = sources[side].iter().flat_map(|s| {
                let columns = self.source_columns(s);
                let of_table = matches!(s.columns, SourceColumns::Table(_));
                let is_left_out = |id| of_table && self.is_hidden(id) || self.is_invisible(s, id);
                let listed =
                    self.free_columns(s).into_iter().filter(|at| !is_left_out(columns[*at].1));
                let listed: Vec<Box<str>> = listed.map(|at| columns[at].0.clone()).collect();
                listed
            });
            columns.collect()
        };
        let right: HashSet<String> = visible(right).iter().map(|name| in_one_case(name)).collect();
        visible(left).into_iter().filter(|name| right.contains(&in_one_case(name))).collect()
    }

    /// The tables of the innermost block.
    fn innermost(&self) -> &[Source] {
        self.scopes.last().map_or(&[], |scope| &scope.sources)
    }

    fn side_column(
        &self,
        side: std::ops::Range<usize>,
        name: &str,
    ) -> SqlResult<(usize, usize, ColumnId)> {
        let mut found = None;
        let sources = self.innermost();
        for at in side {
            let source = &sources[at];
            if let Some((position, id)) = self.source_column(source, name)
                && !source.merged.contains(&position)
            {
                if found.is_some() {
                    return Err(SqlError::ambiguous_column(name, Clause::From.name()));
                }
                self.check_column(source.guard.as_deref(), name, self.column_use)?;
                found = Some((at, position, id));
            }
        }
        found.ok_or_else(|| SqlError::unknown_column(name, Clause::From.name()))
    }

    fn side_expr(&self, (source, _, id): (usize, usize, ColumnId)) -> Expr {
        self.source_expr(&self.innermost()[source], id)
    }

    /// Opens a scope for a block.
    pub(super) fn push_scope(&mut self) {
        let serial = self.columns.units.next_block();
        let within = Within { serial, ..Within::default() };
        self.scopes.push(Scope { within, ..Scope::default() });
    }

    pub(super) fn pop_scope(&mut self) -> Scope {
        self.scopes.pop().unwrap_or_default()
    }
}

fn inner(left: Logical, right: Logical, on: Vec<Expr>, straight: bool) -> Logical {
    if matches!(left, Logical::OneRow) && on.is_empty() {
        return right;
    }
    let kind = JoinKind::Inner;
    Logical::Join(Box::new(Join { kind, left, right, on, mark: None, straight }))
}

/// Whether a query is a SELECT whose expressions may change with each of its rows, so that MariaDB
/// computes the rows once and keeps them: they are random, or assign variables.
pub(crate) fn changes_by_row(query: &ast::Query) -> bool {
    let ast::QueryBody::Select(select) = &query.body else { return false };
    let is_random = |call: &ast::FunctionCall| {
        let found = selkie_expr::function_named(&call.name.value).filter(|_| call.schema.is_none());
        found.is_some_and(|found| !found.is_deterministic() && !found.has_side_effects())
    };
    let changes = |e: &ast::Expr| match &e.kind {
        ast::ExprKind::AssignUserVar { .. } => true,
        ast::ExprKind::Call(call) => is_random(call),
        _ => false,
    };
    let has_change = |e: &ast::Expr| e.find(&mut |e| changes(e).then_some(())).is_some();
    let of_item = |item: &ast::SelectItem| match item {
        ast::SelectItem::Expr { expr, .. } => has_change(expr),
        ast::SelectItem::Wildcard { .. } => false,
    };
    select.items.iter().any(of_item)
        || select.where_clause.iter().any(has_change)
        || query.order_by.iter().any(|key| has_change(&key.expr))
}
