//! Expressions of a program, bound once: a row of a trigger or a round of a loop only evaluates
//! them.
//!
//! # Invariants
//! - TERM-1 A bound expression is used only for values of the types it was bound for, under the
//!   same plan key, and while the user variables it reads have the same types.
//!
//! Must not bind or evaluate them.

use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_expr::{Expr, ExprKind};
use selkie_plan::safety::Uses;
use selkie_plan::{BoundConstant, Environment};
use selkie_sql::ast::Span;
use selkie_types::{SqlType, Value};

use super::plan_key::PlanKey;
use super::prepared::Prepared;
use crate::{Instance, Session};

/// Prepared form of a program's expression.
#[derive(Clone)]
pub(crate) enum Term {
    /// A bound expression.
    Bound(Arc<BoundTerm>),
    /// A query that evaluates it, because it has subqueries or calls stored functions.
    Query(Arc<Prepared>),
}

/// A bound expression and the conditions of its binding.
pub(crate) struct BoundTerm {
    pub(crate) expr: Expr,
    key: PlanKey,
    types: Vec<SqlType>,
    user_variables: Vec<(Box<str>, Option<SqlType>)>,
    /// Whether it must be bound each time: it assigns user variables, whose types later reads
    /// depend on, or its own type depends on a value.
    is_for_once: bool,
}

impl BoundTerm {
    /// An expression that was just bound for these values.
    pub(crate) fn new(
        instance: &Instance,
        session: &Session,
        bound: BoundConstant,
        values: &[(Value, SqlType)],
    ) -> Self {
        let BoundConstant { expr, uses, .. } = bound;
        let mut names = Vec::new();
        let assigns = expr.any(&mut |e| {
            if let ExprKind::UserVariable(name, _) = &e.kind {
                names.push(name.clone());
            }
            matches!(e.kind, ExprKind::AssignUserVariable(..))
        });
        let typed = |name: Box<str>| {
            let ty = Environment::user_variable(session, &name);
            (name, ty)
        };
        Self {
            expr,
            key: PlanKey::new(instance, session),
            types: values.iter().map(|(_, ty)| ty.clone()).collect(),
            user_variables: names.into_iter().map(typed).collect(),
            is_for_once: assigns || uses.has(Uses::VALUE_AT_PLANNING),
        }
    }

    fn is_for(&self, instance: &Instance, session: &Session, values: &[(Value, SqlType)]) -> bool {
        let reads_same = |(name, ty): &(Box<str>, Option<SqlType>)| {
            Environment::user_variable(session, name) == *ty
        };
        self.types.iter().eq(values.iter().map(|(_, ty)| ty))
            && self.key.holds(instance, session)
            && self.user_variables.iter().all(reads_same)
    }
}

/// Expressions of one program, by their position in its text.
#[derive(Default)]
pub(crate) struct Terms(Mutex<HashMap<Span, Term>>);

impl Terms {
    /// The prepared form of the expression at a position, if it is valid for these values.
    pub(crate) fn find(
        &self,
        instance: &Instance,
        session: &Session,
        at: Span,
        values: &[(Value, SqlType)],
    ) -> Option<Term> {
        let found = self.0.lock().get(&at).cloned()?;
        match &found {
            Term::Bound(bound) if !bound.is_for(instance, session, values) => None,
            _ => Some(found),
        }
    }

    /// Stores the prepared form of the expression at a position, unless it must be bound each time.
    pub(crate) fn keep(&self, at: Span, term: &Term) {
        if !matches!(term, Term::Bound(bound) if bound.is_for_once) {
            self.0.lock().insert(at, term.clone());
        }
    }
}
