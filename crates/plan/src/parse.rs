//! Definitions kept as text: views, generated columns, checks, defaults.

use selkie_sql::ast;
use selkie_types::{SqlError, SqlMode, SqlResult};

pub(crate) fn query(_text: &[u8], _mode: SqlMode) -> SqlResult<ast::Query> {
    Err(SqlError::not_supported("VIEW"))
}

pub(crate) fn expression(_text: &[u8], _mode: SqlMode) -> SqlResult<ast::Expr> {
    Err(SqlError::not_supported("an expression in a definition"))
}
