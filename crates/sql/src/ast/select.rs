//! Queries: SELECT, set operations, table references, windows, and the calls that need them.
//! ORDER BY, LIMIT and INTO belong to the [`Query`], never to the SELECT inside it.

use selkie_types::stack;

use super::{Expr, Ident, Literal, Span, StringLiteral, TableName};

/// A query expression: bodies combined by set operators, then ORDER BY, LIMIT and INTO.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// `WITH ...`.
    pub with: Option<Box<With>>,
    /// The body: a SELECT, VALUES or a combination.
    pub body: QueryBody,
    /// `ORDER BY` of the whole; over a single SELECT it may use that SELECT's tables.
    pub order_by: Vec<OrderItem>,
    /// `LIMIT` of the whole.
    pub limit: Option<Box<Limit>>,
    /// `PROCEDURE ...`, which the rows of the whole go through.
    pub procedure: Option<Box<Procedure>>,
    /// `INTO ...`.
    pub into: Option<Box<IntoTarget>>,
    /// INTO stands at the end, after the other clauses.
    pub late_into: bool,
    /// `FOR UPDATE`, `LOCK IN SHARE MODE`.
    pub locking: Option<Locking>,
    /// A single SELECT or VALUES that stands in parentheses, which say nothing. Compat: the text of
    /// a view keeps them.
    pub enclosed: bool,
    /// The whole text.
    pub span: Span,
}

impl Query {
    /// A query without clauses.
    pub fn of(body: QueryBody, span: Span) -> Self {
        Self {
            with: None,
            body,
            order_by: Vec::new(),
            limit: None,
            procedure: None,
            into: None,
            late_into: false,
            locking: None,
            enclosed: false,
            span,
        }
    }
}

/// `PROCEDURE name(...)` of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Procedure {
    /// Its name.
    pub name: Ident,
    /// Its arguments.
    pub args: Vec<Expr>,
}

/// Body of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryBody {
    /// One SELECT.
    Select(Box<Select>),
    /// `VALUES (..), (..)`: one or more rows.
    Values(Vec<Vec<Expr>>),
    /// `(query)` with clauses of its own.
    Nested(Box<Query>),
    /// Bodies combined from left to right. An INTERSECT after another operator binds tighter and is
    /// a combination of its own.
    Combined {
        /// The leftmost body.
        first: Box<QueryBody>,
        /// The other operands with their operators, in order.
        rest: Vec<SetOperand>,
    },
}

/// A set operator and its right operand.
#[derive(Clone, Debug, PartialEq)]
pub struct SetOperand {
    /// The operator.
    pub op: SetOp,
    /// Whether `ALL` was written.
    pub all: bool,
    /// The right operand.
    pub body: QueryBody,
}

/// Set operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SetOp {
    /// `UNION`.
    Union,
    /// `INTERSECT`.
    Intersect,
    /// `EXCEPT`.
    Except,
}

/// `WITH [RECURSIVE] ...`.
#[derive(Clone, Debug, PartialEq)]
pub struct With {
    /// Whether `RECURSIVE` was written.
    pub recursive: bool,
    /// The common table expressions, in order.
    pub tables: Vec<CommonTable>,
}

/// `name [(columns)] AS (query) [CYCLE columns RESTRICT]`.
#[derive(Clone, Debug, PartialEq)]
pub struct CommonTable {
    /// Its name.
    pub name: Ident,
    /// Names of its columns, if given.
    pub columns: Vec<Ident>,
    /// The query.
    pub query: Box<Query>,
    /// Columns of the `CYCLE` clause.
    pub cycle: Vec<Ident>,
}

/// One SELECT without ORDER BY and LIMIT, which belong to the [`Query`] around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Select {
    /// Words after SELECT.
    pub options: SelectOptions,
    /// The select list.
    pub items: Vec<SelectItem>,
    /// `FROM`, comma-separated; empty without tables or with `DUAL`.
    pub from: Vec<TableRef>,
    /// `WHERE`.
    pub where_clause: Option<Expr>,
    /// `GROUP BY`.
    pub group_by: Vec<OrderItem>,
    /// `WITH ROLLUP`.
    pub rollup: bool,
    /// `HAVING`.
    pub having: Option<Expr>,
    /// `WINDOW name AS (...)`.
    pub windows: Vec<NamedWindow>,
    /// Its text, from SELECT on.
    pub span: Span,
}

