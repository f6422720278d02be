//! The physical plan: what the executor runs. Pure data, no behaviour beyond small accessors.
//!
//! Conventions every operator keeps:
//! - Expressions refer to columns by position in the operator's input row. Operators with two
//!   inputs see the left (outer, probe) row first and the right (inner, build) row after it.
//! - A plan holds no value that changes between executions: parameters, user and system variables
//!   and the current time are read when an operator opens, so a plan runs again with new ones.
//! - Parameter slots `0..parameters` are the statement's placeholders; the slots after them carry
//!   values from an outer query block into correlated subplans and are numbered over the whole
//!   plan. The subquery expression fills its slots before the subplan runs; a subplan reads its
//!   own slots and those of the blocks around it.

mod access;
mod aggregate;
mod analyse;
mod dml;
mod foreign;
mod join;
mod json_table;
mod node;
mod output;
mod search;
mod set;
mod subplan;
mod unit;
mod window;

pub use access::{
    Access, GroupEnds, IndexLookup, IndexRange, KeyRange, PartsRead, RangeBound, Reader, RowLock,
    ScanFilter, Shown, SystemHints, SystemTableScan, TableScan, Tested,
};
pub use aggregate::{Aggregate, AggregateStrategy};
pub use analyse::{Analyse, AnalysedColumn};
pub use dml::{
    Assignment, Delete, DeleteTarget, DuplicateUpdate, Insert, InsertMode, InsertValue, OwnValue,
    Portion, RowRules, Update, UpdateTarget, ViewRules,
};
pub use foreign::{ForeignLink, ForeignParent, ForeignTable, ForeignTables};
pub use join::{HashJoin, IndexJoin, JoinKey, JoinKind, KeyFill, NestedLoopJoin};
pub use json_table::{JsonFallback, JsonTableColumn, JsonTableDef, JsonTableJoin};
pub use node::{
    BulkValues, ColumnType, Limit, Operator, PlanNode, RowNumbers, Sort, SortKey, TopN,
};
pub use output::{OutputColumn, PartOf, TextOf};
pub use search::Search;
pub use set::{CommonTable, RecursivePart, RecursiveUnion, SetOperation, SetOperator};
pub use subplan::{OuterColumn, SubPlan};
pub use unit::{Told, Unit, UnitKind, UnitTables};
pub use window::{FrameBound, FrameUnit, Window, WindowCall, WindowFrame, WindowFunction};

use std::sync::Arc;

use selkie_catalog::TableInfo;

pub use crate::bind::{Converted, Warnings};

/// A statement ready to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The operator whose rows are the result; DML operators give no rows unless `RETURNING`.
    pub root: PlanNode,
    /// Columns sent to the client; empty for statements without a result set.
    pub output: Arc<[OutputColumn]>,
    /// Subqueries evaluated from expressions, by [`selkie_expr::SubqueryId`].
    pub subplans: Vec<SubPlan>,
    /// Full-text searches, by [`selkie_expr::SearchId`].
    pub searches: Vec<Search>,
    /// Queries materialised once and read by any number of [`Operator::CommonTableScan`]s.
    pub common_tables: Vec<CommonTable>,
    /// Number of parameter slots, placeholders included.
    pub slots: usize,
    /// Number of `?` parameters in the statement.
    pub parameters: usize,
    /// Base tables and views the plan depends on, each once. A plan is stale when one of them has
    /// another version.
    pub tables: Vec<Arc<TableInfo>>,
    /// Variables that the statement reads. A plan is stale when one of them has another type.
    pub variables: Variables,
    /// Sequences from which the statement takes numbers.
    pub takes_numbers: Vec<Arc<TableInfo>>,
    /// Tables whose rows it locks in order to change them, in this statement or a later one.
    pub locks_rows: Vec<Arc<TableInfo>>,
    /// Treatment of its result.
    pub result: ResultUse,
    /// `LIMIT ROWS EXAMINED`: the result ends when this many rows were read.
    pub rows_examined: Option<selkie_expr::Expr>,
    /// Foreign keys that the statement must check.
    pub foreign: ForeignTables,
    /// Warnings that it raises whatever rows it reads.
    pub warnings: Warnings,
    /// Numbers of its parts.
    pub sizes: Sizes,
    /// Things that it uses beside literals and rows.
    pub uses: crate::safety::Used,
    /// Facts that only EXPLAIN tells.
    pub told: Told,
    /// Triggers, and columns that only the binary log has.
    pub changes: RowChanges,
}

