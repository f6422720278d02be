//! The parts of a plan beside its own operators: common tables and subplans. A common table must be
//! made after those it reads.

use super::*;

pub(super) fn common_table(
    builder: &mut Builder<'_>,
    at: usize,
    common: &crate::bind::Common,
) -> CommonTable {
    let used = common.references > 0;
    let built = match used {
        true => {
            let built =
                builder.build(&common.plan, &common.ids.iter().copied().collect(), Goal::default());
            builder.arrange(built, &common.ids)
        }
        false => {
            builder.build(&Logical::Empty(common.ids.clone()), &Default::default(), Goal::default())
        }
    };
    let distinct = common.ids.iter().map(|id| builder.distinct(*id)).collect();
    builder.common[at] =
        Some(CommonEstimate { rows: built.node.rows, types: built.node.columns.clone(), distinct });
    CommonTable {
        unit: common.unit,
        name: common.name.clone(),
        columns: built.node.columns.clone(),
        plan: built.node,
        computed_with: common.computed_with,
    }
}

pub(super) fn subplan(builder: &mut Builder<'_>, subquery: &SubqueryState) -> SubPlan {
    if !subquery.finished {
        builder.subplans.push(SubplanCost::default());
        let root = PlanNode::new(Operator::Empty, Vec::new(), 0.0, 0.0);
        let (slots, filled_by) = (Vec::new(), Vec::new());
        return SubPlan { root, slots, filled_by, volatile: false, unit: 0 };
    }
    let ids = subquery.output.iter().copied().collect();
    let built = builder.build(&subquery.plan, &ids, Goal::default());
    let built = builder.arrange(built, &subquery.output);
    let correlated = !subquery.args.is_empty() || subquery.volatile;
    builder.subplans.push(SubplanCost { cost: built.node.cost, correlated });
    let (slots, filled_by) = subquery.args.iter().map(|arg| builder.columns.filled(arg)).unzip();
    let (volatile, unit) = (subquery.volatile, subquery.unit);
    SubPlan { root: built.node, slots, filled_by, volatile, unit }
}
