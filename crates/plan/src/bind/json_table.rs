//! JSON_TABLE in FROM. Its document may read the tables before it, so it is joined row by row to
//! its input.

use std::ops::Range;
use std::sync::Arc;

use selkie_expr::json_table::{JsonColumn, JsonPath, JsonRows};
use selkie_expr::{EvalContext, Expr};
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::ER_DUP_FIELDNAME;
use selkie_types::{Charset, SqlError, SqlResult, SqlType, TypeKind, Value, stack};

use super::Binder;
use super::scope::Clause;
use crate::define;
use crate::logical::{JsonTableNode, Logical};
use crate::physical::{JoinKind, JsonFallback, JsonTableColumn, JsonTableDef};

impl Binder<'_> {
    /// JSON_TABLE whose document depends on the rows of `input`, the tables before it.
    pub(super) fn json_table(
        &mut self,
        table: &ast::JsonTable,
        input: Logical,
    ) -> SqlResult<Logical> {
        let mut columns = Vec::new();
        let rows = self.json_rows(&table.path, &table.columns, &mut columns)?;
        let mut document = self.in_clause(Clause::JsonTable, |b| b.scalar(&table.document))?;
        self.convert(
            &mut document,
            &SqlType::varchar(u32::MAX, selkie_types::CollationId::UTF8MB4_BIN),
        );
        let ids = columns.iter().map(|c| self.columns.add(c.ty.clone(), true)).collect::<Vec<_>>();
        let names = columns.iter().map(|c| c.name.clone()).collect();
        self.add_listed(&table.alias.value, names, ids.clone());
        let alias = table.alias.value.clone();
        let table = Arc::new(JsonTableDef { alias, rows, columns });
        Ok(Logical::JsonTable(Box::new(JsonTableNode {
            input,
            document,
            table,
            columns: ids,
            outer: false,
            on: Vec::new(),
        })))
    }

    /// JSON_TABLE on the right of a join, where it sees what is on the left.
    pub(super) fn join_json_table(
        &mut self,
        join: &ast::Join,
        table: &ast::JsonTable,
        left: Logical,
        sources: Range<usize>,
    ) -> SqlResult<Logical> {
        if join.kind == ast::JoinKind::Right {
            return self.right_join_json_table(join, table, left, sources);
        }
        let named =
            matches!(join.condition, ast::JoinCondition::Using(_) | ast::JoinCondition::Natural);
        if named {
            return Err(SqlError::not_supported("JSON_TABLE in this kind of join"));
        }
        let plan = self.json_table(table, left)?;
        let on = match &join.condition {
            ast::JoinCondition::On(condition) => {
                Self::conjuncts(self.on_condition(condition, sources.start, false)?)
            }
            _ => Vec::new(),
        };
        if join.kind != ast::JoinKind::Left {
            return Ok(plan.filter(on));
        }
        let Logical::JsonTable(mut node) = plan else { return Ok(plan) };
        node.outer = true;
        node.on = on;
        let after = self.scope().sources.len();
        self.make_nullable(sources.end..after);
        Ok(Logical::JsonTable(node))
    }

    /// JSON_TABLE whose rows all stay sees nothing of the rows on the left.
    fn right_join_json_table(
        &mut self,
        join: &ast::Join,
        table: &ast::JsonTable,
        left: Logical,
        sources: Range<usize>,
    ) -> SqlResult<Logical> {
        let hidden: Vec<_> = self.scope().sources.drain(..).collect();
        // A table without a name or columns: a name not found is that of a column, not of a table.
        self.add_listed("", Vec::new(), Vec::new());
        let right = self.json_table(table, Logical::OneRow);
        self.scope().sources.splice(0..1, hidden);
        let right = right?;
        let ast::JoinCondition::On(condition) = &join.condition else {
            return Err(SqlError::not_supported("JSON_TABLE in this kind of join"));
        };
        let on = Self::conjuncts(self.on_condition(condition, sources.start, false)?);
        self.make_nullable(sources);
        Ok(right.join(JoinKind::Left, left, on))
    }

    fn json_rows(
        &mut self,
        path: &ast::StringLiteral,
        list: &[ast::JsonColumn],
        columns: &mut Vec<JsonTableColumn>,
    ) -> SqlResult<JsonRows> {
        stack::check()?;
        let path = json_path(path)?;
        let mut made = Vec::new();
        for column in list {
            made.push(self.json_column(column, columns)?);
        }
        Ok(JsonRows::new(path, made))
    }

    fn json_column(
        &mut self,
        column: &ast::JsonColumn,
        columns: &mut Vec<JsonTableColumn>,
    ) -> SqlResult<JsonColumn> {
        let (name, ty, fallbacks, made) = match column {
            ast::JsonColumn::Nested { path, columns: inner } => {
                return self.json_rows(path, inner, columns).map(JsonColumn::Nested);
            }
            ast::JsonColumn::Ordinality(name) => {
                let null = || JsonFallback::Null;
                (name, SqlType::int(), (null(), null()), JsonColumn::Ordinality)
            }
            ast::JsonColumn::Path { name, data_type, exists, path, on_empty, on_error } => {
                let collation = self.types.collation_connection;
                let eval = EvalContext::detached(self.types);
                let ty = define::column_type(&eval, &name.value, data_type, collation)?;
                let path = json_path(path)?;
                let whole = data_type.name == ast::TypeName::Json;
                let made = match (exists, whole) {
                    (true, _) => JsonColumn::Exists(path),
                    (_, true) => JsonColumn::Document(path),
                    _ => JsonColumn::Value(path),
                };
                (name, ty, (self.fallback(on_empty)?, self.fallback(on_error)?), made)
            }
        };
        if columns.iter().any(|c| identifier_eq(&c.name, &name.value)) {
            return Err(SqlError::new(&ER_DUP_FIELDNAME, &[name]));
        }
        let (on_empty, on_error) = fallbacks;
        columns.push(JsonTableColumn { name: name.value.clone(), ty, on_empty, on_error });
        Ok(made)
    }

    fn fallback(&mut self, fallback: &ast::JsonFallback) -> SqlResult<JsonFallback> {
        Ok(match fallback {
            ast::JsonFallback::Null => JsonFallback::Null,
            ast::JsonFallback::Error => JsonFallback::Error,
            ast::JsonFallback::Default(literal) => {
                let e: Expr = self.literal(literal)?;
                let value = e.as_literal().cloned().unwrap_or(Value::Null);
                match e.ty.kind {
                    TypeKind::Null => JsonFallback::Null,
                    _ => JsonFallback::Default(value, e.ty),
                }
            }
        })
    }
}

/// A path as it is written, in its charset.
fn json_path(text: &ast::StringLiteral) -> SqlResult<JsonPath> {
    let from = text.charset.as_deref().and_then(Charset::from_name).unwrap_or(text.encoding);
    JsonPath::parse(&from.convert(&text.bytes, Charset::Utf8mb4).0)
}
