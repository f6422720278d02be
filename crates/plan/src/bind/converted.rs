//! Constants that a condition compares with a date or time, to be converted before any row is read.
//! Their warnings come at each execution, whatever ways to the rows a plan has. Must not hold a
//! constant whose conversion raises nothing.

use selkie_expr::{CompareOp, EvalContext, Expr, ExprKind, TypeContext};
use selkie_types::{Condition, stack};

/// Warnings that a statement raises at each execution, whatever rows it reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Warnings {
    /// Those about its text.
    pub conditions: Vec<Condition>,
    /// Constants whose conversion raises some.
    pub converted: Converted,
    /// Conditions over constants alone that fail or may fail. They are computed before any row is
    /// read, and only their errors count.
    pub constant: Vec<Expr>,
}

impl Warnings {
    /// Adds the constant parts of a condition that chooses rows, before it is folded.
    pub(super) fn add_constant(&mut self, condition: &Expr, types: &TypeContext) {
        stack::ensure();
        let is_known = |e: &Expr| match e.kind {
            ExprKind::Parameter(_) => true,
            _ => e.is_foldable_over_foldable(),
        };
        match &condition.kind {
            ExprKind::Literal(_) | ExprKind::Parameter(_) => {}
            ExprKind::And(parts) | ExprKind::Or(parts) => {
                parts.iter().for_each(|part| self.add_constant(part, types));
            }
            ExprKind::Not(part) => self.add_constant(part, types),
            _ if condition.any(&mut |e| !is_known(e)) => {}
            _ => {
                let fails = || condition.eval_value(&EvalContext::detached(types)).is_err();
                if !condition.is_foldable() || fails() {
                    self.constant.push(condition.clone());
                }
            }
        }
    }
}

/// Constants of conditions, converted to the type of the column beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Converted {
    /// Items of IN lists. Their warnings stay warnings in any SQL mode.
    pub listed: Vec<Expr>,
    /// Constants in `column = constant` of a query block. UPDATE and DELETE have none: there a
    /// warning may be an error, which must not come unless a row is changed.
    pub equal: Vec<Expr>,
    /// Constants in conditions of HAVING that are tested before rows are grouped. UPDATE and DELETE
    /// have none either.
    pub moved: Vec<Expr>,
}

impl Converted {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.equal.is_empty() && self.moved.is_empty()
    }

    /// Drops those whose warnings may be errors in a change of rows.
    pub(crate) fn keep_for_changes(&mut self) {
        self.equal.clear();
        self.moved.clear();
    }

    /// Adds the constants of a condition that is moved from HAVING to WHERE. Compat: they are
    /// computed when it is moved, besides their computation with the rows.
    pub(super) fn add_moved(&mut self, condition: &Expr) {
        stack::ensure();
        if is_given(condition) {
            return;
        }
        match condition.is_constant() {
            true => self.moved.push(condition.clone()),
            false => condition.children().into_iter().for_each(|part| self.add_moved(part)),
        }
    }

    /// Adds the constants of a condition.
    pub(super) fn add(&mut self, condition: &Expr, types: &TypeContext) {
        stack::ensure();
        match &condition.kind {
            ExprKind::And(parts) | ExprKind::Or(parts) => {
                parts.iter().for_each(|part| self.add(part, types));
            }
            ExprKind::Compare(compare) if compare.op == CompareOp::Eq => {
                let constant = match (is_column(&compare.left), is_column(&compare.right)) {
                    (true, false) => &compare.right,
                    (false, true) => &compare.left,
                    _ => return,
                };
                self.equal.extend(converted(constant, types));
            }
            ExprKind::InList(list) if is_column(&list.value) => {
                self.listed.extend(list.items.iter().filter_map(|item| converted(item, types)));
            }
            _ => {}
        }
    }
}

/// Whether an operand is a column, perhaps as another type.
fn is_column(operand: &Expr) -> bool {
    match &operand.kind {
        ExprKind::Call(call) if call.function.is_implicit() => call.args[0].as_column().is_some(),
        _ => operand.as_column().is_some(),
    }
}

/// Whether an expression is a constant as the statement gives it, perhaps as another type.
fn is_given(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Literal(_) | ExprKind::Parameter(_) => true,
        ExprKind::Call(call) => call.function.is_implicit() && is_given(&call.args[0]),
        _ => false,
    }
}

/// The constant, if its conversion to a date or time may raise a warning.
fn converted(constant: &Expr, types: &TypeContext) -> Option<Expr> {
    let ExprKind::Call(call) = &constant.kind else { return None };
    let is_text = || call.function.is_implicit() && call.args[0].ty.is_string();
    if !constant.ty.is_temporal() || !is_text() || !constant.is_constant() {
        return None;
    }
    let mut constant = constant.clone();
    crate::fold::fold(&mut constant, types);
    constant.as_literal().is_none().then_some(constant)
}
