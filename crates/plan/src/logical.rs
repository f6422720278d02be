//! The logical plan: the binder makes it from a statement, and the optimizer rewrites it.
//!
//! Every column of every operator has a number that is unique in the statement ([`ColumnId`]).
//! Expressions refer to columns by this number in any place. A column that an operator uses but no
//! operator below it makes is free: the operator belongs to a correlated subquery.

mod column_set;
mod columns;
mod node;
mod tree;
mod units;

pub(crate) use column_set::ColumnSet;
pub(crate) use columns::{Columns, RelationId, RelationInfo, TextColumn};
pub(crate) use node::{
    AggregateNode, Cut, Join, JsonTableNode, Logical, RecursiveNode, RecursivePart, RowNumberNode,
    SetNode, SortItem, SubqueryState, WindowItem, WindowNode,
};
pub(crate) use units::{Place, Resolved, ResolvedName, Steps, UnitId, Units};

/// Number of a column, unique in the statement.
pub(crate) type ColumnId = usize;
