//! CREATE VIEW and ALTER VIEW: checks of the query, column names, and the canonical text. The text
//! is qualified by `qualify.rs` and parsed again at each use.

use std::sync::Arc;

use selkie_catalog::{ColumnInfo, DefaultValue, TableInfo, TableKind, TableOptions, View};
use selkie_engine::TableId;
use selkie_meter::interruptible;
use selkie_sql::ast::{self, CheckOption, CreateView, Mention, Query, SqlSecurity, ViewAlgorithm};
use selkie_sql::{UnparseOptions, unparse_query};
use selkie_types::charset::{first_duplicate, identifier_eq};
use selkie_types::error::catalogue::{
    ER_DUP_FIELDNAME, ER_VIEW_NONUPD_CHECK, ER_VIEW_SELECT_CLAUSE, ER_VIEW_SELECT_TMPTABLE,
    ER_VIEW_SELECT_VARIABLE, ER_VIEW_WRONG_LIST, ER_WARN_VIEW_MERGE, ER_WRONG_COLUMN_NAME,
};
use selkie_types::{SqlError, SqlResult, SqlType, stack};

use super::DefineContext;
use super::qualify::Qualifier;
use crate::bind::Names;
use crate::settings::Environment;
use crate::updatable::updatability;

/// A column of the view's query.
pub struct ViewColumn {
    /// Name in the query.
    pub name: Box<str>,
    /// Type.
    pub ty: SqlType,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// Schema, table and column whose value it is; `None` for other expressions.
    pub origin: Option<(Box<str>, Box<str>, Box<str>)>,
}

/// Session values that a view's definition keeps.
pub struct ViewSession<'a> {
    /// Current schema, in which the query's tables are searched.
    pub schema: Option<&'a str>,
    /// Functions of packages.
    pub environment: &'a dyn Environment,
    /// `user@host` of the default definer.
    pub definer: String,
    /// `character_set_client`.
    pub client_charset: String,
    /// `collation_connection`.
    pub connection_collation: String,
}

/// The view that `statement` defines in `schema`; `columns` are those of its query.
pub fn define_view(
    context: &DefineContext<'_>,
    session: &ViewSession<'_>,
    statement: &CreateView,
    schema: &str,
    columns: Vec<ViewColumn>,
) -> SqlResult<TableInfo> {
    interruptible(|| view_of(context, session, statement, schema, columns))?
}

fn view_of(
    context: &DefineContext<'_>,
    session: &ViewSession<'_>,
    statement: &CreateView,
    schema: &str,
    columns: Vec<ViewColumn>,
) -> SqlResult<TableInfo> {
    let mut query = statement.query.clone();
    let names = column_names(statement, &columns)?;
    let temptable = statement.algorithm == ViewAlgorithm::TempTable;
    let allowed = updatability(context.names, &query, session.schema.unwrap_or(""), temptable);
    let mut algorithm = statement.algorithm;
    if algorithm == ViewAlgorithm::Merge && !allowed.merges {
        context.eval.warn(&ER_WARN_VIEW_MERGE, &[]);
        algorithm = ViewAlgorithm::Undefined;
    }
    if statement.check_option.is_some() && !allowed.updatable {
        return Err(SqlError::new(&ER_VIEW_NONUPD_CHECK, &[&schema, &statement.name.name]));
    }
    let known =
        Names { tables: context.names, environment: session.environment, text: context.text };
    Qualifier::new(known, session.schema).query(&mut query, true);
    if names.iter().zip(&columns).any(|(name, column)| *name != column.name) {
        rename_columns(&mut query.body, &names);
    }
    let options = UnparseOptions { charset: &session.client_charset, ..UnparseOptions::default() };
    let view = View {
        select: unparse_query(&query, &options),
        algorithm: match algorithm {
            ViewAlgorithm::Undefined => "UNDEFINED",
            ViewAlgorithm::Merge => "MERGE",
            ViewAlgorithm::TempTable => "TEMPTABLE",
        }
        .to_owned(),
        definer: session.definer.clone(),
        security_invoker: statement.security == Some(SqlSecurity::Invoker),
        check_option: match statement.check_option {
            None => "NONE",
            Some(CheckOption::Local) => "LOCAL",
            Some(CheckOption::Cascaded) => "CASCADED",
        }
        .to_owned(),
        client_charset: session.client_charset.clone(),
        connection_collation: session.connection_collation.clone(),
        updatable: allowed.merges && columns.iter().any(is_of_base_table),
    };
    let infos: Vec<ColumnInfo> =
        names.into_iter().zip(columns).map(|(name, c)| column(context, name, c)).collect();
    let name = &statement.name.name.value;
    Ok(TableInfo {
        def: Arc::new(TableInfo::make_def(TableId(0), schema, name, &infos, Vec::new())),
        kind: TableKind::View(view),
        engine: &selkie_engine::Personality::NONE,
        columns: infos,
        indexes: Vec::new(),
        checks: Vec::new(),
        period: None,
        foreign_keys: Vec::new(),
        partitions: None,
        collation: context.schema_collation(schema),
        options: TableOptions::default(),
        created: context.now_seconds,
        version: 0,
        fulltext: Vec::new(),
        next_index: 0,
        statistics: None,
        persistent: None,
    })
}

