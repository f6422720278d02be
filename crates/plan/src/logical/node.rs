//! Logical operators. A new operator must be added to the walks of `tree.rs`, on which every
//! rewrite relies.

use std::sync::Arc;

use selkie_expr::Expr;
use selkie_expr::aggregate::Aggregate as AggregateCall;

use super::{ColumnId, RelationId, UnitId};
use crate::physical::{JoinKind, JsonTableDef, SetOperator, WindowFrame, WindowFunction};

/// A logical operator with its inputs.
#[derive(Clone, Debug)]
pub(crate) enum Logical {
    /// One row without columns.
    OneRow,
    /// No rows, with these columns.
    Empty(Vec<ColumnId>),
    /// A table instance: base or system table.
    Scan(RelationId),
    /// Reads a common table; `columns` are the numbers of its columns in order.
    CommonScan { table: usize, columns: Vec<ColumnId> },
    /// Inside the recursive part of a common table: reads the rows of the previous round.
    WorkScan { table: usize, columns: Vec<ColumnId> },
    /// Rows given as expressions.
    Values { rows: Vec<Vec<Expr>>, columns: Vec<ColumnId> },
    /// A join.
    Join(Box<Join>),
    /// Rows for which all conditions are true.
    Filter { input: Box<Logical>, conditions: Vec<Expr> },
    /// Computes columns; all others are dropped.
    Project { input: Box<Logical>, columns: Vec<(ColumnId, Expr)> },
    /// Groups and aggregates.
    Aggregate(Box<AggregateNode>),
    /// Window functions, added to the columns of the input.
    Window(Box<WindowNode>),
    /// The numbers of rows that pass conditions.
    RowNumbers(Box<RowNumberNode>),
    /// JSON_TABLE joined to the rows on which its document depends.
    JsonTable(Box<JsonTableNode>),
    /// Sorts the rows; with a limit directly above, only the first ones.
    /// It belongs to the unit `unit`.
    Sort { input: Box<Logical>, keys: Vec<SortItem>, unit: UnitId },
    /// A part of the rows, or all of them: conditions stay above it.
    Limit { input: Box<Logical>, cut: Box<Cut> },
    /// Distinct rows, compared in the listed columns; all other columns are dropped.
    Distinct { input: Box<Logical>, columns: Vec<ColumnId> },
    /// UNION, INTERSECT, EXCEPT.
    Set(Box<SetNode>),
    /// Definition of a recursive common table.
    Recursive(Box<RecursiveNode>),
}

/// A join of two inputs.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    /// Rows in the result.
    pub kind: JoinKind,
    /// Left input.
    pub left: Logical,
    /// Right input.
    pub right: Logical,
    /// Conditions. For the null-aware kinds the first is the IN comparison.
    pub on: Vec<Expr>,
    /// The column that a mark join adds.
    pub mark: Option<ColumnId>,
    /// `STRAIGHT_JOIN`: the left input is read first.
    pub straight: bool,
}

/// Groups and aggregates.
#[derive(Clone, Debug)]
pub(crate) struct AggregateNode {
    /// Input.
    pub input: Logical,
    /// Group keys with the numbers of their output columns.
    pub groups: Vec<(ColumnId, Expr)>,
    /// Aggregates with the numbers of their output columns.
    pub aggregates: Vec<(ColumnId, AggregateCall)>,
    /// `WITH ROLLUP`.
    pub rollup: bool,
    /// For ROLLUP, whether each key is in descending order.
    pub descending: Vec<bool>,
}

/// A window function with its output column.
#[derive(Clone, Debug)]
pub(crate) struct WindowItem {
    /// Output column.
    pub column: ColumnId,
    /// The function.
    pub function: WindowFunction,
    /// Arguments.
    pub args: Vec<Expr>,
    /// Frame.
    pub frame: WindowFrame,
}

