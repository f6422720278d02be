//! Moves conditions towards the tables they restrict.
//!
//! On the way, outer joins whose NULL rows a condition rejects become inner joins, conditions are
//! copied along equalities, and common conjuncts are factored out of ORs.

use std::cell::LazyCell;

use hashbrown::HashMap;
use selkie_expr::{Expr, ExprKind};
use selkie_types::stack;

use super::EqualityClasses;
use super::equality::derive_across;
use super::factor::{factor, implied_by_or};
use super::nulls::rejects_null;
use super::pull::{LARGEST, is_plain};
use super::simplify::{are_contradictory, is_false};
use crate::logical::{AggregateNode, ColumnId, ColumnSet, Columns, Join, Logical, SetNode};
use crate::physical::JoinKind;

/// Moves all conditions of a plan down as far as possible.
pub(crate) fn push_conditions(plan: Logical, columns: &Columns) -> Logical {
    push(plan, Vec::new(), columns)
}

/// `plan` restricted by `conditions`, which are moved down as far as possible.
fn push(plan: Logical, conditions: Vec<Expr>, columns: &Columns) -> Logical {
    stack::ensure();
    match plan {
        Logical::Filter { input, conditions: own } => {
            let mut all = conditions;
            all.extend(own.into_iter().flat_map(factor));
            push_filter(*input, all, columns)
        }
        Logical::Join(join) => push_join(*join, conditions, columns),
        Logical::Project { input, columns: made } => {
            let (below, above) = through_projection(conditions, &made);
            let input = Box::new(push(*input, below, columns));
            Logical::Project { input, columns: made }.filter(above)
        }
        Logical::Aggregate(node) => push_aggregate(*node, conditions, columns),
        Logical::Scan(relation) => match are_contradictory(relation, &conditions, columns) {
            true => empty(&Logical::Scan(relation), columns),
            false => Logical::Scan(relation).filter(conditions),
        },
        Logical::Set(node) => push_set(*node, conditions, columns),
        Logical::Sort { input, keys, unit } => {
            let input = Box::new(push(*input, conditions, columns));
            Logical::Sort { input, keys, unit }
        }
        Logical::Distinct { input, columns: kept } => {
            let (below, above) = conditions.into_iter().partition(is_plain);
            let input = Box::new(push(*input, below, columns));
            Logical::Distinct { input, columns: kept }.filter(above)
        }
        Logical::JsonTable(mut node) => {
            // Documents of rows that a condition refuses are not read: they may be no JSON.
            let made: ColumnSet = node.columns.iter().copied().collect();
            let (below, above) = conditions
                .into_iter()
                .partition(|c| is_plain(c) && ColumnSet::of(c).is_disjoint(&made));
            let input = std::mem::replace(&mut node.input, Logical::OneRow);
            node.input = push(input, below, columns);
            Logical::JsonTable(node).filter(above)
        }
        mut other => {
            for input in other.inputs_mut() {
                let taken = std::mem::replace(input, Logical::OneRow);
                *input = push(taken, Vec::new(), columns);
            }
            other.filter(conditions)
        }
    }
}

/// Pushes the conditions of a filter. A constant false one makes the plan empty; constant true ones
/// are dropped.
fn push_filter(input: Logical, mut conditions: Vec<Expr>, columns: &Columns) -> Logical {
    if conditions.iter().any(is_false) {
        return empty(&input, columns);
    }
    conditions.retain(|c| !is_true(c));
    push(input, conditions, columns)
}

/// No rows, of the columns of `plan`.
fn empty(plan: &Logical, columns: &Columns) -> Logical {
    Logical::Empty(plan.columns(columns).iter().collect())
}

fn is_true(condition: &Expr) -> bool {
    use selkie_types::Value;
    match condition.as_literal() {
        Some(Value::Int(v)) => *v != 0,
        Some(Value::UInt(v)) => *v != 0,
        _ => false,
    }
}

