//! Set operations and common tables. Data only. A plan holds common tables once, and operators
//! refer to them by number.

use super::{ColumnType, PlanNode};

/// Kind of a set operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperator {
    /// UNION.
    Union,
    /// INTERSECT.
    Intersect,
    /// EXCEPT.
    Except,
}

/// A set operation over its inputs, from left to right. All inputs already have the node's column
/// types (a projection converts them).
#[derive(Clone, Debug)]
pub struct SetOperation {
    /// Kind of the operation.
    pub operator: SetOperator,
    /// `ALL`: duplicates are kept.
    pub all: bool,
    /// At least one input; only UNION ALL has more than two.
    pub inputs: Vec<PlanNode>,
}

/// Recursive queries computed together: each anchor once, then the steps over the rows of the
/// previous round, until a round gives no rows (or up to `max_recursive_iterations`). Its rows are
/// those of the first query.
#[derive(Clone, Debug)]
pub struct RecursiveUnion {
    /// The queries, at least one.
    pub parts: Vec<RecursivePart>,
}

/// One query of a [`RecursiveUnion`].
#[derive(Clone, Debug)]
pub struct RecursivePart {
    /// The common table to which [`super::Operator::WorkTableScan`]s in the steps refer.
    pub common_table: usize,
    /// Column names, for errors.
    pub names: Vec<Box<str>>,
    /// First rows, with the node's column types.
    pub anchor: PlanNode,
    /// Next rows, with the same types.
    pub step: Option<PlanNode>,
    /// Positions of the columns that identify a row: later rows equal in them are dropped. An empty
    /// list means all columns. `None` for UNION ALL.
    pub key: Option<Vec<usize>>,
}

/// A query that is evaluated once, when it is first read.
#[derive(Clone, Debug)]
pub struct CommonTable {
    /// Position of its unit in [`super::Told::units`].
    pub unit: usize,
    /// Name in the statement, or a generated name.
    pub name: Box<str>,
    /// The query.
    pub plan: PlanNode,
    /// Columns, the same as those of `plan`.
    pub columns: Vec<ColumnType>,
    /// The common table whose plan computes this one too.
    pub computed_with: Option<usize>,
}
