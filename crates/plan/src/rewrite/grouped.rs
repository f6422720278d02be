//! Scalar aggregates that are correlated by equalities: instead of running for each row, all their
//! groups are computed once and joined.
//!
//! The join must not differ from running the subquery for each row. So it is made only if
//!
//! * the subquery is one aggregation without GROUP BY, HAVING and LIMIT, and nothing in it depends
//!   on the order or number of its runs: no user variables, no RAND, no stored functions;
//! * every condition on outer columns is `=`, of an expression of its own and one of outer columns,
//!   and two values that such a comparison calls equal to a third are in one group. Texts that are
//!   compared by another collation are not, and neither is `<=>`: NULL would be a group;
//! * nothing removes duplicates between the aggregation and those conditions;
//! * reading its rows, the compared values, the arguments of its aggregates and its result raise no
//!   warning and no error: the groups contain rows that the statement would never have read, and
//!   the value is computed for rows that another condition refuses;
//! * the value of each aggregate over no rows is known. A row whose group is missing gets these
//!   values: 0 for COUNT, all bits for BIT_AND, NULL for SUM.

use selkie_expr::aggregate::{Aggregate, AggregateKind};
use selkie_expr::{Compare, CompareBy, CompareOp, Expr, ExprKind, Subquery};
use selkie_types::{Physical, SqlType, Value, stack};

use super::as_they_are;
use super::nulls::rejects_null;
use super::pull::{Pulled, pull};
use super::quiet::is_quiet;
use super::unnest::Unnest;
use crate::logical::{AggregateNode, ColumnId, ColumnSet, Columns, Logical};
use crate::physical::JoinKind;

impl Unnest<'_> {
    /// A join with the groups of a correlated scalar aggregate, and its value.
    pub(super) fn scalar(
        &mut self,
        input: Logical,
        value: &Expr,
        subquery: &Subquery,
        condition: &Expr,
    ) -> (Logical, Option<Expr>) {
        match self.grouped(&input, value, subquery, condition) {
            Some((kind, groups, on, result)) => (input.join(kind, groups, on), Some(result)),
            None => (input, None),
        }
    }

    fn grouped(
        &mut self,
        input: &Logical,
        value: &Expr,
        subquery: &Subquery,
        condition: &Expr,
    ) -> Option<(JoinKind, Logical, Vec<Expr>, Expr)> {
        let state = &self.subqueries[subquery.id.0 as usize];
        if state.finished || state.volatile || self.is_full() {
            return None;
        }
        self.prepare(subquery.id);
        let state = &self.subqueries[subquery.id.0 as usize];
        let [output] = state.output[..] else { return None };
        let Logical::Project { input: below, columns: made } = &state.plan else { return None };
        let Logical::Aggregate(node) = &**below else { return None };
        let (_, result) = made.iter().find(|(id, _)| *id == output)?;
        if !node.groups.is_empty() {
            return None;
        }
        let (mut result, mut node) = (result.clone(), (**node).clone());
        // Inputs of the aggregates count too: an aggregate may read outer columns only.
        let outer = self.outer_columns(input, below);
        if outer.is_empty() || !ColumnSet::of(&result).is_disjoint(&outer) || result.has_subquery()
        {
            return None;
        }
        let on = self.correlate(&mut node, &outer)?;
        if !is_quiet(&result) || !computes_quietly(&node) || self.keep() {
            return None;
        }
        let kind = self.fill(value, &mut result, &node, condition)?;
        self.joined += 1;
        Some((kind, Logical::Aggregate(Box::new(node)), on, result))
    }

    /// Turns the correlation of an aggregate into group keys and join conditions.
    fn correlate(&mut self, node: &mut AggregateNode, outer: &ColumnSet) -> Option<Vec<Expr>> {
        let mut pulled = Pulled::default();
        let taken = std::mem::replace(&mut node.input, Logical::OneRow);
        node.input = pull_rows(taken, outer, self.columns, &mut pulled)?;
        let mut on = Vec::new();
        for condition in std::mem::take(&mut pulled.conditions) {
            if !is_quiet(&condition) {
                return None;
            }
            let ExprKind::Compare(mut compare) = condition.kind else { return None };
            if compare.op != CompareOp::Eq {
                return None;
            }
            let (left, right) = (ColumnSet::of(&compare.left), ColumnSet::of(&compare.right));
            let Compare { left: a, right: b, by, .. } = &mut *compare;
            let (inner, own, others) = match left.is_disjoint(outer) {
                true => (a, left, right),
                false => (b, right, left),
            };
            // The side of the outer columns must not read the rows of the subquery: behind the
            // aggregation they are gone.
            let is_split = own.is_disjoint(outer) && !others.is_empty() && others.is_subset(outer);
            if !is_split || !groups_as(&inner.ty, *by) {
                return None;
            }
            let id = self.columns.add(inner.ty.clone(), inner.nullable);
            let mut key = self.columns.expr(id);
            key.coercibility = inner.coercibility;
            node.groups.push((id, std::mem::replace(inner, key)));
            let nullable = compare.left.nullable || compare.right.nullable;
            on.push(Expr::new(ExprKind::Compare(compare), condition.ty, nullable));
        }
        for (_, call) in &mut node.aggregates {
            call.inputs_mut().for_each(|e| pulled.apply(e));
        }
        let mut used = ColumnSet::default();
        node.aggregates.iter().for_each(|(_, call)| call.inputs().for_each(|e| used.add_expr(e)));
        (!on.is_empty() && used.is_disjoint(outer)).then_some(on)
    }

    /// The kind of join with the groups: an inner join if the condition is not true for a row
    /// without a group. Otherwise such rows stay, and `result` gets the aggregates' values over no
    /// rows.
    fn fill(
        &self,
        value: &Expr,
        result: &mut Expr,
        node: &AggregateNode,
        condition: &Expr,
    ) -> Option<JoinKind> {
        let mut filled: Vec<(ColumnId, Value)> = Vec::new();
        let mut nulls = ColumnSet::default();
        for (id, call) in &node.aggregates {
            match of_no_rows(call)? {
                Value::Null => nulls.insert(*id),
                other => filled.push((*id, other)),
            }
        }
        let mut asked = condition.clone();
        asked.transform(&mut |e| (e == value).then(|| result.clone()));
        if rejects_null(&asked, &nulls) {
            return Some(JoinKind::Inner);
        }
        result.substitute_columns(&mut |id| {
            let (_, value) = filled.iter().find(|(filled, _)| *filled == id)?;
            let mut column = self.columns.expr(id);
            column.nullable = true;
            let ty = column.ty.clone();
            let other = Expr::literal(value.clone(), ty.clone());
            Some(Expr::new(ExprKind::Coalesce(vec![column, other]), ty, false))
        });
        Some(JoinKind::Left)
    }
}

