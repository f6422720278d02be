//! The tables that are units in a finished plan, for EXPLAIN: MariaDB keeps their rows, here they
//! are part of the plan around them.

use selkie_expr::{CompareOp, Expr, ExprKind};
use selkie_types::error::catalogue::ER_SELECT_REDUCED;
use selkie_types::{Condition, stack};

use super::{Done, Draft};
use crate::logical::{ColumnSet, Logical, UnitId, Units};
use crate::physical::{Operator, PlanNode, UnitTables};
use crate::settings::PlanVariables;

impl Draft {
    /// Notes what only EXPLAIN tells of units.
    pub(super) fn tell_units(&mut self, plan: &Logical, variables: &PlanVariables) {
        if self.columns.units.has_kept() {
            self.columns.units.tested = self.tested_tables(plan);
        }
        self.columns.units.keyless = !variables.derived.with_keys;
        let note = |number| Condition::note(&ER_SELECT_REDUCED, &[&number]);
        self.warnings.conditions.extend(self.columns.units.reduced().into_iter().map(note));
    }

    /// Kept tables on whose rows conditions of the queries around them are tested. An equality with
    /// a column of another table is not one: MariaDB looks rows up by it.
    fn tested_tables(&self, plan: &Logical) -> Vec<UnitId> {
        let kept = self.columns.units.kept_columns();
        let mut tested: Vec<UnitId> = Vec::new();
        let mut look = |e: &Expr| {
            let columns = ColumnSet::of(e);
            let of = |set: &ColumnSet| set.iter().next().and_then(|id| kept.get(&id).copied());
            let sides = match &e.kind {
                ExprKind::Compare(c) if c.op == CompareOp::Eq => {
                    Some((ColumnSet::of(&c.left), ColumnSet::of(&c.right)))
                }
                _ => None,
            };
            let joins =
                |(a, b): &(ColumnSet, ColumnSet)| !a.is_empty() && !b.is_empty() && of(a) != of(b);
            if !sides.as_ref().is_some_and(joins) {
                tested.extend(columns.iter().filter_map(|id| kept.get(&id)));
            }
        };
        each_condition(plan, &mut look);
        self.common.iter().for_each(|common| each_condition(&common.plan, &mut look));
        self.subqueries.iter().for_each(|subquery| each_condition(&subquery.plan, &mut look));
        tested.sort_unstable();
        tested.dedup();
        tested
    }
}

fn each_condition(plan: &Logical, f: &mut dyn FnMut(&Expr)) {
    stack::ensure();
    match plan {
        Logical::Filter { conditions, .. } => conditions.iter().for_each(&mut *f),
        Logical::Join(join) => join.on.iter().for_each(&mut *f),
        _ => {}
    }
    plan.inputs().into_iter().for_each(|input| each_condition(input, f));
}

impl Done {
    /// Leaves marks at the nodes that give the rows of kept tables, and at no others.
    pub(super) fn mark_tables(&mut self) {
        let units = &self.draft.columns.units;
        if !units.has_inner() {
            return;
        }
        settle(&mut self.root.node, 0, units);
        for subplan in &mut self.subplans {
            settle(&mut subplan.root, subplan.unit, units);
        }
        for (common, bound) in self.common.iter_mut().zip(&self.draft.common) {
            settle(&mut common.plan, bound.unit, units);
        }
    }
}

/// The unit of a node; `None` if it has no mark. A join is of the unit that contains its sides.
fn unit_of(node: &PlanNode, units: &Units) -> Option<UnitId> {
    stack::ensure();
    if let Some(mark) = &node.of_units {
        return mark.units.first().copied();
    }
    let common = |a: Option<UnitId>, b: Option<UnitId>| Some(units.common(a?, b?));
    match &node.operator {
        Operator::HashJoin(join) => common(side(&join.left, units), side(&join.right, units)),
        Operator::NestedLoopJoin(join) => common(side(&join.left, units), side(&join.right, units)),
        Operator::IndexJoin(join) => common(side(&join.left, units), Some(join.lookup.shown.unit)),
        _ => None,
    }
}

/// The unit of a side of a join, filtered or not.
fn side(node: &PlanNode, units: &Units) -> Option<UnitId> {
    stack::ensure();
    match (unit_of(node, units), &node.operator) {
        (None, Operator::Filter { input, .. } | Operator::Project { input, .. }) => {
            side(input, units)
        }
        (unit, _) => unit,
    }
}

fn settle(node: &mut PlanNode, home: UnitId, units: &Units) {
    stack::ensure();
    let unit = unit_of(node, units).unwrap_or(home);
    let whole = matches!(node.operator, Operator::Aggregate(_) | Operator::SetOperation(_));
    let kept = units.kept_between(home, unit, whole.then_some(unit));
    let within = match (kept.first(), kept.last()) {
        (Some(first), Some(last)) => {
            let names = node.of_units.take().map(|mark| mark.names).unwrap_or_default();
            let (alias, within) = (units.alias(*first), *last);
            node.of_units = Some(Box::new(UnitTables { units: kept, alias, names }));
            within
        }
        _ => {
            node.of_units = None;
            home
        }
    };
    node.inputs_mut().into_iter().for_each(|input| settle(input, within, units));
}
