//! Dependence of expressions on `sql_mode`: columns must not store values that depend on it. Uses
//! bound expressions; must never look at the session's mode.
//!
//! Three modes matter. PAD_CHAR_TO_FULL_LENGTH changes the value read from a CHAR column; an
//! operation that ignores trailing spaces removes this dependence. NO_UNSIGNED_SUBTRACTION changes
//! differences. TIME_ROUND_FRACTIONAL changes the rounding of fractions of a second.

use selkie_expr::{Call, CallOption, Expr, ExprKind};
use selkie_types::{SqlMode, SqlType, TypeKind, Value};

/// Number of decimals of values that may have any number of them.
const ANY: u8 = u8::MAX;

/// Dependence of the values of an expression.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Dependence {
    /// The mode on which the values themselves depend.
    always: Option<SqlMode>,
    /// Whether only their trailing spaces depend on a mode.
    padded: bool,
}

impl Dependence {
    fn on(mode: SqlMode) -> Self {
        Self { always: Some(mode), padded: false }
    }

    fn or(self, other: Self) -> Self {
        let padded = self.padded || other.padded;
        Self { always: self.always.or(other.always), padded }
    }

    /// As the argument of an operation that keeps trailing spaces.
    fn seen(self) -> Self {
        let padded = self.padded.then_some(SqlMode::PAD_CHAR_TO_FULL_LENGTH);
        Self { always: self.always.or(padded), padded: false }
    }

    /// As the argument of an operation that ignores trailing spaces.
    fn trimmed(self) -> Self {
        Self { padded: false, ..self }
    }
}

/// The mode on which the values of `expr` in a column of type `to` depend.
pub(super) fn mode_of(expr: &Expr, to: &SqlType) -> Option<SqlMode> {
    let of_value = dependence(expr);
    let keeps_spaces = to.is_string() && to.kind != TypeKind::Char;
    let of_value = if keeps_spaces { of_value.seen() } else { of_value };
    let rounds = has_fraction(to) && precision(expr) > to.decimals;
    of_value.always.or(rounds.then_some(SqlMode::TIME_ROUND_FRACTIONAL))
}

fn dependence(expr: &Expr) -> Dependence {
    match &expr.kind {
        ExprKind::Column(_) => {
            let padded = expr.ty.kind == TypeKind::Char && !expr.ty.collation.is_binary();
            Dependence { always: None, padded }
        }
        ExprKind::Compare(_) => of_all(expr).trimmed(),
        ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Not(_) => of_all(expr),
        ExprKind::Call(call) if call.function.is_implicit() => of_all(expr),
        ExprKind::Call(call) => of_call(expr, call),
        _ => of_all(expr).seen(),
    }
}

fn of_all(expr: &Expr) -> Dependence {
    expr.children().into_iter().fold(Dependence::default(), |all, e| all.or(dependence(e)))
}

fn of_call(expr: &Expr, call: &Call) -> Dependence {
    let arguments = of_all(expr);
    let arguments = if removes_padding(call) { arguments.trimmed() } else { arguments.seen() };
    if subtracts_unsigned(expr, call) {
        return arguments.or(Dependence::on(SqlMode::NO_UNSIGNED_SUBTRACTION));
    }
    let from = call.args.first().map(original);
    if is_conversion(call)
        && has_fraction(&expr.ty)
        && from.is_some_and(|e| decimals(e) > expr.ty.decimals)
    {
        return arguments.or(Dependence::on(SqlMode::TIME_ROUND_FRACTIONAL));
    }
    arguments
}

/// Whether a call is `CAST` or one of its short forms.
fn is_conversion(call: &Call) -> bool {
    let named = matches!(call.function.name(), "TIME" | "TIMESTAMP") && call.args.len() == 1;
    named || matches!(call.option, CallOption::Type(_))
}

/// Whether trailing spaces of the first argument have no effect: it is trimmed, or padded like the
/// column.
fn removes_padding(call: &Call) -> bool {
    let is_space = |e: &Expr| matches!(&e.kind, ExprKind::Literal(Value::Bytes(b)) if **b == *b" ");
    match (call.function.name(), &call.args[..]) {
        ("TRIM" | "RTRIM", [_]) => true,
        ("TRIM" | "RTRIM", [_, what]) => is_space(what),
        // The pad string comes before the length here.
        ("RPAD", [value, space, length]) => {
            let reaches = matches!(original(length).kind, ExprKind::Literal(Value::Int(n))
                if n >= i64::from(original(value).ty.length));
            reaches && is_space(space)
        }
        _ => false,
    }
}

fn subtracts_unsigned(expr: &Expr, call: &Call) -> bool {
    let unsigned = |e: &Expr| {
        let e = original(e);
        e.ty.unsigned && e.ty.is_integer()
    };
    call.function.name() == "-"
        && call.args.len() == 2
        && expr.ty.is_integer()
        && call.args.iter().any(unsigned)
}

/// The expression below implicit conversions.
fn original(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Call(call) if call.function.is_implicit() => {
            call.args.first().map_or(expr, original)
        }
        _ => expr,
    }
}

/// Whether values have a time of day.
fn has_fraction(ty: &SqlType) -> bool {
    matches!(ty.kind, TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp)
}

fn decimals(expr: &Expr) -> u8 {
    let ty = &expr.ty;
    match ty.kind {
        _ if ty.is_string() => ANY,
        TypeKind::Decimal | TypeKind::Float | TypeKind::Double => ty.decimals,
        _ if has_fraction(ty) => ty.decimals,
        _ => 0,
    }
}

/// Number of decimals of a second that a value may have.
fn precision(expr: &Expr) -> u8 {
    const MOST: u8 = 6;
    match &expr.kind {
        ExprKind::Literal(Value::Bytes(text)) => {
            let point = text.iter().rposition(|b| *b == b'.');
            point.map_or(0, |at| (text.len() - at - 1).min(usize::from(MOST)) as u8)
        }
        _ => decimals(expr).min(MOST),
    }
}
