//! HANDLER ... READ: its key values and its condition, over the rows of one table.
//!
//! The position of the handler is not known here; the executor keeps it.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_expr::Expr;
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, ER_KEY_DOES_NOT_EXISTS, ER_KEY_DOESNT_SUPPORT,
    ER_SUBQUERIES_NOT_SUPPORTED, ER_TOO_MANY_KEY_PARTS, ER_WRONG_ARGUMENTS,
};
use selkie_types::{Privileges, SqlError, SqlResult};

use super::Binder;
use super::output::{Known, Named};
use super::scope::Clause;
use crate::logical::RelationId;
use crate::physical::{ColumnType, OutputColumn};

/// A bound READ.
#[derive(Clone, Debug)]
pub struct HandlerRead {
    /// The columns of its result: all of the table.
    pub output: Vec<OutputColumn>,
    /// Position of the key it names.
    pub index: Option<usize>,
    /// Values of the first parts of the key; `None` is DEFAULT.
    pub key: Vec<Option<Expr>>,
    /// Columns that are not stored, with their expressions over the table's row.
    pub computed: Vec<(usize, Expr)>,
    /// Condition on the rows, over the positions of the table's row.
    pub filter: Vec<Expr>,
}

/// The words of a READ.
#[derive(Clone, Copy)]
pub struct HandlerSyntax<'a> {
    /// The name the table was opened by.
    pub alias: &'a str,
    /// The key.
    pub index: Option<&'a ast::Ident>,
    /// Values to compare with the key.
    pub key: &'a [ast::Expr],
    /// WHERE.
    pub filter: Option<&'a ast::Expr>,
}

impl Binder<'_> {
    pub(crate) fn handler_read(
        &mut self,
        table: &Arc<TableInfo>,
        syntax: HandlerSyntax<'_>,
    ) -> SqlResult<HandlerRead> {
        self.check_table(table.schema(), table.name())?;
        self.push_scope();
        let relation = self.add_table(table.clone(), syntax.alias)?;
        let guard = self.guard_of(syntax.alias);
        let names = table.columns.iter().map(|c| &*c.name);
        self.check_all_columns(guard.as_deref(), names, Privileges::SELECT)?;
        let filter = match syntax.filter {
            Some(e) => self.handler_condition(relation, e)?.into_conjuncts(),
            None => Vec::new(),
        };
        let index = syntax.index.map(|name| named_index(table, syntax.alias, name)).transpose()?;
        let parts = index.map_or(0, |at| table.def.indexes[at].parts.len());
        if syntax.key.len() > parts {
            return Err(SqlError::new(&ER_TOO_MANY_KEY_PARTS, &[&parts]));
        }
        let key = syntax.key.iter().map(|e| self.handler_key(e)).collect::<SqlResult<_>>()?;
        let output = self.handler_output(relation);
        self.pop_scope();
        let computed = self.computed_columns(table)?;
        filter.iter().try_for_each(crate::planner::refuse_rank)?;
        Ok(HandlerRead { output, index, key, computed, filter })
    }

    fn handler_condition(&mut self, relation: RelationId, e: &ast::Expr) -> SqlResult<Expr> {
        let mut condition = self.in_clause(Clause::Where, |binder| binder.condition(e))?;
        refuse_calls(e, &condition)?;
        let first = self.columns.relations[relation].first;
        condition.map_columns(&mut |id| id - first);
        Ok(condition)
    }

    fn handler_key(&mut self, e: &ast::Expr) -> SqlResult<Option<Expr>> {
        if matches!(e.kind, ast::ExprKind::Default(None)) {
            return Ok(None);
        }
        let value = self.in_clause(Clause::HandlerKey, |binder| binder.scalar(e))?;
        refuse_calls(e, &value)?;
        match value.columns().is_empty() {
            true => Ok(Some(value)),
            false => Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&Clause::HandlerKey.name()])),
        }
    }

    /// Compat: invisible columns are in the result too.
    fn handler_output(&self, relation: RelationId) -> Vec<OutputColumn> {
        let info = &self.columns.relations[relation];
        let table = &info.table;
        let column = |(at, column): (usize, &selkie_catalog::ColumnInfo)| {
            let named = Named {
                schema: table.schema().into(),
                table: info.alias.clone(),
                column: column.name.clone(),
                ..Named::plain(info.first + at, column.name.to_string())
            };
            let ty = ColumnType { ty: column.ty.clone(), nullable: column.nullable };
            named.output(&self.columns, &ty, Known::Nothing)
        };
        table.columns.iter().enumerate().map(column).collect()
    }
}

fn named_index(table: &TableInfo, alias: &str, name: &ast::Ident) -> SqlResult<usize> {
    let found = table.def.indexes.iter().position(|i| identifier_eq(&i.name, &name.value));
    let mut texts = table.fulltext.iter();
    if let Some(text) = texts.find(|i| identifier_eq(&i.def.name, &name.value)) {
        return Err(SqlError::new(&ER_KEY_DOESNT_SUPPORT, &[&"FULLTEXT", &text.def.name]));
    }
    found.ok_or_else(|| SqlError::new(&ER_KEY_DOES_NOT_EXISTS, &[&name.value, &alias]))
}

/// An error for subqueries and stored calls. A subquery reduced to its value is only visible in the
/// text.
fn refuse_calls(written: &ast::Expr, e: &Expr) -> SqlResult<()> {
    let numbers_rows = |e: &ast::Expr| {
        let ast::ExprKind::Call(call) = &e.kind else { return None };
        (call.schema.is_none() && call.name.is("rownum")).then_some(())
    };
    if written.find(&mut { numbers_rows }).is_some() {
        let arguments: [&dyn std::fmt::Display; 3] = [&"rownum()", &"WHERE", &"HANDLER"];
        return Err(SqlError::new(&ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, &arguments));
    }
    if written.has_subquery() {
        return Err(SqlError::new(&ER_SUBQUERIES_NOT_SUPPORTED, &[&"HANDLER..READ"]));
    }
    match e.has_stored_call() || e.has_sequence() {
        true => Err(SqlError::not_supported("stored functions in HANDLER ... READ")),
        false => Ok(()),
    }
}
