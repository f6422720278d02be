//! Tells each scan of a plan which operators read its rows: a LIMIT that may stop early, an UPDATE.
//! Numbers the nodes, and the filters that joins give to scans.
//!
//! Scans in the executor do not know the operators above them. Must not change which rows a plan
//! gives.

use selkie_types::stack;

use super::{filters, sizes};
use crate::physical::{
    Access, AggregateStrategy, Operator, Plan, PlanNode, Reader, RowNumbers, SetOperator,
};

/// Marks the scans of a statement and of its subqueries, and numbers all nodes.
pub(crate) fn tell_scans(plan: &mut Plan) {
    let subplans = plan.subplans.iter_mut().map(|subplan| &mut subplan.root);
    let common = plan.common_tables.iter_mut().map(|table| &mut table.plan);
    let roots = std::iter::once(&mut plan.root).chain(subplans).chain(common);
    let mut next = 0;
    roots.for_each(|root| tell(root, Reader::default(), &mut next));
    let alone = plan.subplans.is_empty() && plan.common_tables.is_empty();
    plan.sizes.counted = if alone && is_small(&plan.root) { 0 } else { next };
    plan.sizes.reads = sizes::reads(plan);
    filters::connect(plan);
}

/// Whether a node reads one row by its key, or no table, and does not change rows that it reads.
fn is_small(node: &PlanNode) -> bool {
    stack::ensure();
    match &node.operator {
        Operator::OneRow | Operator::Empty | Operator::Values(_) | Operator::BulkValues(_) => true,
        Operator::TableScan(scan) => {
            matches!(&scan.access, Access::Index(range) if range.unique)
        }
        Operator::Filter { input, .. }
        | Operator::Project { input, .. }
        | Operator::Distinct(input)
        | Operator::SingleRow(input)
        | Operator::Materialize(input) => is_small(input),
        Operator::Aggregate(aggregate) => is_small(&aggregate.input),
        Operator::Sort(sort) => is_small(&sort.input),
        Operator::TopN(top) => is_small(&top.input),
        Operator::Limit(limit) => is_small(&limit.input),
        Operator::Insert(insert) => is_small(&insert.source),
        _ => false,
    }
}

/// As [`tell`], below row numbers: a bound of the numbers stops as LIMIT does.
fn tell_counted(numbers: &mut RowNumbers, reader: Reader, next: &mut u32) {
    let stops = reader.stops || numbers.most.is_some();
    tell(&mut numbers.input, Reader { stops, ..reader }, next);
}

fn tell(node: &mut PlanNode, reader: Reader, next: &mut u32) {
    stack::ensure();
    node.number = *next;
    *next += 1;
    // The reader below an operator that reads all rows before it gives any.
    let whole = Reader { stops: false, ..reader };
    match &mut node.operator {
        Operator::OneRow
        | Operator::Empty
        | Operator::SystemTableScan(_)
        | Operator::CommonTableScan(_)
        | Operator::WorkTableScan(_)
        | Operator::Values(_)
        | Operator::BulkValues(_) => {}
        Operator::TableScan(scan) => {
            scan.reader = Reader { updates: reader.updates && scan.row_keys, ..reader };
        }
        Operator::IndexJoin(join) => tell(&mut join.left, reader, next),
        Operator::HashJoin(join) => {
            let sides = match join.build_left {
                true => [(&mut join.left, whole), (&mut join.right, reader)],
                false => [(&mut join.left, reader), (&mut join.right, whole)],
            };
            sides.into_iter().for_each(|(side, reader)| tell(side, reader, next));
        }
        Operator::NestedLoopJoin(join) => {
            tell(&mut join.left, reader, next);
            tell(&mut join.right, whole, next);
        }
        Operator::Filter { input, .. }
        | Operator::Project { input, .. }
        | Operator::Distinct(input)
        | Operator::SingleRow(input) => tell(input, reader, next),
        Operator::JsonTable(join) => tell(&mut join.input, reader, next),
        Operator::Aggregate(aggregate) => {
            let streams = aggregate.strategy == AggregateStrategy::Sorted;
            tell(&mut aggregate.input, if streams { reader } else { whole }, next);
        }
        Operator::Window(window) => tell(&mut window.input, whole, next),
        Operator::RowNumbers(numbers) => tell_counted(numbers, reader, next),
        Operator::Sort(sort) => tell(&mut sort.input, whole, next),
        Operator::TopN(top) => tell(&mut top.input, whole, next),
        Operator::Analyse(analyse) => tell(&mut analyse.input, whole, next),
        Operator::Materialize(input) => tell(input, whole, next),
        Operator::Limit(limit) => {
            let stops = !limit.counted && (reader.stops || limit.limit.is_some());
            tell(&mut limit.input, Reader { stops, ..reader }, next);
        }
        Operator::SetOperation(set) => {
            let filters = set.operator != SetOperator::Union;
            for (at, input) in set.inputs.iter_mut().enumerate() {
                tell(input, if filters && at > 0 { whole } else { reader }, next);
            }
        }
        Operator::RecursiveUnion(union) => {
            let parts = union.parts.iter_mut();
            let inputs = parts.flat_map(|part| part.step.iter_mut().chain([&mut part.anchor]));
            inputs.for_each(|input| tell(input, whole, next));
        }
        Operator::Insert(insert) => tell(&mut insert.source, Reader::default(), next),
        Operator::Update(update) => {
            tell(&mut update.source, Reader { stops: false, updates: true }, next);
        }
        Operator::Delete(delete) => {
            let stops = delete.limit.is_some();
            tell(&mut delete.source, Reader { stops, updates: false }, next);
        }
    }
}
