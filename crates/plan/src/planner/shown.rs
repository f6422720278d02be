//! Columns of a result that show a single thing, of which MariaDB tells clients.
//!
//! Must look only at the outermost projection.

use selkie_expr::Expr;
use selkie_expr::aggregate::AggregateKind;
use selkie_expr::cast::has_needed_digits;
use selkie_types::{TypeKind, stack};

use crate::bind::Named;
use crate::physical::{Aggregate, Operator, OutputColumn, PlanNode, TextOf};

/// Tells of columns whose times show as many digits as they need.
///
/// Compat: a temporary table of groups or distinct rows shows all digits.
pub(super) fn tell_needed_digits(output: &mut [OutputColumn], columns: &[Named], root: &PlanNode) {
    let of = |e: &Expr| has_needed_digits(e).then_some(());
    let needed = shown(columns.len(), root, &of);
    for ((column, named), needed) in output.iter_mut().zip(columns).zip(needed) {
        let is_kept = named.given.grouped || named.given.kept.is_some();
        if needed.is_some() && !is_kept {
            column.text = TextOf::AsNeeded;
        }
    }
}

/// Announces MIN and MAX of all rows with the length of any value of their integer type.
///
/// Compat: that of groups has the width with which the column was defined. Clients take numbers of
/// one digit for truth values.
pub(super) fn widen_extremes(output: &mut [OutputColumn], root: &PlanNode) {
    stack::ensure();
    match &root.operator {
        Operator::Limit(limit) => widen_extremes(output, &limit.input),
        Operator::Project { exprs, input } => {
            let Operator::Aggregate(node) = &input.operator else { return };
            let places = exprs.iter().map(Expr::as_column);
            output.iter_mut().zip(places).for_each(|(column, at)| widen_extreme(column, node, at));
        }
        Operator::Aggregate(node) => {
            let columns = output.iter_mut().enumerate();
            columns.for_each(|(at, column)| widen_extreme(column, node, Some(at)));
        }
        _ => {}
    }
}

/// The same for a column that shows the output column `at` of an aggregation.
fn widen_extreme(column: &mut OutputColumn, node: &Aggregate, at: Option<usize>) {
    let call = at.and_then(|at| node.aggregates.get(at)).filter(|_| node.groups.is_empty());
    let is_small = column.ty.is_integer() && column.ty.kind != TypeKind::BigInt;
    let is_extreme = call.is_some_and(|call| {
        matches!(call.kind, AggregateKind::Min | AggregateKind::Max)
            && call.args.iter().all(|e| e.as_column().is_some())
    });
    if is_small && is_extreme {
        column.ty = column.ty.of_operand();
    }
}

/// For each column of a result, the parameter that it shows if it is nothing else.
pub fn shown_parameters(columns: usize, root: &PlanNode) -> Vec<Option<usize>> {
    shown(columns, root, &|e| match e.kind {
        selkie_expr::ExprKind::Parameter(at) => Some(at),
        _ => None,
    })
}

/// For each column of a result, whether it shows the result of a stored function and nothing else.
pub fn shown_functions(columns: usize, root: &PlanNode) -> Vec<Option<()>> {
    shown(columns, root, &|e| matches!(e.kind, selkie_expr::ExprKind::Stored(_)).then_some(()))
}

/// For each column of a result, whether it shows a computed value, and not a column of something
/// below.
pub fn shown_values(columns: usize, root: &PlanNode) -> Vec<Option<()>> {
    shown(columns, root, &|e| (!matches!(e.kind, selkie_expr::ExprKind::Column(_))).then_some(()))
}

fn shown<T: Clone>(
    columns: usize,
    root: &PlanNode,
    of: &dyn Fn(&Expr) -> Option<T>,
) -> Vec<Option<T>> {
    stack::ensure();
    match &root.operator {
        Operator::Limit(limit) => shown(columns, &limit.input, of),
        Operator::Project { exprs, .. } => exprs.iter().map(of).collect(),
        _ => vec![None; columns],
    }
}