/// Words after SELECT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectOptions {
    /// The one field that is no SQL word: a statement such as SET takes the values, no client does.
    pub for_statement: bool,
    /// `DISTINCT`, `DISTINCTROW`.
    pub distinct: bool,
    /// `STRAIGHT_JOIN`.
    pub straight_join: bool,
    /// `HIGH_PRIORITY`.
    pub high_priority: bool,
    /// `SQL_SMALL_RESULT`.
    pub small_result: bool,
    /// `SQL_BIG_RESULT`.
    pub big_result: bool,
    /// `SQL_BUFFER_RESULT`.
    pub buffer_result: bool,
    /// `SQL_CALC_FOUND_ROWS`.
    pub calc_found_rows: bool,
    /// `SQL_CACHE` is true, `SQL_NO_CACHE` false.
    pub cache: Option<bool>,
}

/// One entry of a select list.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectItem {
    /// `*`, `table.*` or `schema.table.*`.
    Wildcard {
        /// The schema, if given.
        schema: Option<Ident>,
        /// The table, if given.
        table: Option<Ident>,
        /// Its text.
        span: Span,
    },
    /// An expression.
    Expr {
        /// The expression.
        expr: Expr,
        /// The alias, if given.
        alias: Option<Ident>,
        /// The text of the expression, parentheses included.
        span: Span,
    },
}

/// One entry of ORDER BY or GROUP BY.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderItem {
    /// The value to order by; an integer literal is a position in the select list.
    pub expr: Expr,
    /// `DESC` is true.
    pub descending: bool,
}

/// `LIMIT ...`; values are integer literals, parameters or (in routines) variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Most rows to return; `None` if only `OFFSET n` or `ROWS EXAMINED` is given.
    pub count: Option<Expr>,
    /// Rows to skip.
    pub offset: Option<Expr>,
    /// `FETCH FIRST n ROWS WITH TIES`.
    pub with_ties: bool,
    /// `ROWS EXAMINED n`.
    pub rows_examined: Option<Expr>,
}

/// Target of a query's rows.
#[derive(Clone, Debug, PartialEq)]
pub enum IntoTarget {
    /// `INTO OUTFILE`.
    Outfile {
        /// The file name.
        file: StringLiteral,
        /// `CHARACTER SET`.
        charset: Option<Box<str>>,
        /// `FIELDS` and `LINES`.
        format: Box<super::FileFormat>,
    },
    /// `INTO DUMPFILE`.
    Dumpfile(StringLiteral),
    /// `INTO @a, @b, routine_variable`.
    Variables(Vec<IntoVariable>),
}

/// A variable after INTO.
#[derive(Clone, Debug, PartialEq)]
pub enum IntoVariable {
    /// `@name`.
    User(Box<str>),
    /// A variable of a routine.
    Local {
        /// Its name.
        name: Ident,
        /// The variable or field it names.
        local: super::Local,
    },
}

/// A locking clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locking {
    /// `FOR UPDATE` is true, `LOCK IN SHARE MODE` false.
    pub exclusive: bool,
    /// Behaviour for locked rows.
    pub wait: Option<LockWait>,
}

/// Behaviour when a lock is not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    /// `NOWAIT`.
    NoWait,
    /// `SKIP LOCKED`.
    SkipLocked,
    /// `WAIT seconds`.
    Wait(u64),
}

/// A table or a join of tables.
#[derive(Clone, Debug, PartialEq)]
pub enum TableRef {
    /// A table, view, sequence or common table expression.
    Table(Box<TableFactor>),
    /// `(query) alias`.
    Derived(Box<DerivedTable>),
    /// `JSON_TABLE(...)`.
    JsonTable(Box<JsonTable>),
    /// Two operands joined.
    Join(Box<Join>),
}

/// A named table in FROM.
#[derive(Clone, Debug, PartialEq)]
pub struct TableFactor {
    /// The table.
    pub name: TableName,
    /// `PARTITION (...)`.
    pub partitions: Vec<Ident>,
    /// `FOR SYSTEM_TIME ...`.
    pub system_time: Option<SystemTime>,
    /// The alias.
    pub alias: Option<Ident>,
    /// `USE INDEX` and the like.
    pub hints: Vec<IndexHint>,
}

