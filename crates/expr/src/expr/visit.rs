//! Walking and rewriting expressions.
//! Subqueries' own plans are not entered: only their arguments and predicates are parts of a node.

use selkie_types::{Value, stack};

use super::{Expr, ExprKind, Subquery, SubqueryKind};

impl Expr {
    /// The direct operands.
    pub fn children(&self) -> Vec<&Self> {
        match &self.kind {
            ExprKind::Literal(_)
            | ExprKind::Column(_)
            | ExprKind::Held(_)
            | ExprKind::Parameter(_)
            | ExprKind::UserVariable(..)
            | ExprKind::Sequence(_)
            | ExprKind::SystemVariable(..) => Vec::new(),
            ExprKind::Call(c) => c.args.iter().collect(),
            ExprKind::Compare(c) => vec![&c.left, &c.right],
            ExprKind::And(v) | ExprKind::Or(v) | ExprKind::Coalesce(v) | ExprKind::Row(v) => {
                v.iter().collect()
            }
            ExprKind::Not(e) | ExprKind::IsNull(e) | ExprKind::AssignUserVariable(_, e) => vec![e],
            ExprKind::InList(l) => std::iter::once(&l.value).chain(&l.items).collect(),
            ExprKind::Case(c) => {
                c.whens.iter().flat_map(|(w, t)| [w, t]).chain(&c.otherwise).collect()
            }
            ExprKind::Subquery(s) => s.args.iter().chain(&s.operands).map(|(_, e)| e).collect(),
            ExprKind::Stored(s) => s.args.iter().collect(),
            ExprKind::Hold(hold) => vec![&hold.value, &hold.body],
            ExprKind::Match(m) => vec![&m.key],
        }
    }

    /// Whether a direct operand satisfies `test`; later operands are then not tested. Makes no list
    /// of operands, because statements call this at every execution.
    pub(crate) fn any_child<'a>(&'a self, test: &mut impl FnMut(&'a Self) -> bool) -> bool {
        match &self.kind {
            ExprKind::Literal(_)
            | ExprKind::Column(_)
            | ExprKind::Held(_)
            | ExprKind::Parameter(_)
            | ExprKind::UserVariable(..)
            | ExprKind::Sequence(_)
            | ExprKind::SystemVariable(..) => false,
            ExprKind::Call(c) => c.args.iter().any(test),
            ExprKind::Compare(c) => test(&c.left) || test(&c.right),
            ExprKind::And(v) | ExprKind::Or(v) | ExprKind::Coalesce(v) | ExprKind::Row(v) => {
                v.iter().any(test)
            }
            ExprKind::Not(e) | ExprKind::IsNull(e) | ExprKind::AssignUserVariable(_, e) => test(e),
            ExprKind::InList(l) => test(&l.value) || l.items.iter().any(test),
            ExprKind::Case(c) => {
                c.whens.iter().any(|(when, then)| test(when) || test(then))
                    || c.otherwise.iter().any(test)
            }
            ExprKind::Subquery(s) => {
                s.args.iter().any(|(_, e)| test(e)) || s.operands.iter().any(|(_, e)| test(e))
            }
            ExprKind::Stored(s) => s.args.iter().any(test),
            ExprKind::Hold(hold) => test(&hold.value) || test(&hold.body),
            ExprKind::Match(m) => test(&m.key),
        }
    }

    /// Like [`Expr::children`], for rewriting.
    pub fn children_mut(&mut self) -> Vec<&mut Self> {
        match &mut self.kind {
            ExprKind::Literal(_)
            | ExprKind::Column(_)
            | ExprKind::Held(_)
            | ExprKind::Parameter(_)
            | ExprKind::UserVariable(..)
            | ExprKind::Sequence(_)
            | ExprKind::SystemVariable(..) => Vec::new(),
            ExprKind::Call(c) => {
                c.cache = Default::default();
                c.args.iter_mut().collect()
            }
            ExprKind::Compare(c) => vec![&mut c.left, &mut c.right],
            ExprKind::And(v) | ExprKind::Or(v) | ExprKind::Coalesce(v) | ExprKind::Row(v) => {
                v.iter_mut().collect()
            }
            ExprKind::Not(e) | ExprKind::IsNull(e) | ExprKind::AssignUserVariable(_, e) => vec![e],
            ExprKind::InList(l) => {
                l.set = Default::default();
                std::iter::once(&mut l.value).chain(&mut l.items).collect()
            }
            ExprKind::Case(c) => {
                c.whens.iter_mut().flat_map(|(w, t)| [w, t]).chain(&mut c.otherwise).collect()
            }
            ExprKind::Subquery(s) => {
                let Subquery { args, operands, .. } = &mut **s;
                args.iter_mut().chain(operands).map(|(_, e)| e).collect()
            }
            ExprKind::Stored(s) => s.args.iter_mut().collect(),
            ExprKind::Hold(hold) => vec![&mut hold.value, &mut hold.body],
            ExprKind::Match(m) => vec![&mut m.key],
        }
    }

