//! Properties of logical plans, and walks over them. Plans may be as deep as the statement: every
//! recursion here calls `stack::ensure`.

use selkie_expr::Expr;
use selkie_types::stack;

use super::{ColumnId, ColumnSet, Columns, Cut, Join, Logical, UnitId};
use crate::physical::{JoinKind, WindowFunction};

/// Calls `$f` with every expression of the operator `$of`. `$iter` and `$inputs` are the names of
/// the iterators; `mut` follows them if expressions are rewritten.
macro_rules! each_expr {
    ($of:expr, $f:ident, $iter:ident, $inputs:ident $(, $mut:tt)?) => {
        match $of {
            Self::OneRow
            | Self::Empty(_)
            | Self::Scan(_)
            | Self::CommonScan { .. }
            | Self::WorkScan { .. }
            | Self::Distinct { .. }
            | Self::Set(_)
            | Self::Recursive(_) => {}
            Self::Values { rows, .. } => rows.$iter().flatten().for_each($f),
            Self::Join(join) => join.on.$iter().for_each($f),
            Self::Filter { conditions, .. } => conditions.$iter().for_each($f),
            Self::Project { columns, .. } => columns.$iter().for_each(|(_, e)| $f(e)),
            Self::Aggregate(node) => {
                node.groups.$iter().for_each(|(_, e)| $f(e));
                node.aggregates.$iter().for_each(|(_, call)| call.$inputs().for_each(&mut *$f));
            }
            Self::Window(node) => {
                node.partition.$iter().for_each(&mut *$f);
                node.order.$iter().for_each(|key| $f(&$($mut)? key.expr));
                for item in node.items.$iter() {
                    item.args.$iter().for_each(&mut *$f);
                    if let WindowFunction::Aggregate(call) = &$($mut)? item.function {
                        call.$inputs().for_each(&mut *$f);
                    }
                }
            }
            Self::RowNumbers(node) => node.conditions.$iter().for_each($f),
            Self::JsonTable(node) => {
                $f(&$($mut)? node.document);
                node.on.$iter().for_each($f);
            }
            Self::Sort { keys, .. } => keys.$iter().for_each(|key| $f(&$($mut)? key.expr)),
            Self::Limit { cut, .. } => {
                let Cut { limit, offset, .. } = &$($mut)? **cut;
                limit.$iter().chain(offset).for_each($f);
            }
        }
    };
}

impl Logical {
    /// Whether this is a SELECT that keeps rows as they are: no grouping, LIMIT or set operation.
    pub(crate) fn is_plain_select(&self) -> bool {
        stack::ensure();
        match self {
            Self::Project { input, .. } | Self::Filter { input, .. } | Self::Sort { input, .. } => {
                input.is_plain_select()
            }
            Self::Scan(_) | Self::Join(_) | Self::JsonTable(_) | Self::OneRow => true,
            Self::CommonScan { .. } | Self::WorkScan { .. } => true,
            _ => false,
        }
    }

    /// Whether MariaDB merges it into the query around it. Compat: not without tables.
    pub(crate) fn is_merged(&self) -> bool {
        stack::ensure();
        match self {
            Self::Project { input, .. } | Self::Filter { input, .. } | Self::Sort { input, .. } => {
                input.is_merged()
            }
            Self::OneRow => false,
            _ => self.is_plain_select(),
        }
    }

    /// Whether the rows of a query are computed while they are read: there are no group keys, no
    /// DISTINCT and no window.
    pub(crate) fn is_computed_as_read(&self) -> bool {
        stack::ensure();
        match self {
            Self::Filter { input, .. } | Self::Sort { input, .. } | Self::Limit { input, .. } => {
                input.is_computed_as_read()
            }
            Self::Aggregate(node) => node.groups.is_empty(),
            _ => self.is_plain_select(),
        }
    }

    /// Expressions of the output columns of a query over tables.
    pub(crate) fn projected(&self) -> &[(ColumnId, Expr)] {
        stack::ensure();
        match self {
            Self::Project { input, columns } if !matches!(**input, Self::OneRow) => columns,
            Self::Filter { input, .. } | Self::Sort { input, .. } => input.projected(),
            _ => &[],
        }
    }

    /// Adds a filter for `conditions`, if there are any.
    pub(crate) fn filter(self, conditions: Vec<Expr>) -> Self {
        if conditions.is_empty() {
            return self;
        }
        match self {
            Self::Filter { input, conditions: mut all } => {
                all.extend(conditions);
                Self::Filter { input, conditions: all }
            }
            other => Self::Filter { input: Box::new(other), conditions },
        }
    }

    /// The same rows, which conditions above do not reach below.
    pub(crate) fn apart(self, unit: UnitId) -> Self {
        Self::Limit { input: Box::new(self), cut: Box::new(Cut { unit, ..Cut::default() }) }
    }

    /// Whether tables are joined anywhere below.
    pub(crate) fn has_join(&self) -> bool {
        stack::ensure();
        matches!(self, Self::Join(_)) || self.inputs().into_iter().any(Self::has_join)
    }

    /// A join with `right`.
    pub(crate) fn join(self, kind: JoinKind, right: Self, on: Vec<Expr>) -> Self {
        Self::Join(Box::new(Join { kind, left: self, right, on, mark: None, straight: false }))
    }

