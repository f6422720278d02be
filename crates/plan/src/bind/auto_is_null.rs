//! `sql_auto_is_null`: `column IS NULL` finds the row with the last AUTO_INCREMENT value.
//!
//! Compat: only as the whole condition of a block, and once after the statement that generated the
//! value. Whether it is still to be found is known when the statement runs, so the column is
//! compared with a variable that is NULL afterwards.

use selkie_expr::{CompareOp, Expr, VariableScope, build};
use selkie_sql::ast;
use selkie_types::{SqlResult, SqlType, stack};

use super::Binder;
use crate::safety::Uses;

/// The variable with the last AUTO_INCREMENT value, until a statement has looked for it; NULL then.
/// It cannot be written in a statement.
pub const AUTO_IS_NULL_VALUE: &str = "last_insert_id()";

impl Binder<'_> {
    /// The condition that stands for `condition`, if that looks for the last value.
    pub(super) fn last_value_is_null(&mut self, condition: &ast::Expr) -> SqlResult<Option<Expr>> {
        if !self.settings.variables.auto_is_null {
            return Ok(None);
        }
        let is_column = |e: &&ast::Expr| matches!(e.kind, ast::ExprKind::Column(_));
        let Some(operand) = tested_null(condition).filter(is_column) else { return Ok(None) };
        let column = self.scalar(operand)?;
        let Some(id) = column.as_column() else { return Ok(None) };
        let found = self.columns.table_column(id);
        let generates = |c: &selkie_catalog::ColumnInfo| c.auto_increment;
        let is_generated =
            found.is_some_and(|(r, at)| r.table.columns.get(at).is_some_and(generates));
        // The inner side of an outer join has other NULLs.
        let mut sources = self.scopes.iter().flat_map(|scope| &scope.sources);
        let is_inner = sources.any(|s| s.nullable && self.name_in_source(s, id).is_some());
        if !is_generated || is_inner {
            return Ok(None);
        }
        let ty = match column.ty.unsigned {
            true => SqlType::bigint_unsigned(),
            false => SqlType::bigint(),
        };
        self.uses.add(Uses::AUTO_IS_NULL);
        self.uses.add(Uses::LAST_INSERT_ID);
        let value = Expr::system_variable(VariableScope::Default, AUTO_IS_NULL_VALUE, ty);
        build::comparison(CompareOp::NullSafeEq, column, value, self.types).map(Some)
    }
}

fn tested_null(condition: &ast::Expr) -> Option<&ast::Expr> {
    let negated = match &condition.kind {
        ast::ExprKind::Unary { op: ast::UnaryOp::Not, expr } => expr,
        _ => return condition.tested_null(),
    };
    match &negated.kind {
        ast::ExprKind::Is { expr, test: ast::IsTest::Null, negated: true } => Some(expr),
        _ => None,
    }
}

/// Whether a condition of a join is tested with WHERE.
pub(super) fn has_conditions(from: &[ast::TableRef]) -> bool {
    stack::ensure();
    from.iter().any(|table| match table {
        ast::TableRef::Join(join) => {
            let is_outer = matches!(join.kind, ast::JoinKind::Left | ast::JoinKind::Right);
            let has_own = !is_outer && !matches!(join.condition, ast::JoinCondition::None);
            let sides = [&join.left, &join.right];
            has_own || sides.into_iter().any(|side| has_conditions(std::slice::from_ref(side)))
        }
        _ => false,
    })
}
