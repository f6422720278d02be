//! Versions of rows that a statement sees: FOR SYSTEM_TIME, and current rows without it.
//!
//! Compat: a view or derived table with FOR SYSTEM_TIME passes it on to the versioned tables in it
//! that have none of their own; `system_versioning_asof` has an effect on queries alone.

use selkie_catalog::{SystemTime, TableInfo};
use selkie_engine::LockMode;
use selkie_expr::{CompareOp, Expr, build};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::Binder;
use crate::logical::{ColumnId, RelationId};

/// FOR SYSTEM_TIME of a view, derived or common table.
pub(super) struct OuterTime {
    /// The clause.
    pub(super) time: ast::SystemTime,
    /// A versioned table has it.
    used: bool,
}

impl Binder<'_> {
    /// Binds something whose versioned tables are read at `time`, if that is given.
    pub(super) fn at_time<T>(
        &mut self,
        time: Option<&ast::SystemTime>,
        alias: &str,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let Some(time) = time else { return bind(self) };
        let own = OuterTime { time: time.clone(), used: false };
        let around = self.reading.outer_time.replace(own);
        let bound = bind(self);
        let own = std::mem::replace(&mut self.reading.outer_time, around);
        match own.is_some_and(|own| own.used) {
            true => bound,
            false => bound.and(Err(SqlError::new(&ER_VERS_NOT_VERSIONED, &[&alias]))),
        }
    }

    /// DELETE HISTORY names no view.
    pub(super) fn refuse_view_history(
        &self,
        view: &TableInfo,
        time: Option<&ast::SystemTime>,
    ) -> SqlResult<()> {
        match time {
            Some(ast::SystemTime::Ended(_)) => {
                Err(SqlError::new(&ER_IT_IS_A_VIEW, &[&view.name()]))
            }
            _ => Ok(()),
        }
    }

    /// Whether a column is one that nothing lists.
    pub(super) fn is_hidden(&self, id: ColumnId) -> bool {
        self.columns.table_column(id).is_some_and(|(of, at)| of.table.columns[at].is_hidden())
    }

    /// Conditions for the rows of a table that the statement sees.
    pub(super) fn versions(
        &mut self,
        relation: RelationId,
        time: Option<&ast::SystemTime>,
    ) -> SqlResult<Vec<Expr>> {
        let table = self.columns.relations[relation].table.clone();
        let alias = self.columns.relations[relation].alias.clone();
        let Some(period) = table.system_time() else {
            return match time {
                Some(_) => Err(SqlError::new(&ER_VERS_NOT_VERSIONED, &[&alias])),
                None => Ok(Vec::new()),
            };
        };
        let first = self.columns.relations[relation].first;
        let start = self.columns.expr(first + period.start);
        let end = self.columns.expr(first + period.end);
        let outer = self.reading.outer_time.as_mut().filter(|_| time.is_none()).map(|outer| {
            outer.used = true;
            outer.time.clone()
        });
        if table.rotation().is_some() && self.columns.relations[relation].parts.is_some() {
            return match time.or(outer.as_ref()) {
                // Compat: all rows of the partitions named.
                None => Ok(Vec::new()),
                Some(_) => Err(SqlError::new(&ER_VERS_QUERY_IN_PARTITION, &[&alias])),
            };
        }
        let Some(time) = time.or(outer.as_ref()) else {
            return self.current((start, end));
        };
        let deletes = matches!(time, ast::SystemTime::Ended(_));
        let locks = self.scope().rows.locking.is_some_and(|(mode, _)| mode == LockMode::Exclusive);
        if locks && !deletes {
            return Err(SqlError::new(&ER_TABLE_NOT_LOCKED_FOR_WRITE, &[&alias]));
        }
        self.columns.relations[relation].is_historical = !deletes;
        let time = time.clone();
        match &time {
            ast::SystemTime::All => Ok(Vec::new()),
            ast::SystemTime::AsOf(at) => {
                let at = self.history_point(&table, at)?;
                self.overlapping((start, end), at.clone(), (CompareOp::Le, at))
            }
            ast::SystemTime::Between(from, to) | ast::SystemTime::FromTo(from, to) => {
                let op = match &time {
                    ast::SystemTime::Between(..) => CompareOp::Le,
                    _ => CompareOp::Lt,
                };
                let from = self.history_point(&table, from)?;
                let to = self.history_point(&table, to)?;
                // Bounds in the wrong order have nothing between them.
                let ordered = self.compared(op, from.clone(), to.clone())?;
                let mut out = self.overlapping((start, end), from, (op, to))?;
                out.push(ordered);
                Ok(out)
            }
            ast::SystemTime::Ended(before) => {
                let ty = table.columns[period.end].ty.clone();
                let last = Expr::literal(SystemTime::end_value(), ty);
                let mut out = Vec::new();
                if let Some(before) = before {
                    let before = self.history_point(&table, before)?;
                    out.push(self.compared(CompareOp::Lt, end.clone(), before)?);
                }
                out.push(self.compared(CompareOp::Lt, end, last)?);
                Ok(out)
            }
        }
    }

    /// Rows that are current, or were so at the time that `system_versioning_asof` gives.
    fn current(&mut self, (start, end): (Expr, Expr)) -> SqlResult<Vec<Expr>> {
        let as_of = self.settings.variables.as_of.clone();
        if let Some(at) = as_of.filter(|_| self.reading.as_of) {
            let literal = ast::TemporalKind::Timestamp;
            let (at, _) = super::literal::temporal_literal(literal, at.as_bytes(), self.types)?;
            return self.overlapping((start, end), at.clone(), (CompareOp::Le, at));
        }
        let last = Expr::literal(SystemTime::end_value(), end.ty.clone());
        self.compared(CompareOp::Eq, end, last).map(|e| vec![e])
    }

    /// Versions that end after one point and start before, or at, another.
    fn overlapping(
        &mut self,
        (start, end): (Expr, Expr),
        from: Expr,
        (op, to): (CompareOp, Expr),
    ) -> SqlResult<Vec<Expr>> {
        Ok(vec![self.compared(CompareOp::Gt, end, from)?, self.compared(op, start, to)?])
    }

    fn compared(&mut self, op: CompareOp, a: Expr, b: Expr) -> SqlResult<Expr> {
        build::comparison(op, a, b, self.types)
    }

    /// A point in history: an expression without columns.
    fn history_point(&mut self, table: &TableInfo, point: &ast::HistoryPoint) -> SqlResult<Expr> {
        if point.is_transaction {
            return Err(SqlError::new(&ER_VERS_ENGINE_UNSUPPORTED, &[&table.name()]));
        }
        let column = point.expr.find(&mut |e| match &e.kind {
            ast::ExprKind::Column(column) => Some(column.name.value.clone()),
            _ => None,
        });
        if let Some(column) = column {
            let arguments: [&dyn std::fmt::Display; 2] = [&column, &"FOR SYSTEM_TIME"];
            return Err(SqlError::new(&ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION, &arguments));
        }
        let scopes = std::mem::take(&mut self.scopes);
        let bound = self.constant(&point.expr);
        self.scopes = scopes;
        bound
    }

    /// A row keeps its start if only columns are assigned that are not versioned.
    pub(super) fn settle_bounds(&self, target: &mut super::BoundTarget) {
        let table = &self.columns.relations[target.relation].table;
        let assigned = target.assignments.iter().map(|(at, _)| *at);
        if !table.makes_version(assigned) {
            target.rules.bounds.clear();
        }
    }

    /// An error if a table is to be changed whose versions FOR SYSTEM_TIME chooses.
    pub(super) fn refuse_historical(&self, relation: RelationId) -> SqlResult<()> {
        let relation = &self.columns.relations[relation];
        let table = &relation.table;
        if relation.parts.is_some() {
            refuse_parts_of_history(table)?;
        }
        match relation.is_historical {
            true => Err(SqlError::new(&ER_TABLE_NOT_LOCKED_FOR_WRITE, &[&relation.alias])),
            false => Ok(()),
        }
    }
}

/// An error if rows of listed partitions are to be changed and other partitions have their history.
pub(super) fn refuse_parts_of_history(table: &TableInfo) -> SqlResult<()> {
    match table.rotation() {
        Some(_) => Err(SqlError::new(&ER_VERS_NOT_ALLOWED, &[&table.schema(), &table.name()])),
        None => Ok(()),
    }
}
