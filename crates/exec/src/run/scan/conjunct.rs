//! The conditions of a scan by columns in the order in which they are tested, cheap ones first,
//! with those on one column that follow from an OR over several: `(a = 1 AND b < 2) OR
//! (a = 3 AND b < 4)` implies `a = 1 OR a = 3`. They drop most rows before the whole is evaluated.
//!
//! Must only move conditions that cannot raise a warning, fail or have an effect: rows are tested
//! that another condition would have dropped.

use selkie_expr::{Expr, ExprKind, build};
use selkie_types::Physical;

/// Most columns of an OR that are looked at.
const MOST: usize = 8;

/// A condition that all rows of a scan must meet.
pub(super) struct Conjunct {
    pub(super) condition: Expr,
    /// The columns it reads, rising.
    pub(super) columns: Vec<usize>,
    /// Whether it compares a column of numbers or times with one value: that takes less time than
    /// to choose the rows for which it is asked.
    pub(super) is_instant: bool,
    /// Whether it follows from others, and may be left out.
    pub(super) is_implied: bool,
}

impl Conjunct {
    fn given(condition: &Expr) -> Self {
        Self {
            condition: condition.clone(),
            columns: condition.columns(),
            is_instant: is_instant(condition),
            is_implied: false,
        }
    }

    /// A higher one is tested later.
    fn rank(&self) -> u8 {
        match (self.is_instant, self.columns.len()) {
            (true, _) => 0,
            (false, 0..=1) => 1,
            (false, _) => 2,
        }
    }
}

/// The conditions in the order in which a scan tests them.
pub(super) fn conjuncts(conditions: &[Expr]) -> Vec<Conjunct> {
    let given = conditions.iter().map(Conjunct::given);
    if !conditions.iter().all(is_quiet) {
        return given.collect();
    }
    let implied = conditions.iter().flat_map(of_one);
    let implied = implied.map(|e| Conjunct { is_implied: true, ..Conjunct::given(&e) });
    let mut all: Vec<_> = implied.chain(given).collect();
    all.sort_by_key(Conjunct::rank);
    all
}

fn is_instant(condition: &Expr) -> bool {
    let is_value = |e: &Expr| matches!(e.kind, ExprKind::Literal(_) | ExprKind::Parameter(_));
    let is_number = |e: &Expr| {
        matches!(e.kind, ExprKind::Column(_))
            && !matches!(e.ty.physical(), Physical::Bytes | Physical::Double)
    };
    match &condition.kind {
        ExprKind::Compare(compare) => {
            is_number(&compare.left) && is_value(&compare.right)
                || is_value(&compare.left) && is_number(&compare.right)
        }
        _ => false,
    }
}

fn of_one(condition: &Expr) -> Vec<Expr> {
    let ExprKind::Or(branches) = &condition.kind else { return Vec::new() };
    let columns = condition.columns();
    if !(2..=MOST).contains(&columns.len()) {
        return Vec::new();
    }
    columns.into_iter().filter_map(|column| on_column(branches, column)).collect()
}

/// Whether an expression only compares.
fn is_quiet(e: &Expr) -> bool {
    let is_quiet = |e: &Expr| match &e.kind {
        ExprKind::Call(call) => {
            call.function.is_pure() && matches!(call.function.name(), "BETWEEN" | "LIKE")
        }
        kind => kind.only_compares(),
    };
    !e.any(&mut |e| !is_quiet(e))
}

/// The condition on a column that all branches of an OR make together; `None` if one of them allows
/// any value.
fn on_column(branches: &[Expr], column: usize) -> Option<Expr> {
    let of_branch = |branch: &Expr| {
        let parts = match &branch.kind {
            ExprKind::And(parts) => &parts[..],
            _ => std::slice::from_ref(branch),
        };
        let on_it = parts.iter().filter(|part| part.columns() == [column]);
        match &on_it.cloned().collect::<Vec<_>>()[..] {
            [] => None,
            [one] => Some(one.clone()),
            all => build::and(all.to_vec()).ok(),
        }
    };
    build::or(branches.iter().map(of_branch).collect::<Option<_>>()?).ok()
}

#[cfg(test)]
mod tests {
    use selkie_expr::{CompareOp, TypeContext};
    use selkie_types::SqlType;

    use super::*;

    fn column(at: usize) -> Expr {
        Expr::column(at, SqlType::bigint(), true)
    }

    fn comparison(op: CompareOp, a: Expr, b: Expr) -> Expr {
        build::comparison(op, a, b, &TypeContext::default()).expect("numbers")
    }

    fn is(op: CompareOp, at: usize, value: i64) -> Expr {
        comparison(op, column(at), Expr::int(value))
    }

    fn tested(conditions: &[Expr]) -> Vec<Expr> {
        conjuncts(conditions).into_iter().map(|conjunct| conjunct.condition).collect()
    }

    fn both(parts: &[Expr]) -> Expr {
        build::and(parts.to_vec()).expect("conditions")
    }

    fn either(parts: &[Expr]) -> Expr {
        build::or(parts.to_vec()).expect("conditions")
    }

    #[test]
    fn a_column_of_all_branches_has_a_condition() {
        let (one, two) = (is(CompareOp::Eq, 0, 1), is(CompareOp::Eq, 0, 2));
        let (low, high) = (is(CompareOp::Lt, 1, 5), is(CompareOp::Gt, 1, 9));
        let or = either(&[both(&[one.clone(), low.clone()]), both(&[high.clone(), two.clone()])]);
        let expected =
            [either(&[low.clone(), high.clone()]), either(&[one.clone(), two.clone()]), or.clone()];
        let mut found = tested(&[or]);
        found[..2].reverse();
        assert_eq!(found, expected);
        // Branches that leave a column open imply nothing for it.
        let open = either(&[both(&[one.clone(), low.clone()]), two.clone()]);
        let found = tested(std::slice::from_ref(&open));
        assert_eq!(found, [either(&[one.clone(), two]), open]);
        // A comparison of a column with a value comes first.
        let columns = comparison(CompareOp::Lt, column(0), column(1));
        assert_eq!(tested(&[columns.clone(), low.clone(), one.clone()]), [low, one, columns]);
    }

    #[test]
    fn conditions_with_effects_keep_their_place() {
        let (one, low) = (is(CompareOp::Eq, 0, 1), is(CompareOp::Lt, 1, 5));
        let name = "seen".into();
        let assigned = ExprKind::AssignUserVariable(name, Box::new(column(0)));
        let effect = Expr::new(assigned, SqlType::bigint(), true);
        let or = either(&[both(&[one.clone(), low.clone()]), both(&[low.clone(), one.clone()])]);
        let all = [effect, or, one];
        assert_eq!(tested(&all), all);
    }
}
