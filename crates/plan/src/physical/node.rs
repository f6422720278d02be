//! Operators and plan nodes. Data only: the executor defines their behaviour. A new operator must
//! be added to [`PlanNode::inputs`], on which every walk over a plan relies.

use selkie_expr::{CompareOp, Expr};
use selkie_types::{SqlType, stack};

use super::{
    Aggregate, Analyse, Delete, HashJoin, IndexJoin, Insert, JoinKind, JsonTableJoin,
    NestedLoopJoin, RecursiveUnion, SetOperation, SystemTableScan, TableScan, Update, Window,
};

/// Type of one column of an operator's output.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnType {
    /// SQL type; its physical kind is the kind of the column vector.
    pub ty: SqlType,
    /// Whether NULL may appear.
    pub nullable: bool,
}

/// One operator with its inputs.
#[derive(Clone, Debug)]
pub struct PlanNode {
    /// The operator.
    pub operator: Operator,
    /// Output columns.
    pub columns: Vec<ColumnType>,
    /// Expected number of rows.
    pub rows: f64,
    /// Cost of producing all of them, inputs included, in nanoseconds.
    pub cost: f64,
    /// The order in which rows must come, because the reader does not sort them; empty if any order
    /// will do. The operator has this order by itself, so nothing is done for it, but it can be
    /// tested.
    pub in_order: Vec<SortKey>,
    /// Its number in the plan, by which its work is counted: below [`super::Sizes::counted`].
    pub number: u32,
    /// The tables that are units whose rows it gives, for EXPLAIN.
    pub of_units: Option<Box<super::UnitTables>>,
}

/// Operator of a node.
#[derive(Clone, Debug)]
pub enum Operator {
    /// One row without columns: `SELECT 1`.
    OneRow,
    /// No rows, with the node's columns: `WHERE 1=0`.
    Empty,
    /// Rows of a table.
    TableScan(Box<TableScan>),
    /// Rows of a computed table of `information_schema`.
    SystemTableScan(Box<SystemTableScan>),
    /// Rows of `Plan::common_tables[.0]`.
    CommonTableScan(usize),
    /// Inside the recursive part of a common table: rows of the previous round.
    WorkTableScan(usize),
    /// `VALUES` rows. Each row has the node's columns, already of their types.
    Values(Vec<Vec<Expr>>),
    /// Rows from the parameter rows of a bulk execution.
    BulkValues(BulkValues),
    /// Looks up each outer row in an index.
    IndexJoin(Box<IndexJoin>),
    /// Builds a hash table of the right rows and probes it with the left rows.
    HashJoin(Box<HashJoin>),
    /// Compares every left row with the materialised right rows.
    NestedLoopJoin(Box<NestedLoopJoin>),
    /// Rows for which all conditions are true, in this order of evaluation.
    Filter {
        /// Source of rows.
        input: Box<PlanNode>,
        /// Conditions, cheapest and most selective first.
        conditions: Vec<Expr>,
    },
    /// Computes each output column from the input row.
    Project {
        /// Source of rows.
        input: Box<PlanNode>,
        /// One per output column.
        exprs: Vec<Expr>,
    },
    /// Groups and aggregates.
    Aggregate(Box<Aggregate>),
    /// Window functions.
    Window(Box<Window>),
    /// Numbers the rows that pass conditions.
    RowNumbers(Box<RowNumbers>),
    /// A row about the values of each column.
    Analyse(Box<Analyse>),
    /// JSON_TABLE joined to the rows on which its document depends.
    JsonTable(Box<JsonTableJoin>),
    /// Sorts all rows.
    Sort(Sort),
    /// The first rows in a given order.
    TopN(Box<TopN>),
    /// A part of the rows, in input order.
    Limit(Box<Limit>),
    /// Each distinct row once: the first of the rows that are equal by collation.
    Distinct(Box<PlanNode>),
    /// UNION, INTERSECT and EXCEPT.
    SetOperation(Box<SetOperation>),
    /// Definition of a recursive common table.
    RecursiveUnion(Box<RecursiveUnion>),
    /// Reads the whole input before it gives rows. This protects a statement from its own changes.
    Materialize(Box<PlanNode>),
    /// Fails with 1172 if there is more than one row. Gives exactly one row, of NULLs if there was
    /// none. Only for scalar subqueries that became joins.
    SingleRow(Box<PlanNode>),
    /// Inserts.
    Insert(Box<Insert>),
    /// Updates.
    Update(Box<Update>),
    /// Deletes.
    Delete(Box<Delete>),
}

