//! Set operations and common tables. Data only.

use super::{ColumnType, PlanNode};

/// Which set operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperator {
    /// UNION.
    Union,
    /// INTERSECT.
    Intersect,
    /// EXCEPT.
    Except,
}

/// A set operation over two or more inputs, from left to right. All inputs have the node's column
/// types already (a projection converts them).
#[derive(Clone, Debug)]
pub struct SetOperation {
    /// Which.
    pub operator: SetOperator,
    /// `ALL`: multisets.
    pub all: bool,
    /// At least one; only UNION ALL has more than two.
    pub inputs: Vec<PlanNode>,
}

/// Recursive queries computed together: each anchor once, then the steps over the rows of the round
/// before, until a round gives none (or `max_recursive_iterations`). Gives the rows of the first.
#[derive(Clone, Debug)]
pub struct RecursiveUnion {
    /// The queries, at least one.
    pub parts: Vec<RecursivePart>,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct RecursivePart {
    /// The common table that [`super::Operator::WorkTableScan`]s in the steps name.
    pub common_table: usize,
    /// Names of its columns, for errors.
    pub names: Vec<Box<str>>,
    /// First rows, of the node's column types.
    pub anchor: PlanNode,
    /// Next rows, of the same types.
    pub step: Option<PlanNode>,
    /// Positions of the columns in which no two rows are equal: none is all of them. `None` for
    /// UNION ALL.
    pub key: Option<Vec<usize>>,
}

/// A query evaluated once, when first read.
#[derive(Clone, Debug)]
pub struct CommonTable {
    /// Its name in the statement, or one made up.
    pub name: Box<str>,
    /// The query.
    pub plan: PlanNode,
    /// Its columns, those of `plan`.
    pub columns: Vec<ColumnType>,
    /// The table whose plan computes this one too.
    pub computed_with: Option<usize>,
}
