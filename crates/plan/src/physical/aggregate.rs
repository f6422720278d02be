//! Grouping and aggregation. Data only.

use selkie_expr::Expr;
use selkie_expr::aggregate::Aggregate as AggregateCall;

use super::PlanNode;

/// Groups rows and computes aggregates. Output: the group expressions, then the aggregates.
///
/// Without group expressions there is one row, also over no input.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// Where rows come from.
    pub input: PlanNode,
    /// Group keys over the input row. Equal by collation; the first row's value is shown.
    pub groups: Vec<Expr>,
    /// Aggregates over the input row.
    pub aggregates: Vec<AggregateCall>,
    /// How groups are found.
    pub strategy: AggregateStrategy,
    /// `WITH ROLLUP`: after the groups of each prefix of the keys, their total with the other keys
    /// NULL. The input is sorted by the keys.
    pub rollup: bool,
    /// Which of the keys are read above. The others may be given as NULL.
    pub shown: Box<[bool]>,
}

/// How groups are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateStrategy {
    /// A hash table of all groups.
    Hash,
    /// Rows of a group come together.
    Sorted,
}
