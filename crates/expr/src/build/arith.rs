//! Arithmetic operators: the type of the result follows from those of the operands.
//! Lengths and digits of results are MariaDB's, since metadata and stored columns show them.

use selkie_types::{
    Decimal, NOT_FIXED_DECIMALS, Physical, SqlMode, SqlResult, SqlType, TypeKind, Value,
};

use crate::cast::{self, unround};
use crate::context::TypeContext;
use crate::expr::{CallOption, Expr, ExprKind};
use crate::function::{Binding, Function, Kernel};
use crate::functions::arith as kernels;
use crate::operator::{self, Arithmetic};
use crate::refuse::{refuse_any, refuse_any_row, refuse_either, refuse_row, refuse_rows};
use crate::result_type::{double_type, integer_type};
use crate::text::display_length;
use crate::union_type::byte_length;

fn function_of(op: Arithmetic) -> &'static Function {
    match op {
        Arithmetic::Add => &operator::ADD,
        Arithmetic::Subtract => &operator::SUBTRACT,
        Arithmetic::Multiply => &operator::MULTIPLY,
        Arithmetic::Divide => &operator::DIVIDE,
        Arithmetic::IntDivide => &operator::INT_DIVIDE,
        Arithmetic::Modulo => &operator::MODULO,
        Arithmetic::BitAnd => &kernels::BIT_AND,
        Arithmetic::BitOr => &kernels::BIT_OR,
        Arithmetic::BitXor => &kernels::BIT_XOR,
        Arithmetic::ShiftLeft => &kernels::SHIFT_LEFT,
        Arithmetic::ShiftRight => &kernels::SHIFT_RIGHT,
    }
}

/// Kind of number that an operand is in arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Numeric {
    Int,
    Decimal,
    Double,
}

/// The kind of number an operand is, before conversion.
pub(crate) fn numeric(e: &Expr) -> Numeric {
    match e.ty.kind {
        TypeKind::Decimal => Numeric::Decimal,
        TypeKind::Float | TypeKind::Double => Numeric::Double,
        TypeKind::Null | TypeKind::Bit | TypeKind::Year | TypeKind::Enum | TypeKind::Set => {
            Numeric::Int
        }
        _ if e.ty.is_integer() || e.is_hex() => Numeric::Int,
        _ if e.ty.is_temporal() => {
            if e.ty.decimals > 0 {
                Numeric::Decimal
            } else {
                Numeric::Int
            }
        }
        _ => Numeric::Double,
    }
}

fn is_member(ty: &SqlType) -> bool {
    matches!(ty.kind, TypeKind::Enum | TypeKind::Set)
}

/// Converts an operand to a number and returns its kind.
pub(crate) fn to_number(e: &mut Expr) -> Numeric {
    cast::short_year(e);
    cast::hex_to_number(e);
    let kind = numeric(e);
    let declared = e.ty.clone();
    match kind {
        // Compat: the numbers of ENUM and SET members are signed.
        Numeric::Int if e.ty.physical() == Physical::UInt && !is_member(&e.ty) => {}
        Numeric::Int => {
            cast::to_int(e);
            let digits = match declared.kind {
                TypeKind::Date => 9,
                TypeKind::Time => 8,
                TypeKind::DateTime | TypeKind::Timestamp => 15,
                TypeKind::Enum | TypeKind::Set => cast::text_length(&declared) + 1,
                _ => e.ty.length,
            };
            if e.ty.length != digits && !matches!(e.kind, ExprKind::Literal(_)) {
                e.ty.length = digits;
            }
        }
        Numeric::Decimal => cast::to_decimal(e),
        Numeric::Double => text_to_double(e),
    }
    kind
}

/// Converts to a double. Compat: the texts of some functions have no digits after the point.
fn text_to_double(e: &mut Expr) {
    let bytes = e.is_whole_number_text().then(|| byte_length(&e.ty));
    cast::to_double(e);
    if let Some(length) = bytes {
        (e.ty.length, e.ty.decimals) = (length, 0);
    }
}

/// Size of a text that became a double without digits after the point.
fn bytes_of_text(e: &Expr) -> Option<u32> {
    match &e.kind {
        ExprKind::Call(call) if call.function.is_implicit() && e.ty.decimals == 0 => {
            call.args[0].is_whole_number_text().then_some(e.ty.length)
        }
        _ => None,
    }
}