/// `VALUES` rows made from parameter rows. An execution says which parameter rows it has and the
/// pattern of each: parameters without a value cannot be in an expression.
#[derive(Clone, Debug)]
pub struct BulkValues {
    /// The rows of the first pattern, then those of the other patterns; as in [`Operator::Values`].
    pub templates: Vec<Vec<Expr>>,
    /// Number of rows of one pattern.
    pub height: usize,
    /// Execute one parameter row at a time, because parameters are read outside of the values or in
    /// subqueries.
    pub by_row: bool,
}

/// One sort key. NULL sorts lowest.
#[derive(Clone, Debug)]
pub struct SortKey {
    /// Value to compare, by its type's collation.
    pub expr: Expr,
    /// Descending order.
    pub descending: bool,
}

/// Sorts its input. Not stable.
#[derive(Clone, Debug)]
pub struct Sort {
    /// Source of rows.
    pub input: Box<PlanNode>,
    /// Major key first.
    pub keys: Vec<SortKey>,
}

/// A row count and an offset, both unsigned integers evaluated when the operator opens.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Source of rows.
    pub input: PlanNode,
    /// Maximum number of rows; `None` for all.
    pub limit: Option<Expr>,
    /// Number of rows skipped first.
    pub offset: Option<Expr>,
    /// `WITH TIES`: the keys by which the input is sorted. Rows equal to the last row in these keys
    /// follow it.
    pub ties: Option<Vec<SortKey>>,
    /// Whether the rows cut off are counted.
    pub counted: bool,
}

/// Gives the input rows that pass the conditions, with their numbers behind their columns. A row is
/// tested with the number that it gets if it passes.
#[derive(Clone, Debug)]
pub struct RowNumbers {
    /// Source of rows.
    pub input: PlanNode,
    /// Conditions over the input row and the number.
    pub conditions: Vec<Expr>,
    /// A bound of the numbers: no row passes whose number is not so related to this value.
    pub most: Option<(CompareOp, Expr)>,
    /// Whether an operator above reads the numbers.
    pub shown: bool,
}

/// A sort that needs only the first `offset + limit` rows.
#[derive(Clone, Debug)]
pub struct TopN {
    /// Source of rows.
    pub input: PlanNode,
    /// Major key first.
    pub keys: Vec<SortKey>,
    /// Maximum number of rows.
    pub limit: Expr,
    /// Number of rows skipped first.
    pub offset: Option<Expr>,
    /// Whether the rows cut off are counted.
    pub counted: bool,
}

impl super::Plan {
    /// Whether the statement has IGNORE, so that errors of rows become warnings.
    pub fn ignores_errors(&self) -> bool {
        match &self.root.operator {
            Operator::Insert(insert) => insert.mode == super::InsertMode::Ignore,
            Operator::Update(update) => update.ignore,
            Operator::Delete(delete) => delete.ignore,
            _ => false,
        }
    }
}

impl Operator {
    /// Whether a join keeps the order of its left rows.
    pub fn keeps_left_order(&self) -> bool {
        // An outer join gives the unmatched rows of a batch after the matched ones.
        match self {
            Self::IndexJoin(join) => join.kind != JoinKind::Left,
            Self::NestedLoopJoin(join) => join.kind != JoinKind::Left,
            _ => false,
        }
    }
}

impl PlanNode {
    /// A node whose rows may come in any order.
    pub fn new(operator: Operator, columns: Vec<ColumnType>, rows: f64, cost: f64) -> Self {
        Self { operator, columns, rows, cost, in_order: Vec::new(), number: 0, of_units: None }
    }

    /// Whether the rows come from a join, filtered or not.
    pub fn is_join(&self) -> bool {
        match &self.operator {
            Operator::IndexJoin(_) | Operator::HashJoin(_) | Operator::NestedLoopJoin(_) => true,
            Operator::Filter { input, .. } | Operator::Project { input, .. } => input.is_join(),
            _ => false,
        }
    }

