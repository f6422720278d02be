//! Statements that change or read rows other than SELECT.
//! `DEFAULT` and `IGNORE` as values are kinds of expressions; the parser checks their places.

use super::{
    ColumnRef, Expr, Ident, Limit, OrderItem, Query, SelectItem, StringLiteral, TableFactor,
    TableName, TableRef,
};

/// `INSERT` or `REPLACE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// `REPLACE`, not `INSERT`.
    pub replace: bool,
    /// `LOW_PRIORITY`, `DELAYED`, `HIGH_PRIORITY`.
    pub priority: Option<InsertPriority>,
    /// `IGNORE`.
    pub ignore: bool,
    /// The table.
    pub table: TableName,
    /// `PARTITION (...)`.
    pub partitions: Vec<Ident>,
    /// The column list; `None` if absent, which means all columns (no column with `SET`).
    pub columns: Option<Vec<ColumnRef>>,
    /// The statement that inserts.
    pub origin: InsertOrigin,
    /// Source of the rows.
    pub source: InsertSource,
    /// `ON DUPLICATE KEY UPDATE`.
    pub on_duplicate: Vec<Assignment>,
    /// `RETURNING`.
    pub returning: Vec<SelectItem>,
}

/// The statement that an INSERT belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InsertOrigin {
    /// INSERT or REPLACE itself.
    Insert,
    /// LOAD DATA. The list may name a column twice: it takes its values one after the other.
    Load,
    /// CREATE TABLE .. SELECT.
    Create,
}

/// Scheduling word of INSERT and REPLACE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InsertPriority {
    /// `LOW_PRIORITY`.
    Low,
    /// `DELAYED`.
    Delayed,
    /// `HIGH_PRIORITY`.
    High,
}

/// Source of inserted rows.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertSource {
    /// `VALUES (..), ..`; an empty row has all defaults.
    Values(Vec<Vec<Expr>>),
    /// `SET a = 1, ...`.
    Set(Vec<Assignment>),
    /// A query.
    Query(Box<Query>),
}

/// `column = value`; the value may be `DEFAULT`.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The column.
    pub column: ColumnRef,
    /// Its new value.
    pub value: Expr,
}

/// `UPDATE` of one or more tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// `LOW_PRIORITY`.
    pub low_priority: bool,
    /// `IGNORE`.
    pub ignore: bool,
    /// The tables; a single one that is no join makes it a single-table update.
    pub tables: Vec<TableRef>,
    /// `FOR PORTION OF`, of a single table.
    pub portion: Option<Box<Portion>>,
    /// The new values.
    pub assignments: Vec<Assignment>,
    /// `WHERE`.
    pub where_clause: Option<Expr>,
    /// `ORDER BY`.
    pub order_by: Vec<OrderItem>,
    /// `LIMIT`.
    pub limit: Option<Box<Limit>>,
}

/// `DELETE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// `LOW_PRIORITY`.
    pub low_priority: bool,
    /// `QUICK`.
    pub quick: bool,
    /// `IGNORE`.
    pub ignore: bool,
    /// Tables that lose rows.
    pub target: DeleteTarget,
    /// `FOR PORTION OF`, of a single table.
    pub portion: Option<Box<Portion>>,
    /// `WHERE`.
    pub where_clause: Option<Expr>,
    /// `ORDER BY`, of one table only.
    pub order_by: Vec<OrderItem>,
    /// `LIMIT`, of one table only.
    pub limit: Option<Box<Limit>>,
    /// `RETURNING`, of one table only.
    pub returning: Vec<SelectItem>,
}

/// `FOR PORTION OF period FROM from TO to`.
#[derive(Clone, Debug, PartialEq)]
pub struct Portion {
    /// The period.
    pub period: Ident,
    /// Start of the portion.
    pub from: Expr,
    /// End of the portion.
    pub to: Expr,
}

