//! Statements that change rows. Data only.
//!
//! The executor converts each value to its column's type (as strictly as `sql_mode` demands),
//! rejects NULLs, and maintains indexes and foreign keys.

use std::ops::Range;
use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_expr::Expr;
use selkie_expr::store::Given;

use super::PlanNode;

/// Rules for each new version of a row, applied after its values are assigned. Expressions are over
/// all columns of the table in order.
#[derive(Clone, Debug, Default)]
pub struct RowRules {
    /// Generated columns and their expressions, in order of computation.
    pub generated: Vec<(usize, Expr)>,
    /// Columns that are the bounds of the row's period: it begins now and does not end.
    pub bounds: Vec<usize>,
    /// Whether the statement gives a bound of the period itself.
    pub is_given_period: bool,
    /// Whether triggers may read or set some of the generated columns.
    pub seen_by_triggers: bool,
    /// Whether errors in their values become warnings. Compat: INSERT without a list of columns.
    pub lenient: bool,
    /// CHECK constraints: name and condition. A row for which the condition is false is an error
    /// (4025).
    pub checks: Vec<(Box<str>, Expr)>,
}

/// The view through which rows are changed.
#[derive(Clone, Debug)]
pub struct ViewRules {
    /// Its schema.
    pub schema: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// `WITH CHECK OPTION`: a row for which the condition is not true is an error (1369). For
    /// INSERT it is over all columns of the new row, for UPDATE over the source row with the new
    /// values.
    pub condition: Option<Expr>,
    /// Whether the view has the table's AUTO_INCREMENT column, if there is one.
    pub shows_auto_increment: bool,
}

/// Behaviour of INSERT on duplicate keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertMode {
    /// An error.
    Insert,
    /// `REPLACE`: deletes the conflicting rows first.
    Replace,
    /// `IGNORE`: skips the row with a warning.
    Ignore,
}

/// Source of a column's value in a new row.
#[derive(Clone, Debug)]
pub enum InsertValue {
    /// Column of the source, and what it is.
    Source(usize, Given),
    /// The column's DEFAULT clause, AUTO_INCREMENT value or implicit default. A default that is an
    /// expression is `Expr`.
    Default,
    /// A default that is an expression, over the earlier columns of the new row.
    Expr(Expr),
    /// A value that reads the new row itself: [`Insert::own`].
    Own,
    /// Computed later by [`RowRules::generated`]. If the source has a column for it, its values are
    /// ignored with a warning.
    Generated(Option<usize>),
}

/// A column whose value reads the new row: `INSERT INTO t (a, b) VALUES (1, a + 1)`.
#[derive(Clone, Debug)]
pub struct OwnValue {
    /// Position of the column.
    pub column: usize,
    /// Its value for each row, over the columns of the table.
    pub values: Vec<Expr>,
    /// Column of the source that holds the number of the row, from 0.
    pub number: usize,
    /// Columns whose values are already assigned; the others still hold their defaults.
    pub before: Vec<usize>,
}

