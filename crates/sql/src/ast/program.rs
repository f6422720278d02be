//! Stored programs: definitions of routines and triggers, and the steps of their bodies.
//!
//! The parser resolves names of local variables, as MariaDB does: where a variable is in scope, its
//! name never means a column. A use of a variable is an [`super::ExprKind::Param`]; the list of
//! [`Local`]s beside the expression or statement says which variable it is.

use super::{
    AccountName, ColumnRef, DataType, Expr, Ident, RoutineKind, Span, SqlSecurity, Statement,
    StringLiteral, TableName,
};

/// `CREATE PROCEDURE`, `CREATE FUNCTION`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateRoutine {
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `AGGREGATE`.
    pub aggregate: bool,
    /// `DEFINER =`; absent for the current user.
    pub definer: Option<AccountName>,
    /// Procedure or function.
    pub kind: RoutineKind,
    /// Its name.
    pub name: TableName,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The text between the parentheses.
    pub parameters_span: Span,
    /// Type of a function's result, with its text.
    pub returns: Option<(DataType, Span)>,
    /// Its characteristics.
    pub options: RoutineOptions,
    /// Its steps and variables.
    pub body: Program,
    /// The text of the body.
    pub body_span: Span,
    /// The body has a RETURN.
    pub has_return: bool,
    /// The name behind the body's END, which must be that of the routine.
    pub end_name: Option<TableName>,
}

/// `CREATE PACKAGE`, `CREATE PACKAGE BODY`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreatePackage {
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `DEFINER =`; absent for the current user.
    pub definer: Option<AccountName>,
    /// The specification or the body.
    pub kind: RoutineKind,
    /// Its name.
    pub name: TableName,
    /// Its characteristics.
    pub options: RoutineOptions,
    /// Its parts.
    pub package: Package,
    /// The text from AS to END.
    pub body_span: Span,
    /// The name behind END, which must be that of the package.
    pub end_name: Option<TableName>,
}

/// The parts of a package, or of its specification.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Package {
    /// Variables that last as long as the session.
    pub variables: Vec<Variable>,
    /// Its routines; without a body those that are only declared.
    pub routines: Vec<PackageRoutine>,
    /// Declares the variables, and runs before the first use of the package.
    pub start: Program,
}

/// A routine of a package.
#[derive(Clone, Debug, PartialEq)]
pub struct PackageRoutine {
    /// Procedure or function.
    pub kind: RoutineKind,
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Types of its parameters.
    pub types: Vec<VariableType>,
    /// Type of a function's result.
    pub returns: Option<DataType>,
    /// `DETERMINISTIC`.
    pub deterministic: bool,
    /// Its steps and variables; absent in a declaration.
    pub body: Option<Program>,
    /// The body has a RETURN.
    pub has_return: bool,
}

/// A parameter of a routine: the variable of the same position.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Direction of its value.
    pub mode: ParameterMode,
    /// Its name.
    pub name: Ident,
}

/// Direction of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterMode {
    /// `IN`.
    In,
    /// `OUT`.
    Out,
    /// `INOUT`.
    InOut,
}

/// Characteristics of a routine; `None` is one that is not given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoutineOptions {
    /// `COMMENT`.
    pub comment: Option<Box<str>>,
    /// `CONTAINS SQL` and the like.
    pub data_access: Option<DataAccess>,
    /// `DETERMINISTIC` is true, `NOT DETERMINISTIC` false.
    pub deterministic: Option<bool>,
    /// `SQL SECURITY`.
    pub security: Option<SqlSecurity>,
}

/// Use of data that a routine declares. Nothing checks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataAccess {
    /// `CONTAINS SQL`.
    ContainsSql,
    /// `NO SQL`.
    NoSql,
    /// `READS SQL DATA`.
    ReadsSqlData,
    /// `MODIFIES SQL DATA`.
    ModifiesSqlData,
}

/// `ALTER PROCEDURE`, `ALTER FUNCTION`.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterRoutine {
    /// Procedure or function.
    pub kind: RoutineKind,
    /// Its name.
    pub name: TableName,
    /// Characteristics to change.
    pub options: RoutineOptions,
}

/// `CREATE TRIGGER`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTrigger {
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// `DEFINER =`; absent for the current user.
    pub definer: Option<AccountName>,
    /// Its name.
    pub name: TableName,
    /// Before or after the change.
    pub timing: TriggerTiming,
    /// The change that fires it.
    pub event: TriggerEvent,
    /// The table.
    pub table: TableName,
    /// The other trigger; true for `PRECEDES`, false for `FOLLOWS`.
    pub order: Option<(bool, Ident)>,
    /// Its steps and variables.
    pub body: Program,
    /// The text of the body.
    pub body_span: Span,
    /// The text up to the order clause, without DEFINER.
    pub head_span: Span,
    /// Its part from ON up to FOR.
    pub on_span: Span,
    /// The text between the order clause and the body.
    pub gap_span: Span,
}