/// Checks a view's query for forbidden parts, before it is bound.
pub fn check_view_query(
    context: &DefineContext<'_>,
    schema: Option<&str>,
    query: &Query,
) -> SqlResult<()> {
    if query.into.is_some() {
        return Err(SqlError::new(&ER_VIEW_SELECT_CLAUSE, &[&"INTO"]));
    }
    let mut result = Ok(());
    query.clone().for_each_mention(&mut |mention| match mention {
        Mention::Variable => result = Err(SqlError::new(&ER_VIEW_SELECT_VARIABLE, &[])),
        Mention::Table(factor) => {
            let named = factor.name.schema.as_ref().map(|s| &*s.value).or(schema);
            let table = named.and_then(|s| context.names.temporary.get(s, &factor.name.name.value));
            if let Some(table) = table
                && result.is_ok()
            {
                result = Err(SqlError::new(&ER_VIEW_SELECT_TMPTABLE, &[&table.name()]));
            }
        }
        Mention::Alias(alias) if result.is_ok() && !is_valid_name(&alias.value) => {
            result = Err(SqlError::new(&ER_WRONG_COLUMN_NAME, &[&alias]));
        }
        Mention::RowsExamined if result.is_ok() => {
            result = Err(SqlError::not_supported("LIMIT ROWS EXAMINED inside views"));
        }
        Mention::Column(_)
        | Mention::Call(_)
        | Mention::Compared(_)
        | Mention::Alias(_)
        | Mention::Common(_)
        | Mention::RowsExamined => {}
    });
    result
}

fn column_names(statement: &CreateView, columns: &[ViewColumn]) -> SqlResult<Vec<Box<str>>> {
    let given = &statement.columns;
    if !given.is_empty() && given.len() != columns.len() {
        return Err(SqlError::new(&ER_VIEW_WRONG_LIST, &[]));
    }
    if given.is_empty() {
        return own_names(statement, columns);
    }
    let names: Vec<Box<str>> = given.iter().map(|c| c.value.clone()).collect();
    if let Some(name) = names.iter().find(|name| !is_valid_name(name)) {
        return Err(SqlError::new(&ER_WRONG_COLUMN_NAME, &[name]));
    }
    match first_duplicate(names.iter().map(|name| &**name)) {
        Some(at) => Err(SqlError::new(&ER_DUP_FIELDNAME, &[&names[at]])),
        None => Ok(names),
    }
}

/// Names that the query gives its columns. Compat: the name of an expression without an alias
/// changes if it is a duplicate or is not valid as a column name.
fn own_names(statement: &CreateView, columns: &[ViewColumn]) -> SqlResult<Vec<Box<str>>> {
    let made = made_names(&statement.query.body, columns);
    let mut names: Vec<Box<str>> = columns.iter().map(|c| c.name.clone()).collect();
    for (at, name) in names.iter_mut().enumerate().filter(|(_, name)| !is_valid_name(name)) {
        if !made[at] {
            return Err(SqlError::new(&ER_WRONG_COLUMN_NAME, &[name]));
        }
        *name = format!("Name_exp_{}", at + 1).into();
    }
    if first_duplicate(names.iter().map(|name| &**name)).is_none() {
        return Ok(names);
    }
    for at in 1..names.len() {
        for other in 0..at {
            if !identifier_eq(&names[other], &names[at]) {
                continue;
            }
            let loser = match (made[at], made[other]) {
                (true, _) => at,
                (false, true) => other,
                _ => return Err(SqlError::new(&ER_DUP_FIELDNAME, &[&names[at]])),
            };
            names[loser] = free_name(&names, loser);
        }
    }
    Ok(names)
}