/// Inserts the rows of `source`.
#[derive(Clone, Debug)]
pub struct Insert {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Source of rows. A `Values` source with one row is common and should be fast.
    pub source: PlanNode,
    /// Whether the rows come from a query.
    pub is_query: bool,
    /// One per column of the table.
    pub values: Vec<InsertValue>,
    /// Values that read the new row itself, in order of computation.
    pub own: Vec<OwnValue>,
    /// For each column of the table whose value may be `DEFAULT` in some rows: the source column
    /// that is 1 in those rows, in which the value itself is NULL. Rare.
    pub default_flags: Vec<Option<usize>>,
    /// Behaviour on duplicate keys.
    pub mode: InsertMode,
    /// `ON DUPLICATE KEY UPDATE`.
    pub on_duplicate: Option<DuplicateUpdate>,
    /// Generated columns and checks.
    pub rules: RowRules,
    /// Leaves to which rows may go, rising; all if `None`.
    pub parts: Option<Arc<[u16]>>,
    /// The view that the statement names.
    pub view: Option<Box<ViewRules>>,
    /// `RETURNING`, over the new row.
    pub returning: Vec<Expr>,
    /// Columns set by `ON UPDATE CURRENT_TIMESTAMP` when an `ON DUPLICATE` update changes another
    /// column.
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

/// `ON DUPLICATE KEY UPDATE`. Expressions are over the columns of the existing row, then the
/// columns of the row to insert (`VALUES(c)`), then the columns of the source. Assignments take
/// effect in order on the existing row, as in UPDATE.
#[derive(Clone, Debug)]
pub struct DuplicateUpdate {
    /// Assignments in order.
    pub assignments: Vec<Assignment>,
    /// Every value is computed from the row before all assignments.
    pub simultaneous: bool,
}

/// Updates the rows of `source`.
///
/// The source may contain a target row several times (joins): only the first counts. A row without
/// a match in an outer join has a NULL key and is skipped.
#[derive(Clone, Debug)]
pub struct Update {
    /// Rows with the keys and current values of the targets.
    pub source: PlanNode,
    /// Changed tables.
    pub targets: Vec<UpdateTarget>,
    /// `IGNORE`.
    pub ignore: bool,
    /// Whether it is an UPDATE of several tables, or works like one.
    pub multiple: bool,
    /// Compat: rows of one table are found before any of them is changed, and before the statement
    /// is strict: it has ORDER BY, or changes the key by which it finds rows.
    pub finds_first: bool,
    /// Values are computed from the row before the statement, without the earlier assignments.
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
    /// Assignments in order. Values are over the source row. Unless `simultaneous`, each assignment
    /// replaces its column there for the assignments that follow.
    pub assignments: Vec<Assignment>,
    /// Columns set to the current time when another column changes and they have no assignment.
    pub on_update_now: Vec<usize>,
    /// Generated columns and checks.
    pub rules: RowRules,
    /// Leaves to which rows may go, rising; all if `None`.
    pub parts: Option<Arc<[u16]>>,
    /// The view through which the table is changed, if it checks rows.
    pub view: Option<Box<ViewRules>>,
    /// `FOR PORTION OF`, of a single table.
    pub portion: Option<Box<Portion>>,
}

/// `FOR PORTION OF`: rows are cut to a portion of time. What lies before and after it is inserted
/// as rows of their own. Expressions are over the source row.
#[derive(Clone, Debug)]
pub struct Portion {
    /// The column of the start.
    pub start: usize,
    /// The column of the end.
    pub end: usize,
    /// Start of the portion.
    pub from: Expr,
    /// End of the portion.
    pub to: Expr,
    /// Whether the row begins before the portion.
    pub cuts_start: Expr,
    /// Whether the row ends after the portion.
    pub cuts_end: Expr,
    /// Inserts a row with the given columns of the table.
    pub insert: Insert,
    /// Inserted rows have new values of the AUTO_INCREMENT column.
    pub renumbers: bool,
    /// `IGNORE`: a row whose parts cannot be stored stays as it is.
    pub ignore: bool,
}

/// Deletes the rows of `source`. A row that occurs twice there is deleted once.
#[derive(Clone, Debug)]
pub struct Delete {
    /// Rows with the keys of the targets.
    pub source: PlanNode,
    /// Changed tables.
    pub targets: Vec<DeleteTarget>,
    /// `IGNORE`.
    pub ignore: bool,
    /// Whether the statement names its targets separately from the tables it reads.
    pub multiple: bool,
    /// Maximum number of deleted rows, used where some rows of the source may be undeletable.
    pub limit: Option<Expr>,
    /// `RETURNING` of a single-table delete, over the table's columns.
    pub returning: Vec<Expr>,
    /// Whether it deletes all rows of one table: no condition, no order, no limit.
    pub all_rows: bool,
    /// `DELETE HISTORY`.
    pub purges_history: bool,
}

/// A table changed by DELETE.
#[derive(Clone, Debug)]
pub struct DeleteTarget {
    /// The table.
    pub table: Arc<TableInfo>,
    /// Column of the source with the clustered key.
    pub key: usize,
    /// Columns of the source with all columns of the table in order, if the table is referenced or
    /// `RETURNING` needs them.
    pub columns: Option<Range<usize>>,
    /// `FOR PORTION OF`, of a single table.
    pub portion: Option<Box<Portion>>,
}
