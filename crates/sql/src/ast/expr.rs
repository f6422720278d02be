//! Expressions. Every node knows its source text, because unaliased result columns are named by it.
//! Chains of AND and OR are one node each, so a long condition is no deep tree.

pub use selkie_types::temporal::IntervalUnit;

use super::{
    CastType, ColumnRef, FunctionCall, GroupConcat, Ident, Literal, Query, Span, TableName,
    VarScope,
};

/// An expression with its position in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The kind with its operands.
    pub kind: ExprKind,
    /// Its text, without parentheses around the whole.
    pub span: Span,
}

/// Kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A literal.
    Literal(Literal),
    /// `?`: the parameter of this number, counted from 0.
    Param(u32),
    /// A column (or, in a routine, a variable).
    Column(ColumnRef),
    /// `@name`.
    UserVar(Box<str>),
    /// `@name := value`.
    AssignUserVar {
        /// Name of the variable.
        name: Box<str>,
        /// Its new value.
        value: Box<Expr>,
    },
    /// `@@[global.|session.|local.][instance.]name`.
    SystemVar(Box<SystemVar>),
    /// An operator with one operand.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        expr: Box<Expr>,
    },
    /// An operator with two operands.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `a AND b AND ...`: two or more operands.
    And(Vec<Expr>),
    /// `a OR b OR ...`: two or more operands.
    Or(Vec<Expr>),
    /// `expr IS [NOT] NULL | TRUE | FALSE | UNKNOWN`.
    Is {
        /// The operand.
        expr: Box<Expr>,
        /// The value it is tested for.
        test: IsTest,
        /// Whether `NOT` was written.
        negated: bool,
    },
    /// `expr [NOT] BETWEEN low AND high`.
    Between {
        /// The operand.
        expr: Box<Expr>,
        /// Whether `NOT` was written.
        negated: bool,
        /// Lower bound.
        low: Box<Expr>,
        /// Upper bound.
        high: Box<Expr>,
    },
    /// `expr [NOT] IN (list)`.
    InList {
        /// The operand.
        expr: Box<Expr>,
        /// Whether `NOT` was written.
        negated: bool,
        /// One or more expressions.
        list: Vec<Expr>,
    },
    /// `expr [NOT] IN (SELECT ...)`.
    InSubquery {
        /// The operand.
        expr: Box<Expr>,
        /// Whether `NOT` was written.
        negated: bool,
        /// The subquery.
        query: Box<Query>,
    },
    /// `expr [NOT] LIKE pattern [ESCAPE c]`.
    Like {
        /// The operand.
        expr: Box<Expr>,
        /// Whether `NOT` was written.
        negated: bool,
        /// The pattern.
        pattern: Box<Expr>,
        /// The escape character, if given.
        escape: Option<Box<Expr>>,
    },
    /// `expr [NOT] REGEXP pattern`, also `RLIKE`.
    Regexp {
        /// The operand.
        expr: Box<Expr>,
        /// Whether `NOT` was written.
        negated: bool,
        /// The pattern.
        pattern: Box<Expr>,
    },
    /// `expr op ANY | ALL (SELECT ...)`, also `SOME`.
    Quantified {
        /// The left operand.
        left: Box<Expr>,
        /// A comparison operator.
        op: BinaryOp,
        /// Whether `ALL` was written, not `ANY` or `SOME`.
        all: bool,
        /// The subquery.
        query: Box<Query>,
    },
    /// `CASE [operand] WHEN .. THEN .. [ELSE ..] END`.
    Case {
        /// The value the branches are compared with, if given.
        operand: Option<Box<Expr>>,
        /// Conditions and results, in order.
        branches: Vec<(Expr, Expr)>,
        /// The result if no branch applies.
        otherwise: Option<Box<Expr>>,
    },
    /// `CAST(expr AS type)` or `CONVERT(expr, type)`.
    Cast {
        /// The operand.
        expr: Box<Expr>,
        /// The target.
        target: Box<CastType>,
    },
    /// `CONVERT(expr USING charset)`.
    ConvertUsing {
        /// The operand.
        expr: Box<Expr>,
        /// Name of the character set, `None` for `DEFAULT`.
        charset: Option<Box<str>>,
    },
    /// `expr COLLATE collation`.
    Collate {
        /// The operand.
        expr: Box<Expr>,
        /// Name of the collation; `default` is the default of the operand's character set.
        collation: Box<str>,
    },
    /// `expr + INTERVAL amount unit`, `expr - INTERVAL ..`, `DATE_ADD()`, `DATE_SUB()`,
    /// `ADDDATE()`, `SUBDATE()` with an interval or a number of days.
    AddInterval {
        /// The date or time.
        expr: Box<Expr>,
        /// Whether the interval is subtracted.
        negated: bool,
        /// Number of units.
        amount: Box<Expr>,
        /// The unit.
        unit: IntervalUnit,
    },
    /// `f(args)` of any function without a syntax of its own, aggregate and window functions too.
    Call(Box<FunctionCall>),
    /// `GROUP_CONCAT(...)`.
    GroupConcat(Box<GroupConcat>),
    /// `EXTRACT(unit FROM expr)`.
    Extract {
        /// The unit.
        unit: IntervalUnit,
        /// The date or time.
        expr: Box<Expr>,
    },
    /// `TRIM([side] [what FROM] expr)`.
    Trim {
        /// The ends to trim.
        side: TrimSide,
        /// The string to remove; spaces if absent.
        what: Option<Box<Expr>>,
        /// The operand.
        expr: Box<Expr>,
    },
    /// `POSITION(needle IN haystack)`.
    Position {
        /// The string to look for.
        needle: Box<Expr>,
        /// The string to search.
        haystack: Box<Expr>,
    },
    /// `TIMESTAMPADD(unit, amount, expr)`.
    TimestampAdd {
        /// The unit.
        unit: IntervalUnit,
        /// Number of units.
        amount: Box<Expr>,
        /// The date or time.
        expr: Box<Expr>,
    },
    /// `TIMESTAMPDIFF(unit, from, to)`.
    TimestampDiff {
        /// The unit.
        unit: IntervalUnit,
        /// The earlier time.
        from: Box<Expr>,
        /// The later time.
        to: Box<Expr>,
    },
    /// `GET_FORMAT(DATE | TIME | DATETIME, name)`.
    GetFormat {
        /// The type; TIMESTAMP is a synonym of DATETIME.
        kind: TemporalFormat,
        /// 'EUR', 'USA', ...
        name: Box<Expr>,
    },
    /// `CHAR(codes [USING charset])`.
    Char {
        /// One or more codes.
        codes: Vec<Expr>,
        /// Character set of the result, binary if absent.
        charset: Option<Box<str>>,
    },
    /// `WEIGHT_STRING(expr [AS CHAR(n) | BINARY(n)] [LEVEL n])`.
    WeightString {
        /// The operand.
        expr: Box<Expr>,
        /// Number of characters (or bytes) to pad or cut to.
        length: Option<u64>,
        /// Whether `AS BINARY(n)` was written.
        binary: bool,
        /// The levels, one bit each; none for all.
        levels: u8,
        /// The levels with DESC, one bit each.
        descending: u8,
        /// The levels with REVERSE, one bit each.
        reversed: u8,
    },
    /// `COLUMN_CREATE(name, value [AS type], ...)` and `COLUMN_ADD(columns, name, value [AS type],
    /// ...)`; also `COLUMN_DELETE(columns, name, ...)`, which is an addition of NULLs.
    ColumnAdd {
        /// The columns to change; none for COLUMN_CREATE.
        columns: Option<Box<Expr>>,
        /// The columns to add, one or more.
        values: Vec<DynamicValue>,
    },
    /// `COLUMN_GET(columns, name AS type)`.
    ColumnGet {
        /// The columns.
        columns: Box<Expr>,
        /// Name or number of the column to read.
        name: Box<Expr>,
        /// Type of the result.
        target: Box<CastType>,
    },
    /// `MATCH (columns) AGAINST (query [modifier])`.
    Match {
        /// The columns.
        columns: Vec<ColumnRef>,
        /// The search string.
        query: Box<Expr>,
        /// Mode of the search.
        mode: MatchMode,
    },
    /// `DEFAULT` as a value, or `DEFAULT(column)`.
    Default(Option<Box<ColumnRef>>),
    /// `IGNORE` as a value: the column keeps its value; in a new row it gets its default.
    Ignore,
    /// `VALUES(column)` or `VALUE(column)` in `ON DUPLICATE KEY UPDATE`.
    Values(Box<ColumnRef>),
    /// `(a, b, ...)` or `ROW(a, b, ...)`: two or more expressions.
    Row(Vec<Expr>),
    /// `(SELECT ...)` as a scalar or a row.
    Subquery(Box<Query>),
    /// `EXISTS (SELECT ...)`.
    Exists(Box<Query>),
    /// `NEXT VALUE FOR sequence`, `NEXTVAL(sequence)`.
    NextValue(Box<TableName>),
    /// `PREVIOUS VALUE FOR sequence`, `LASTVAL(sequence)`.
    PreviousValue(Box<TableName>),
    /// `SETVAL(sequence, value [, is_used [, round]])`.
    SetValue {
        /// The sequence.
        sequence: Box<TableName>,
        /// The new value.
        value: i64,
        /// Whether the value counts as used.
        is_used: bool,
        /// The round of a cycling sequence.
        round: u64,
    },
}

