//! The trace of the optimizer: how a plan reads the tables of each query block, and how it computes
//! aggregates. Built from the finished plan.
//!
//! Must not change the plan, nor be made unless a session wants it.

use selkie_expr::aggregate::Aggregate as AggregateCall;
use selkie_sql::ast::{Expr, Query, QueryBody, Select, SelectItem};
use selkie_sql::{Names, UnparseOptions, unparse_expr, unparse_numbered};

use super::blocks::walked;
use super::json_text::{Json, Object, single};
use super::merged::merge_views;
use super::names::names;
use super::rows::{ExplainRow, Facts};
use crate::bind::is_built_in_aggregate;
use crate::define::Qualifier;
use crate::physical::{Operator, Plan, PlanNode};
use crate::planner::PlanContext;

/// The texts of a query in its trace.
#[derive(Clone, Debug, Default)]
pub struct QueryTexts {
    /// The query with full names.
    expanded: String,
    /// The aggregates of the outermost SELECT, each once.
    aggregates: Vec<String>,
}

/// The texts of a query.
pub fn query_texts(query: &Query, context: &PlanContext<'_>, parameters: &[String]) -> QueryTexts {
    let mut query = query.clone();
    let qualifier = Qualifier::new(context.names(), context.settings.schema);
    qualifier.whole().query(&mut query, true);
    let charset = context.types.collation_connection.charset();
    let sql_mode = context.types.sql_mode;
    let names = Names::Plain;
    let options = UnparseOptions { charset: charset.name(), sql_mode, parameters, names };
    let expanded = unparse_numbered(&query, &options, &[]);
    merge_views(&mut query, context);
    let mut aggregates = Vec::new();
    if let QueryBody::Select(select) = &query.body {
        for_each_aggregate(select, &query, &mut |e| {
            let text = unparse_expr(e, &UnparseOptions { names: Names::Numbered, ..options });
            if !aggregates.contains(&text) {
                aggregates.push(text);
            }
        });
    }
    QueryTexts { expanded, aggregates }
}

fn for_each_aggregate(select: &Select, query: &Query, f: &mut dyn FnMut(&Expr)) {
    let items = select.items.iter().filter_map(|item| match item {
        SelectItem::Expr { expr, .. } => Some(expr),
        _ => None,
    });
    let keys = query.order_by.iter().map(|key| &key.expr);
    for e in items.chain(&select.having).chain(keys) {
        e.find(&mut |e| -> Option<()> {
            if is_built_in_aggregate(e) {
                f(e);
            }
            None
        });
    }
}

/// The trace of a plan as JSON.
pub fn trace(plan: &Plan, facts: &Facts<'_>, texts: Option<&QueryTexts>) -> String {
    let (rows, blocks) = walked(plan, facts);
    let mut steps = Vec::new();
    if let Some(texts) = texts {
        let mut expanded = Object::default();
        expanded.text("expanded_query", &texts.expanded);
        steps.push(single("join_preparation", block_of(1, vec![expanded])));
    }
    for block in &blocks {
        let own: Vec<&ExplainRow> = rows.iter().filter(|row| row.id == Some(block.id)).collect();
        let mut parts = tables(&own);
        if block.id == 1 {
            parts.extend(aggregators(plan, texts));
        }
        steps.push(single("join_optimization", block_of(block.id, parts)));
    }
    let mut all = Object::default();
    all.array("steps", steps);
    all.document()
}

fn block_of(id: u64, steps: Vec<Object>) -> Object {
    let mut block = Object::default();
    block.count("select_id", id);
    match steps.is_empty() {
        true => block.put("steps", Json::List(Vec::new())),
        false => block.array("steps", steps),
    }
    block
}

/// The steps about the tables of a block.
fn tables(rows: &[&ExplainRow]) -> Vec<Object> {
    let read: Vec<&ExplainRow> = rows.iter().copied().filter(|row| row.table.is_some()).collect();
    if read.is_empty() {
        return Vec::new();
    }
    let name = |row: &&ExplainRow| row.table.clone().unwrap_or_default();
    let estimate = |row: &&ExplainRow| {
        let mut table = Object::default();
        table.text("table", &name(row));
        let mut access = Object::default();
        row.access.iter().for_each(|kind| access.text("type", kind));
        row.key.iter().for_each(|key| access.text("index", key));
        access.number("rows", row.rows.map(|rows| rows as f64));
        table.object("chosen_access_method", access);
        table
    };
    let attached = |row: &&ExplainRow| {
        let conditions = &row.detail.conditions;
        let both: Vec<&str> =
            [&conditions.own, &conditions.join].into_iter().flatten().map(|text| &**text).collect();
        let mut table = Object::default();
        table.text("table", &name(row));
        match both.is_empty() {
            true => table.word("attached", "null"),
            false => table.text("attached", &both.join(" and ")),
        }
        table
    };
    let mut estimates = Object::default();
    estimates.array("rows_estimation", read.iter().map(estimate).collect());
    let mut order = Object::default();
    let names: Vec<String> = read.iter().map(name).collect();
    order.texts("best_join_order", names.iter().map(|name| &**name));
    let mut summary = Object::default();
    let all = read.iter().map(attached).collect();
    summary.array("attached_conditions_summary", all);
    vec![estimates, order, single("attaching_conditions_to_tables", summary)]
}

/// The steps about the aggregates of the outermost block.
fn aggregators(plan: &Plan, texts: Option<&QueryTexts>) -> Vec<Object> {
    let Some((node, calls)) = aggregate_of(&plan.root) else { return Vec::new() };
    let written = texts.map_or(&[][..], |texts| &texts.aggregates);
    let below = names(plan, node);
    let step = |(at, call): (usize, &AggregateCall)| {
        let text = match written.get(at) {
            Some(text) if written.len() == calls.len() => text.clone(),
            _ => call.display_with(&|at| below.name(at)),
        };
        let mut step = Object::default();
        step.text("function", &text);
        step.text("aggregator_type", if call.distinct { "distinct" } else { "simple" });
        single("prepare_sum_aggregators", step)
    };
    calls.iter().enumerate().map(step).collect()
}

/// The aggregates nearest to the top, and the node whose rows they read.
fn aggregate_of(node: &PlanNode) -> Option<(&PlanNode, &[AggregateCall])> {
    selkie_types::stack::ensure();
    match &node.operator {
        Operator::Aggregate(aggregate) => Some((&aggregate.input, &aggregate.aggregates)),
        Operator::HashJoin(_) | Operator::NestedLoopJoin(_) | Operator::SetOperation(_) => None,
        _ => node.inputs().first().and_then(|input| aggregate_of(input)),
    }
}