/// `FOR SYSTEM_TIME` of a versioned table.
#[derive(Clone, Debug, PartialEq)]
pub enum SystemTime {
    /// `AS OF point`.
    AsOf(HistoryPoint),
    /// `ALL`.
    All,
    /// `BETWEEN a AND b`.
    Between(HistoryPoint, HistoryPoint),
    /// `FROM a TO b`.
    FromTo(HistoryPoint, HistoryPoint),
    /// `DELETE HISTORY ... [BEFORE SYSTEM_TIME point]`: versions that have ended, before it.
    Ended(Option<HistoryPoint>),
}

/// A point in history.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryPoint {
    /// `TRANSACTION`: a transaction's number instead of a time.
    pub is_transaction: bool,
    /// The time or the number.
    pub expr: Expr,
}

impl SystemTime {
    /// The points in the order of the text.
    pub fn points_mut(&mut self) -> Vec<&mut HistoryPoint> {
        match self {
            Self::AsOf(at) | Self::Ended(Some(at)) => vec![at],
            Self::Between(from, to) | Self::FromTo(from, to) => vec![from, to],
            Self::All | Self::Ended(None) => Vec::new(),
        }
    }
}

/// A subquery in FROM.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedTable {
    /// The query.
    pub query: Query,
    /// `FOR SYSTEM_TIME ...`, for the versioned tables in it.
    pub system_time: Option<SystemTime>,
    /// Its alias.
    pub alias: Ident,
}

/// `JSON_TABLE(document, path COLUMNS (...)) alias`.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonTable {
    /// The document.
    pub document: Expr,
    /// Path of the rows.
    pub path: StringLiteral,
    /// The columns.
    pub columns: Vec<JsonColumn>,
    /// Its alias.
    pub alias: Ident,
}

impl JsonTable {
    /// Names of the columns; the columns of NESTED stand at its place.
    pub fn column_names(&self) -> Vec<Box<str>> {
        fn names(columns: &[JsonColumn], out: &mut Vec<Box<str>>) {
            stack::ensure();
            for column in columns {
                match column {
                    JsonColumn::Ordinality(name) | JsonColumn::Path { name, .. } => {
                        out.push(name.value.clone());
                    }
                    JsonColumn::Nested { columns, .. } => names(columns, out),
                }
            }
        }
        let mut out = Vec::new();
        names(&self.columns, &mut out);
        out
    }
}

/// A column of JSON_TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonColumn {
    /// `name FOR ORDINALITY`.
    Ordinality(Ident),
    /// `name type [EXISTS] PATH path ...`.
    Path {
        /// Name of the column.
        name: Ident,
        /// Its type.
        data_type: Box<super::DataType>,
        /// The column only says whether the path exists.
        exists: bool,
        /// The path.
        path: StringLiteral,
        /// `... ON EMPTY`.
        on_empty: JsonFallback,
        /// `... ON ERROR`.
        on_error: JsonFallback,
    },
    /// `NESTED [PATH] path COLUMNS (...)`.
    Nested {
        /// The path.
        path: StringLiteral,
        /// The columns.
        columns: Vec<JsonColumn>,
    },
}

/// Value of a column of JSON_TABLE whose path finds nothing or fails.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonFallback {
    /// `NULL`, also if nothing is given.
    Null,
    /// `ERROR`.
    Error,
    /// `DEFAULT literal`.
    Default(Literal),
}

/// `USE | FORCE | IGNORE INDEX [FOR purpose] (names)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexHint {
    /// Use, force or ignore the indexes.
    pub action: HintAction,
    /// Its purpose; `None` is every purpose.
    pub purpose: Option<HintPurpose>,
    /// The indexes; may be empty after USE.
    pub indexes: Vec<Ident>,
}

/// Action of an index hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HintAction {
    /// `USE`.
    Use,
    /// `FORCE`.
    Force,
    /// `IGNORE`.
    Ignore,
}

/// Purpose that an index hint is limited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HintPurpose {
    /// `FOR JOIN`.
    Join,
    /// `FOR ORDER BY`.
    OrderBy,
    /// `FOR GROUP BY`.
    GroupBy,
}

/// Two table references joined.
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// The left operand.
    pub left: TableRef,
    /// The right operand.
    pub right: TableRef,
    /// Its kind.
    pub kind: JoinKind,
    /// Its condition.
    pub condition: JoinCondition,
}

