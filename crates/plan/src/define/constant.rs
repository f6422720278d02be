//! Literals of DEFAULT clauses as values of their column.

use selkie_expr::store::{StoreMode, StoreTarget, convert_for_column};
use selkie_expr::{EvalContext, Expr};
use selkie_sql::ast::{self, ExprKind, Literal, UnaryOp};
use selkie_types::{Batch, CollationId, Decimal, Level, SqlError, SqlResult, Value, stack};

use selkie_catalog::ColumnInfo;

use super::DefineContext;
use crate::bind::{string_expr, temporal_literal};

/// A literal, possibly with a sign, as an expression.
pub(super) fn bind(context: &DefineContext<'_>, expr: &ast::Expr) -> SqlResult<Expr> {
    stack::check()?;
    match &expr.kind {
        ExprKind::Literal(literal) => bind_literal(context, literal),
        ExprKind::Unary { op: UnaryOp::Neg, expr } => negate(bind(context, expr)?, context),
        ExprKind::Unary { expr, .. } => bind(context, expr),
        _ => Err(SqlError::internal("not a literal")),
    }
}

fn negate(expr: Expr, context: &DefineContext<'_>) -> SqlResult<Expr> {
    selkie_expr::build::negate(expr, &context.eval.types)
}

fn bind_literal(context: &DefineContext<'_>, literal: &Literal) -> SqlResult<Expr> {
    let connection = context.eval.types.collation_connection;
    Ok(match literal {
        Literal::Null => Expr::null(),
        Literal::Bool(value) => Expr::boolean(*value),
        Literal::Int(value) => Expr::uint(*value),
        Literal::Decimal(text) => Expr::decimal(Decimal::parse(text.as_bytes()).value),
        Literal::Float(value) => Expr::double(*value),
        Literal::String(string) => string_expr(string, connection)?,
        // Compat: only `0x41` is a number where one is wanted, `x'41'` never.
        Literal::Hex { bytes, hybrid: false } => Expr::string(bytes, CollationId::BINARY),
        Literal::Hex { bytes, .. } | Literal::Bit(bytes) => Expr::hex(bytes),
        // Converted with the column's own rules, as a string with the same text is.
        Literal::Temporal { kind, text } => {
            temporal_literal(*kind, text, &context.eval.types)?;
            Expr::string(text, CollationId::ASCII_GENERAL_CI)
        }
    })
}

/// The constant as a value of a column; `None` if it does not fit exactly.
pub(super) fn store(
    context: &DefineContext<'_>,
    literal: Expr,
    info: &ColumnInfo,
) -> Option<Value> {
    let ty = &info.ty;
    let eval =
        EvalContext::new(context.eval.types.clone(), context.eval.session, context.eval.now_micros);
    let from = literal.ty.clone();
    let column = literal.eval(&eval, &Batch::one_row()).ok()?;
    let target = StoreTarget { ty, schema: "", table: "", column: &info.name, copied: false };
    let stored = convert_for_column(&column, &from, &target, StoreMode::Strict, 0, &eval).ok()?;
    // A note (trailing digits of a decimal rounded away) is no obstacle.
    let notes = eval.conditions.borrow_mut().take();
    for note in notes.list().iter().filter(|c| c.level == Level::Note) {
        context.eval.push(note.clone());
    }
    Some(stored.value(0))
}