/// A dynamic column to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicValue {
    /// Its name or number.
    pub name: Expr,
    /// Its value.
    pub value: Expr,
    /// Its type, if given.
    pub target: Option<CastType>,
}

/// A system variable in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemVar {
    /// The scope, if given.
    pub scope: Option<VarScope>,
    /// Instance of a structured variable: `@@hot.key_buffer_size`.
    pub instance: Option<Ident>,
    /// The variable.
    pub name: Ident,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`.
    Neg,
    /// `+`.
    Plus,
    /// `~`.
    BitNot,
    /// `NOT` or `!`.
    Not,
    /// `BINARY`.
    Binary,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `XOR`.
    Xor,
    /// `=`.
    Eq,
    /// `<=>`.
    NullSafeEq,
    /// `<>`, `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `SOUNDS LIKE`.
    SoundsLike,
    /// `|`.
    BitOr,
    /// `&`.
    BitAnd,
    /// `^`.
    BitXor,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`.
    Div,
    /// `DIV`.
    IntDiv,
    /// `%`, `MOD`.
    Mod,
    /// `||` under `PIPES_AS_CONCAT`.
    Concat,
}

impl BinaryOp {
    /// Whether the operator compares two values.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne, NullSafeEq};
        matches!(self, Eq | NullSafeEq | Ne | Lt | Le | Gt | Ge)
    }
}

/// Value that `IS` tests for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IsTest {
    /// `NULL`.
    Null,
    /// `TRUE`.
    True,
    /// `FALSE`.
    False,
    /// `UNKNOWN`: a truth value that is NULL.
    Unknown,
}

/// Ends that `TRIM` works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrimSide {
    /// `BOTH`.
    Both,
    /// `LEADING`.
    Leading,
    /// `TRAILING`.
    Trailing,
}

/// Types `GET_FORMAT` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TemporalFormat {
    /// `DATE`.
    Date,
    /// `TIME`.
    Time,
    /// `DATETIME`.
    DateTime,
}

/// Modifier of `AGAINST`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatchMode {
    /// `IN NATURAL LANGUAGE MODE`, the default.
    NaturalLanguage,
    /// `WITH QUERY EXPANSION`.
    QueryExpansion,
    /// `IN BOOLEAN MODE`.
    Boolean,
}