/// Whether values are in one group exactly if such a comparison calls them equal, so that a value
/// equals the keys of one group at most.
fn groups_as(ty: &SqlType, by: CompareBy) -> bool {
    let whole = matches!(ty.physical(), Physical::Int | Physical::UInt);
    by == as_they_are(ty) || whole && by == CompareBy::MixedInt
}

/// Whether the rows of an aggregation and its arguments are computed without a warning or an error,
/// and the aggregates do not raise one themselves.
fn computes_quietly(node: &AggregateNode) -> bool {
    let mut quiet = true;
    node.input.for_each_expr_deep(&mut |e| quiet &= is_quiet(e));
    let mut args = node.aggregates.iter().flat_map(|(_, call)| call.inputs());
    // A text may be cut, and a program may do anything.
    let cuts = |call: &Aggregate| {
        use AggregateKind::{GroupConcat, JsonArrayAgg, JsonObjectAgg, Stored};
        matches!(call.kind, GroupConcat | JsonArrayAgg | JsonObjectAgg | Stored)
    };
    fn reads_quietly(plan: &Logical, cuts: &dyn Fn(&Aggregate) -> bool) -> bool {
        stack::ensure();
        let own = match plan {
            // A document may be no JSON.
            Logical::JsonTable { .. } => false,
            Logical::Aggregate(node) => !node.aggregates.iter().any(|(_, call)| cuts(call)),
            _ => true,
        };
        own && plan.inputs().into_iter().all(|input| reads_quietly(input, cuts))
    }
    quiet
        && args.all(is_quiet)
        && !node.aggregates.iter().any(|(_, call)| cuts(call))
        && reads_quietly(&node.input, &cuts)
}

/// The value of an aggregate over no rows; `None` if it is not known.
fn of_no_rows(call: &Aggregate) -> Option<Value> {
    use AggregateKind::*;
    match call.kind {
        Count if call.ty.unsigned => Some(Value::UInt(0)),
        Count => Some(Value::Int(0)),
        BitAnd => Some(Value::UInt(u64::MAX)),
        BitOr | BitXor => Some(Value::UInt(0)),
        Sum | Avg | Min | Max | Std | StddevSamp | Variance | VarSamp | AnyValue => {
            Some(Value::Null)
        }
        GroupConcat | JsonArrayAgg | JsonObjectAgg | Stored => None,
    }
}

/// As [`pull`], but for an aggregate: duplicates matter, so operators that drop rows are not
/// allowed where conditions would pass them.
fn pull_rows(
    plan: Logical,
    outer: &ColumnSet,
    columns: &Columns,
    pulled: &mut Pulled,
) -> Option<Logical> {
    fn drops_rows(plan: &Logical) -> bool {
        stack::ensure();
        match plan {
            Logical::Distinct { .. } => true,
            Logical::Project { input, .. }
            | Logical::Filter { input, .. }
            | Logical::Sort { input, .. } => drops_rows(input),
            Logical::Join(join) => {
                drops_rows(&join.left) || join.kind == JoinKind::Inner && drops_rows(&join.right)
            }
            _ => false,
        }
    }
    if drops_rows(&plan) { None } else { pull(plan, outer, columns, pulled) }
}
