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

/// A recursive query: `anchor` once, then `step` over the rows of the round before, until a round
/// gives none (or `max_recursive_iterations`).
#[derive(Clone, Debug)]
pub struct RecursiveUnion {
    /// The common table that [`super::Operator::WorkTableScan`]s in `step` name.
    pub common_table: usize,
    /// First rows, of the node's column types.
    pub anchor: PlanNode,
    /// Next rows, of the same types.
    pub step: PlanNode,
    /// UNION DISTINCT: rows seen before do not count.
    pub distinct: bool,
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
}