/// `a op b`.
pub fn arithmetic(op: Arithmetic, a: Expr, b: Expr, types: &TypeContext) -> SqlResult<Expr> {
    use Arithmetic::*;
    let function = function_of(op);
    match op {
        BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight => {
            let args = vec![a, b];
            refuse_any_row(function.name(), &args)?;
            refuse_any(function.name(), &args)?;
            return function.bind(Binding::new(function, args, types));
        }
        IntDivide => [&a, &b].into_iter().try_for_each(refuse_row)?,
        _ => {
            let name = if op == Modulo { "MOD" } else { function.name() };
            refuse_rows(name, &a, &b)?;
            refuse_either(name, &a, &b)?;
        }
    }
    let mut args = vec![a, b];
    let text = args[0].ty.is_string() && !args[0].is_hex();
    let text = text.then_some(args[0].ty.length);
    let dated = args.iter().any(|e| e.ty.is_temporal() && e.ty.kind != TypeKind::Year);
    let kinds: Vec<Numeric> = args.iter_mut().map(to_number).collect();
    // Compat: beside a date, the result for an unsigned number is signed.
    let sign = match dated && matches!(op, Add | Subtract | Multiply) {
        true => Sign::Always,
        false => Sign::OfOperands,
    };
    let common = kinds[0].max(kinds[1]);
    let common = if op == Divide { common.max(Numeric::Decimal) } else { common };
    match common {
        Numeric::Int => integer(op, args, sign, types),
        Numeric::Decimal => decimal(op, args, types),
        Numeric::Double if op == IntDivide => {
            let digits = text.unwrap_or_else(|| whole_digits(&args[0]));
            int_divide_doubles(args, digits, types)
        }
        Numeric::Double => double(op, args, types),
    }
}

/// `a DIV b` of doubles; `a` has so many digits before the point.
fn int_divide_doubles(mut args: Vec<Expr>, digits: u32, types: &TypeContext) -> SqlResult<Expr> {
    let unsigned = is_any_unsigned(&args);
    args.iter_mut().for_each(|e| to_folded_double(e, types));
    let kernel = kernels::int_divide_double(unsigned);
    finish(Arithmetic::IntDivide, args, whole_quotient(digits, unsigned), kernel, types)
}

fn to_folded_double(e: &mut Expr, types: &TypeContext) {
    cast::to_double(e);
    cast::fold_literal(e, types);
}

/// Bit values are unsigned numbers too.
fn is_any_unsigned(args: &[Expr]) -> bool {
    args.iter().any(|e| e.ty.unsigned || e.ty.physical() == Physical::UInt)
}

/// Whether an integer result can be negative.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// If no operand is unsigned.
    OfOperands,
    Always,
}

fn integer(op: Arithmetic, args: Vec<Expr>, sign: Sign, types: &TypeContext) -> SqlResult<Expr> {
    use Arithmetic::*;
    let (a, b) = (&args[0].ty, &args[1].ty);
    let kinds = (a.physical(), b.physical());
    let (ua, ub) = (kinds.0 == Physical::UInt, kinds.1 == Physical::UInt);
    let (da, db) = (cast::digits_of(&args[0]), cast::digits_of(&args[1]));
    let mut unsigned = (ua || ub) && sign == Sign::OfOperands;
    let ty = match op {
        Add => integer_type(da.max(db) + 1, unsigned),
        Subtract => {
            unsigned &= !types.sql_mode.contains(SqlMode::NO_UNSIGNED_SUBTRACTION);
            integer_type(da.max(db) + 1, unsigned)
        }
        Multiply => integer_type(da + db, unsigned),
        IntDivide => whole_quotient(da, unsigned),
        _ => {
            unsigned = ua;
            integer_type(da.max(db), unsigned)
        }
    };
    let kernel = kernels::integer_kernel(op, kinds, ty.physical());
    finish(op, args, ty, kernel, types)
}

/// The type of `a DIV b`. Compat: it has the digits of `a` before the point, without a sign.
fn whole_quotient(digits: u32, unsigned: bool) -> SqlType {
    let kind = if digits >= 10 { TypeKind::BigInt } else { TypeKind::Int };
    SqlType { unsigned, ..SqlType::new(kind, digits.clamp(1, 21), 0) }
}

