//! Bound expressions: the binder makes them from the syntax tree, the executor evaluates them.
//!
//! An expression is fully typed. Every implicit conversion is a node of its own, inserted when the
//! expression is built, so evaluation never looks at types. [`crate::build`] makes the nodes; the
//! fields are public so that the planner can take expressions apart.
//!
//! Invariant: the column that an expression evaluates to has the physical kind of `ty`, and for
//! decimals the scale `ty.decimals`. TIMESTAMP values are in UTC until converted to another type.

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

/// A typed expression. Copying and comparing count as work, because planning does both very often.
#[derive(Debug)]
pub struct Expr {
    /// The kind with its operands.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: SqlType,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// Strength of its collation against that of other operands.
    pub coercibility: Coercibility,
    /// The table column it reads, if it is a column.
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
    /// A function all of whose arguments are evaluated.
    Call(Box<Call>),
    /// A comparison of two scalars.
    Compare(Box<Compare>),
    /// True if all operands are true, false if one is false.
    And(Vec<Expr>),
    /// True if one operand is true, false if all are false.
    Or(Vec<Expr>),
    /// Logical negation.
    Not(Box<Expr>),
    /// `IS NULL`.
    IsNull(Box<Expr>),
    /// `IN` over a list of scalars that are converted to the type of the comparison.
    InList(Box<InList>),
    /// `CASE WHEN`, `IF`, `NULLIF`.
    Case(Box<Case>),
    /// The first argument that is not NULL; all arguments have the type of the result.
    Coalesce(Vec<Expr>),
    /// A subquery.
    Subquery(Box<Subquery>),
    /// `@name`, and whether the statement leaves the variable as it is.
    UserVariable(Box<str>, bool),
    /// `@name := value`.
    AssignUserVariable(Box<str>, Box<Expr>),
    /// `@@name`.
    SystemVariable(VariableScope, Box<str>),
    /// A call of a stored function.
    Stored(Box<StoredCall>),
    /// An expression that uses a value several times.
    Hold(Box<Hold>),
    /// The value of the [`Hold`] with this number around it.
    Held(Held),
    /// Rank of a row in a full-text search.
    Match(Box<Match>),
    /// A call of a sequence: next, previous or new number.
    Sequence(Box<SequenceCall>),
    /// Several values: an operand of a row comparison, which is never evaluated itself.
    Row(Vec<Expr>),
}

impl ExprKind {
    /// Whether it gives a value or compares and combines values of others: by itself it raises no
    /// warning and no error, and reads nothing of the session.
    pub fn only_compares(&self) -> bool {
        matches!(
            self,
            Self::Column(_)
                | Self::Literal(_)
                | Self::Parameter(_)
                | Self::Compare(_)
                | Self::And(_)
                | Self::Or(_)
                | Self::Not(_)
                | Self::IsNull(_)
                | Self::InList(_)
        )
    }
}

/// Identifies a full-text search within a statement; the planner assigns it, the runner knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SearchId(pub u32);

/// `MATCH ... AGAINST`: the rank of a row, 0 if the search does not find it.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The search.
    pub search: SearchId,
    /// The row's clustered key; NULL for a row that an outer join adds.
    pub key: Expr,
    /// Its text, for EXPLAIN.
    pub text: Box<str>,
}

/// `value IN (items)`.
#[derive(Clone, Debug, PartialEq)]
pub struct InList {
    /// The value to look for.
    pub value: Expr,
    /// The list, each item of the value's physical kind.
    pub items: Vec<Expr>,
    /// The representation in which the items compare with the value.
    pub by: CompareBy,
    /// The searchable form of the list, if all items are literals.
    pub(crate) set: Cache,
}

/// A value that an expression uses several times: computed once, and only once in the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    /// Its number; those around it have others.
    pub number: u32,
    /// The value.
    pub value: Expr,
    /// The expression, with [`ExprKind::Held`] in the places of the value.
    pub body: Expr,
}