    /// Calls `f` for this expression and all its parts, top down.
    pub fn visit<'a>(&'a self, f: &mut impl FnMut(&'a Self)) {
        selkie_meter::tick(32);
        stack::ensure();
        f(self);
        self.any_child(&mut |child| {
            child.visit(f);
            false
        });
    }

    /// The number of nodes; `None` if there are more than `most`.
    pub fn size_within(&self, most: usize) -> Option<usize> {
        let mut size = 0;
        let is_larger = self.any(&mut |_| {
            size += 1;
            size > most
        });
        (!is_larger).then_some(size)
    }

    /// Whether this expression or a part of it satisfies `test`.
    pub fn any(&self, test: &mut impl FnMut(&Self) -> bool) -> bool {
        selkie_meter::tick(32);
        stack::ensure();
        test(self) || self.any_child(&mut |child| child.any(test))
    }

    /// Replaces each expression for which `f` returns another, bottom up.
    pub fn transform(&mut self, f: &mut impl FnMut(&Self) -> Option<Self>) {
        selkie_meter::tick(64);
        stack::ensure();
        self.children_mut().into_iter().for_each(|c| c.transform(f));
        if let Some(other) = f(self) {
            *self = other;
        }
    }

    /// Calls `f` with the position of every column used.
    pub fn for_each_column(&self, f: &mut impl FnMut(usize)) {
        self.visit(&mut |e| {
            if let ExprKind::Column(at) = e.kind {
                f(at);
            }
        });
    }

