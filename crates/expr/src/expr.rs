//! Bound expressions: what the binder makes of the syntax tree and the executor evaluates.
//!
//! An expression is fully typed: every implicit conversion is a node of its own, inserted when the
//! expression is built, so that evaluation never looks at types. Nodes are made by
//! [`crate::build`]; the fields are open so that the planner can take expressions apart.
//!
//! Invariant: the column an expression evaluates to has the physical kind of `ty`, and for
//! decimals the scale `ty.decimals`. TIMESTAMP values are UTC until converted to another type.

mod cache;
mod call;
mod compare;
mod display;
mod make;
mod origin;
mod visit;

use std::sync::Arc;

use selkie_meter::tick;
use selkie_types::{SqlType, Value};

pub use cache::Cache;
pub use call::{Call, CallOption};
pub use compare::{Compare, CompareBy, CompareOp};
pub use display::{ColumnNames, ExprDisplay};
pub use origin::{NamedTable, Origin};
pub use selkie_types::temporal::IntervalUnit;

use crate::collate::Coercibility;

/// A typed expression. Copying and comparing count as work: planning does much of both.
#[derive(Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: SqlType,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// How much its collation counts against that of other operands.
    pub coercibility: Coercibility,
    /// The table column it reads, if it is one.
    pub origin: Origin,
}

impl Clone for Expr {
    fn clone(&self) -> Self {
        tick(32);
        Self {
            kind: self.kind.clone(),
            ty: self.ty.clone(),
            nullable: self.nullable,
            coercibility: self.coercibility,
            origin: self.origin.clone(),
        }
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        tick(8);
        self.kind == other.kind
            && self.ty == other.ty
            && self.nullable == other.nullable
            && self.coercibility == other.coercibility
            && self.origin == other.origin
    }
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A constant.
    Literal(Value),
    /// The column at a position of the input batch.
    Column(usize),
    /// A slot of [`crate::EvalContext::parameters`]: a placeholder or a value of an outer query.
    Parameter(usize),
    /// A function whose arguments are all evaluated.
    Call(Box<Call>),
    /// A comparison of two scalars.
    Compare(Box<Compare>),
    /// True if all are, false if one is.
    And(Vec<Expr>),
    /// True if one is, false if all are.
    Or(Vec<Expr>),
    /// Logical negation.
    Not(Box<Expr>),
    /// `IS NULL`.
    IsNull(Box<Expr>),
    /// `IN` over a list of scalars already converted to the type of the comparison.
    InList(Box<InList>),
    /// `CASE WHEN`, `IF`, `NULLIF`.
    Case(Box<Case>),
    /// The first argument that is not NULL; all have the type of the result.
    Coalesce(Vec<Expr>),
    /// A subquery.
    Subquery(Box<Subquery>),
    /// `@name`.
    UserVariable(Box<str>),
    /// `@name := value`.
    AssignUserVariable(Box<str>, Box<Expr>),
    /// `@@name`.
    SystemVariable(VariableScope, Box<str>),
    /// A call of a stored function.
    Stored(Box<StoredCall>),
    /// A number of a sequence.
    Sequence(Box<SequenceCall>),
    /// Several values; an operand of a row comparison, never evaluated itself.
    Row(Vec<Expr>),
}

/// `value IN (items)`.
#[derive(Clone, Debug, PartialEq)]
pub struct InList {
    /// The value looked for.
    pub value: Expr,
    /// The list, each item of the value's physical kind.
    pub items: Vec<Expr>,
    /// How the items compare with the value.
    pub by: CompareBy,
    /// The list made searchable, if all items are literals.
    pub(crate) set: Cache,
}

/// Conditions and their results, tried in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Condition and result pairs; the results have the type of the whole.
    pub whens: Vec<(Expr, Expr)>,
    /// The result if no condition is true; NULL without one.
    pub otherwise: Option<Expr>,
}

/// Identifies a subquery within a statement; given by the planner, known to the runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubqueryId(pub u32);

/// What is asked of a subquery.
#[derive(Clone, Debug, PartialEq)]
pub enum SubqueryKind {
    /// The value at a position of its single row, NULL if it has no row.
    Scalar(usize),
    /// Whether it has a row.
    Exists,
    /// Whether the predicate is true for a row (`IN`, `= ANY`). The predicate sees the subquery's
    /// columns as its batch and the left operands in parameter slots.
    Any(Expr),
    /// Whether the predicate is true for all rows (`<> ALL`, `> ALL`).
    All(Expr),
}

/// A subquery inside an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Subquery {
    /// Which one.
    pub id: SubqueryId,
    /// What is asked.
    pub kind: SubqueryKind,
    /// Values of this level the subquery depends on and the parameter slots they are put in
    /// before it runs.
    pub args: Vec<(usize, Expr)>,
    /// Left operands of the predicate and their slots; the subquery's rows do not depend on them.
    pub operands: Vec<(usize, Expr)>,
    /// Whether slots and positions are given out: until then columns have the planner's numbers.
    pub placed: bool,
}

/// Which value of a system variable is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableScope {
    /// `@@name`: the session's, or the global one if there is no other.
    Default,
    /// `@@session.name`.
    Session,
    /// `@@global.name`.
    Global,
}

/// What is asked of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceAsk {
    /// `NEXT VALUE FOR`.
    Next,
    /// `PREVIOUS VALUE FOR`.
    Previous,
    /// `SETVAL`.
    Set {
        /// The number.
        value: i64,
        /// It counts as given out.
        is_used: bool,
        /// The round it is of.
        round: i64,
    },
}

/// A call of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceCall {
    /// Its schema.
    pub schema: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// What is asked.
    pub ask: SequenceAsk,
}

/// A call of a stored function.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCall {
    /// Its schema.
    pub schema: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// Arguments; the function converts them to the declared types.
    pub args: Vec<Expr>,
    /// `DETERMINISTIC`.
    pub deterministic: bool,
    /// The definer of the view it stands in, in whose name it is called; none for the statement's
    /// own account.
    pub who: Option<Arc<str>>,
}
