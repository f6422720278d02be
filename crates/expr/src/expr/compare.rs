//! Comparisons: the operator and the representation in which the operands compare.
//! Both operands must already be converted to that representation.

use selkie_types::CollationId;

use super::Expr;

/// `left op right`, both operands in the representation `by`.
#[derive(Clone, Debug, PartialEq)]
pub struct Compare {
    /// The operator.
    pub op: CompareOp,
    /// Left operand.
    pub left: Expr,
    /// Right operand.
    pub right: Expr,
    /// Representation of both operands.
    pub by: CompareBy,
}

/// Comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `=`
    Eq,
    /// `<>`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `<=>`: equality in which NULL equals NULL.
    NullSafeEq,
}

impl CompareOp {
    /// The operator for exchanged operands.
    pub fn swapped(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            other => other,
        }
    }

    /// The operator with the opposite result; `<=>` has none.
    pub fn negated(self) -> Option<Self> {
        Some(match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
            Self::NullSafeEq => return None,
        })
    }

    /// Whether the operator is true for this ordering.
    #[inline]
    pub fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Self::Eq | Self::NullSafeEq => ordering.is_eq(),
            Self::Ne => ordering.is_ne(),
            Self::Lt => ordering.is_lt(),
            Self::Le => ordering.is_le(),
            Self::Gt => ordering.is_gt(),
            Self::Ge => ordering.is_ge(),
        }
    }

    /// The operator in SQL.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "<>",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::NullSafeEq => "<=>",
        }
    }
}

/// The representation in which two operands compare; both are evaluated to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareBy {
    /// Both signed.
    Int,
    /// Both unsigned.
    UInt,
    /// Integers of different signedness.
    MixedInt,
    /// Doubles.
    Double,
    /// Decimals, of any scales.
    Decimal,
    /// Dates.
    Date,
    /// Times.
    Time,
    /// Dates with time of day.
    DateTime,
    /// Strings under a collation.
    Bytes(CollationId),
}
