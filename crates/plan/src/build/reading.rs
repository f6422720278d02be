//! Tells each scan of a plan which operators read its rows: a LIMIT that may stop early, an UPDATE.
//!
//! Scans in the executor do not know the operators above them. Must not change which rows a plan
//! gives.

use selkie_types::stack;

use crate::physical::{AggregateStrategy, Operator, Plan, PlanNode, SetOperator};

/// Properties of the reader of a node's rows.
#[derive(Clone, Copy, Default)]
struct Reader {
    /// Whether the reader may stop before the last row.
    stops: bool,
    /// Whether the reader is an UPDATE.
    updates: bool,
}

/// Marks the scans of a statement and of its subqueries.
pub(crate) fn tell_scans(plan: &mut Plan) {
    let subplans = plan.subplans.iter_mut().map(|subplan| &mut subplan.root);
    let common = plan.common_tables.iter_mut().map(|table| &mut table.plan);
    let roots = std::iter::once(&mut plan.root).chain(subplans).chain(common);
    roots.for_each(|root| tell(root, Reader::default()));
}

fn tell(node: &mut PlanNode, reader: Reader) {
    stack::ensure();
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
            scan.row_goal = reader.stops;
            scan.feeds_update = reader.updates && scan.row_keys;
        }
        Operator::IndexJoin(join) => tell(&mut join.left, reader),
        Operator::HashJoin(join) => {
            let sides = match join.build_left {
                true => [(&mut join.left, whole), (&mut join.right, reader)],
                false => [(&mut join.left, reader), (&mut join.right, whole)],
            };
            sides.into_iter().for_each(|(side, reader)| tell(side, reader));
        }
        Operator::NestedLoopJoin(join) => {
            tell(&mut join.left, reader);
            tell(&mut join.right, whole);
        }
        Operator::Filter { input, .. }
        | Operator::Project { input, .. }
        | Operator::Distinct(input)
        | Operator::SingleRow(input) => tell(input, reader),
        Operator::JsonTable(join) => tell(&mut join.input, reader),
        Operator::Aggregate(aggregate) => {
            let streams = aggregate.strategy == AggregateStrategy::Sorted;
            tell(&mut aggregate.input, if streams { reader } else { whole });
        }
        Operator::Window(window) => tell(&mut window.input, whole),
        Operator::Sort(sort) => tell(&mut sort.input, whole),
        Operator::TopN(top) => tell(&mut top.input, whole),
        Operator::Materialize(input) => tell(input, whole),
        Operator::Limit(limit) => {
            let stops = !limit.counted && (reader.stops || limit.limit.is_some());
            tell(&mut limit.input, Reader { stops, ..reader });
        }
        Operator::SetOperation(set) => {
            let filters = set.operator != SetOperator::Union;
            for (at, input) in set.inputs.iter_mut().enumerate() {
                tell(input, if filters && at > 0 { whole } else { reader });
            }
        }
        Operator::RecursiveUnion(union) => {
            let parts = union.parts.iter_mut();
            let inputs = parts.flat_map(|part| part.step.iter_mut().chain([&mut part.anchor]));
            inputs.for_each(|input| tell(input, whole));
        }
        Operator::Insert(insert) => tell(&mut insert.source, Reader::default()),
        Operator::Update(update) => {
            tell(&mut update.source, Reader { stops: false, updates: true });
        }
        Operator::Delete(delete) => {
            let stops = delete.limit.is_some();
            tell(&mut delete.source, Reader { stops, updates: false });
        }
    }
}