fn push_join(mut join: Join, mut conditions: Vec<Expr>, columns: &Columns) -> Logical {
    let on = std::mem::take(&mut join.on).into_iter().enumerate();
    // The IN comparison of a null-aware join stays whole, because each of its parts can be NULL.
    let whole = |at: usize| at == 0 && join.kind.is_null_aware();
    let parts = |(at, c): (usize, Expr)| if whole(at) { vec![c] } else { factor(c) };
    join.on = on.flat_map(parts).collect();
    if join.kind == JoinKind::Left {
        let right = join.right.columns(columns);
        if conditions.iter().any(|c| rejects_null(c, &right)) {
            join.kind = JoinKind::Inner;
        }
    }
    match join.kind {
        JoinKind::Inner => {
            conditions.append(&mut join.on);
            match conditions.iter().any(is_false) {
                true => empty(&Logical::Join(Box::new(join)), columns),
                false => push_inner(join, conditions, columns),
            }
        }
        _ => push_outer(join, conditions, columns),
    }
}

fn push_inner(mut join: Join, mut conditions: Vec<Expr>, columns: &Columns) -> Logical {
    let mut classes = EqualityClasses::default();
    for condition in &conditions {
        classes.add(condition, columns);
    }
    let derived = classes.derive(&conditions, columns);
    conditions.extend(derived);
    let sides = (join.left.columns(columns), join.right.columns(columns));
    let (mut left, mut right, mut on) = (Vec::new(), Vec::new(), Vec::new());
    for condition in conditions {
        match side(&condition, &sides.0, &sides.1) {
            Side::Left => left.push(condition),
            Side::Right => right.push(condition),
            Side::Both => {
                left.extend(implied_by_or(&condition, &sides.0));
                right.extend(implied_by_or(&condition, &sides.1));
                on.push(condition);
            }
        }
    }
    join.left = push(join.left, left, columns);
    join.right = push(join.right, right, columns);
    join.on = on;
    joined(join, columns)
}

/// A join, or nothing if it can have no rows.
fn joined(join: Join, columns: &Columns) -> Logical {
    let is_empty = |plan: &Logical| matches!(plan, Logical::Empty(_));
    let needs_right = matches!(join.kind, JoinKind::Inner | JoinKind::Semi);
    let nothing = is_empty(&join.left) || needs_right && is_empty(&join.right);
    let join = Logical::Join(Box::new(join));
    match nothing {
        true => empty(&join, columns),
        false => join,
    }
}

/// Semi, anti, mark and left joins: conditions from above go to the left side, ON conditions to the
/// right side.
fn push_outer(mut join: Join, conditions: Vec<Expr>, columns: &Columns) -> Logical {
    let given = std::mem::take(&mut join.on);
    let right_side = join.right.columns(columns);
    // Only where it decides: the left side of the n-th subquery of a block has n joins.
    let left_side = LazyCell::new(|| join.left.columns(columns));
    let (left, above): (Vec<Expr>, Vec<Expr>) = conditions
        .into_iter()
        .partition(|c| is_movable(c) && ColumnSet::of(c).is_subset(&left_side));
    let null_aware = join.kind.is_null_aware();
    let (mut right, mut on, mut into_left) = (Vec::new(), Vec::new(), Vec::new());
    for (at, condition) in given.into_iter().enumerate() {
        if null_aware && at == 0 {
            on.push(condition);
            continue;
        }
        match side(&condition, &left_side, &right_side) {
            Side::Right => right.push(condition),
            Side::Left if join.kind == JoinKind::Semi => into_left.push(condition),
            _ => on.push(condition),
        }
    }
    if !null_aware {
        right.extend(derive_across(&left, &on, &right_side, columns));
    }
    into_left.extend(left);
    join.left = push(join.left, into_left, columns);
    join.right = push(join.right, right, columns);
    join.on = on;
    joined(join, columns).filter(above)
}

