//! Bound expressions: types, coercions, functions and their evaluation over batches.
//!
//! Below the planner and the executor, so that both use the same meaning of every operator: the
//! planner builds ([`build`]), folds and inspects expressions, the executor evaluates them over
//! [`selkie_types::Batch`]es. Must not know tables, statements or sessions.
//!
//! # Layers
//! `expr` and the `cast`s, `kernel`s and `function`s it is made of < `eval` < `build` and the
//! built-in `functions` < `aggregate`; `tidy` checks it.

pub mod aggregate;
pub mod build;
pub mod cast;
pub mod collate;
pub mod context;
mod dynamic;
pub mod eval;
pub mod expr;
pub mod function;
mod functions;
mod json;
pub mod json_table;
mod kernel;
mod operator;
pub mod order;
mod random;
mod refuse;
mod result_type;
pub mod row_key;
pub mod store;
pub mod text;
pub mod timezone;
pub mod union_type;
mod xml;

pub use collate::Coercibility;
pub use context::{
    Conditions, EvalContext, GroupOfRows, NoSession, Raised, Session, SubqueryRunner, TypeContext,
};
pub use expr::{
    Argument, Call, CallOption, Case, Compare, CompareBy, CompareOp, Expr, ExprKind, Held, Hold,
    InList, IntervalUnit, Match, NamedTable, NamedVariable, Origin, SearchId, SequenceAsk,
    SequenceCall, StoredCall, Subquery, SubqueryId, SubqueryKind, VariableScope,
};
pub use functions::{decode_base64, function_named, old_password_hash, password_hash, takes};
pub use refuse::parameter_name;
pub use timezone::TimeZone;
