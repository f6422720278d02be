//! Comparisons: the operator and the representation in which the operands compare.

use selkie_types::CollationId;

use super::Expr;

/// `left op right`, both operands in the representation `by` says.
#[derive(Clone, Debug, PartialEq)]
pub struct Compare {
    /// The operator.
    pub op: CompareOp,
    /// Left operand.
    pub left: Expr,
    /// Right operand.
    pub right: Expr,
    /// How values compare.
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
    /// `<=>`: equality under which NULL equals NULL.
    NullSafeEq,
}

impl CompareOp {
    /// The operator with its operands exchanged.
    pub fn swapped(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            other => other,
        }
    }

    /// The operator that is true where this is false; there is none for `<=>`.
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

    /// Whether an ordering satisfies the operator.
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

    /// As written in SQL.
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
    /// Integers, one of them signed and the other unsigned.
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
