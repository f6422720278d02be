//! Aggregate functions: their types, and states that take batches of rows of many groups.
//!
//! The executor gives every row the number of its group. A state holds flat vectors over all groups
//! and is updated batch by batch. The states of workers are merged at the end.

mod bits;
mod count;
mod distinct;
mod extreme;
mod first;
mod group_concat;
mod infer;
mod json;
mod spread;
mod state;
mod stored;
mod sum;

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;
use selkie_types::{SqlError, SqlResult, SqlType, Value};

pub use state::{AggregateState, Groups, RowsByGroup};

use crate::collate::Coercibility;
use crate::context::TypeContext;
use crate::expr::{Expr, ExprKind, StoredCall};

/// The aggregate functions.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AggregateKind {
    Count,
    Sum,
    Avg,
    Min,
    Max,
    /// Population standard deviation.
    Std,
    /// Sample standard deviation.
    StddevSamp,
    /// Population variance.
    Variance,
    /// Sample variance.
    VarSamp,
    BitAnd,
    BitOr,
    BitXor,
    GroupConcat,
    /// The value of any row: for a column that is not in GROUP BY.
    AnyValue,
    JsonArrayAgg,
    JsonObjectAgg,
    /// A stored program.
    Stored,
}

/// A call of an aggregate function.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// The function.
    pub kind: AggregateKind,
    /// `DISTINCT`.
    pub distinct: bool,
    /// Arguments, converted to the type the state reads; none for `COUNT(*)`.
    pub args: Vec<Expr>,
    /// `ORDER BY` of `GROUP_CONCAT`, true for descending.
    pub order_by: Vec<(Expr, bool)>,
    /// `SEPARATOR` of `GROUP_CONCAT`, in the charset of the result.
    pub separator: Box<[u8]>,
    /// `LIMIT offset, count` of `GROUP_CONCAT`: unsigned integers of the whole execution.
    pub limit: Option<Box<(Expr, Expr)>>,
    /// The type of the result.
    pub ty: SqlType,
    /// Whether the result can be NULL.
    pub nullable: bool,
    /// Coercibility of a string result.
    pub coercibility: Coercibility,
    /// The stored program that it is, whose arguments are constants of the types of `args`.
    pub stored: Option<Box<StoredCall>>,
    /// Longest result of `GROUP_CONCAT` in bytes, or number of digits that `AVG` adds.
    pub(crate) parameter: u64,
}

const NAMES: &[(&str, AggregateKind)] = {
    use AggregateKind::*;
    &[
        ("COUNT", Count),
        ("SUM", Sum),
        ("AVG", Avg),
        ("MIN", Min),
        ("MAX", Max),
        ("STD", Std),
        ("STDDEV", Std),
        ("STDDEV_POP", Std),
        ("STDDEV_SAMP", StddevSamp),
        ("VARIANCE", Variance),
        ("VAR_POP", Variance),
        ("VAR_SAMP", VarSamp),
        ("BIT_AND", BitAnd),
        ("BIT_OR", BitOr),
        ("BIT_XOR", BitXor),
        ("GROUP_CONCAT", GroupConcat),
        ("ANY_VALUE", AnyValue),
        ("JSON_ARRAYAGG", JsonArrayAgg),
        ("JSON_OBJECTAGG", JsonObjectAgg),
    ]
};

impl AggregateKind {
    /// The function with this name; letter case does not count.
    pub fn from_name(name: &str) -> Option<Self> {
        NAMES.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, k)| *k)
    }

    /// The name in lower case.
    pub fn name(self) -> String {
        NAMES
            .iter()
            .find(|(_, k)| *k == self)
            .map_or(String::new(), |(n, _)| n.to_ascii_lowercase())
    }
}

impl Aggregate {
    /// A call with converted arguments and an inferred type.
    pub fn new(
        kind: AggregateKind,
        distinct: bool,
        args: Vec<Expr>,
        types: &TypeContext,
    ) -> SqlResult<Self> {
        let aggregate = Self {
            kind,
            distinct,
            args,
            order_by: Vec::new(),
            separator: Box::new([b',']),
            limit: None,
            ty: SqlType::bigint(),
            nullable: true,
            coercibility: Coercibility::Numeric,
            stored: None,
            parameter: 0,
        };
        infer::bind(aggregate, types)
    }

    /// A call of a stored program with a result of type `ty`.
    pub fn stored(mut call: StoredCall, ty: SqlType) -> Self {
        let typed = |arg: &Expr| Expr::literal(Value::Null, arg.ty.clone());
        let types = call.args.iter().map(typed).collect();
        let args = std::mem::replace(&mut call.args, types);
        Self {
            kind: AggregateKind::Stored,
            distinct: false,
            args,
            order_by: Vec::new(),
            separator: Box::default(),
            limit: None,
            coercibility: Coercibility::Implicit,
            ty,
            nullable: true,
            stored: Some(Box::new(call)),
            parameter: 0,
        }
    }

