//! Statements that change or read rows other than SELECT.

use super::{
    ColumnRef, Expr, Ident, Limit, OrderItem, Query, SelectItem, StringLiteral, SystemTime,
    TableFactor, TableName, TableRef,
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
    /// The column list; `None` when absent, which means all (and none with `SET`).
    pub columns: Option<Vec<ColumnRef>>,
    /// A column may be in the list again: it takes its values one after the other, as LOAD DATA
    /// does.
    pub again: bool,
    /// Where the rows come from.
    pub source: InsertSource,
    /// `ON DUPLICATE KEY UPDATE`.
    pub on_duplicate: Vec<Assignment>,
    /// `RETURNING`.
    pub returning: Vec<SelectItem>,
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

/// Where inserted rows come from.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertSource {
    /// `VALUES (..), ..`; a row may be empty: all defaults.
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
    /// The tables; one that is not a join makes it a single-table update.
    pub tables: Vec<TableRef>,
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
    /// From which tables.
    pub target: DeleteTarget,
    /// `WHERE`.
    pub where_clause: Option<Expr>,
    /// `ORDER BY`, of one table only.
    pub order_by: Vec<OrderItem>,
    /// `LIMIT`, of one table only.
    pub limit: Option<Box<Limit>>,
    /// `RETURNING`, of one table only.
    pub returning: Vec<SelectItem>,
}

/// What a DELETE removes rows from.
#[derive(Clone, Debug, PartialEq)]
pub enum DeleteTarget {
    /// `DELETE FROM table`.
    Single(Box<TableFactor>),
    /// `DELETE HISTORY FROM table [BEFORE SYSTEM_TIME expr]`.
    History {
        /// The table.
        table: TableName,
        /// Before when; the start of [`SystemTime::AsOf`] form.
        before: Option<SystemTime>,
    },
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
    /// What happens to duplicates.
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

/// What happens to rows whose unique key exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnDuplicate {
    /// An error.
    Error,
    /// `REPLACE`: the new row wins.
    Replace,
    /// `IGNORE`: the old row wins.
    Ignore,
}

/// Where a field of LOAD DATA goes.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadColumn {
    /// To a column.
    Column(ColumnRef),
    /// To a variable.
    UserVar(Box<str>),
}

/// `FIELDS ... LINES ...` of LOAD DATA and INTO OUTFILE; `None` is the default.
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
    /// What to do.
    pub action: HandlerAction,
}

/// What HANDLER does.
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
        /// The index, or the table itself.
        index: Option<Ident>,
        /// Which row.
        position: HandlerPosition,
        /// `WHERE`.
        where_clause: Option<Box<Expr>>,
        /// `LIMIT`.
        limit: Option<Box<Limit>>,
    },
}

/// Which row HANDLER reads.
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