/// Time at which a trigger runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TriggerTiming {
    /// `BEFORE`.
    Before,
    /// `AFTER`.
    After,
}

/// Change that fires a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TriggerEvent {
    /// `INSERT`.
    Insert,
    /// `UPDATE`.
    Update,
    /// `DELETE`.
    Delete,
}

/// The body of a stored program, or a compound statement by itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Its steps, in order.
    pub steps: Vec<Step>,
    /// Its variables; the parameters come first.
    pub variables: Vec<Variable>,
    /// Its cursors.
    pub cursors: Vec<Cursor>,
    /// Number of operands of CASE statements; each is computed once and compared several times.
    pub operands: usize,
}

/// A local variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: VariableType,
}

/// The type of a variable, a parameter or a result.
#[derive(Clone, Debug, PartialEq)]
pub enum VariableType {
    /// A type.
    Scalar(DataType),
    /// `TYPE OF [schema.]table.column`.
    TypeOf(ColumnRef),
    /// `ROW TYPE OF [schema.]table`.
    RowOf(TableName),
    /// `ROW (a INT, ...)`.
    Row(Vec<(Ident, DataType)>),
    /// `ROW TYPE OF` a cursor, or the variable of a FOR loop over it.
    RowOfCursor(usize),
}

/// A cursor.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor {
    /// Its name.
    pub name: Ident,
    /// Variables that hold its parameters.
    pub parameters: Vec<usize>,
    /// Its query.
    pub query: Operation,
}

/// Meaning of a placeholder in an expression or statement of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Local {
    /// A variable.
    Variable(usize),
    /// A field of a row variable.
    Field(usize, Ident),
    /// `NEW.column`.
    New(Ident),
    /// `OLD.column`.
    Old(Ident),
    /// A variable of the package.
    Shared(usize),
    /// A field of a row variable of the package.
    SharedField(usize, Ident),
    /// The operand of a CASE statement.
    Operand(usize),
    /// The state of a cursor: `c%FOUND`.
    CursorState(usize, CursorState),
    /// `SQLCODE`: the number of the last condition.
    SqlCode,
    /// `SQLERRM`: the text of the last condition.
    SqlErrm,
}

/// State of a cursor that an expression reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CursorState {
    /// `%ISOPEN`.
    IsOpen,
    /// `%FOUND`: the last FETCH had a row.
    Found,
    /// `%NOTFOUND`.
    NotFound,
    /// `%ROWCOUNT`: the number of rows fetched.
    RowCount,
}

/// An expression with the meaning of its placeholders.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The expression.
    pub expr: Expr,
    /// Its placeholders.
    pub locals: Vec<Local>,
}

/// A statement with the meaning of its placeholders.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The statement.
    pub statement: Statement,
    /// Its placeholders.
    pub locals: Vec<Local>,
    /// Its text.
    pub span: Span,
}

/// One step of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// An SQL statement.
    Statement(Box<Operation>),
    /// `DECLARE` of variables.
    Declare {
        /// The variables.
        variables: Vec<usize>,
        /// `DEFAULT`.
        default: Option<Term>,
    },
    /// A declaration of variables of the package.
    Share {
        /// The variables.
        variables: Vec<usize>,
        /// Their value.
        default: Option<Term>,
    },
    /// `BEGIN ... END`.
    Block(Box<Block>),
    /// `IF`.
    If {
        /// Conditions with their steps.
        branches: Vec<(Term, Vec<Step>)>,
        /// `ELSE`.
        otherwise: Vec<Step>,
    },
    /// `CASE`.
    Case {
        /// The operand that the branches compare, and the number it is stored under.
        operand: Option<(usize, Term)>,
        /// Conditions with their steps.
        branches: Vec<(Term, Vec<Step>)>,
        /// `ELSE`.
        otherwise: Option<Vec<Step>>,
    },
    /// A loop of any kind.
    Loop(Box<Loop>),
    /// `LEAVE`.
    Leave(usize),
    /// `ITERATE`.
    Iterate(usize),
    /// `RETURN`.
    Return(Term),
    /// `RETURN` in a procedure.
    End,
    /// `NULL`.
    Nothing,
    /// A place that [`Step::Goto`] leads to.
    Label(usize),
    /// `GOTO`, to a label of these steps or of steps around them.
    Goto(usize),
    /// `RAISE` of an exception.
    Raise(HandlerCondition),
    /// `OPEN`.
    Open {
        /// The cursor.
        cursor: usize,
        /// Values of its parameters.
        arguments: Vec<Term>,
    },
    /// `FETCH`.
    Fetch {
        /// The cursor.
        cursor: usize,
        /// Targets of the columns.
        into: Vec<Local>,
        /// Its behaviour behind the last row.
        at_end: AtEnd,
    },
    /// `CLOSE`.
    Close(usize),
    /// `FETCH GROUP NEXT ROW`.
    FetchGroup,
}

/// Behaviour of a FETCH behind the last row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// It raises a condition.
    Raise,
    /// It leaves the targets as they are; the cursor's state says so.
    Note,
}

