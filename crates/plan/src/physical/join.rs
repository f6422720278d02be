//! Joins. Data only.
//!
//! The joined row is the left row followed by the right row. `output` lists the positions of the
//! joined row in the output, in this order. For kinds that keep no right columns, all positions are
//! on the left. A mark column comes after them.

use selkie_expr::{CompareBy, Expr};

use super::{IndexLookup, PlanNode};

/// Rows in the result of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// Matching pairs: left columns, then right columns.
    Inner,
    /// As `Inner`, and left rows without a match, with NULLs in the right columns.
    Left,
    /// Left rows with a match, each once. Left columns only.
    Semi,
    /// Left rows without a match. Left columns only.
    Anti,
    /// `NOT IN`: left rows for which `left NOT IN (right)` is true. There is none when the right
    /// side has a NULL key, and a left row with a NULL key is only included when the right side is
    /// empty. The first key pair is the IN comparison; the other pairs and the residual are the
    /// correlation. Left columns only.
    NullAwareAnti,
    /// All left rows with one more column: whether there is a match (1 or 0, never NULL).
    Mark,
    /// All left rows with one more column: the value of `left IN (right)`, which may be NULL. The
    /// first key pair is the IN comparison.
    NullAwareMark,
}

impl JoinKind {
    /// Whether a NULL comparison differs from a false one.
    pub fn is_null_aware(self) -> bool {
        matches!(self, Self::NullAwareAnti | Self::NullAwareMark)
    }

    /// Whether the output may have right columns.
    pub fn keeps_right(self) -> bool {
        matches!(self, Self::Inner | Self::Left)
    }
}

/// A pair of expressions that must be equal.
#[derive(Clone, Debug)]
pub struct JoinKey {
    /// Over the left row.
    pub left: Expr,
    /// Over the right row.
    pub right: Expr,
    /// Method of comparison, as in [`selkie_expr::Compare`].
    pub by: CompareBy,
    /// Whether NULL equals NULL (`<=>`).
    pub null_safe: bool,
}

/// A hash join. The right side is built, the left side probes.
#[derive(Clone, Debug)]
pub struct HashJoin {
    /// Rows in the result.
    pub kind: JoinKind,
    /// Probe side.
    pub left: PlanNode,
    /// Build side.
    pub right: PlanNode,
    /// Pairs compared for equality. Never empty.
    pub keys: Vec<JoinKey>,
    /// Further conditions over the joined row.
    pub residual: Vec<Expr>,
    /// Positions of the joined row in the output.
    pub output: Vec<usize>,
    /// Build from the left rows and stream the right ones. The result is the same, with left
    /// columns still first. Only for `Inner`, `Left`, `Semi` and `Anti`.
    pub build_left: bool,
    /// Compat: MariaDB would keep left rows in a join buffer, and give those without a match after
    /// the others. Without it a left join keeps the order of the left rows, unless `build_left`.
    pub buffered: bool,
    /// Filters for scans of the probe side, which are filled when the build side is complete.
    pub fills: Vec<KeyFill>,
}

/// A filter of the values that a key has on the build side.
#[derive(Clone, Copy, Debug)]
pub struct KeyFill {
    /// The key's column in the rows of the build side.
    pub column: usize,
    /// Number of the filter in the plan: below [`super::Sizes::filters`].
    pub slot: u32,
}

/// An index join: for each left row, a lookup in an index. Lookups are batched. Output follows
/// `kind`; the right row is the lookup's columns.
#[derive(Clone, Debug)]
pub struct IndexJoin {
    /// `Inner`, `Left`, `Semi` or `Anti`.
    pub kind: JoinKind,
    /// Outer side; its order is kept.
    pub left: PlanNode,
    /// The lookup for each left row.
    pub lookup: IndexLookup,
    /// Further conditions over the joined row.
    pub residual: Vec<Expr>,
    /// Positions of the joined row in the output.
    pub output: Vec<usize>,
}

/// A join by comparing all pairs. The right side is materialised once.
#[derive(Clone, Debug)]
pub struct NestedLoopJoin {
    /// Any kind. For the null-aware kinds `null_aware` is the IN comparison.
    pub kind: JoinKind,
    /// Outer side; its order is kept, except by `Left`.
    pub left: PlanNode,
    /// Inner side.
    pub right: PlanNode,
    /// Conditions over the joined row; empty for a cross join.
    pub conditions: Vec<Expr>,
    /// Positions of the joined row in the output.
    pub output: Vec<usize>,
    /// For the null-aware kinds, the IN comparison.
    pub null_aware: Option<Expr>,
    /// As in [`HashJoin`].
    pub buffered: bool,
}