/// Tables that a DELETE removes rows from.
#[derive(Clone, Debug, PartialEq)]
pub enum DeleteTarget {
    /// `DELETE FROM table`, or `DELETE HISTORY FROM table`.
    Single(Box<TableFactor>),
    /// `DELETE t1, t2 FROM refs` or `DELETE FROM t1, t2 USING refs`.
    Multi {
        /// Names or aliases of the tables that lose rows.
        targets: Vec<TableName>,
        /// The join.
        from: Vec<TableRef>,
    },
}

/// `LOAD DATA` or `LOAD XML`.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadData {
    /// `LOAD XML`.
    pub xml: bool,
    /// `LOW_PRIORITY`, `CONCURRENT`.
    pub priority: Option<LoadPriority>,
    /// `LOCAL`: the file is the client's.
    pub local: bool,
    /// The file.
    pub file: StringLiteral,
    /// Handling of rows with a duplicate key.
    pub duplicates: OnDuplicate,
    /// The table.
    pub table: TableName,
    /// `PARTITION (...)`.
    pub partitions: Vec<Ident>,
    /// `CHARACTER SET`.
    pub charset: Option<Box<str>>,
    /// `ROWS IDENTIFIED BY '<tag>'` of LOAD XML.
    pub rows_identified_by: Option<StringLiteral>,
    /// `FIELDS` and `LINES`.
    pub format: FileFormat,
    /// `IGNORE n LINES`.
    pub ignore_lines: u64,
    /// Columns and variables the fields go to; empty is all columns.
    pub columns: Vec<LoadColumn>,
    /// `SET`.
    pub assignments: Vec<Assignment>,
}

/// Scheduling word of LOAD DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoadPriority {
    /// `LOW_PRIORITY`.
    Low,
    /// `CONCURRENT`.
    Concurrent,
}

/// Handling of a new row whose unique key exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnDuplicate {
    /// An error.
    Error,
    /// `REPLACE`: the new row wins.
    Replace,
    /// `IGNORE`: the old row wins.
    Ignore,
}

/// Target of a field of LOAD DATA.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadColumn {
    /// To a column.
    Column(ColumnRef),
    /// To a variable.
    UserVar(Box<str>),
}

/// `FIELDS ... LINES ...` of LOAD DATA and INTO OUTFILE; `None` means the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFormat {
    /// `TERMINATED BY`, a tab by default.
    pub field_terminator: Option<StringLiteral>,
    /// `ENCLOSED BY`, nothing by default.
    pub enclosed_by: Option<StringLiteral>,
    /// Whether `OPTIONALLY` was written.
    pub optionally_enclosed: bool,
    /// `ESCAPED BY`, a backslash by default.
    pub escaped_by: Option<StringLiteral>,
    /// `STARTING BY`, nothing by default.
    pub line_start: Option<StringLiteral>,
    /// `LINES TERMINATED BY`, a newline by default.
    pub line_terminator: Option<StringLiteral>,
}

/// `CALL procedure(args)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The procedure.
    pub name: TableName,
    /// The arguments.
    pub args: Vec<Expr>,
}

/// `HANDLER ...`.
#[derive(Clone, Debug, PartialEq)]
pub struct Handler {
    /// The table, or the alias it was opened by.
    pub table: TableName,
    /// The action.
    pub action: HandlerAction,
}

/// Action of HANDLER.
#[derive(Clone, Debug, PartialEq)]
pub enum HandlerAction {
    /// `OPEN [[AS] alias]`.
    Open {
        /// The alias, if given.
        alias: Option<Ident>,
    },
    /// `CLOSE`.
    Close,
    /// `READ ...`.
    Read {
        /// The index; `None` reads in the table's own order.
        index: Option<Ident>,
        /// The row to read.
        position: HandlerPosition,
        /// `WHERE`.
        where_clause: Option<Box<Expr>>,
        /// `LIMIT`.
        limit: Option<Box<Limit>>,
    },
}

/// Row that HANDLER reads.
#[derive(Clone, Debug, PartialEq)]
pub enum HandlerPosition {
    /// `FIRST`.
    First,
    /// `NEXT`.
    Next,
    /// `PREV`.
    Prev,
    /// `LAST`.
    Last,
    /// `index op (values)`, the operator one of `= >= <= > <`.
    Key(super::BinaryOp, Vec<Expr>),
}