/// Kinds of joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// `JOIN`, `INNER JOIN`, `CROSS JOIN`, a comma inside parentheses.
    Inner,
    /// `STRAIGHT_JOIN`.
    Straight,
    /// `LEFT [OUTER] JOIN`.
    Left,
    /// `RIGHT [OUTER] JOIN`.
    Right,
}

/// Conditions of joins.
#[derive(Clone, Debug, PartialEq)]
pub enum JoinCondition {
    /// None.
    None,
    /// `ON expr`.
    On(Expr),
    /// `USING (columns)`.
    Using(Vec<Ident>),
    /// `NATURAL`.
    Natural,
}

/// A generic function call, aggregates and window functions included.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionCall {
    /// Schema of a stored function.
    pub schema: Option<Ident>,
    /// The function as written. Keyword functions have names too: `left`, `now` for
    /// CURRENT_TIMESTAMP.
    pub name: Ident,
    /// Arguments.
    pub args: Vec<Expr>,
    /// Program variables that are named as `$name` in the text of an argument.
    pub named: Vec<(Ident, Expr)>,
    /// `f(DISTINCT ...)`.
    pub distinct: bool,
    /// `COUNT(*)`.
    pub star: bool,
    /// A blank stands before the parenthesis of a built-in that allows none: the call can only mean
    /// a stored function.
    pub stored_only: bool,
    /// `ORDER BY` inside the parentheses (JSON_ARRAYAGG) or of `WITHIN GROUP`.
    pub order_by: Vec<OrderItem>,
    /// `LIMIT` inside the parentheses.
    pub limit: Option<Box<Limit>>,
    /// `OVER ...`.
    pub over: Option<Box<Over>>,
}

impl FunctionCall {
    /// A call with arguments and nothing else.
    pub fn plain(name: Ident, args: Vec<Expr>) -> Self {
        Self {
            schema: None,
            name,
            args,
            named: Vec::new(),
            distinct: false,
            star: false,
            stored_only: false,
            order_by: Vec::new(),
            limit: None,
            over: None,
        }
    }
}

/// `GROUP_CONCAT([DISTINCT] exprs [ORDER BY ..] [SEPARATOR ..] [LIMIT ..])`.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupConcat {
    /// Whether `DISTINCT` was written.
    pub distinct: bool,
    /// The expressions to concatenate.
    pub args: Vec<Expr>,
    /// The order.
    pub order_by: Vec<OrderItem>,
    /// The separator, a comma if absent.
    pub separator: Option<StringLiteral>,
    /// Limit of the number of rows.
    pub limit: Option<Box<Limit>>,
}

/// Window of a call: a name or a specification.
#[derive(Clone, Debug, PartialEq)]
pub enum Over {
    /// `OVER name`.
    Named(Ident),
    /// `OVER (specification)`.
    Spec(WindowSpec),
}

/// `name AS (specification)`.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedWindow {
    /// Its name.
    pub name: Ident,
    /// Its specification.
    pub spec: WindowSpec,
}

/// `([name] [PARTITION BY ..] [ORDER BY ..] [frame])`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowSpec {
    /// The window it extends.
    pub base: Option<Ident>,
    /// `PARTITION BY`.
    pub partition_by: Vec<OrderItem>,
    /// `ORDER BY`.
    pub order_by: Vec<OrderItem>,
    /// The frame, if given.
    pub frame: Option<Frame>,
}

/// `ROWS | RANGE BETWEEN start AND end [EXCLUDE ..]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The bounds count rows, not values.
    pub rows: bool,
    /// First bound.
    pub start: FrameBound,
    /// Last bound; the current row if absent.
    pub end: FrameBound,
    /// Rows that the frame excludes.
    pub exclude: FrameExclude,
}

/// Bound of a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameBound {
    /// `UNBOUNDED PRECEDING`.
    UnboundedPreceding,
    /// `expr PRECEDING`.
    Preceding(Expr),
    /// `CURRENT ROW`.
    CurrentRow,
    /// `expr FOLLOWING`.
    Following(Expr),
    /// `UNBOUNDED FOLLOWING`.
    UnboundedFollowing,
}

/// Rows that a frame excludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameExclude {
    /// `NO OTHERS`, also if nothing is given.
    NoOthers,
    /// `CURRENT ROW`.
    CurrentRow,
    /// `GROUP`.
    Group,
    /// `TIES`.
    Ties,
}