/// For each column, whether it is named by the text of its expression.
fn made_names(body: &ast::QueryBody, columns: &[ViewColumn]) -> Vec<bool> {
    stack::ensure();
    match body {
        ast::QueryBody::Select(select) if select.items.len() == columns.len() => {
            let made = |item: &ast::SelectItem| match item {
                ast::SelectItem::Expr { expr, alias, .. } => {
                    alias.is_none() && !matches!(expr.kind, ast::ExprKind::Column(_))
                }
                ast::SelectItem::Wildcard { .. } => false,
            };
            select.items.iter().map(made).collect()
        }
        ast::QueryBody::Nested(query) => made_names(&query.body, columns),
        ast::QueryBody::Combined { first, .. } => made_names(first, columns),
        _ => columns.iter().map(|c| c.origin.is_none()).collect(),
    }
}

fn free_name(names: &[Box<str>], at: usize) -> Box<str> {
    let candidates = (0..).map(|attempt| match attempt {
        0 => format!("My_exp_{}", names[at]),
        _ => format!("My_exp_{attempt}_{}", names[at]),
    });
    let is_free = |name: &String| !names.iter().any(|other| identifier_eq(other, name));
    { candidates }.find(is_free).unwrap_or_default().into()
}

fn is_valid_name(name: &str) -> bool {
    !name.is_empty() && !name.ends_with(' ') && name.chars().count() <= 64
}

fn is_of_base_table(column: &ViewColumn) -> bool {
    let schema = column.origin.as_ref().map(|(schema, ..)| schema);
    schema.is_some_and(|s| !s.eq_ignore_ascii_case("information_schema"))
}

/// Gives the columns of the first SELECT the names of the view's columns.
pub(super) fn rename_columns(body: &mut ast::QueryBody, names: &[Box<str>]) {
    stack::ensure();
    match body {
        ast::QueryBody::Select(select) => {
            for (item, name) in select.items.iter_mut().zip(names) {
                if let ast::SelectItem::Expr { alias, .. } = item {
                    *alias = Some(ast::Ident::new(name.clone()));
                }
            }
        }
        ast::QueryBody::Nested(query) => rename_columns(&mut query.body, names),
        ast::QueryBody::Combined { first, .. } => rename_columns(first, names),
        ast::QueryBody::Values(_) => {}
    }
}

/// A column with the default of the table column it shows. Other values that cannot be NULL have
/// their type's zero as default.
fn column(context: &DefineContext<'_>, name: Box<str>, column: ViewColumn) -> ColumnInfo {
    let origin = column.origin.as_ref().and_then(|(schema, table, name)| {
        let table = context.names.table(schema, table)?;
        table.column_position(name).map(|at| table.columns[at].clone())
    });
    let default = match &origin {
        // Compat: the numbers that are given out are not the view's, so zero is its default.
        Some(origin) if origin.auto_increment && column.ty.is_integer() => {
            DefaultValue::Literal(selkie_types::Value::Int(0))
        }
        Some(origin) => origin.default.clone(),
        None if column.nullable => DefaultValue::Implicit,
        None if column.ty.is_string() => DefaultValue::Literal(selkie_types::Value::bytes("")),
        None if column.ty.is_integer() => DefaultValue::Literal(selkie_types::Value::Int(0)),
        None => DefaultValue::Implicit,
    };
    ColumnInfo {
        nullable: column.nullable,
        default,
        comment: origin.map(|o| o.comment).unwrap_or_default(),
        ..ColumnInfo::not_null(&name, selkie_types::SqlType { non_negative: false, ..column.ty })
    }
}
