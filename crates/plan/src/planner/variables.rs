//! User variables that a statement only reads: they have one value during its execution, so that an
//! index can find the rows that are compared with them.
//!
//! A statement that calls stored functions is left alone, because they may assign any variable.

use selkie_expr::{Expr, ExprKind};
use selkie_types::stack;

use super::Draft;
use crate::logical::Logical;

impl Draft {
    /// Marks the variables that `plan` and its subqueries read and that nothing assigns.
    pub(super) fn mark_variables(&mut self, plan: &mut Logical) {
        if self.variables.user.is_empty() {
            return;
        }
        let mut calls = false;
        self.each_expr(plan, &mut |e| calls |= e.has_stored_call());
        if calls {
            return;
        }
        let assigned = std::mem::take(&mut self.assigned_variables);
        self.each_expr(plan, &mut |e| mark(e, &assigned));
    }

    fn each_expr(&mut self, plan: &mut Logical, f: &mut dyn FnMut(&mut Expr)) {
        plan.for_each_expr_deep_mut(f);
        self.subqueries.iter_mut().for_each(|subquery| subquery.plan.for_each_expr_deep_mut(f));
        self.common.iter_mut().for_each(|common| common.plan.for_each_expr_deep_mut(f));
        self.row_exprs.each_mut(f);
    }
}

fn mark(expr: &mut Expr, assigned: &[Box<str>]) {
    stack::ensure();
    if let ExprKind::UserVariable(name, left_as_is) = &mut expr.kind {
        *left_as_is = !assigned.iter().any(|other| other.eq_ignore_ascii_case(name));
    }
    expr.children_mut().into_iter().for_each(|child| mark(child, assigned));
}