    /// A `GROUP_CONCAT` with its clauses; the separator is in utf8.
    pub fn group_concat(
        distinct: bool,
        args: Vec<Expr>,
        order_by: Vec<(Expr, bool)>,
        separator: Option<&str>,
        limit: Option<Box<(Expr, Expr)>>,
        types: &TypeContext,
    ) -> SqlResult<Self> {
        let mut args = args;
        if distinct || !order_by.is_empty() {
            args.iter_mut().for_each(|arg| infer::to_number_of_bits(arg, types));
        }
        let mut aggregate = Self::new(AggregateKind::GroupConcat, distinct, args, types)?;
        aggregate.order_by = order_by;
        aggregate.limit = limit;
        let charset = aggregate.ty.collation.charset();
        let separator = separator.unwrap_or(",").as_bytes();
        aggregate.separator = selkie_types::Charset::Utf8mb4.convert(separator, charset).0.into();
        Ok(aggregate)
    }

    /// Gives an average all digits that it computes; returns the type that it shows, if that has
    /// fewer.
    pub fn hold_quotient(&mut self) -> Option<SqlType> {
        infer::hold_quotient(self)
    }

    /// The expressions whose columns are the input of a state, in order.
    pub fn inputs(&self) -> impl Iterator<Item = &Expr> {
        self.args.iter().chain(self.order_by.iter().map(|(e, _)| e))
    }

    /// Like [`Aggregate::inputs`], for rewriting.
    pub fn inputs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.args.iter_mut().chain(self.order_by.iter_mut().map(|(e, _)| e))
    }

    /// An empty state.
    pub fn state(&self) -> AggregateState {
        AggregateState::new(self)
    }

    /// Whether it adds its values, so that its state may give the results of another one too.
    pub fn adds(&self) -> bool {
        matches!(self.kind, AggregateKind::Sum | AggregateKind::Avg) && !self.distinct
    }

    /// A number that is the same for equal aggregates.
    pub fn digest(&self) -> u64 {
        let mut hasher = FixedState::default().build_hasher();
        self.kind.hash(&mut hasher);
        self.hash_args(&mut hasher);
        hasher.finish()
    }

    /// A number that is the same for equal arguments.
    pub fn digest_of_args(&self) -> u64 {
        let mut hasher = FixedState::default().build_hasher();
        self.hash_args(&mut hasher);
        hasher.finish()
    }

    fn hash_args(&self, hasher: &mut impl Hasher) {
        for arg in &self.args {
            arg.visit(&mut |part| {
                std::mem::discriminant(&part.kind).hash(hasher);
                match &part.kind {
                    ExprKind::Column(at) | ExprKind::Parameter(at) => at.hash(hasher),
                    ExprKind::Literal(Value::Int(n)) => n.hash(hasher),
                    ExprKind::Literal(Value::Bytes(bytes)) => bytes.hash(hasher),
                    ExprKind::Literal(Value::Decimal(number)) => number.hash(hasher),
                    ExprKind::Literal(Value::Double(number)) => number.to_bits().hash(hasher),
                    _ => {}
                }
            });
        }
    }

    /// Whether a state of `other` can give the results of this one too: both add the same values.
    pub fn shares_state(&self, other: &Self) -> bool {
        let is_fixed = |e: &Expr| e.is_deterministic() && !e.has_side_effects();
        self.adds()
            && other.adds()
            && self.ty.physical() == other.ty.physical()
            && self.args == other.args
            && self.args.iter().all(is_fixed)
    }

    /// The text as in EXPLAIN; `names` gives the names of columns.
    pub fn display_with(&self, names: &dyn Fn(usize) -> String) -> String {
        if let Some(call) = &self.stored {
            let (args, call) = (self.args.clone(), (**call).clone());
            let kind = ExprKind::Stored(Box::new(StoredCall { args, ..call }));
            return Expr::new(kind, self.ty.clone(), true).display_with(names).to_string();
        }
        let args: Vec<String> =
            self.args.iter().map(|a| a.display_with(names).to_string()).collect();
        let args = if args.is_empty() { "0".to_owned() } else { args.join(",") };
        let distinct = if self.distinct { "distinct " } else { "" };
        format!("{}({distinct}{args})", self.kind.name())
    }
}

/// 1111: an aggregate at a place where none is allowed.
pub fn invalid_group_function_use() -> SqlError {
    SqlError::new(&selkie_types::error::catalogue::ER_INVALID_GROUP_FUNC_USE, &[])
}
