//! Columns that conditions make equal, and the conditions that follow from this. Only columns of
//! the same type and collation are put in one class: a condition may then move between them
//! unchanged.

use selkie_expr::{Compare, CompareBy, CompareOp, Expr, ExprKind, InList};
use selkie_meter::tick;
use selkie_types::{Physical, SqlType};

use crate::logical::{ColumnId, ColumnSet, Columns};

/// Sets of columns that are equal because of a conjunction of conditions.
#[derive(Clone, Debug, Default)]
pub(crate) struct EqualityClasses {
    /// Members of each class.
    pub classes: Vec<Vec<ColumnId>>,
}

impl EqualityClasses {
    /// Adds `condition`; false if it is not an equality of two columns of one type.
    pub(crate) fn add(&mut self, condition: &Expr, columns: &Columns) -> bool {
        let Some((a, b)) = equal_columns(condition, columns) else { return false };
        match (self.find(a), self.find(b)) {
            (Some(x), Some(y)) if x == y => {}
            (Some(x), Some(y)) => {
                let moved = self.classes.remove(x.max(y));
                self.classes[x.min(y)].extend(moved);
            }
            (Some(x), None) => self.classes[x].push(b),
            (None, Some(y)) => self.classes[y].push(a),
            (None, None) => self.classes.push(vec![a, b]),
        }
        true
    }

    /// Position of the class that contains `id`.
    pub(crate) fn find(&self, id: ColumnId) -> Option<usize> {
        tick(16 * self.classes.len());
        self.classes.iter().position(|class| class.contains(&id))
    }

    /// For each condition on one column of a class, the same condition on the other members.
    pub(crate) fn derive(&self, conditions: &[Expr], columns: &Columns) -> Vec<Expr> {
        let mut derived = Vec::new();
        for condition in conditions {
            let Some(id) = restricted_column(condition) else { continue };
            let Some(class) = self.find(id) else { continue };
            for other in self.classes[class].iter().filter(|other| **other != id) {
                let mut copy = condition.clone();
                copy.substitute_columns(&mut |at| (at == id).then(|| columns.expr(*other)));
                tick(8 * (conditions.len() + derived.len()));
                if !conditions.contains(&copy) && !derived.contains(&copy) {
                    derived.push(copy);
                }
            }
        }
        derived
    }
}

/// The two columns that a condition makes equal, if their types compare without conversion.
fn equal_columns(condition: &Expr, columns: &Columns) -> Option<(ColumnId, ColumnId)> {
    let ExprKind::Compare(compare) = &condition.kind else { return None };
    if compare.op != CompareOp::Eq {
        return None;
    }
    let (a, b) = (compare.left.as_column()?, compare.right.as_column()?);
    let (x, y) = (&columns.get(a).ty, &columns.get(b).ty);
    let same = x.physical() == y.physical() && x.collation == y.collation && x.kind == y.kind;
    (a != b && same && compare.by == as_they_are(x)).then_some((a, b))
}

/// The method to compare two values of one type without conversion.
pub(crate) fn as_they_are(ty: &SqlType) -> CompareBy {
    match ty.physical() {
        Physical::Int => CompareBy::Int,
        Physical::UInt => CompareBy::UInt,
        Physical::Double => CompareBy::Double,
        Physical::Decimal => CompareBy::Decimal,
        Physical::Date => CompareBy::Date,
        Physical::Time => CompareBy::Time,
        Physical::DateTime => CompareBy::DateTime,
        Physical::Bytes => CompareBy::Bytes(ty.collation),
    }
}

/// The condition that two expressions of one type are equal.
pub(crate) fn equality(left: Expr, right: Expr) -> Expr {
    let nullable = left.nullable || right.nullable;
    let by = as_they_are(&left.ty);
    let compare = Compare { op: CompareOp::Eq, left, right, by };
    Expr::new(ExprKind::Compare(Box::new(compare)), Expr::boolean(true).ty, nullable)
}

/// The column that a condition restricts by constants.
fn restricted_column(condition: &Expr) -> Option<ColumnId> {
    let constant = |e: &Expr| e.is_constant();
    match &condition.kind {
        ExprKind::Compare(compare) => {
            let Compare { op, left, right, by } = &**compare;
            if matches!(op, CompareOp::Ne | CompareOp::NullSafeEq) || *by == CompareBy::Double {
                return None;
            }
            match (left.as_column(), right.as_column()) {
                (Some(id), None) if constant(right) => Some(id),
                (None, Some(id)) if constant(left) => Some(id),
                _ => None,
            }
        }
        ExprKind::InList(list) => {
            let InList { value, items, .. } = &**list;
            value.as_column().filter(|_| items.iter().all(constant))
        }
        _ => None,
    }
}

/// Conditions on the columns of `inside` that follow from conditions known outside, through the
/// equalities in `on`.
pub(super) fn derive_across(
    known: &[Expr],
    on: &[Expr],
    inside: &ColumnSet,
    columns: &Columns,
) -> Vec<Expr> {
    let mut classes = EqualityClasses::default();
    on.iter().for_each(|condition| {
        classes.add(condition, columns);
    });
    if classes.classes.is_empty() {
        return Vec::new();
    }
    let mut derived = classes.derive(known, columns);
    derived.retain(|condition| {
        let used = ColumnSet::of(condition);
        !used.is_empty() && used.is_subset(inside) && !on.contains(condition)
    });
    derived
}
