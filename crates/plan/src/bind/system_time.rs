//! Versions of rows that a statement sees: FOR SYSTEM_TIME, and current rows without it.
//!
//! Compat: a view or derived table with FOR SYSTEM_TIME passes it on to the versioned tables in it
//! that have none of their own; `system_versioning_asof` has an effect on queries alone.

use selkie_catalog::{SystemTime, TableInfo, is_transaction_bound};
use selkie_engine::LockMode;
use selkie_expr::{CompareOp, Expr, ExprKind, build, parameter_name};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{Physical, SqlError, SqlResult, TypeKind, Value};

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
        self.versions_at(&table, &time, (start, end))
    }

    /// Conditions for the versions of rows that FOR SYSTEM_TIME chooses.
    fn versions_at(
        &mut self,
        table: &TableInfo,
        time: &ast::SystemTime,
        (start, end): (Expr, Expr),
    ) -> SqlResult<Vec<Expr>> {
        let numbered = table.is_versioned_by_transaction();
        match time {
            ast::SystemTime::All => Ok(Vec::new()),
            ast::SystemTime::AsOf(point) => {
                let at = self.history_point(table, point)?;
                match numbered {
                    true => self.seen_at((start, end), self.transaction(point, at)?),
                    false => self.overlapping((start, end), at.clone(), (CompareOp::Le, at)),
                }
            }
            ast::SystemTime::Between(first, last) => {
                self.between(table, (start, end), first, (CompareOp::Le, last))
            }
            ast::SystemTime::FromTo(first, last) => {
                self.between(table, (start, end), first, (CompareOp::Lt, last))
            }
            ast::SystemTime::Ended(before) => {
                let last = Expr::literal(SystemTime::end_value(&end.ty), end.ty.clone());
                let mut out = Vec::new();
                if let Some(before) = before {
                    let at = self.history_point(table, before)?;
                    out.push(match numbered {
                        true => {
                            let at = self.transaction(before, at)?;
                            build::transaction_sees(at, end.clone(), self.types)?
                        }
                        false => self.compared(CompareOp::Lt, end.clone(), at)?,
                    });
                }
                out.push(self.compared(CompareOp::Lt, end, last)?);
                Ok(out)
            }
        }
    }

    /// Versions that were current at some time after one point and before, or at, another.
    fn between(
        &mut self,
        table: &TableInfo,
        (start, end): (Expr, Expr),
        first: &ast::HistoryPoint,
        (op, last): (CompareOp, &ast::HistoryPoint),
    ) -> SqlResult<Vec<Expr>> {
        let from = self.history_point(table, first)?;
        let to = self.history_point(table, last)?;
        // Bounds in the wrong order have nothing between them.
        let ordered = self.compared(op, from.clone(), to.clone())?;
        let mut out = match table.is_versioned_by_transaction() {
            true => {
                let (from, to) = (self.transaction(first, from)?, self.transaction(last, to)?);
                let ends = build::transaction_sees_or_is(end, from, self.types)?;
                let starts = match op {
                    CompareOp::Le => build::transaction_sees_or_is(to, start, self.types)?,
                    _ => build::transaction_sees(to, start, self.types)?,
                };
                vec![ends, starts]
            }
            false => self.overlapping((start, end), from, (op, to))?,
        };
        out.push(ordered);
        Ok(out)
    }

    /// Rows that are current, or were so at the time that `system_versioning_asof` gives.
    fn current(&mut self, (start, end): (Expr, Expr)) -> SqlResult<Vec<Expr>> {
        let as_of = self.settings.variables.as_of.clone();
        if let Some(at) = as_of.filter(|_| self.reading.as_of) {
            let literal = ast::TemporalKind::Timestamp;
            let (at, _) = super::literal::temporal_literal(literal, at.as_bytes(), self.types)?;
            if end.ty.is_integer() {
                let at = build::transaction_at(at, self.types)?;
                return self.seen_at((start, end), at);
            }
            return self.overlapping((start, end), at.clone(), (CompareOp::Le, at));
        }
        let last = Expr::literal(SystemTime::end_value(&end.ty), end.ty.clone());
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

    /// Versions that one transaction sees as current.
    fn seen_at(&mut self, (start, end): (Expr, Expr), at: Expr) -> SqlResult<Vec<Expr>> {
        let ends = build::transaction_sees(end, at.clone(), self.types)?;
        Ok(vec![ends, build::transaction_sees_or_is(at, start, self.types)?])
    }

    /// The transaction of a point in the history of a table that is versioned by transaction: the
    /// last one that was committed by a time.
    fn transaction(&self, point: &ast::HistoryPoint, at: Expr) -> SqlResult<Expr> {
        match point.is_transaction {
            true => Ok(at),
            false => build::transaction_at(at, self.types),
        }
    }

    fn compared(&mut self, op: CompareOp, a: Expr, b: Expr) -> SqlResult<Expr> {
        build::comparison(op, a, b, self.types)
    }

    /// Replaces the operands of a comparison with times that are bounds of periods by the times at
    /// which their transactions were committed.
    pub(super) fn time_transactions(&self, operands: &mut [Expr]) -> SqlResult<()> {
        if !operands.iter().any(|e| e.ty.is_temporal()) {
            return Ok(());
        }
        for e in operands {
            *e = self.time_of_transaction(e.clone())?;
        }
        Ok(())
    }

    /// The time at which a transaction was committed, for a column that has its number; other
    /// expressions as they are.
    pub(super) fn time_of_transaction(&self, e: Expr) -> SqlResult<Expr> {
        let ExprKind::Column(id) = &e.kind else { return Ok(e) };
        let column = self.columns.table_column(*id);
        match column.is_some_and(|(of, at)| is_transaction_bound(&of.table.columns[at])) {
            true => build::transaction_time(e, self.types),
            false => Ok(e),
        }
    }

    /// A point in history: an expression without columns.
    fn history_point(&mut self, table: &TableInfo, point: &ast::HistoryPoint) -> SqlResult<Expr> {
        let column = point.expr.find(&mut |e| match &e.kind {
            ast::ExprKind::Column(column) => Some(column.name.value.clone()),
            _ => None,
        });
        if let Some(column) = column {
            let arguments: [&dyn std::fmt::Display; 2] = [&column, &"FOR SYSTEM_TIME"];
            return Err(SqlError::new(&ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION, &arguments));
        }
        if matches!(point.expr.kind, ast::ExprKind::Row(_)) {
            let arguments: [&dyn std::fmt::Display; 2] = [&"row", &"FOR SYSTEM_TIME"];
            return Err(SqlError::new(&ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION, &arguments));
        }
        let scopes = std::mem::take(&mut self.scopes);
        let bound = self.constant(&point.expr);
        self.scopes = scopes;
        let bound = bound?;
        refuse_point(&bound)?;
        match point.is_transaction && !table.is_versioned_by_transaction() {
            true => Err(SqlError::new(&ER_VERS_ENGINE_UNSUPPORTED, &[&table.name()])),
            false => Ok(bound),
        }
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

/// An error if a value of this type is neither a time nor the number of a transaction.
fn refuse_point(point: &Expr) -> SqlResult<()> {
    let ty = &point.ty;
    let fits = match ty.kind {
        TypeKind::Year | TypeKind::Enum | TypeKind::Set => false,
        _ => ty.is_integer() || matches!(ty.physical(), Physical::Bytes) || ty.is_temporal(),
    };
    match fits || point.as_literal().is_some_and(Value::is_null) {
        true => Ok(()),
        false => {
            let arguments: [&dyn std::fmt::Display; 2] = [&parameter_name(ty), &"FOR SYSTEM_TIME"];
            Err(SqlError::new(&ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION, &arguments))
        }
    }
}
