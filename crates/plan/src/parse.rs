//! Definitions kept as text: views, generated columns, checks, defaults.

use selkie_sql::{ParseOptions, ast};
use selkie_types::{SqlError, SqlMode, SqlResult};

/// The query a view stands for.
pub(crate) fn query(text: &[u8], sql_mode: SqlMode) -> SqlResult<ast::Query> {
    let sql_mode = kept_mode(sql_mode);
    match selkie_sql::parse(text, &ParseOptions { sql_mode })?.statement {
        ast::Statement::Query(query) => Ok(*query),
        _ => Err(SqlError::internal("a view that is not a query")),
    }
}

/// An expression of a table's definition.
pub(crate) fn expression(text: &[u8], sql_mode: SqlMode) -> SqlResult<ast::Expr> {
    selkie_sql::parse_expr(text, &ParseOptions { sql_mode: kept_mode(sql_mode) })
}

/// Texts that are kept have backslashes before quotes, whatever a session thinks of them.
fn kept_mode(sql_mode: SqlMode) -> SqlMode {
    sql_mode.without(SqlMode::NO_BACKSLASH_ESCAPES)
}
