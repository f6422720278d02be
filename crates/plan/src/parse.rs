//! Definitions kept as text: views, generated columns, checks, defaults.

use selkie_sql::{ParseOptions, ast};
use selkie_types::{SqlError, SqlMode, SqlResult};

/// The query a view stands for.
pub(crate) fn query(text: &[u8], sql_mode: SqlMode) -> SqlResult<ast::Query> {
    match selkie_sql::parse(text, &ParseOptions { sql_mode })?.statement {
        ast::Statement::Query(query) => Ok(*query),
        _ => Err(SqlError::internal("a view that is not a query")),
    }
}

/// An expression of a table's definition.
pub(crate) fn expression(text: &[u8], sql_mode: SqlMode) -> SqlResult<ast::Expr> {
    selkie_sql::parse_expr(text, &ParseOptions { sql_mode })
}
