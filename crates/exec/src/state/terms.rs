//! The expressions of a program, bound once: a row of a trigger or a round of a loop only evaluates
//! them.
//!
//! # Invariants
//! - TERM-1 A bound expression is used for values of the types it was bound for, under the key of
//!   plans it was bound under, while the user variables it reads have the types they had then.
//!
//! Must not bind or evaluate.

use std::sync::Arc;

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_expr::{Expr, ExprKind};
use selkie_plan::Environment;
use selkie_sql::ast::Span;
use selkie_types::{SqlType, Value};

use super::plan_key::PlanKey;
use super::prepared::Prepared;
use crate::{Instance, Session};

/// What a program's expression has become.
#[derive(Clone)]
pub(crate) enum Term {
    /// It stands for itself.
    Bound(Arc<BoundTerm>),
    /// It is evaluated by a query, for it has subqueries or calls stored functions.
    Query(Arc<Prepared>),
}

/// An expression and what it was bound for.
pub(crate) struct BoundTerm {
    pub(crate) expr: Expr,
    key: PlanKey,
    types: Vec<SqlType>,
    user_variables: Vec<(Box<str>, Option<SqlType>)>,
    /// It gives types to user variables, which what reads them follows.
    assigns: bool,
}

impl BoundTerm {
    /// An expression that has just been bound for these values.
    pub(crate) fn new(
        instance: &Instance,
        session: &Session,
        expr: Expr,
        values: &[(Value, SqlType)],
    ) -> Self {
        let mut names = Vec::new();
        let assigns = expr.any(&mut |e| {
            if let ExprKind::UserVariable(name) = &e.kind {
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
            assigns,
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

/// The expressions of one program, by the place in its text.
#[derive(Default)]
pub(crate) struct Terms(Mutex<HashMap<Span, Term>>);

impl Terms {
    /// What the expression at a place has become, if that is good for these values.
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

    /// Keeps what the expression at a place has become, unless it has to be bound each time.
    pub(crate) fn keep(&self, at: Span, term: &Term) {
        if !matches!(term, Term::Bound(bound) if bound.assigns) {
            self.0.lock().insert(at, term.clone());
        }
    }
}
