//! Rules of a table for every stored row: generated columns, checks, defaults. Their stored texts
//! are parsed and bound again for each statement.

use std::sync::Arc;

use selkie_catalog::{DefaultValue, SERIES_ENGINE, TableInfo};
use selkie_expr::{Expr, build};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{Privileges, SqlError, SqlResult, Value};

use super::Binder;
use super::scope::{Clause, Source, SourceColumns};
use crate::logical::ColumnId;
use crate::physical::RowRules;
use crate::safety::Uses;

impl Binder<'_> {
    /// Binds in a scope where names refer to the columns of `table` by position.
    fn in_row<T>(
        &mut self,
        table: &TableInfo,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let scopes = std::mem::take(&mut self.scopes);
        self.push_scope();
        let ids: Vec<ColumnId> =
            table.columns.iter().map(|c| self.columns.add(c.ty.clone(), c.nullable)).collect();
        // Compat: a definition cannot name a bound that it does not declare.
        let named = table.columns.iter().zip(&ids).filter(|(c, _)| !c.is_hidden());
        let listed = named.map(|(c, id)| (c.name.clone(), *id)).collect();
        self.scope().sources.push(Source {
            schema: table.schema().into(),
            name: table.name().into(),
            columns: SourceColumns::Listed(listed),
            nullable: false,
            merged: Vec::new(),
            view: None,
            guard: None,
        });
        let bound = bind(self);
        self.scopes = scopes;
        bound
    }

    /// An expression of a stored definition, over positions in the table's row.
    pub(super) fn row_expr(&mut self, table: &TableInfo, text: &str) -> SqlResult<Expr> {
        let syntax = crate::parse::expression(text.as_bytes(), self.types.sql_mode)?;
        let around = std::mem::replace(&mut self.kept_text.is_stored, true);
        let bound = self.row_syntax(table, &syntax, Clause::default());
        self.kept_text.is_stored = around;
        bound
    }

    /// An expression of a definition's clause, over positions in the table's row.
    pub(crate) fn row_syntax(
        &mut self,
        table: &TableInfo,
        syntax: &ast::Expr,
        clause: Clause,
    ) -> SqlResult<Expr> {
        self.in_row(table, |binder| {
            let first = binder.columns.len() - table.columns.len();
            let around = binder.row_table.take();
            let is_default =
                |e: &ast::Expr| matches!(e.kind, ast::ExprKind::Default(Some(_))).then_some(());
            if syntax.find(&mut |e| is_default(e)).is_some() {
                binder.row_table = Some((Arc::new(table.clone()), first));
            }
            let bound = binder.in_clause(clause, |b| b.scalar(syntax));
            binder.row_table = around;
            let mut expr = bound?;
            expr.map_columns(&mut |id| id - first);
            Ok(expr)
        })
    }

    /// Columns of a table that are computed when its rows are read.
    pub(crate) fn computed_columns(&mut self, table: &TableInfo) -> SqlResult<Vec<(usize, Expr)>> {
        let mut computed = Vec::new();
        for (at, column) in table.columns.iter().enumerate() {
            if let Some(generated) = column.generated.as_ref().filter(|_| table.is_computed(at)) {
                computed.push((at, self.row_expr(table, &generated.expression)?));
            }
        }
        Ok(computed)
    }

    /// Generated columns and checks of a table. Columns computed on read are included only if other
    /// columns, checks, triggers or `wanted` need them.
    pub(crate) fn row_rules(
        &mut self,
        table: &TableInfo,
        wanted: &dyn Fn(usize) -> bool,
    ) -> SqlResult<RowRules> {
        let mut rules = self.all_row_rules(table)?;
        let seen: Vec<usize> = rules.generated.iter().map(|(at, _)| *at).collect();
        let seen: Vec<usize> = seen.into_iter().filter(|at| self.in_triggers(table, *at)).collect();
        rules.seen_by_triggers = !seen.is_empty();
        if rules.generated.iter().all(|(at, _)| !table.is_computed(*at)) {
            return Ok(rules);
        }
        let mut needed: Vec<bool> = (0..table.columns.len())
            .map(|at| wanted(at) || seen.contains(&at) || !table.is_computed(at))
            .collect();
        let mut need = |e: &Expr| e.for_each_column(&mut |at| needed[at] = true);
        rules.checks.iter().for_each(|(_, e)| need(e));
        for (at, e) in rules.generated.iter().rev() {
            if needed[*at] {
                e.for_each_column(&mut |source| needed[source] = true);
            }
        }
        rules.generated.retain(|(at, _)| needed[*at]);
        Ok(rules)
    }

    fn all_row_rules(&mut self, table: &TableInfo) -> SqlResult<RowRules> {
        let mut rules = RowRules::default();
        for (at, column) in table.columns.iter().enumerate() {
            if column.system.is_bound() {
                rules.bounds.push(at);
            } else if let Some(generated) = &column.generated {
                rules.generated.push((at, self.row_expr(table, &generated.expression)?));
            }
            if let Some(check) = &column.check {
                let name = format!("{}.{}", table.name(), column.check_name());
                rules.checks.push((name.into(), self.row_condition(table, check)?));
            }
        }
        for check in table.all_checks() {
            let condition = self.row_condition(table, &check.expression)?;
            rules.checks.push((check.name.as_str().into(), condition));
        }
        Ok(rules)
    }

    /// Whether the bodies of a table's triggers may name the column at a position.
    fn in_triggers(&self, table: &TableInfo, at: usize) -> bool {
        table.kind == selkie_catalog::TableKind::Base
            && self
                .names
                .tables
                .snapshot
                .triggers(table.schema(), table.name())
                .iter()
                .any(|trigger| trigger.may_name(&table.columns[at].name))
    }

    fn row_condition(&mut self, table: &TableInfo, text: &str) -> SqlResult<Expr> {
        let mut condition = self.row_expr(table, text)?;
        selkie_expr::cast::to_whole_condition(&mut condition);
        Ok(condition)
    }

    /// `DEFAULT(column)`.
    pub(super) fn default_of(&mut self, name: &ast::ColumnRef) -> SqlResult<Expr> {
        let column = self.column(name)?;
        let origin = column.as_column().and_then(|id| self.columns.table_column(id));
        let in_row = self.row_table.clone().and_then(|(table, first)| {
            let at = column.as_column()?.checked_sub(first)?;
            (at < table.columns.len()).then_some((table, at))
        });
        let known = origin.map(|(relation, at)| (relation.table.clone(), at)).or(in_row);
        let Some((table, at)) = known else {
            return Err(SqlError::new(&ER_NO_DEFAULT_FOR_FIELD, &[&name.name]));
        };
        let info = &table.columns[at];
        match &info.default {
            DefaultValue::Literal(value) | DefaultValue::Written { value, .. } => {
                Ok(Expr::literal(value.clone(), info.ty.clone()))
            }
            DefaultValue::Implicit if info.nullable => {
                Ok(Expr::literal(Value::Null, info.ty.clone()))
            }
            DefaultValue::Implicit if table.def.auto_increment == Some(at) => {
                Ok(Expr::literal(Value::Int(0), info.ty.clone()))
            }
            DefaultValue::Implicit => Err(SqlError::new(&ER_NO_DEFAULT_FOR_FIELD, &[&info.name])),
            DefaultValue::CurrentTimestamp => {
                self.uses.add(Uses::of_function("NOW", 1));
                let fsp = Expr::int(info.ty.decimals.into());
                build::function_call("NOW", vec![fsp], self.types)
            }
            DefaultValue::Expression(_) => {
                let first = column.as_column().and_then(|id| id.checked_sub(at)).unwrap_or(0);
                let mut value = self.default_expr(&table, at, first)?;
                if info.ty.members.is_none() {
                    self.convert(&mut value, &info.ty);
                }
                value.nullable |= info.nullable;
                Ok(value)
            }
        }
    }

    /// The default expression of a column, over the row whose first column is `first`.
    pub(super) fn default_expr(
        &mut self,
        table: &TableInfo,
        at: usize,
        first: ColumnId,
    ) -> SqlResult<Expr> {
        let info = &table.columns[at];
        let DefaultValue::Expression(text) = &info.default else { return Ok(Expr::null()) };
        // A default that depends on itself has no value.
        if self.defaulted.contains(&info.name) {
            let from = self.defaulted.last().unwrap_or(&info.name).clone();
            let arguments: [&dyn std::fmt::Display; 2] = [&from, &info.name];
            return Err(SqlError::new(&ER_EXPRESSION_REFERS_TO_UNINIT_FIELD, &arguments));
        }
        self.defaulted.push(info.name.clone());
        let bound = self.row_expr(table, text);
        self.defaulted.pop();
        let mut expr = bound?;
        expr.map_columns(&mut |at| first + at);
        Ok(expr)
    }

    /// Position in `table` of the column named in an assignment or column list.
    pub(super) fn target_column(
        &self,
        table: &TableInfo,
        alias: &str,
        name: &ast::ColumnRef,
        clause: Clause,
    ) -> SqlResult<usize> {
        let names = self.table_names();
        let other_table = name.table.as_ref().is_some_and(|t| {
            !names.is_same(&t.value, alias) && !names.is_same(&t.value, table.name())
        });
        let history = self.gives_bounds && clause == Clause::Into;
        let listed = |at: &usize| history || !table.columns[*at].is_hidden();
        let position = table.named_position(&name.name.value).filter(listed);
        let position = position.filter(|_| !other_table);
        position.ok_or_else(|| SqlError::unknown_column(name, clause.name()))
    }

    /// An error unless a statement may change the only table that it names.
    pub(super) fn check_only_target(&self, table: &TableInfo, statement: &str) -> SqlResult<()> {
        let wanted = Privileges::from_name(statement).unwrap_or_default();
        let system = matches!(table.kind, selkie_catalog::TableKind::System);
        match system && changeable(table).has(wanted) {
            true => Ok(()),
            false => self.check_target(table, statement),
        }
    }

    /// An error unless the target of a change is a base table.
    pub(super) fn check_target(&self, table: &TableInfo, statement: &str) -> SqlResult<()> {
        if table.is_sequence() && statement != "INSERT" {
            return Err(sequence_refuses(table));
        }
        match table.kind {
            selkie_catalog::TableKind::Base | selkie_catalog::TableKind::Temporary => Ok(()),
            selkie_catalog::TableKind::View(_) if statement == "INSERT" => {
                Err(SqlError::new(&ER_NON_INSERTABLE_TABLE, &[&table.name(), &statement]))
            }
            selkie_catalog::TableKind::View(_) => {
                Err(SqlError::new(&ER_NON_UPDATABLE_TABLE, &[&table.name(), &statement]))
            }
            selkie_catalog::TableKind::System if table.is_series() => {
                let engine = table.engine.name;
                Err(SqlError::new(&ER_ILLEGAL_HA, &[&engine, &table.schema(), &table.name()]))
            }
            selkie_catalog::TableKind::System => {
                let permissions = self.names.environment.permissions();
                let (who, schema) = (self.who.as_deref(), table.schema());
                Err(match (schema, Privileges::from_name(statement)) {
                    ("performance_schema", Some(wanted)) => {
                        permissions.table_denied(who, schema, table.name(), wanted)
                    }
                    _ => permissions.schema_denied(who, schema),
                })
            }
        }
    }
}

/// Compat: sequences are said to be of an engine that does not do this.
fn sequence_refuses(table: &TableInfo) -> SqlError {
    SqlError::new(&ER_ILLEGAL_HA, &[&SERIES_ENGINE.name, &table.schema(), &table.name()])
}

/// Changes that a computed table allows.
fn changeable(table: &TableInfo) -> Privileges {
    match (table.schema(), table.name()) {
        ("performance_schema", "setup_actors" | "setup_objects") => {
            Privileges::INSERT | Privileges::UPDATE | Privileges::DELETE
        }
        (
            "performance_schema",
            "setup_consumers" | "setup_instruments" | "setup_timers" | "threads",
        ) => Privileges::UPDATE,
        _ => Privileges::NONE,
    }
}