    /// Positions of the columns used, ascending, without duplicates.
    pub fn columns(&self) -> Vec<usize> {
        let mut columns = Vec::new();
        self.for_each_column(&mut |at| columns.push(at));
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Maps every column position by `f`.
    pub fn map_columns(&mut self, f: &mut impl FnMut(usize) -> usize) {
        selkie_meter::tick(32);
        stack::ensure();
        if let ExprKind::Column(at) = &mut self.kind {
            *at = f(*at);
        }
        self.children_mut().into_iter().for_each(|c| c.map_columns(f));
    }

    /// Replaces every column by the expression that `f` returns for it, if any.
    pub fn substitute_columns(&mut self, f: &mut impl FnMut(usize) -> Option<Self>) {
        self.transform(&mut |e| match e.kind {
            ExprKind::Column(at) => f(at),
            _ => None,
        });
    }

    /// Whether equal inputs always give equal values within one statement.
    pub fn is_deterministic(&self) -> bool {
        !self.any(&mut Self::varies)
    }

    /// Whether this node can give different values for equal operands.
    fn varies(&self) -> bool {
        match &self.kind {
            ExprKind::Call(c) => !c.function.is_deterministic(),
            ExprKind::UserVariable(_, left_as_is) => !left_as_is,
            ExprKind::AssignUserVariable(..) => true,
            ExprKind::Sequence(_) => true,
            ExprKind::Stored(s) => !s.deterministic,
            _ => false,
        }
    }

    /// Whether evaluation has an effect, or must happen exactly once per row in row order.
    pub fn has_side_effects(&self) -> bool {
        self.any(&mut |e| match &e.kind {
            ExprKind::Call(c) => c.function.has_side_effects(),
            ExprKind::AssignUserVariable(..) | ExprKind::Stored(_) | ExprKind::Sequence(_) => true,
            _ => false,
        })
    }

    /// Whether the value is the same for all rows of one execution.
    pub fn is_constant(&self) -> bool {
        let mut holds = false;
        let varies = self.any(&mut |e| match e.kind {
            ExprKind::Held(_) => {
                holds = true;
                false
            }
            _ => !e.is_constant_over_constants(),
        });
        !varies && (!holds || !self.uses_held(&mut Vec::new()))
    }

    /// Whether a value is used that is held by an expression around this one.
    fn uses_held(&self, inside: &mut Vec<u32>) -> bool {
        stack::ensure();
        match &self.kind {
            ExprKind::Held(held) => !inside.contains(&held.number),
            ExprKind::Hold(hold) => {
                if hold.value.uses_held(inside) {
                    return true;
                }
                inside.push(hold.number);
                let uses = hold.body.uses_held(inside);
                inside.pop();
                uses
            }
            _ => self.any_child(&mut |child| child.uses_held(inside)),
        }
    }

    /// Whether it has one value for all rows of a block: it reads no columns, nothing that changes,
    /// and no subquery.
    pub fn is_same_for_rows(&self) -> bool {
        !self.any(&mut |e| {
            let changes = matches!(
                e.kind,
                ExprKind::Column(_)
                    | ExprKind::Held(_)
                    | ExprKind::Stored(_)
                    | ExprKind::Subquery(_)
                    | ExprKind::UserVariable(..)
                    | ExprKind::AssignUserVariable(..)
                    | ExprKind::Sequence(_)
                    | ExprKind::Match(_)
            );
            changes || e.varies()
        })
    }

    /// Whether this node is constant if its operands are.
    pub fn is_constant_over_constants(&self) -> bool {
        !self.varies()
            && !matches!(self.kind, ExprKind::Column(_) | ExprKind::Held(_) | ExprKind::Subquery(_))
    }

    /// Whether the value is the same for all executions: pure functions over literals.
    pub fn is_foldable(&self) -> bool {
        !self.any(&mut |e| !e.is_foldable_over_foldable())
    }

    /// Whether this node is foldable if its operands are.
    pub fn is_foldable_over_foldable(&self) -> bool {
        match &self.kind {
            ExprKind::Call(c) => c.function.is_deterministic() && c.function.is_pure(),
            ExprKind::Column(_)
            | ExprKind::Held(_)
            | ExprKind::Parameter(_)
            | ExprKind::UserVariable(..)
            | ExprKind::AssignUserVariable(..)
            | ExprKind::SystemVariable(..)
            | ExprKind::Subquery(_)
            | ExprKind::Stored(_)
            | ExprKind::Sequence(_)
            | ExprKind::Match(_)
            | ExprKind::Row(_) => false,
            _ => true,
        }
    }

    /// Whether the expression contains a subquery.
    pub fn has_subquery(&self) -> bool {
        self.any(&mut |e| matches!(e.kind, ExprKind::Subquery(_)))
    }

    /// Whether the expression contains a subquery that reads columns of the query around it.
    pub fn has_correlated_subquery(&self) -> bool {
        self.any(&mut |e| matches!(&e.kind, ExprKind::Subquery(s) if !s.args.is_empty()))
    }

    /// Whether the expression calls a stored function.
    pub fn has_stored_call(&self) -> bool {
        self.any(&mut |e| matches!(e.kind, ExprKind::Stored(_)))
    }

    /// Whether the expression uses a sequence.
    pub fn has_sequence(&self) -> bool {
        self.any(&mut |e| matches!(e.kind, ExprKind::Sequence(_)))
    }

    /// The value of a literal.
    pub fn as_literal(&self) -> Option<&Value> {
        match &self.kind {
            ExprKind::Literal(value) => Some(value),
            _ => None,
        }
    }

    /// Whether this is a column of a table, not one computed by a query.
    pub(crate) fn is_column_of_table(&self) -> bool {
        matches!(self.kind, ExprKind::Column(_)) && self.origin.names().is_some()
    }

    /// The position of a column.
    pub fn as_column(&self) -> Option<usize> {
        match self.kind {
            ExprKind::Column(at) => Some(at),
            _ => None,
        }
    }

    /// The parameter that this is, or that it converts implicitly.
    pub fn parameter_within(&self) -> Option<&Self> {
        let inner = match &self.kind {
            ExprKind::Call(call) if call.function.is_implicit() => &call.args[0],
            _ => self,
        };
        matches!(inner.kind, ExprKind::Parameter(_)).then_some(inner)
    }

    /// The slot of a parameter; an implicit conversion around it is ignored.
    pub fn converted_parameter(&self) -> Option<usize> {
        match self.parameter_within()?.kind {
            ExprKind::Parameter(slot) => Some(slot),
            _ => None,
        }
    }

    /// The conjuncts of a condition.
    pub fn into_conjuncts(self) -> Vec<Self> {
        stack::ensure();
        match self.kind {
            ExprKind::And(parts) => parts.into_iter().flat_map(Self::into_conjuncts).collect(),
            _ => vec![self],
        }
    }

    /// The predicate, if this is a quantified subquery that has one.
    pub fn subquery_predicate(&self) -> Option<&Self> {
        match &self.kind {
            ExprKind::Subquery(s) => match &s.kind {
                SubqueryKind::Any(p) | SubqueryKind::All(p) => Some(p),
                _ => None,
            },
            _ => None,
        }
    }
}
