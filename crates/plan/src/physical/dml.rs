//! Statements that change rows. Data only.
//!
//! The executor converts each value to its column's type (with the strictness of `sql_mode`),
//! refuses NULLs, keeps indexes and foreign keys.

use std::ops::Range;
use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_expr::Expr;

use super::PlanNode;

/// What every new version of a row goes through after its values were assigned. Expressions are
/// over all columns of the table in order.
#[derive(Clone, Debug, Default)]
pub struct RowRules {
    /// Generated columns and their expressions, in the order they must be computed.
    pub generated: Vec<(usize, Expr)>,
    /// Triggers may read or set some of them.
    pub seen_by_triggers: bool,
    /// What is wrong with their values is a warning. Compat: INSERT without a list of columns.
    pub lenient: bool,
    /// CHECK constraints: name and condition; a row fails if it is false (4025).
    pub checks: Vec<(Box<str>, Expr)>,
}

/// The view rows are changed through.
#[derive(Clone, Debug)]
pub struct ViewRules {
    /// Its schema.
    pub schema: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// `WITH CHECK OPTION`: rows for which it is not true are refused (1369). Of INSERT over all
    /// columns of the new row, of UPDATE over the source row with the new values in it.
    pub condition: Option<Expr>,
    /// The table's AUTO_INCREMENT column, if it has one, is among the view's.
    pub shows_auto_increment: bool,
}

/// What INSERT does about duplicate keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertMode {
    /// Fails.
    Insert,
    /// `REPLACE`: deletes the rows in the way first.
    Replace,
    /// `IGNORE`: leaves the row out, with a warning.
    Ignore,
}

/// Where a column of a new row gets its value.
#[derive(Clone, Debug)]
pub enum InsertValue {
    /// Column of the source.
    Source(usize),
    /// The column's DEFAULT clause, AUTO_INCREMENT value or implicit default. Expression defaults
    /// are in `Expr`.
    Default,
    /// An expression over the columns of the new row that come before: expression defaults.
    Expr(Expr),
    /// A value that reads the row itself: [`Insert::own`].
    Own,
    /// Computed later by [`RowRules::generated`]. Values in the column of the source, if any, are
    /// ignored with a warning.
    Generated(Option<usize>),
}

/// A column whose value reads the row being made: `INSERT INTO t (a, b) VALUES (1, a + 1)`.
#[derive(Clone, Debug)]
pub struct OwnValue {
    /// The column.
    pub column: usize,
    /// Its value in each row, over the columns of the table.
    pub values: Vec<Expr>,
    /// Column of the source with the number of the row, from 0.
    pub number: usize,
    /// Columns that have their values already; the others still have their defaults.
    pub before: Vec<usize>,
}

/// Inserts the rows of `source`.
#[derive(Clone, Debug)]
pub struct Insert {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Rows. A `Values` source of single rows is common and should be quick.
    pub source: PlanNode,
    /// The rows are those of a query.
    pub is_query: bool,
    /// One per column of the table.
    pub values: Vec<InsertValue>,
    /// Values that read the row itself, in the order they are computed.
    pub own: Vec<OwnValue>,
    /// For each column of the table: the rows may give `DEFAULT` for it; then the source has NULL
    /// and the given source column is 1. Rare.
    pub default_flags: Vec<Option<usize>>,
    /// Duplicates.
    pub mode: InsertMode,
    /// `ON DUPLICATE KEY UPDATE`.
    pub on_duplicate: Option<DuplicateUpdate>,
    /// Generated columns and checks.
    pub rules: RowRules,
    /// The view the statement names.
    pub view: Option<Box<ViewRules>>,
    /// `RETURNING`, over the new row.
    pub returning: Vec<Expr>,
    /// Columns assigned by `ON UPDATE CURRENT_TIMESTAMP` when an `ON DUPLICATE` update changes
    /// something else.
    pub on_update_now: Vec<usize>,
}

/// One assignment of UPDATE.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Position of the column in its table.
    pub column: usize,
    /// New value; `None` is the column's default.
    pub value: Option<Expr>,
}

/// `ON DUPLICATE KEY UPDATE`. Expressions are over: the columns of the existing row, the columns
/// of the row that was to be inserted (`VALUES(c)`), the columns of the source. Assignments take
/// effect in order on the existing row, as in UPDATE.
#[derive(Clone, Debug)]
pub struct DuplicateUpdate {
    /// In order.
    pub assignments: Vec<Assignment>,
    /// All values are computed of the row as it was.
    pub simultaneous: bool,
}

/// Updates the rows of `source`.
///
/// The source may give a target row several times (joins): the first counts. Rows without a match
/// in an outer join have a NULL key and are left out.
#[derive(Clone, Debug)]
pub struct Update {
    /// Rows with the keys and current values of the targets.
    pub source: PlanNode,
    /// Tables changed.
    pub targets: Vec<UpdateTarget>,
    /// `IGNORE`.
    pub ignore: bool,
    /// An assignment sees the row before the statement instead of the assignments before it.
    pub simultaneous: bool,
}

/// A table changed by UPDATE.
#[derive(Clone, Debug)]
pub struct UpdateTarget {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Column of the source with the clustered key.
    pub key: usize,
    /// Columns of the source with the table's columns, all of them in order.
    pub columns: Range<usize>,
    /// In order. Values are over the source row, in which each assignment replaces its column for
    /// those that follow, unless `simultaneous`.
    pub assignments: Vec<Assignment>,
    /// Columns set to the current time when another column changes and they are not assigned.
    pub on_update_now: Vec<usize>,
    /// Generated columns and checks.
    pub rules: RowRules,
    /// The view the table is changed through, if it checks rows.
    pub view: Option<Box<ViewRules>>,
}

/// Deletes the rows of `source`; a row given twice is deleted once.
#[derive(Clone, Debug)]
pub struct Delete {
    /// Rows with the keys of the targets.
    pub source: PlanNode,
    /// Tables changed.
    pub targets: Vec<DeleteTarget>,
    /// `IGNORE`.
    pub ignore: bool,
    /// It names its targets apart from the tables it reads.
    pub multiple: bool,
    /// Rows deleted at most, where the source may give rows that cannot go.
    pub limit: Option<Expr>,
    /// `RETURNING` of a single-table delete, over the table's columns.
    pub returning: Vec<Expr>,
    /// No condition, no order, no limit and one table: all rows go.
    pub all_rows: bool,
}

/// A table changed by DELETE.
#[derive(Clone, Debug)]
pub struct DeleteTarget {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Column of the source with the clustered key.
    pub key: usize,
    /// Columns of the source with all the table's columns in order, when the table is referenced
    /// or `RETURNING` needs them.
    pub columns: Option<Range<usize>>,
}
