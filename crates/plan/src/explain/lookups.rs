//! Facts about the whole plan that its rows need.
//! Each kind is collected once, when it is first needed: a walk for every row would take a time
//! that grows with the square of the plan.

use std::cell::OnceCell;

use hashbrown::HashMap;
use selkie_meter::tick;

use crate::physical::{Operator, OuterColumn, Plan, PlanNode};

/// Facts that rows look up.
#[derive(Default)]
pub(super) struct Lookups<'p> {
    /// Schemas of the tables, by their aliases.
    schemas: OnceCell<HashMap<&'p str, &'p str>>,
    /// Columns of outer queries, by the parameters that get their values.
    outer: OnceCell<HashMap<usize, &'p OuterColumn>>,
}

impl<'p> Lookups<'p> {
    /// Schema of the table with an alias.
    pub(super) fn schema(&self, plan: &'p Plan, alias: &str) -> Option<&'p str> {
        self.schemas.get_or_init(|| schemas_of(plan)).get(alias).copied()
    }

    /// The column of an outer query whose value a parameter gets.
    pub(super) fn outer(&self, plan: &'p Plan, slot: usize) -> Option<&'p OuterColumn> {
        self.outer.get_or_init(|| outer_of(plan)).get(&slot).copied()
    }
}

fn schemas_of(plan: &Plan) -> HashMap<&str, &str> {
    let mut schemas = HashMap::new();
    let mut stack: Vec<&PlanNode> = Vec::new();
    let subplans = plan.subplans.iter().map(|subplan| &subplan.root);
    let common = plan.common_tables.iter().map(|common| &common.plan);
    for root in std::iter::once(&plan.root).chain(subplans).chain(common) {
        stack.push(root);
        while let Some(node) = stack.pop() {
            tick(100);
            let table = match &node.operator {
                Operator::TableScan(scan) => Some((&*scan.alias, &scan.table)),
                Operator::IndexJoin(join) => Some((&*join.lookup.alias, &join.lookup.table)),
                _ => None,
            };
            table.into_iter().for_each(|(alias, table)| {
                schemas.entry(alias).or_insert(table.schema());
            });
            stack.extend(node.inputs().into_iter().rev());
        }
    }
    schemas
}

fn outer_of(plan: &Plan) -> HashMap<usize, &OuterColumn> {
    let mut outer = HashMap::new();
    for subplan in &plan.subplans {
        tick(100);
        for (slot, filled) in subplan.slots.iter().zip(&subplan.filled_by) {
            if let Some(filled) = filled {
                outer.entry(*slot).or_insert(filled);
            }
        }
    }
    outer
}