    /// The direct inputs.
    pub(crate) fn inputs(&self) -> Vec<&Self> {
        match self {
            Self::OneRow
            | Self::Empty(_)
            | Self::Scan(_)
            | Self::CommonScan { .. }
            | Self::WorkScan { .. }
            | Self::Values { .. } => Vec::new(),
            Self::Join(join) => vec![&join.left, &join.right],
            Self::Filter { input, .. }
            | Self::Project { input, .. }
            | Self::Sort { input, .. }
            | Self::Limit { input, .. }
            | Self::Distinct { input, .. } => vec![input],
            Self::Aggregate(node) => vec![&node.input],
            Self::Window(node) => vec![&node.input],
            Self::RowNumbers(node) => vec![&node.input],
            Self::JsonTable(node) => vec![&node.input],
            Self::Set(node) => node.inputs.iter().map(|(input, _)| input).collect(),
            Self::Recursive(node) => {
                let parts = node.parts.iter();
                parts
                    .flat_map(|p| std::iter::once(&p.anchor).chain(&p.step))
                    .map(|(plan, _)| plan)
                    .collect()
            }
        }
    }

    /// Mutable direct inputs.
    pub(crate) fn inputs_mut(&mut self) -> Vec<&mut Self> {
        match self {
            Self::OneRow
            | Self::Empty(_)
            | Self::Scan(_)
            | Self::CommonScan { .. }
            | Self::WorkScan { .. }
            | Self::Values { .. } => Vec::new(),
            Self::Join(join) => {
                let Join { left, right, .. } = &mut **join;
                vec![left, right]
            }
            Self::Filter { input, .. }
            | Self::Project { input, .. }
            | Self::Sort { input, .. }
            | Self::Limit { input, .. }
            | Self::Distinct { input, .. } => vec![input],
            Self::Aggregate(node) => vec![&mut node.input],
            Self::Window(node) => vec![&mut node.input],
            Self::RowNumbers(node) => vec![&mut node.input],
            Self::JsonTable(node) => vec![&mut node.input],
            Self::Set(node) => node.inputs.iter_mut().map(|(input, _)| input).collect(),
            Self::Recursive(node) => {
                let parts = node.parts.iter_mut();
                parts
                    .flat_map(|p| std::iter::once(&mut p.anchor).chain(&mut p.step))
                    .map(|(plan, _)| plan)
                    .collect()
            }
        }
    }

    /// Calls `f` with every expression of this operator, not those of its inputs.
    pub(crate) fn for_each_expr<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        each_expr!(self, f, iter, inputs)
    }

    /// As [`Self::for_each_expr`], for rewriting.
    pub(crate) fn for_each_expr_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        each_expr!(self, f, iter_mut, inputs_mut, mut)
    }

    /// Calls `f` with every expression of this operator and all below it.
    pub(crate) fn for_each_expr_deep<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        stack::ensure();
        self.for_each_expr(f);
        self.inputs().into_iter().for_each(|input| input.for_each_expr_deep(f));
    }

    /// As [`Self::for_each_expr_deep`], for rewriting.
    pub(crate) fn for_each_expr_deep_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        stack::ensure();
        self.for_each_expr_mut(f);
        self.inputs_mut().into_iter().for_each(|input| input.for_each_expr_deep_mut(f));
    }

    /// Columns of its rows.
    pub(crate) fn columns(&self, all: &Columns) -> ColumnSet {
        let mut set = ColumnSet::default();
        self.add_columns(all, &mut set);
        set
    }

    fn add_columns(&self, all: &Columns, set: &mut ColumnSet) {
        stack::ensure();
        match self {
            Self::OneRow => {}
            Self::Empty(columns)
            | Self::CommonScan { columns, .. }
            | Self::WorkScan { columns, .. }
            | Self::Values { columns, .. }
            | Self::Distinct { columns, .. } => columns.iter().for_each(|id| set.insert(*id)),
            Self::Scan(relation) => {
                let info = &all.relations[*relation];
                (0..info.table.columns.len()).for_each(|at| set.insert(info.first + at));
                info.row_key.iter().for_each(|id| set.insert(*id));
            }
            Self::Join(join) => {
                join.left.add_columns(all, set);
                if join.kind.keeps_right() {
                    join.right.add_columns(all, set);
                }
                join.mark.iter().for_each(|id| set.insert(*id));
            }
            Self::Filter { input, .. } | Self::Sort { input, .. } | Self::Limit { input, .. } => {
                input.add_columns(all, set);
            }
            Self::Project { columns, .. } => columns.iter().for_each(|(id, _)| set.insert(*id)),
            Self::Aggregate(node) => {
                node.groups.iter().for_each(|(id, _)| set.insert(*id));
                node.aggregates.iter().for_each(|(id, _)| set.insert(*id));
            }
            Self::Window(node) => {
                node.input.add_columns(all, set);
                node.items.iter().for_each(|item| set.insert(item.column));
            }
            Self::RowNumbers(node) => {
                node.input.add_columns(all, set);
                set.insert(node.column);
            }
            Self::JsonTable(node) => {
                node.input.add_columns(all, set);
                node.columns.iter().for_each(|id| set.insert(*id));
            }
            Self::Set(node) => node.columns.iter().for_each(|id| set.insert(*id)),
            Self::Recursive(node) => {
                let first = node.parts.iter().take(1);
                first.flat_map(|part| &part.columns).for_each(|id| set.insert(*id));
            }
        }
    }

    /// Adds the columns that any operator of this plan makes, visible at its top or not.
    fn add_defined(&self, all: &Columns, set: &mut ColumnSet) {
        stack::ensure();
        self.add_columns(all, set);
        self.inputs().into_iter().for_each(|input| input.add_defined(all, set));
    }

    /// Columns that the plan reads but no operator in it makes.
    pub(crate) fn free_columns(&self, all: &Columns) -> ColumnSet {
        let mut used = ColumnSet::default();
        self.for_each_expr_deep(&mut |e| used.add_expr(e));
        let mut defined = ColumnSet::default();
        self.add_defined(all, &mut defined);
        used.subtract(&defined);
        used
    }
}