/// Digits before the point of an operand that may become a double.
fn whole_digits(e: &Expr) -> u32 {
    let decimals = match e.ty.decimals {
        NOT_FIXED_DECIMALS.. => 0,
        fixed => u32::from(fixed),
    };
    match e.ty.kind {
        _ if e.ty.is_integer() => cast::digits_of(e),
        TypeKind::Decimal => e.ty.length.saturating_sub(decimals),
        _ if e.ty.is_numeric() => display_length(&e.ty).saturating_sub(decimals),
        _ => byte_length(&e.ty),
    }
}

fn finish(
    op: Arithmetic,
    args: Vec<Expr>,
    ty: SqlType,
    kernel: Kernel,
    types: &TypeContext,
) -> SqlResult<Expr> {
    use Arithmetic::*;
    let mut binding = Binding::new(function_of(op), args, types);
    binding.option = CallOption::Number(types.div_precision_increment.into());
    let nullable = binding.nullable() || matches!(op, Divide | IntDivide | Modulo);
    Ok(binding.call(ty, nullable, kernel))
}

/// In a sum, gives a user variable the decimals of the other operand.
///
/// Compat: a variable has the decimals of its last assignment. In `@sum := @sum + price` those are
/// the decimals of the price from the second row on, whatever the variable was before the
/// statement.
fn sum_variables(args: &mut [Expr]) {
    let [a, b] = args else { return };
    let scale = |e: &Expr| cast::decimal_type(&e.ty).decimals;
    let (of_a, of_b) = (scale(a), scale(b));
    widen_variable(a, of_b);
    widen_variable(b, of_a);
}

/// Reads a user variable that holds an exact number with at least `scale` decimals.
pub fn widen_variable(e: &mut Expr, scale: u8) {
    let is_exact = e.ty.is_integer() || e.ty.kind == TypeKind::Decimal;
    if !is_exact || !matches!(e.kind, ExprKind::UserVariable(..)) {
        return;
    }
    let ty = cast::decimal_type(&e.ty);
    if ty.decimals < scale {
        let length = ty.length + u32::from(scale - ty.decimals);
        e.ty = SqlType::decimal(length.min(Decimal::MOST_DIGITS), scale);
    }
}

fn decimal(op: Arithmetic, mut args: Vec<Expr>, types: &TypeContext) -> SqlResult<Expr> {
    use Arithmetic::*;
    if matches!(op, Add | Subtract | Modulo) {
        sum_variables(&mut args);
    }
    args.iter_mut().for_each(|e| {
        cast::to_decimal(e);
        cast::fold_literal(e, types);
    });
    let (a, b) = (args[0].ty.clone(), args[1].ty.clone());
    let whole = |t: &SqlType| t.length.saturating_sub(u32::from(t.decimals));
    let increment = types.div_precision_increment;
    let (precision, scale) = match op {
        Add | Subtract => {
            let scale = a.decimals.max(b.decimals);
            (whole(&a).max(whole(&b)) + u32::from(scale) + 1, scale)
        }
        Multiply => (a.length + b.length, (a.decimals + b.decimals).min(38)),
        Divide => {
            let scale = (a.decimals + increment).min(38);
            (a.length + u32::from(b.decimals) + u32::from(increment), scale)
        }
        Modulo => {
            let scale = a.decimals.max(b.decimals);
            (a.length.max(b.length), scale)
        }
        _ => {
            args.iter_mut().for_each(unround);
            let unsigned = a.unsigned || b.unsigned;
            let ty = whole_quotient(whole(&a), unsigned);
            let kernel = kernels::int_divide_decimal(unsigned);
            return finish(op, args, ty, kernel, types);
        }
    };
    args.iter_mut().for_each(unround);
    let ty = SqlType::decimal(precision.clamp(1, 65), scale);
    finish(op, args, ty, kernels::decimal_kernel(op), types)
}

