//! Opens the operators of a plan's tree; only this file lists all of them. Opening reads no rows,
//! except that a scan by several indexes collects its keys.

use selkie_plan::physical::{Operator as Op, PlanNode};
use selkie_types::{SqlResult, stack};

use super::{
    BoxOperator, aggregate, analyse, bulk, common, counted, distinct, examined, hash_join,
    in_order, index_join, json_table, limit, nested, project, recursive, row_numbers, series, set,
    sliced, sort, source, system, table_scan, top, window,
};
use crate::run::Env;

/// Opens the operator of a node. DML nodes are run by [`crate::dml`].
pub(crate) fn open<'r>(env: Env<'r>, node: &'r PlanNode) -> SqlResult<BoxOperator<'r>> {
    match env.rt.tally {
        None => open_uncounted(env, node),
        Some(tally) => counted::open(env, tally, node),
    }
}

/// Opens an operator whose context already has its cell, if there is one.
pub(super) fn open_uncounted<'r>(env: Env<'r>, node: &'r PlanNode) -> SqlResult<BoxOperator<'r>> {
    let operator = open_unchecked(env, node)?;
    if cfg!(debug_assertions) && !node.in_order.is_empty() {
        return Ok(Box::new(in_order::InOrder::new(env, operator, &node.in_order)));
    }
    Ok(operator)
}

fn open_unchecked<'r>(env: Env<'r>, node: &'r PlanNode) -> SqlResult<BoxOperator<'r>> {
    stack::check()?;
    let passes = matches!(node.operator, Op::TableScan(_) | Op::Project { .. });
    let env = if passes { env } else { Env { wanted: None, ..env } };
    Ok(match &node.operator {
        Op::OneRow => Box::new(source::OneRow::default()),
        Op::Empty => Box::new(source::Empty),
        Op::Values(rows) => Box::new(source::Values::new(env, node, rows)),
        Op::BulkValues(plan) => Box::new(bulk::BulkValues::new(env, node, plan)?),
        Op::TableScan(scan) => table_scan::open(env, scan)?,
        Op::SystemTableScan(scan) => examined::counted(
            env,
            match series_of(&scan.table) {
                Some(series) => Box::new(series::SeriesScan::new(env, scan, series)),
                None => Box::new(system::SystemScan::open(env, scan)?),
            },
        ),
        Op::CommonTableScan(at) => Box::new(common::CommonScan::open(env, *at)?),
        Op::WorkTableScan(at) => Box::new(common::WorkScan::open(env, *at)?),
        Op::IndexJoin(join) => Box::new(index_join::IndexJoin::open(env, join)?),
        Op::HashJoin(join) => hash_join::open(env, join)?,
        Op::NestedLoopJoin(join) => Box::new(nested::NestedLoop::open(env, join)?),
        Op::Filter { input, conditions } => {
            let input = sliced::for_values(open(env, input)?, conditions.iter());
            Box::new(project::Filter::new(env, input, conditions))
        }
        Op::Project { input, exprs } => {
            let input = sliced::for_values(open(env, input)?, exprs.iter());
            Box::new(project::Project::new(env, node, (input, exprs)))
        }
        Op::Aggregate(aggregate) => examined::grouped(env, aggregate::open(env, aggregate, node)?),
        Op::Window(window) => {
            let keys = window.partition.iter().chain(window.order.iter().map(|key| &key.expr));
            let input = sliced::for_values(open(env, &window.input)?, keys);
            Box::new(window::Window::new(env, input, window))
        }
        Op::RowNumbers(numbers) => row_numbers::open(env, numbers)?,
        Op::Analyse(plan) => Box::new(analyse::Analyse::new(env, open(env, &plan.input)?, plan)),
        Op::JsonTable(join) => {
            Box::new(json_table::JsonTable::new(env, open(env, &join.input)?, join))
        }
        Op::Sort(sort) => sort::open(env, sort)?,
        Op::TopN(top) => top::open(env, top)?,
        Op::Limit(limit) => limit::open(env, limit)?,
        Op::Distinct(input) => Box::new(distinct::Distinct::new(env, open(env, input)?, input)),
        Op::SetOperation(set) => set::open(env, set, node)?,
        Op::RecursiveUnion(union) => Box::new(recursive::Recursive::new(env, union)),
        Op::Materialize(input) => Box::new(common::Materialize::new(env, open(env, input)?)),
        Op::SingleRow(input) => Box::new(limit::SingleRow::new(open(env, input)?, node)),
        Op::Insert(_) | Op::Update(_) | Op::Delete(_) => {
            return Err(selkie_types::SqlError::internal("a change of rows inside of a query"));
        }
    })
}

/// The number series of a sequence table such as `seq_1_to_10`; `None` for other tables.
fn series_of(table: &selkie_catalog::TableInfo) -> Option<selkie_catalog::Series> {
    table.is_series().then(|| selkie_catalog::Series::from_name(table.name())).flatten()
}
