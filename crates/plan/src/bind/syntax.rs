//! Functions with a syntax of their own.

use selkie_expr::Expr;
use selkie_sql::ast;
use selkie_types::{SqlError, SqlResult};

use super::Binder;

impl Binder<'_> {
    pub(super) fn own_syntax(&mut self, _expr: &ast::Expr) -> SqlResult<Expr> {
        Err(SqlError::not_supported("SEQUENCE"))
    }
}