#[derive(PartialEq)]
enum Side {
    Left,
    Right,
    Both,
}

/// The side of a join to which a condition belongs; constant conditions go left.
fn side(condition: &Expr, left: &ColumnSet, right: &ColumnSet) -> Side {
    if !is_movable(condition) {
        return Side::Both;
    }
    let used = ColumnSet::of(condition);
    if used.is_disjoint(right) {
        Side::Left
    } else if used.is_disjoint(left) {
        Side::Right
    } else {
        Side::Both
    }
}

/// Whether a condition may be tested for more or other rows than at its original place. Correlated
/// subqueries stay: they should be tested last.
fn is_movable(condition: &Expr) -> bool {
    let correlated = |e: &Expr| match &e.kind {
        ExprKind::Subquery(s) => !s.args.is_empty() || !s.operands.is_empty(),
        _ => false,
    };
    condition.is_deterministic()
        && !condition.has_side_effects()
        && !condition.any(&mut { correlated })
}

/// Conditions over a projection's input, and conditions that must stay above the projection.
fn through_projection(conditions: Vec<Expr>, made: &[(ColumnId, Expr)]) -> (Vec<Expr>, Vec<Expr>) {
    if conditions.is_empty() {
        return (conditions, Vec::new());
    }
    let meaning: HashMap<ColumnId, &Expr> = made.iter().map(|(id, e)| (*id, e)).collect();
    let plain = |id: usize| meaning.get(&id).is_none_or(|e| is_plain(e));
    let (mut below, above): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(|c| {
        is_movable(c) && c.columns().into_iter().all(plain) && stays_small(c, &meaning)
    });
    for condition in &mut below {
        condition.substitute_columns(&mut |id| meaning.get(&id).map(|e| (*e).clone()));
    }
    (below, above)
}

/// Whether a condition stays small enough after its columns are replaced.
fn stays_small(condition: &Expr, meaning: &HashMap<ColumnId, &Expr>) -> bool {
    let mut left = Some(LARGEST);
    condition.for_each_column(&mut |id| {
        left = left.and_then(|n| n.checked_sub(meaning.get(&id).map_or(0, |e| size(e))));
    });
    left.is_some()
}

fn size(expr: &Expr) -> usize {
    match expr.kind {
        ExprKind::Column(_) => 0,
        _ => expr.size_within(LARGEST).unwrap_or(usize::MAX),
    }
}

/// Conditions on group keys alone hold for whole groups, so they are moved below the grouping.
fn push_aggregate(mut node: AggregateNode, conditions: Vec<Expr>, columns: &Columns) -> Logical {
    let keys: HashMap<ColumnId, Expr> =
        node.groups.iter().map(|(id, e)| (*id, e.clone())).collect();
    let movable = |c: &Expr| {
        let used = c.columns();
        !node.rollup
            && is_movable(c)
            && !used.is_empty()
            && used.iter().all(|id| keys.get(id).is_some_and(is_plain))
            && stays_small(c, &node.groups.iter().map(|(id, e)| (*id, e)).collect())
    };
    let (mut below, above): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(movable);
    for condition in &mut below {
        condition.substitute_columns(&mut |id| keys.get(&id).cloned());
    }
    node.input = push(node.input, below, columns);
    Logical::Aggregate(Box::new(node)).filter(above)
}

/// A condition on the result of a set operation is moved into each input.
fn push_set(mut node: SetNode, conditions: Vec<Expr>, columns: &Columns) -> Logical {
    let (below, above): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(is_movable);
    for (input, from) in &mut node.inputs {
        let mut own = below.clone();
        for condition in &mut own {
            condition.substitute_columns(&mut |id| {
                let at = node.columns.iter().position(|c| *c == id)?;
                Some(columns.expr(from[at]))
            });
        }
        let taken = std::mem::replace(input, Logical::OneRow);
        *input = push(taken, own, columns);
    }
    Logical::Set(Box::new(node)).filter(above)
}
