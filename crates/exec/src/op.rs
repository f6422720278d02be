//! Operators: pull batches from their inputs, give batches. One per file.

mod aggregate;
mod buffers;
mod build_left;
mod common;
mod distinct;
mod examined;
mod group;
mod group_scan;
mod hash_join;
mod hash_map;
mod hash_table;
mod in_order;
mod index_join;
mod join_match;
mod json_table;
mod limit;
mod nested;
mod null_aware;
mod probe;
mod project;
mod recursive;
mod rollup;
mod rows;
mod series;
mod set;
mod sliced;
mod sort;
mod sort_head;
mod sort_key;
mod source;
pub(crate) mod subquery;
mod system;
mod table_scan;
mod top;
mod union_scan;
mod window;

use selkie_plan::physical::{Operator as Op, PlanNode};
use selkie_types::{Batch, SqlResult, stack};

pub(crate) use common::drain;
pub(crate) use distinct::{DistinctSet, distinct_keys};
pub(crate) use examined::{open_limited, tell as tell_incomplete};
pub(crate) use limit::{offset, row_count};
pub(crate) use rows::RowBuffer;
pub(crate) use sort_key::{put_key, sorted, sorted_rows};

use crate::run::Env;

/// A source of batches. Batches are never empty.
pub(crate) trait Operator {
    /// The next rows, `None` after the last.
    fn next(&mut self) -> SqlResult<Option<Batch>>;
}

/// An operator of one execution.
pub(crate) type BoxOperator<'r> = Box<dyn Operator + 'r>;

/// Opens the operator of a node and its inputs. DML nodes are run by [`crate::dml`].
pub(crate) fn open<'r>(env: Env<'r>, node: &'r PlanNode) -> SqlResult<BoxOperator<'r>> {
    let operator = open_unchecked(env, node)?;
    if cfg!(debug_assertions) && !node.in_order.is_empty() {
        return Ok(Box::new(in_order::InOrder::new(env, operator, &node.in_order)));
    }
    Ok(operator)
}

fn open_unchecked<'r>(env: Env<'r>, node: &'r PlanNode) -> SqlResult<BoxOperator<'r>> {
    stack::check()?;
    Ok(match &node.operator {
        Op::OneRow => Box::new(source::OneRow::default()),
        Op::Empty => Box::new(source::Empty),
        Op::Values(rows) => Box::new(source::Values::new(env, node, rows)),
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
            Box::new(project::Project::new(env, input, exprs))
        }
        Op::Aggregate(aggregate) => examined::grouped(env, aggregate::open(env, aggregate, node)?),
        Op::Window(window) => {
            let keys = window.partition.iter().chain(window.order.iter().map(|key| &key.expr));
            let input = sliced::for_values(open(env, &window.input)?, keys);
            Box::new(window::Window::new(env, input, window))
        }
        Op::JsonTable(join) => {
            Box::new(json_table::JsonTable::new(env, open(env, &join.input)?, join))
        }
        Op::Sort(sort) => sort::open(env, sort)?,
        Op::TopN(top) => top::open(env, top)?,
        Op::Limit(limit) => limit::open(env, limit)?,
        Op::Distinct(input) => Box::new(distinct::Distinct::new(env, open(env, input)?, input)),
        Op::SetOperation(set) => set::open(env, set, node)?,
        Op::RecursiveUnion(union) => Box::new(recursive::Recursive::new(env, union)),
        Op::Materialize(input) => Box::new(common::Materialize::new(open(env, input)?)),
        Op::SingleRow(input) => Box::new(limit::SingleRow::new(open(env, input)?, node)),
        Op::Insert(_) | Op::Update(_) | Op::Delete(_) => {
            return Err(selkie_types::SqlError::internal("a change of rows inside of a query"));
        }
    })
}

/// The numbers of a table that has nothing else.
fn series_of(table: &selkie_catalog::TableInfo) -> Option<selkie_catalog::Series> {
    let is_series = &*table.engine == selkie_catalog::SERIES_ENGINE;
    is_series.then(|| selkie_catalog::Series::from_name(table.name())).flatten()
}
