//! Operators and the nodes they make up. Data only; the executor gives them meaning.

use selkie_expr::Expr;
use selkie_types::{SqlType, stack};

use super::{
    Aggregate, Delete, HashJoin, IndexJoin, Insert, JoinKind, JsonTableJoin, NestedLoopJoin,
    RecursiveUnion, SetOperation, SystemTableScan, TableScan, Update, Window,
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
    /// What it does.
    pub operator: Operator,
    /// Its output columns.
    pub columns: Vec<ColumnType>,
    /// Rows expected.
    pub rows: f64,
    /// Cost of producing all of them, inputs included, in nanoseconds.
    pub cost: f64,
    /// The order in which its rows have to come, since what reads them does not sort them; empty if
    /// any will do. The operator has it by itself: nothing is to be done for it, but it can be
    /// tested.
    pub in_order: Vec<SortKey>,
}

/// What a node does.
#[derive(Clone, Debug)]
pub enum Operator {
    /// One row of no columns: `SELECT 1`.
    OneRow,
    /// No row at all, of the node's columns: `WHERE 1=0`.
    Empty,
    /// Rows of a table.
    TableScan(Box<TableScan>),
    /// Rows of a computed table of `information_schema`.
    SystemTableScan(Box<SystemTableScan>),
    /// Rows of `Plan::common_tables[.0]`.
    CommonTableScan(usize),
    /// Inside the recursive part of a common table: the rows of the previous round.
    WorkTableScan(usize),
    /// `VALUES` rows; every row has the node's columns, the types are converted already.
    Values(Vec<Vec<Expr>>),
    /// Rows for the rows of parameters that an execution has.
    BulkValues(BulkValues),
    /// Looks each outer row up in an index.
    IndexJoin(Box<IndexJoin>),
    /// Builds a table of the right rows, probes it with the left.
    HashJoin(Box<HashJoin>),
    /// Compares every left row with the materialised right rows.
    NestedLoopJoin(Box<NestedLoopJoin>),
    /// Rows for which all conditions are true, in this order of evaluation.
    Filter {
        /// Where rows come from.
        input: Box<PlanNode>,
        /// Conditions, cheapest and most selective first.
        conditions: Vec<Expr>,
    },
    /// Computes each output column from the input row.
    Project {
        /// Where rows come from.
        input: Box<PlanNode>,
        /// One per output column.
        exprs: Vec<Expr>,
    },
    /// Groups and aggregates.
    Aggregate(Box<Aggregate>),
    /// Window functions.
    Window(Box<Window>),
    /// JSON_TABLE beside the rows its document comes from.
    JsonTable(Box<JsonTableJoin>),
    /// Sorts all rows.
    Sort(Sort),
    /// The first rows in an order.
    TopN(Box<TopN>),
    /// Some rows, as they come.
    Limit(Box<Limit>),
    /// Each distinct row once, the first of its equals by collation.
    Distinct(Box<PlanNode>),
    /// UNION, INTERSECT and EXCEPT.
    SetOperation(Box<SetOperation>),
    /// The definition of a recursive common table.
    RecursiveUnion(Box<RecursiveUnion>),
    /// Reads the input whole before giving rows: protects a statement from its own changes.
    Materialize(Box<PlanNode>),
    /// Fails with 1172 when there is more than one row; gives exactly one, of NULLs if there was
    /// none. Only for scalar subqueries turned into joins.
    SingleRow(Box<PlanNode>),
    /// Inserts.
    Insert(Box<Insert>),
    /// Updates.
    Update(Box<Update>),
    /// Deletes.
    Delete(Box<Delete>),
}

/// `VALUES` rows for rows of parameters. An execution says which rows it has, and the pattern of
/// each: parameters that are no values have no place in an expression.
#[derive(Clone, Debug)]
pub struct BulkValues {
    /// The rows of the first pattern, then those of the others; as in [`Operator::Values`].
    pub templates: Vec<Vec<Expr>>,
    /// Rows of a pattern.
    pub height: usize,
    /// Parameters are read elsewhere than in the values, or in subqueries: one row at a time.
    pub by_row: bool,
}

/// One sort key. NULLs are least.
#[derive(Clone, Debug)]
pub struct SortKey {
    /// What is compared, by its type's collation.
    pub expr: Expr,
    /// Greatest first.
    pub descending: bool,
}

/// Sorts its input. Not stable.
#[derive(Clone, Debug)]
pub struct Sort {
    /// Where rows come from.
    pub input: Box<PlanNode>,
    /// Major key first.
    pub keys: Vec<SortKey>,
}

/// A row count and an offset, evaluated when the operator opens; unsigned integers.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Where rows come from.
    pub input: PlanNode,
    /// Rows at most; `None` all.
    pub limit: Option<Expr>,
    /// Rows left out first.
    pub offset: Option<Expr>,
    /// Keys by which the input is sorted; rows that are equal in them to the last one follow it.
    pub ties: Option<Vec<SortKey>>,
    /// The rows cut off are counted.
    pub counted: bool,
}

/// A sort that needs only the first `offset + limit` rows.
#[derive(Clone, Debug)]
pub struct TopN {
    /// Where rows come from.
    pub input: PlanNode,
    /// Major key first.
    pub keys: Vec<SortKey>,
    /// Rows at most.
    pub limit: Expr,
    /// Rows left out first.
    pub offset: Option<Expr>,
    /// The rows cut off are counted.
    pub counted: bool,
}

impl super::Plan {
    /// Whether the statement says IGNORE: errors of rows become warnings.
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
    /// Whether a join gives its rows in the order of the left ones.
    pub fn keeps_left_order(&self) -> bool {
        // An outer join gives rows without a match after those with one, batch by batch.
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
        Self { operator, columns, rows, cost, in_order: Vec::new() }
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

    /// Calls `f` with this node and all below it, top down.
    pub fn visit<'a>(&'a self, f: &mut impl FnMut(&'a PlanNode)) {
        stack::ensure();
        f(self);
        self.inputs().into_iter().for_each(|input| input.visit(f));
    }
}
