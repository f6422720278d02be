//! Logical operators.

use std::sync::Arc;

use selkie_expr::Expr;
use selkie_expr::aggregate::Aggregate as AggregateCall;

use super::{ColumnId, RelationId};
use crate::physical::{JoinKind, JsonTableDef, SetOperator, WindowFrame, WindowFunction};

/// A logical operator with its inputs.
#[derive(Clone, Debug)]
pub(crate) enum Logical {
    /// One row of no columns.
    OneRow,
    /// No rows of these columns.
    Empty(Vec<ColumnId>),
    /// A table instance: base or system table.
    Scan(RelationId),
    /// Reads a common table; `columns` stand for its columns in order.
    CommonScan { table: usize, columns: Vec<ColumnId> },
    /// Reads the rows of the round before, in the recursive part of a common table.
    WorkScan { table: usize, columns: Vec<ColumnId> },
    /// Rows of expressions.
    Values { rows: Vec<Vec<Expr>>, columns: Vec<ColumnId> },
    /// A join.
    Join(Box<Join>),
    /// Rows for which all conditions are true.
    Filter { input: Box<Logical>, conditions: Vec<Expr> },
    /// Computes columns; only these are left.
    Project { input: Box<Logical>, columns: Vec<(ColumnId, Expr)> },
    /// Groups and aggregates.
    Aggregate(Box<AggregateNode>),
    /// Window functions beside the input's columns.
    Window(Box<WindowNode>),
    /// JSON_TABLE beside the rows its document comes from.
    JsonTable(Box<JsonTableNode>),
    /// Sorts; a limit directly above makes it partial.
    Sort { input: Box<Logical>, keys: Vec<SortItem> },
    /// Some rows.
    Limit { input: Box<Logical>, cut: Box<Cut> },
    /// Distinct rows, by the listed columns (all the others are dropped).
    Distinct { input: Box<Logical>, columns: Vec<ColumnId> },
    /// UNION, INTERSECT, EXCEPT.
    Set(Box<SetNode>),
    /// The definition of a recursive common table.
    Recursive(Box<RecursiveNode>),
}

/// A join of two inputs.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    /// Which rows it gives.
    pub kind: JoinKind,
    /// Left input.
    pub left: Logical,
    /// Right input.
    pub right: Logical,
    /// Conditions. For the null-aware kinds the first is the IN comparison.
    pub on: Vec<Expr>,
    /// The column a mark join makes.
    pub mark: Option<ColumnId>,
    /// `STRAIGHT_JOIN`: the left input is read first.
    pub straight: bool,
}

/// Groups and aggregates.
#[derive(Clone, Debug)]
pub(crate) struct AggregateNode {
    /// Input.
    pub input: Logical,
    /// Group keys and the columns they become.
    pub groups: Vec<(ColumnId, Expr)>,
    /// Aggregates and the columns they become.
    pub aggregates: Vec<(ColumnId, AggregateCall)>,
    /// `WITH ROLLUP`.
    pub rollup: bool,
    /// For ROLLUP, which of the keys come greatest first.
    pub descending: Vec<bool>,
}

/// A window function and the column it becomes.
#[derive(Clone, Debug)]
pub(crate) struct WindowItem {
    /// Output column.
    pub column: ColumnId,
    /// Which function.
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

/// JSON_TABLE: for each row of the input, the rows of a document computed from it.
#[derive(Clone, Debug)]
pub(crate) struct JsonTableNode {
    /// Input.
    pub input: Logical,
    /// The document.
    pub document: Expr,
    /// What it is made into.
    pub table: Arc<JsonTableDef>,
    /// Its columns.
    pub columns: Vec<ColumnId>,
    /// Rows of the input without any stay.
    pub outer: bool,
    /// Conditions of an outer join.
    pub on: Vec<Expr>,
}

/// A sort key.
#[derive(Clone, Debug)]
pub(crate) struct SortItem {
    /// What is compared.
    pub expr: Expr,
    /// Greatest first.
    pub descending: bool,
}

/// LIMIT, OFFSET and FETCH.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cut {
    /// Rows at most.
    pub limit: Option<Expr>,
    /// Rows left out first.
    pub offset: Option<Expr>,
    /// Rows that sort as the last one count with it; a sort is directly below.
    pub ties: bool,
    /// `SQL_CALC_FOUND_ROWS`: the rows cut off are counted.
    pub counted: bool,
}

/// A set operation.
#[derive(Clone, Debug)]
pub(crate) struct SetNode {
    /// Which.
    pub operator: SetOperator,
    /// Keeps duplicates.
    pub all: bool,
    /// Inputs and which of their columns stand for the output columns.
    pub inputs: Vec<(Logical, Vec<ColumnId>)>,
    /// Output columns.
    pub columns: Vec<ColumnId>,
}

/// Recursive common tables computed together, and the rows of the first.
#[derive(Clone, Debug)]
pub(crate) struct RecursiveNode {
    /// The tables.
    pub parts: Vec<RecursivePart>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct RecursivePart {
    /// Its number.
    pub table: usize,
    /// Names of its columns.
    pub names: Vec<Box<str>>,
    /// First rows and their columns.
    pub anchor: (Logical, Vec<ColumnId>),
    /// Next rows and their columns.
    pub step: Option<(Logical, Vec<ColumnId>)>,
    /// Positions of the columns in which no two rows are equal: none is all of them. `None` for
    /// UNION ALL.
    pub key: Option<Vec<usize>>,
    /// Output columns.
    pub columns: Vec<ColumnId>,
}

/// A subquery of an expression. Until it is finished, the expression's operands are numbered by
/// placeholder columns and its predicate reads the subquery's columns by number.
#[derive(Clone, Debug)]
pub(crate) struct SubqueryState {
    /// Its rows.
    pub plan: Logical,
    /// Its visible columns.
    pub output: Vec<ColumnId>,
    /// Its own subqueries are unnested.
    pub prepared: bool,
    /// It is a subplan: outer columns are parameters.
    pub finished: bool,
    /// Slots its expression fills, with the outer columns whose values they take.
    pub args: Vec<(usize, ColumnId)>,
    /// It must run for every row.
    pub volatile: bool,
}
