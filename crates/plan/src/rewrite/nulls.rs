//! Null rejection: whether a condition can be true when some columns are NULL. If it cannot, an
//! outer join becomes an inner one. Must answer `false` when in doubt.

use selkie_expr::{CompareOp, Expr, ExprKind};
use selkie_types::stack;

use crate::logical::ColumnSet;

/// Functions that are NULL when any argument is NULL.
const STRICT: &[&str] = &[
    "",
    "+",
    "-",
    "*",
    "/",
    "%",
    "DIV",
    "MOD",
    "LIKE",
    "NOT LIKE",
    "UPPER",
    "LOWER",
    "LCASE",
    "UCASE",
    "SUBSTRING",
    "SUBSTR",
    "LEFT",
    "RIGHT",
    "LENGTH",
    "CHAR_LENGTH",
    "ABS",
    "ROUND",
    "TRIM",
    "LTRIM",
    "RTRIM",
    "YEAR",
    "MONTH",
    "DAY",
    "DATE",
    "EXTRACT",
    "CONCAT",
    "CAST",
    "FLOOR",
    "CEIL",
    "CEILING",
    "REGEXP",
    "&",
    "|",
    "^",
    "~",
    "<<",
    ">>",
    "INSTR",
    "LOCATE",
    "MOD",
];

/// Whether `condition` is never true when all of `columns` are NULL.
pub(super) fn rejects_null(condition: &Expr, columns: &ColumnSet) -> bool {
    stack::ensure();
    match &condition.kind {
        ExprKind::Compare(c) if c.op == CompareOp::NullSafeEq => false,
        ExprKind::Compare(c) => null_if(&c.left, columns) || null_if(&c.right, columns),
        ExprKind::And(parts) => parts.iter().any(|p| rejects_null(p, columns)),
        ExprKind::Or(parts) => parts.iter().all(|p| rejects_null(p, columns)),
        ExprKind::Not(inner) => match &inner.kind {
            ExprKind::IsNull(value) => null_if(value, columns),
            ExprKind::Or(parts) => parts.iter().any(|p| null_if(p, columns)),
            _ => null_if(inner, columns),
        },
        _ => null_if(condition, columns),
    }
}

/// Whether `expr` is NULL when all of `columns` are NULL.
fn null_if(expr: &Expr, columns: &ColumnSet) -> bool {
    stack::ensure();
    match &expr.kind {
        ExprKind::Column(id) => columns.contains(*id),
        ExprKind::Compare(c) if c.op == CompareOp::NullSafeEq => false,
        ExprKind::Compare(c) => null_if(&c.left, columns) || null_if(&c.right, columns),
        ExprKind::InList(list) => null_if(&list.value, columns),
        ExprKind::Not(inner) => null_if(inner, columns),
        ExprKind::Or(parts) | ExprKind::And(parts) => parts.iter().all(|p| null_if(p, columns)),
        ExprKind::Call(call) if STRICT.contains(&call.function.name()) => {
            call.args.iter().any(|arg| null_if(arg, columns))
        }
        _ => false,
    }
}