/// The value of a [`Hold`], and properties of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The number of the [`Hold`].
    pub number: u32,
    /// Whether it is a JSON document.
    pub(crate) is_json: bool,
    /// Whether it is made of a literal that is not ASCII.
    pub(crate) has_others_than_ascii: bool,
}

/// Conditions and their results, tried in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Condition and result pairs; the results have the type of the whole.
    pub whens: Vec<(Expr, Expr)>,
    /// The result if no condition is true; `None` means NULL.
    pub otherwise: Option<Expr>,
}

/// Identifies a subquery within a statement; the planner assigns it, the runner knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubqueryId(pub u32);

/// Result that an expression takes from a subquery.
#[derive(Clone, Debug, PartialEq)]
pub enum SubqueryKind {
    /// The value at this position of its single row; NULL if it has no row.
    Scalar(usize),
    /// Whether the subquery has a row.
    Exists,
    /// Whether the predicate is true for a row (`IN`, `= ANY`). The predicate's batch has the
    /// subquery's columns; the left operands are in parameter slots.
    Any(Expr),
    /// Whether the predicate is true for all rows (`<> ALL`, `> ALL`).
    All(Expr),
}

/// A subquery inside an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Subquery {
    /// Its number.
    pub id: SubqueryId,
    /// The result to take.
    pub kind: SubqueryKind,
    /// Values of this level that the subquery depends on, with the parameter slots they are stored
    /// in before it runs.
    pub args: Vec<(usize, Expr)>,
    /// Left operands of the predicate with their slots. The subquery's rows do not depend on them.
    pub operands: Vec<(usize, Expr)>,
    /// Slots and positions are assigned; before that, columns have the planner's numbers.
    pub placed: bool,
}

impl Subquery {
    /// Whether it depends on columns of the rows for which it runs.
    pub fn reads_rows(&self) -> bool {
        let mut values = self.args.iter().chain(&self.operands).map(|(_, value)| value);
        values.any(|value| !value.is_same_for_rows())
    }
}

/// Scope of a system variable that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableScope {
    /// `@@name`: the session's value, or the global one if the session has none.
    Default,
    /// `@@session.name`.
    Session,
    /// `@@global.name`.
    Global,
}

/// Operation on a sequence.
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
        /// The number counts as used.
        is_used: bool,
        /// The round that the number belongs to.
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
    /// The operation.
    pub ask: SequenceAsk,
}

/// A call of a stored function.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCall {
    /// Its schema.
    pub schema: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// Arguments, rows as their fields; the function converts them to its declared types.
    pub args: Vec<Expr>,
    /// Number of fields of each argument that is a row.
    pub rows: Vec<Option<usize>>,
    /// The variable that each argument is.
    pub variables: Vec<Option<NamedVariable>>,
    /// `DETERMINISTIC`.
    pub deterministic: bool,
    /// Definer of the view that contains the call: the account of the call. None for the
    /// statement's own account.
    pub who: Option<Arc<str>>,
}

impl StoredCall {
    /// Gives each argument that is a row the fields that belong to it, out of those of all
    /// arguments in order.
    pub fn arguments<T>(&self, values: impl IntoIterator<Item = T>) -> Vec<Argument<T>> {
        let mut values = values.into_iter();
        let argument = |fields: &Option<usize>| match fields {
            Some(fields) => Some(Argument::Row(values.by_ref().take(*fields).collect())),
            None => values.next().map(Argument::Value),
        };
        self.rows.iter().filter_map(argument).collect()
    }
}

/// A variable that an OUT parameter of a function may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedVariable {
    /// `@name`.
    User(Box<str>),
    /// The variable of a program behind a placeholder.
    Placeholder(usize),
}

/// An argument of a stored function.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument<T> {
    /// One value.
    Value(T),
    /// The fields of a row.
    Row(Vec<T>),
}