/// `BEGIN ... END`.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its number for LEAVE.
    pub label: usize,
    /// Handlers, in the order of their declaration.
    pub handlers: Vec<ConditionHandler>,
    /// Cursors that close at its end.
    pub cursors: std::ops::Range<usize>,
    /// Declarations and statements.
    pub steps: Vec<Step>,
}

/// A loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Its number for LEAVE and ITERATE.
    pub label: usize,
    /// The kind, with the condition that ends it.
    pub kind: LoopKind,
    /// The steps of its body.
    pub steps: Vec<Step>,
}

/// Kinds of loops, by the way they end.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopKind {
    /// `LOOP`.
    Forever,
    /// `WHILE`: the condition is tested before each pass.
    While(Term),
    /// `REPEAT`: the condition is tested after each pass.
    Until(Term),
    /// `FOR i IN first .. last`.
    Range {
        /// The variable.
        variable: usize,
        /// The variable that stores the other bound.
        bound: usize,
        /// `REVERSE`.
        reverse: bool,
        /// First value.
        first: Term,
        /// Last value.
        last: Term,
    },
    /// `FOR r IN cursor`.
    Rows {
        /// The variable.
        variable: usize,
        /// The cursor.
        cursor: usize,
        /// Values of its parameters.
        arguments: Vec<Term>,
    },
}

/// `DECLARE ... HANDLER`.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionHandler {
    /// `EXIT`, not `CONTINUE`.
    pub exit: bool,
    /// Conditions it handles.
    pub conditions: Vec<HandlerCondition>,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// Condition of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HandlerCondition {
    /// An error number.
    Code(u16),
    /// An SQLSTATE.
    State([u8; 5]),
    /// `SQLWARNING`.
    Warning,
    /// `NOT FOUND`.
    NotFound,
    /// `SQLEXCEPTION`.
    Exception,
    /// `OTHERS`: any condition.
    Others,
    /// An exception that the program declares, by number.
    Declared(usize),
}

/// `SIGNAL`, `RESIGNAL`.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// `RESIGNAL`.
    pub again: bool,
    /// SQLSTATE to raise; absent only in RESIGNAL.
    pub state: Option<[u8; 5]>,
    /// Items of SET.
    pub items: Vec<(SignalItem, Expr)>,
}

/// Items that SIGNAL sets and GET DIAGNOSTICS CONDITION reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the SQL words
pub enum SignalItem {
    ClassOrigin,
    SubclassOrigin,
    ConstraintCatalog,
    ConstraintSchema,
    ConstraintName,
    CatalogName,
    SchemaName,
    TableName,
    ColumnName,
    CursorName,
    MessageText,
    MysqlErrno,
    /// `RETURNED_SQLSTATE`, which cannot be set.
    ReturnedSqlstate,
    /// `ROW_NUMBER`, which cannot be set.
    RowNumber,
}

impl SignalItem {
    /// The SQL word.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClassOrigin => "CLASS_ORIGIN",
            Self::SubclassOrigin => "SUBCLASS_ORIGIN",
            Self::ConstraintCatalog => "CONSTRAINT_CATALOG",
            Self::ConstraintSchema => "CONSTRAINT_SCHEMA",
            Self::ConstraintName => "CONSTRAINT_NAME",
            Self::CatalogName => "CATALOG_NAME",
            Self::SchemaName => "SCHEMA_NAME",
            Self::TableName => "TABLE_NAME",
            Self::ColumnName => "COLUMN_NAME",
            Self::CursorName => "CURSOR_NAME",
            Self::MessageText => "MESSAGE_TEXT",
            Self::MysqlErrno => "MYSQL_ERRNO",
            Self::ReturnedSqlstate => "RETURNED_SQLSTATE",
            Self::RowNumber => "ROW_NUMBER",
        }
    }
}

/// `GET DIAGNOSTICS`.
#[derive(Clone, Debug, PartialEq)]
pub enum GetDiagnostics {
    /// About the statement: targets, each with true for `ROW_COUNT` and false for `NUMBER`.
    Statement(Vec<(DiagnosticsTarget, bool)>),
    /// `CONDITION n`.
    Condition {
        /// Its number, from 1.
        number: Expr,
        /// Targets, each with the item it gets.
        items: Vec<(DiagnosticsTarget, SignalItem)>,
    },
}

/// Target of a value of GET DIAGNOSTICS.
#[derive(Clone, Debug, PartialEq)]
pub enum DiagnosticsTarget {
    /// `@name`.
    User(Box<str>),
    /// A variable of the program.
    Local(Local),
}

/// The five characters of an SQLSTATE, if the string is one.
pub(crate) fn sqlstate_of(text: &StringLiteral) -> Option<[u8; 5]> {
    let state: [u8; 5] = text.bytes[..].try_into().ok()?;
    let good = state.iter().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    (good && !state.starts_with(b"00")).then_some(state)
}
