//! The logical plan: what the binder makes of a statement and the optimizer rewrites.
//!
//! Every column of every operator has a number that is unique in the statement ([`ColumnId`]), and
//! expressions refer to columns by it wherever they stand. A column that an operator uses but
//! nothing below it makes is free: the operator belongs to a correlated subquery.

mod columns;
mod node;
mod tree;

pub(crate) use columns::{ColumnSet, Columns, RelationId, RelationInfo};
pub(crate) use node::{
    AggregateNode, Cut, Join, JsonTableNode, Logical, RecursiveNode, RecursivePart, SetNode,
    SortItem, SubqueryState, WindowItem, WindowNode,
};

/// Number of a column, unique in the statement.
pub(crate) type ColumnId = usize;
