//! LIKE and REGEXP.
//! The escape character is part of the call, because `NO_BACKSLASH_ESCAPES` applies when it is
//! bound.

use selkie_types::error::catalogue::ER_WRONG_ARGUMENTS;
use selkie_types::{SqlError, SqlResult};

use super::not;
use crate::context::TypeContext;
use crate::expr::{CallOption, Expr, ExprKind};
use crate::function::Binding;
use crate::functions::{pattern, regexp};
use crate::refuse::refuse_row;

/// `value [NOT] LIKE pattern [ESCAPE c]`. `None` for `escape` is a backslash, unless
/// `NO_BACKSLASH_ESCAPES` is set; an empty one is no escape character.
pub fn like(
    value: Expr,
    pattern: Expr,
    escape: Option<&str>,
    negated: bool,
    types: &TypeContext,
) -> SqlResult<Expr> {
    refuse_row(&value)?;
    refuse_row(&pattern)?;
    let plain = types.sql_mode.contains(selkie_types::SqlMode::NO_BACKSLASH_ESCAPES);
    let mut chars = escape.unwrap_or(if plain { "" } else { "\\" }).chars();
    let none = if escape.is_some() { pattern::EMPTY_ESCAPE } else { pattern::NO_ESCAPE };
    let code = chars.next().map_or(none, |c| i64::from(u32::from(c)));
    if chars.next().is_some() {
        return Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"ESCAPE"]));
    }
    bind(value, pattern, code, negated, types)
}

/// `value [NOT] LIKE pattern ESCAPE ''` in the text of a definition.
pub fn like_stored_without_escape(
    value: Expr,
    pattern: Expr,
    negated: bool,
    types: &TypeContext,
) -> SqlResult<Expr> {
    [&value, &pattern].into_iter().try_for_each(refuse_row)?;
    bind(value, pattern, pattern::STORED_ESCAPE, negated, types)
}

fn bind(
    value: Expr,
    pattern: Expr,
    code: i64,
    negated: bool,
    types: &TypeContext,
) -> SqlResult<Expr> {
    let function = &pattern::LIKE;
    let binding = Binding::new(function, vec![value, pattern], types);
    let e = function.bind(binding.with_option(CallOption::Number(code)))?;
    if negated { not(e) } else { Ok(e) }
}

/// `value [NOT] LIKE pattern ESCAPE escape`, with an escape character that is known only at run
/// time.
pub fn like_escaped_by(
    value: Expr,
    pattern: Expr,
    escape: Expr,
    negated: bool,
    types: &TypeContext,
) -> SqlResult<Expr> {
    [&value, &pattern, &escape].into_iter().try_for_each(refuse_row)?;
    // Compat: user variables count as constants.
    let varies = |e: &Expr| match &e.kind {
        ExprKind::Column(_) | ExprKind::Sequence(_) => true,
        ExprKind::Call(call) => !call.function.is_deterministic(),
        ExprKind::Stored(call) => !call.deterministic,
        _ => false,
    };
    if escape.any(&mut |e| varies(e)) {
        return Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"ESCAPE"]));
    }
    let function = &pattern::LIKE_ESCAPED;
    let e = function.bind(Binding::new(function, vec![value, pattern, escape], types))?;
    if negated { not(e) } else { Ok(e) }
}

/// `value [NOT] REGEXP pattern`.
pub fn regexp(value: Expr, pattern: Expr, negated: bool, types: &TypeContext) -> SqlResult<Expr> {
    refuse_row(&value)?;
    refuse_row(&pattern)?;
    let function = &regexp::REGEXP;
    let e = function.bind(Binding::new(function, vec![value, pattern], types))?;
    if negated { not(e) } else { Ok(e) }
}
