//! The arithmetic operators, and properties of their results that are known without kernels.
//! Below `eval`, so that types can be computed without the functions.

use selkie_types::SqlError;

use crate::function::Function;

/// Arithmetic operators.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    IntDivide,
    Modulo,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

const fn operator(name: &'static str, args: u8) -> Function {
    Function::new(name, args, args, |_| Err(SqlError::internal("an operator was called by name")))
}

pub(crate) static ADD: Function = operator("+", 2);
pub(crate) static SUBTRACT: Function = operator("-", 2);
pub(crate) static MULTIPLY: Function = operator("*", 2);
pub(crate) static DIVIDE: Function = operator("/", 2);
pub(crate) static INT_DIVIDE: Function = operator("DIV", 2);
pub(crate) static MODULO: Function = operator("%", 2);
pub(crate) static NEGATE: Function = operator("-", 1);

/// Digits after the point that MariaDB computes in a quotient: whole words of nine.
pub(crate) fn quotient_scale(a: u8, b: u8, increment: u32) -> u8 {
    const WORD: u32 = 9;
    let words = |scale: u8| u32::from(scale).div_ceil(WORD) * WORD;
    let (left, right) = (words(a), words(b));
    let slack = left - u32::from(a) + right - u32::from(b);
    let digits = (left + right + increment.saturating_sub(slack)).div_ceil(WORD) * WORD;
    digits.min(38) as u8
}