    /// The direct inputs, left first.
    pub fn inputs(&self) -> Vec<&PlanNode> {
        match &self.operator {
            Operator::OneRow
            | Operator::Empty
            | Operator::TableScan(_)
            | Operator::SystemTableScan(_)
            | Operator::CommonTableScan(_)
            | Operator::WorkTableScan(_)
            | Operator::Values(_)
            | Operator::BulkValues(_) => Vec::new(),
            Operator::IndexJoin(join) => vec![&join.left],
            Operator::HashJoin(join) => vec![&join.left, &join.right],
            Operator::NestedLoopJoin(join) => vec![&join.left, &join.right],
            Operator::Filter { input, .. } | Operator::Project { input, .. } => vec![input],
            Operator::Aggregate(aggregate) => vec![&aggregate.input],
            Operator::Window(window) => vec![&window.input],
            Operator::RowNumbers(numbers) => vec![&numbers.input],
            Operator::Analyse(analyse) => vec![&analyse.input],
            Operator::JsonTable(join) => vec![&join.input],
            Operator::Sort(sort) => vec![&sort.input],
            Operator::TopN(top) => vec![&top.input],
            Operator::Limit(limit) => vec![&limit.input],
            Operator::Distinct(input)
            | Operator::Materialize(input)
            | Operator::SingleRow(input) => vec![input],
            Operator::SetOperation(set) => set.inputs.iter().collect(),
            Operator::RecursiveUnion(union) => {
                let parts = union.parts.iter();
                parts.flat_map(|p| std::iter::once(&p.anchor).chain(&p.step)).collect()
            }
            Operator::Insert(insert) => vec![&insert.source],
            Operator::Update(update) => vec![&update.source],
            Operator::Delete(delete) => vec![&delete.source],
        }
    }

    /// The direct inputs, to change them, in the order of [`Self::inputs`].
    pub fn inputs_mut(&mut self) -> Vec<&mut PlanNode> {
        match &mut self.operator {
            Operator::OneRow
            | Operator::Empty
            | Operator::TableScan(_)
            | Operator::SystemTableScan(_)
            | Operator::CommonTableScan(_)
            | Operator::WorkTableScan(_)
            | Operator::Values(_)
            | Operator::BulkValues(_) => Vec::new(),
            Operator::IndexJoin(join) => vec![&mut join.left],
            Operator::HashJoin(join) => vec![&mut join.left, &mut join.right],
            Operator::NestedLoopJoin(join) => vec![&mut join.left, &mut join.right],
            Operator::Filter { input, .. } | Operator::Project { input, .. } => vec![input],
            Operator::Aggregate(aggregate) => vec![&mut aggregate.input],
            Operator::Window(window) => vec![&mut window.input],
            Operator::RowNumbers(numbers) => vec![&mut numbers.input],
            Operator::Analyse(analyse) => vec![&mut analyse.input],
            Operator::JsonTable(join) => vec![&mut join.input],
            Operator::Sort(sort) => vec![&mut sort.input],
            Operator::TopN(top) => vec![&mut top.input],
            Operator::Limit(limit) => vec![&mut limit.input],
            Operator::Distinct(input)
            | Operator::Materialize(input)
            | Operator::SingleRow(input) => vec![input],
            Operator::SetOperation(set) => set.inputs.iter_mut().collect(),
            Operator::RecursiveUnion(union) => {
                let parts = union.parts.iter_mut();
                parts.flat_map(|p| std::iter::once(&mut p.anchor).chain(&mut p.step)).collect()
            }
            Operator::Insert(insert) => vec![&mut insert.source],
            Operator::Update(update) => vec![&mut update.source],
            Operator::Delete(delete) => vec![&mut delete.source],
        }
    }

    /// Calls `f` with this node and all below it, top down.
    pub fn visit<'a>(&'a self, f: &mut impl FnMut(&'a PlanNode)) {
        stack::ensure();
        f(self);
        self.inputs().into_iter().for_each(|input| input.visit(f));
    }
}
