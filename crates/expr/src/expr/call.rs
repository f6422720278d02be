//! Calls of built-in functions.
//! The kernel is part of the call, since the binder chooses it by the types of the arguments.

use selkie_types::charset::WeightOptions;
use selkie_types::temporal::IntervalUnit;
use selkie_types::{CollationId, SqlType};

use super::{Cache, CompareBy, Expr};
use crate::cast::is_date_text;
use crate::function::{Function, Kernel};

/// A call of a built-in function with the kernel chosen for its arguments' types.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub function: &'static Function,
    /// Arguments, converted to the kinds the kernel reads.
    pub args: Vec<Expr>,
    /// Parts of the call that are not expressions.
    pub option: CallOption,
    /// Collation by which the call compares strings.
    pub collation: CollationId,
    pub(crate) kernel: Kernel,
    pub(crate) cache: Cache,
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.function, other.function)
            && self.kernel as usize == other.kernel as usize
            && self.option == other.option
            && self.collation == other.collation
            && self.args == other.args
    }
}

/// The parts of a call that are not expressions.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum CallOption {
    /// Nothing.
    #[default]
    None,
    /// The unit of `INTERVAL`, `EXTRACT`, `TIMESTAMPDIFF`.
    Unit(IntervalUnit),
    /// The target of a conversion.
    Type(SqlType),
    /// Options of `WEIGHT_STRING`.
    Weights(WeightOptions),
    /// A number whose meaning depends on the function.
    Number(i64),
    /// A name: the kind in `GET_FORMAT`, a column.
    Name(Box<str>),
}

impl CallOption {
    /// Stores the representation in which a call such as BETWEEN compares; the collation is the
    /// call's.
    pub(crate) fn compared_by(by: CompareBy) -> Self {
        Self::Number(match by {
            CompareBy::Int => 0,
            CompareBy::UInt => 1,
            CompareBy::MixedInt => 2,
            CompareBy::Double => 3,
            CompareBy::Decimal => 4,
            CompareBy::Date => 5,
            CompareBy::Time => 6,
            CompareBy::DateTime => 7,
            CompareBy::Bytes(_) => 8,
        })
    }
}

/// Functions whose text has no decimals in result metadata; other texts have a special number of
/// decimals there.
const WHOLE_TEXTS: [&str; 13] = [
    "HEX",
    "UNHEX",
    "CAST",
    "DATE_FORMAT",
    "TIME_FORMAT",
    "DAYNAME",
    "MONTHNAME",
    "INET_NTOA",
    "GET_FORMAT",
    "JSON_COMPACT",
    "JSON_LOOSE",
    "JSON_DETAILED",
    "JSON_PRETTY",
];

impl Expr {
    /// Compat: whether this is a text without decimals in result metadata.
    pub fn is_whole_text(&self) -> bool {
        let call = match &self.kind {
            super::ExprKind::Call(call) => call,
            super::ExprKind::Literal(_) => return self.ty.collation == CollationId::BINARY,
            _ => return false,
        };
        let bytes = call.function.name().is_empty() && self.ty.collation == CollationId::BINARY;
        bytes || self.is_whole_number_text()
    }

    /// Compat: whether this text, as a number, has no digits after the point.
    pub fn is_whole_number_text(&self) -> bool {
        let super::ExprKind::Call(call) = &self.kind else { return false };
        // A text of at most nineteen characters is a date with a time without a fraction.
        let is_whole = call.makes_whole_text() || self.ty.length <= 19 && is_date_text(self);
        self.ty.is_string() && is_whole
    }
}

impl Call {
    /// The representation that was given to [`CallOption::compared_by`].
    pub(crate) fn compares_by(&self) -> CompareBy {
        match self.option {
            CallOption::Number(0) => CompareBy::Int,
            CallOption::Number(1) => CompareBy::UInt,
            CallOption::Number(2) => CompareBy::MixedInt,
            CallOption::Number(3) => CompareBy::Double,
            CallOption::Number(4) => CompareBy::Decimal,
            CallOption::Number(5) => CompareBy::Date,
            CallOption::Number(6) => CompareBy::Time,
            CallOption::Number(7) => CompareBy::DateTime,
            _ => CompareBy::Bytes(self.collation),
        }
    }

    /// Whether the text has no decimals; a text chosen from a list has none if no text of the list
    /// has.
    fn makes_whole_text(&self) -> bool {
        let is_number = |e: &Expr| match &e.kind {
            super::ExprKind::Call(call) if call.function.is_implicit() => {
                call.args[0].ty.is_integer()
            }
            super::ExprKind::Call(call) => call.makes_whole_text(),
            _ => false,
        };
        match self.function.name() {
            "ELT" => self.args[1..].iter().all(is_number),
            name => WHOLE_TEXTS.contains(&name),
        }
    }
}
