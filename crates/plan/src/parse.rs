//! Parser calls for stored texts: views, generated columns, checks, defaults. These texts must be
//! parsed here, not with the session's `sql_mode` alone: a backslash always escapes in them.

use selkie_sql::{ParseOptions, ast};
use selkie_types::{SqlError, SqlMode, SqlResult};

/// The query of a view.
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

/// Stored texts have backslashes before quotes and functions of no special mode, whatever the
/// session's mode is.
fn kept_mode(sql_mode: SqlMode) -> SqlMode {
    sql_mode.without(SqlMode::NO_BACKSLASH_ESCAPES).without(SqlMode::ORACLE)
}