/// Window functions over one partitioning and order.
#[derive(Clone, Debug)]
pub(crate) struct WindowNode {
    /// Input.
    pub input: Logical,
    /// Partition keys.
    pub partition: Vec<Expr>,
    /// Order within a partition.
    pub order: Vec<SortItem>,
    /// Functions.
    pub items: Vec<WindowItem>,
}

/// `ROWNUM()`: gives the rows that pass the conditions, and a column with their numbers. A row is
/// tested with the number that it gets if it passes.
#[derive(Clone, Debug)]
pub(crate) struct RowNumberNode {
    /// Input.
    pub input: Logical,
    /// The column of numbers.
    pub column: ColumnId,
    /// Conditions, which may read the number.
    pub conditions: Vec<Expr>,
}

/// JSON_TABLE: joins each row of the input with the rows of a document computed from it.
#[derive(Clone, Debug)]
pub(crate) struct JsonTableNode {
    /// Input.
    pub input: Logical,
    /// The document.
    pub document: Expr,
    /// Definition of the table.
    pub table: Arc<JsonTableDef>,
    /// Columns of the table.
    pub columns: Vec<ColumnId>,
    /// Whether an input row without rows of the table is kept.
    pub outer: bool,
    /// Conditions of an outer join.
    pub on: Vec<Expr>,
}

/// A sort key.
#[derive(Clone, Debug)]
pub(crate) struct SortItem {
    /// Value to compare.
    pub expr: Expr,
    /// Descending order.
    pub descending: bool,
}

/// LIMIT, OFFSET and FETCH.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cut {
    /// Maximum number of rows.
    pub limit: Option<Expr>,
    /// Number of rows skipped first.
    pub offset: Option<Expr>,
    /// `WITH TIES`: rows that sort equal to the last row are kept too. A sort is directly below.
    pub ties: bool,
    /// `SQL_CALC_FOUND_ROWS`: the rows cut off are counted.
    pub counted: bool,
    /// The unit that it belongs to.
    pub unit: UnitId,
}

/// A set operation.
#[derive(Clone, Debug)]
pub(crate) struct SetNode {
    /// Kind of the operation.
    pub operator: SetOperator,
    /// Whether duplicates are kept.
    pub all: bool,
    /// Inputs, each with the columns that become the output columns.
    pub inputs: Vec<(Logical, Vec<ColumnId>)>,
    /// Output columns.
    pub columns: Vec<ColumnId>,
}

/// Recursive common tables computed together; its rows are those of the first table.
#[derive(Clone, Debug)]
pub(crate) struct RecursiveNode {
    /// The tables.
    pub parts: Vec<RecursivePart>,
}

/// One table of a [`RecursiveNode`].
#[derive(Clone, Debug)]
pub(crate) struct RecursivePart {
    /// Number of the common table.
    pub table: usize,
    /// Column names.
    pub names: Vec<Box<str>>,
    /// First rows and their columns.
    pub anchor: (Logical, Vec<ColumnId>),
    /// Next rows and their columns.
    pub step: Option<(Logical, Vec<ColumnId>)>,
    /// Positions of the columns that identify a row: later rows equal in them are dropped. An empty
    /// list means all columns. `None` for UNION ALL.
    pub key: Option<Vec<usize>>,
    /// Output columns.
    pub columns: Vec<ColumnId>,
}

/// A subquery of an expression. Until it is finished, placeholder columns stand for the
/// expression's operands, and its predicate refers to the subquery's columns by number.
#[derive(Clone, Debug)]
pub(crate) struct SubqueryState {
    /// Source of its rows.
    pub plan: Logical,
    /// Visible columns.
    pub output: Vec<ColumnId>,
    /// Whether its own subqueries are unnested.
    pub prepared: bool,
    /// Whether it is a subplan already, with parameters in place of outer columns.
    pub finished: bool,
    /// Slots that its expression fills, each with the outer column of the value.
    pub args: Vec<(usize, ColumnId)>,
    /// Whether it must run for every row.
    pub volatile: bool,
    /// Its unit.
    pub unit: UnitId,
}
