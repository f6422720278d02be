//! Default values of columns. Defaults that are expressions are computed by the plan, not here.
//! Used by INSERT, LOAD DATA and ALTER TABLE alike.

use selkie_catalog::{ColumnInfo, DefaultValue, SystemTime, is_transaction_bound};
use selkie_expr::EvalContext;
use selkie_types::{DateTime, Physical, SqlType, TypeKind, Value};

/// Value that replaces NULL in a NOT NULL column: the zero of its type; in an ENUM it is no member.
pub(crate) fn empty_value(ty: &SqlType) -> Value {
    match ty.kind {
        TypeKind::Enum => Value::UInt(0),
        _ => Value::zero_of(ty),
    }
}

/// The current time as a column of type `ty` keeps it.
pub(crate) fn now(eval: &EvalContext<'_>, ty: &SqlType) -> Value {
    let now = match ty.kind {
        TypeKind::Timestamp => DateTime::from_unix_micros(eval.now_micros),
        _ => eval.types.time_zone.local_from_micros(eval.now_micros),
    };
    let now = now.unwrap_or(DateTime::ZERO).truncate_to(ty.decimals);
    match ty.physical() {
        Physical::Date => Value::Date(now.date()),
        Physical::Time => Value::Time(now.time()),
        _ => Value::DateTime(now),
    }
}

/// Default value of a column; `None` if it has none and is NOT NULL, or if it is an expression.
pub(crate) fn default_of_column(eval: &EvalContext<'_>, column: &ColumnInfo) -> Option<Value> {
    if column.system.is_bound() {
        return Some(match column.system.is_start() {
            true if is_transaction_bound(column) => Value::UInt(eval.session.transaction_number()),
            true => now(eval, &column.ty),
            false => SystemTime::end_value(&column.ty),
        });
    }
    match &column.default {
        DefaultValue::Literal(value) | DefaultValue::Written { value, .. } => Some(value.clone()),
        DefaultValue::CurrentTimestamp => Some(now(eval, &column.ty)),
        DefaultValue::Implicit if column.nullable => Some(Value::Null),
        // Compat: the default of an ENUM without DEFAULT is its first member.
        DefaultValue::Implicit if column.ty.kind == TypeKind::Enum => Some(Value::UInt(1)),
        DefaultValue::Implicit | DefaultValue::Expression(_) => None,
    }
}
