//! Literals of DEFAULT clauses, converted to values of their column. Notes of the conversion go to
//! the statement; a value that does not fit is the caller's error.

use selkie_expr::store::{Given, StoreMode, StoreTarget, convert_for_column};
use selkie_expr::{EvalContext, Expr, cast};
use selkie_sql::ast::{self, ExprKind, Literal, UnaryOp};
use selkie_types::error::catalogue::ER_CANT_CREATE_GEOMETRY_OBJECT;
use selkie_types::{
    Batch, Charset, CollationId, Decimal, Level, SqlError, SqlResult, SqlType, TypeKind, Value,
    stack,
};

use selkie_catalog::ColumnInfo;

use super::DefineContext;
use crate::bind::{string_expr, temporal_literal};

/// A literal, possibly with a sign, as a bound expression.
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
        Literal::Float { value, .. } => Expr::double(*value),
        Literal::String(string) => string_expr(string, connection)?,
        // Compat: only `0x41` acts as a number in a number context, `x'41'` never does.
        Literal::Hex { bytes, hybrid: false } => Expr::string(bytes, CollationId::BINARY),
        Literal::Hex { bytes, .. } | Literal::Bit(bytes) => Expr::hex(bytes),
        // Converted by the column's rules, like a string with the same text.
        Literal::Temporal { kind, text } => {
            temporal_literal(*kind, text, &context.eval.types)?;
            Expr::string(text, CollationId::ASCII_GENERAL_CI)
        }
    })
}

/// Whether a constant is the name of a member, or a list of names for a SET. Compat: the number of
/// a member is not allowed as a default.
fn names_members(context: &DefineContext<'_>, literal: &Expr, ty: &SqlType) -> bool {
    let mut literal = literal.clone();
    let is_null = literal.ty.kind == TypeKind::Null;
    cast::to_text(&mut literal, &context.eval.types);
    let charset = literal.ty.collation.charset();
    let Ok(Value::Bytes(text)) = literal.eval_value(&EvalContext::detached(&context.eval.types))
    else {
        return is_null;
    };
    let text = charset.convert(&text, Charset::Utf8mb4).0;
    let text = Charset::Utf8mb4.trim_spaces_end(&text);
    let own = ty.collation.charset();
    let stored = |name: &[u8]| Charset::Utf8mb4.convert(name, own).0.into_owned();
    let is_member = |name: &[u8]| {
        let mut members = ty.members.iter().flat_map(|m| m.iter());
        members.any(|m| ty.collation.equal(&stored(m.as_bytes()), &stored(name)))
    };
    match ty.kind {
        TypeKind::Set => text.is_empty() || text.split(|b| *b == b',').all(is_member),
        _ => is_member(text),
    }
}

/// The constant as a value of a column; `None` if it does not fit exactly. Compat: what is no
/// geometry is an error of its own.
pub(super) fn store_or_fail(
    context: &DefineContext<'_>,
    literal: Expr,
    info: &ColumnInfo,
) -> SqlResult<Option<Value>> {
    match store(context, literal, info) {
        None if info.ty.geometry.is_some() => {
            Err(SqlError::new(&ER_CANT_CREATE_GEOMETRY_OBJECT, &[]))
        }
        value => Ok(value),
    }
}

pub(super) fn store(
    context: &DefineContext<'_>,
    literal: Expr,
    info: &ColumnInfo,
) -> Option<Value> {
    let ty = &info.ty;
    if ty.members.is_some() && !names_members(context, &literal, ty) {
        return None;
    }
    let eval =
        EvalContext::new(context.eval.types.clone(), context.eval.session, context.eval.now_micros);
    let from = literal.ty.clone();
    let column = literal.eval(&eval, &Batch::one_row()).ok()?;
    let target =
        StoreTarget { ty, schema: "", table: "", column: &info.name, given: Given::Computed };
    let stored = convert_for_column(&column, &from, &target, StoreMode::Strict, 0, &eval).ok()?;
    // A note is allowed (for example, a decimal was rounded).
    let notes = eval.conditions.borrow_mut().take();
    for note in notes.list().iter().filter(|c| c.level == Level::Note) {
        context.eval.push(note.clone());
    }
    Some(stored.value(0)).filter(|value| is_shown(value, ty))
}

/// Whether SHOW CREATE can show a value. Its texts are Unicode, which has no surrogates.
fn is_shown(value: &Value, ty: &SqlType) -> bool {
    let charset = ty.collation.charset();
    match value {
        Value::Bytes(text) if ty.is_string() && charset != Charset::Binary => {
            std::str::from_utf8(&charset.convert(text, Charset::Utf8mb4).0).is_ok()
        }
        _ => true,
    }
}