fn double(op: Arithmetic, mut args: Vec<Expr>, types: &TypeContext) -> SqlResult<Expr> {
    use Arithmetic::*;
    let fixed = |e: &Expr| match e.ty.kind {
        TypeKind::Float | TypeKind::Double => e.ty.decimals,
        TypeKind::Decimal => e.ty.decimals,
        _ => 0,
    };
    let (a, b) = (fixed(&args[0]), fixed(&args[1]));
    let dividend = args[0].ty.is_numeric().then(|| display_length(&args[0].ty));
    args.iter_mut().for_each(|e| to_folded_double(e, types));
    let decimals = match op {
        _ if a >= NOT_FIXED_DECIMALS || b >= NOT_FIXED_DECIMALS => NOT_FIXED_DECIMALS,
        Divide => (a.max(b) + types.div_precision_increment).min(NOT_FIXED_DECIMALS),
        _ => a.max(b),
    };
    let mut ty = double_type(decimals);
    if let (Divide, Some(bytes)) = (op, bytes_of_text(&args[0])) {
        ty.length = ty.length.min(bytes.saturating_add(decimals.into()));
    }
    if let (Divide, Some(length)) = (op, dividend.filter(|_| decimals < NOT_FIXED_DECIMALS)) {
        ty.length = ty.length.min(length.saturating_sub(a.into()).saturating_add(decimals.into()));
    }
    finish(op, args, ty, kernels::double_kernel(op), types)
}

/// `-a`. Literals become negative literals.
pub fn negate(mut e: Expr, types: &TypeContext) -> SqlResult<Expr> {
    refuse_row(&e)?;
    refuse_any("-", [&e])?;
    match &e.kind {
        ExprKind::Literal(Value::Int(v)) if !e.ty.unsigned && e.ty.is_integer() => {
            return Ok(match v.checked_neg() {
                Some(negated) => {
                    let length = e.ty.length - u32::from(e.ty.non_negative);
                    negative(negated, length, *v)
                }
                None => Expr::decimal((-i128::from(*v)).into()),
            });
        }
        ExprKind::Literal(Value::UInt(v)) if *v == 1 << 63 => return Ok(Expr::int(i64::MIN)),
        ExprKind::Literal(Value::UInt(v)) if !e.is_hex() => {
            return Ok(Expr::decimal((-i128::from(*v)).into()));
        }
        ExprKind::Literal(Value::Decimal(v)) => return Ok(Expr::decimal(-*v)),
        ExprKind::Literal(Value::Double(v)) => {
            let mut negated = Expr::double(-*v);
            negated.ty.length = e.ty.length + 1;
            return Ok(negated);
        }
        _ => {}
    }
    cast::to_widest_variable(&mut e);
    let is_constant = e.is_constant();
    let kind = to_number(&mut e);
    let function = &operator::NEGATE;
    let mut binding = Binding::new(function, vec![e], types);
    let ty = binding.args[0].ty.clone();
    match kind {
        Numeric::Int if ty.physical() == Physical::UInt => {
            binding.strict(integer_type(ty.length, false), kernels::negate_uint)
        }
        Numeric::Int => {
            let digits = ty.length - u32::from(ty.non_negative);
            binding.strict(integer_type(digits, false), kernels::negate_int)
        }
        Numeric::Decimal => {
            unround(&mut binding.args[0]);
            let result = SqlType::decimal(ty.length, ty.decimals);
            binding.strict(result, kernels::negate_decimal)
        }
        Numeric::Double => {
            let mut result = double_type(ty.decimals);
            result.length = display_length(&ty).saturating_add(1);
            if let (Some(bytes), false) = (bytes_of_text(&binding.args[0]), is_constant) {
                result.length = bytes.saturating_add(1);
            }
            binding.strict(result, kernels::negate_double)
        }
    }
}

/// The literal `negated` in place of -`value`. Compat: the sign counts among the digits that make
/// it a BIGINT, and a value that was computed before keeps room for the digits it could have.
fn negative(negated: i64, length: u32, value: i64) -> Expr {
    let mut literal = Expr::int(negated);
    if length > Expr::int(value).ty.length && value != 0 {
        literal.ty.length = (length + 1).min(21);
    }
    if literal.ty.length >= 10 {
        literal.ty.kind = TypeKind::BigInt;
    }
    literal
}

/// `~a`
pub fn bit_not(e: Expr, types: &TypeContext) -> SqlResult<Expr> {
    let (function, args) = (&kernels::BIT_NOT, vec![e]);
    refuse_any_row(function.name(), &args)?;
    refuse_any(function.name(), &args)?;
    function.bind(Binding::new(function, args, types))
}
