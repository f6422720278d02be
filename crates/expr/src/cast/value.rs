//! Conversion of single values, for parameters and variables.
//! Uses the kernels through an expression of one row, so the rules are the same.

use selkie_types::{CollationId, NOT_FIXED_DECIMALS, SqlType, TypeKind, Value};

use crate::context::EvalContext;
use crate::expr::Expr;

/// `value` of type `from` as a value of type `to`, by implicit conversion.
pub fn value(value: Value, from: &SqlType, to: &SqlType, ctx: &EvalContext<'_>) -> Value {
    if value.is_null() {
        return value;
    }
    let mut e = Expr::literal(value, from.clone());
    super::to_type(&mut e, to, &ctx.types);
    e.eval_value(ctx).unwrap_or_default()
}

/// A type for a bare value.
pub fn natural_type(value: &Value) -> SqlType {
    match value {
        Value::Null => SqlType::null(),
        Value::Int(_) => SqlType::bigint(),
        Value::UInt(_) => SqlType::bigint_unsigned(),
        Value::Double(_) => SqlType::new(TypeKind::Double, 22, NOT_FIXED_DECIMALS),
        Value::Decimal(d) => SqlType::decimal(d.precision(), d.scale()),
        Value::Date(_) => SqlType::date(),
        Value::Time(_) => SqlType::time(6),
        Value::DateTime(_) => SqlType::datetime(6),
        Value::Bytes(b) => SqlType::varchar(b.len() as u32, CollationId::UTF8MB4_GENERAL_CI),
    }
}
