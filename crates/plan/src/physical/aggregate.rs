//! Grouping and aggregation. Data only. The planner chooses the strategy and makes the order of the
//! input that it needs.

use selkie_expr::Expr;
use selkie_expr::aggregate::Aggregate as AggregateCall;

use super::PlanNode;

/// Groups rows and computes aggregates. Output: the group expressions, then the aggregates.
///
/// Without group expressions there is always one row, even if the input is empty.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// Source of rows.
    pub input: PlanNode,
    /// Group keys over the input row. They are compared by collation; the value of the first row is
    /// shown.
    pub groups: Vec<Expr>,
    /// Aggregates over the input row.
    pub aggregates: Vec<AggregateCall>,
    /// Method of grouping.
    pub strategy: AggregateStrategy,
    /// `WITH ROLLUP`: after the groups of each prefix of the keys, their total with the other keys
    /// NULL. The input is sorted by the keys.
    pub rollup: bool,
    /// For each key, whether it is read above. The others may be NULL in the output.
    pub shown: Box<[bool]>,
}

/// Method of grouping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateStrategy {
    /// A hash table of all groups.
    Hash,
    /// The rows of a group arrive one after another.
    Sorted,
}
