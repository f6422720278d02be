//! UPDATE of one or more tables.

use selkie_engine::LockMode;
use selkie_expr::Expr;
use selkie_sql::ast;
use selkie_types::{SqlError, SqlResult, SqlType};

use super::Binder;
use super::scope::{Clause, Source, SourceColumns};
use super::select::{Tail, limited, sorted};
use crate::logical::{ColumnId, Logical, RelationId, SortItem};
use crate::physical::RowRules;

/// A bound UPDATE.
pub(crate) struct BoundUpdate {
    pub source: Logical,
    pub targets: Vec<BoundTarget>,
    pub ignore: bool,
    /// Several tables: the rows are found before any is changed.
    pub multiple: bool,
}

/// A table changed by an UPDATE.
pub(crate) struct BoundTarget {
    pub relation: RelationId,
    pub key: ColumnId,
    pub assignments: Vec<(usize, Option<Expr>)>,
    pub rules: RowRules,
}

impl Binder<'_> {
    pub(crate) fn update(&mut self, update: &ast::Update) -> SqlResult<BoundUpdate> {
        self.ignore = update.ignore;
        self.push_scope();
        let bound = self.update_in_scope(update);
        self.pop_scope();
        bound
    }

    fn update_in_scope(&mut self, update: &ast::Update) -> SqlResult<BoundUpdate> {
        let mut source = self.from(&update.tables, false)?;
        let multiple = self.scope().sources.len() > 1;
        if let Some(condition) = &update.where_clause {
            let bound = self.in_clause(Clause::Where, |b| b.condition(condition))?;
            source = source.filter(Self::conjuncts(bound));
        }
        let mut targets: Vec<BoundTarget> = Vec::new();
        for assignment in &update.assignments {
            let (relation, at) = self.assigned_column(&assignment.column)?;
            let table = self.columns.relations[relation].table.clone();
            let value = self.assigned_value(&table, at, &assignment.value, Clause::Set)?;
            match targets.iter_mut().find(|t| t.relation == relation) {
                Some(target) => target.assignments.push((at, value)),
                None => targets.push(self.update_target(relation, (at, value))?),
            }
        }
        source = self.dml_tail(source, &update.order_by, update.limit.as_deref())?;
        Ok(BoundUpdate { source, targets, ignore: update.ignore, multiple })
    }

    fn update_target(
        &mut self,
        relation: RelationId,
        assignment: (usize, Option<Expr>),
    ) -> SqlResult<BoundTarget> {
        let table = self.columns.relations[relation].table.clone();
        self.check_target(&table, "UPDATE")?;
        let key = self.row_key(relation);
        let rules = self.row_rules(&table)?;
        Ok(BoundTarget { relation, key, assignments: vec![assignment], rules })
    }

    /// Makes a table instance give row keys under an exclusive lock.
    pub(super) fn row_key(&mut self, relation: RelationId) -> ColumnId {
        let key = SqlType::varchar(3_072, selkie_types::CollationId::BINARY);
        let id = self.columns.add(key, true);
        let info = &mut self.columns.relations[relation];
        info.lock = LockMode::Exclusive;
        *info.row_key.get_or_insert(id)
    }

    fn assigned_column(&mut self, name: &ast::ColumnRef) -> SqlResult<(RelationId, usize)> {
        let column = self.in_clause(Clause::Set, |b| b.column(name))?;
        let origin = column.as_column().and_then(|id| self.columns.get(id).origin);
        let Some((relation, at)) = origin else {
            return Err(SqlError::unknown_column(name, Clause::Set.name()));
        };
        let direct = |s: &Source| matches!(s.columns, SourceColumns::Table(r) if r == relation);
        let Some(source) = self.scope().sources.iter().find(|s| direct(s)) else {
            let error = &selkie_types::error::catalogue::ER_NON_UPDATABLE_TABLE;
            let alias = name.table.as_ref().map_or("", |t| &t.value).to_owned();
            return Err(SqlError::new(error, &[&alias, &"UPDATE"]));
        };
        let _ = source;
        Ok((relation, at))
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
            let expr = self.in_clause(Clause::Order, |b| b.scalar(&key.expr))?;
            keys.push(SortItem { expr, descending: key.descending });
        }
        let tail = Tail { order_by: &[], limit, outermost: false };
        let limit = self.limit(tail)?;
        Ok(limited(sorted(source, keys), limit))
    }
}