impl Plan {
    /// Whether it changes rows.
    pub fn changes_rows(&self) -> bool {
        use Operator::{Delete, Insert, Update};
        matches!(self.root.operator, Insert(_) | Update(_) | Delete(_))
    }

    /// Whether it calls stored functions.
    pub fn calls_functions(&self) -> bool {
        self.uses.has(crate::safety::Uses::STORED_FUNCTION)
    }
}

/// Variables that a statement reads, with the types they were bound as.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    /// User variables; `None` if one is not set.
    pub user: Vec<(Box<str>, Option<selkie_types::SqlType>)>,
    /// System variables: a text is as long as the value.
    pub system: Vec<(selkie_expr::VariableScope, Box<str>, selkie_types::SqlType)>,
}

/// Treatment of the result of a query.
#[derive(Clone, Debug, Default)]
pub struct ResultUse {
    /// `SELECT ... INTO`, if the rows do not go to the client.
    pub into: Option<selkie_sql::ast::IntoTarget>,
    /// `DO`: values are computed only for their effects.
    pub is_dropped: bool,
    /// `SQL_CALC_FOUND_ROWS`: count what the outermost LIMIT cut off.
    pub calc_found_rows: bool,
    /// Compat: what clients are told of the columns if few rows are read.
    pub few: Option<Arc<FewRows>>,
}

/// Columns of a query whose rows come from a temporary table, unless no row or a single one is
/// read. MariaDB reads the only row of a table before it plans, if the engine counts rows.
#[derive(Clone, Debug)]
pub struct FewRows {
    /// The only table, if its engine counts rows.
    pub counted: Option<Arc<TableInfo>>,
    /// The columns if that table has one row, which is part of the result.
    pub row: Arc<[OutputColumn]>,
    /// The columns if it has no other row, or with LIMIT 0.
    pub nothing: Arc<[OutputColumn]>,
}

/// Numbers of parts of a plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sizes {
    /// Nodes whose work is counted while it runs. 0 if it reads one row by its key, or no table: so
    /// little work that counting would be felt.
    pub counted: u32,
    /// Filters that joins fill for scans.
    pub filters: u32,
    /// Query blocks with window functions, for a status counter.
    pub windowed_blocks: u64,
    /// Whether the statement has subqueries that read tables, even if they became joins.
    pub asks_tables: bool,
    /// Kinds of access to its tables, for status counters.
    pub reads: Reads,
}

/// Numbers of query blocks by the way in which their tables are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// The first table is read whole.
    pub scan: u32,
    /// The first table is read by ranges.
    pub range: u32,
    /// Later tables that are read whole.
    pub full_join: u32,
    /// Later tables that are read by ranges.
    pub full_range_join: u32,
    /// Internal tables.
    pub tables: u32,
    /// Whether all rows of the only table of an UPDATE or DELETE are read.
    pub changed_whole: bool,
    /// Whether a table that a query reads whole has an engine that counts its rows: with one row it
    /// is a constant.
    pub may_be_constant: bool,
}

/// Things that changes of rows bring with them.
#[derive(Clone, Debug, Default)]
pub struct RowChanges {
    /// Triggers of the changed tables that the statement may run.
    pub triggers: Vec<Arc<selkie_catalog::Trigger>>,
    /// The changed tables that have columns which are computed when rows are read: the binary log
    /// has their values.
    pub computed: Vec<ComputedColumns>,
}

/// Columns of a table that are computed when its rows are read, and their expressions over its
/// columns, in order of computation.
#[derive(Clone, Debug)]
pub struct ComputedColumns {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Position and expression.
    pub columns: Vec<(usize, selkie_expr::Expr)>,
}
