//! Column names for the operators of a plan, used to print expressions. A physical plan has
//! positions only, so names are derived from the inputs.

use selkie_expr::Expr;
use selkie_expr::aggregate::AggregateKind;
use selkie_types::stack;

use crate::physical::{Operator, Plan, PlanNode};

/// Names of a node's output columns.
pub(super) fn names(plan: &Plan, node: &PlanNode) -> Vec<String> {
    stack::ensure();
    match &node.operator {
        Operator::TableScan(scan) => {
            let column = |at: &usize| table_column(&scan.alias, &scan.table, scan.columns[*at]);
            let mut all: Vec<String> = scan.output.iter().map(column).collect();
            if scan.row_keys {
                all.push(format!("{}.<key>", scan.alias));
            }
            all
        }
        Operator::SystemTableScan(scan) => {
            let column = |at: &usize| table_column(&scan.alias, &scan.table, *at);
            let number = scan.numbered.then(|| format!("{}.<key>", scan.alias));
            scan.columns.iter().map(column).chain(number).collect()
        }
        Operator::IndexJoin(join) => {
            let mut all = names(plan, &join.left);
            all.extend(lookup_names(&join.lookup));
            picked(&all, &join.output, node)
        }
        Operator::HashJoin(join) => joined(plan, &join.left, &join.right, &join.output, node),
        Operator::NestedLoopJoin(join) => joined(plan, &join.left, &join.right, &join.output, node),
        Operator::Project { input, exprs } => {
            let below = names(plan, input);
            exprs.iter().map(|e| show(e, &below)).collect()
        }
        Operator::Aggregate(aggregate) => {
            let below = names(plan, &aggregate.input);
            let groups = aggregate.groups.iter().map(|e| show(e, &below));
            let calls = aggregate.aggregates.iter().map(|call| match (call.kind, &call.args[..]) {
                // It stands for the value itself.
                (AggregateKind::AnyValue, [value]) => show(value, &below),
                _ => call.display_with(&|at| name(&below, at)),
            });
            groups.chain(calls).collect()
        }
        Operator::Window(window) => {
            let mut all = names(plan, &window.input);
            let made = window.calls.len();
            all.extend((0..made).map(|at| format!("window#{at}")));
            all
        }
        Operator::RowNumbers(numbers) => {
            let mut all = names(plan, &numbers.input);
            all.push("rownum()".into());
            all
        }
        Operator::JsonTable(join) => {
            let mut all = names(plan, &join.input);
            let table = &join.table;
            all.extend(table.columns.iter().map(|c| format!("`{}`.`{}`", table.alias, c.name)));
            all
        }
        Operator::CommonTableScan(table) | Operator::WorkTableScan(table) => {
            let common = plan.common_tables.get(*table).map_or("", |c| &c.name);
            (0..node.columns.len()).map(|at| format!("{common}.#{at}")).collect()
        }
        Operator::SetOperation(set) => set.inputs.first().map_or_else(Vec::new, |i| names(plan, i)),
        Operator::RecursiveUnion(union) => {
            union.parts.first().map_or_else(Vec::new, |part| names(plan, &part.anchor))
        }
        _ => match node.inputs().first() {
            Some(input) if input.columns.len() == node.columns.len() => names(plan, input),
            _ => (0..node.columns.len()).map(|at| format!("#{at}")).collect(),
        },
    }
}

pub(super) fn table_column(alias: &str, table: &selkie_catalog::TableInfo, at: usize) -> String {
    format!("{alias}.{}", table.columns.get(at).map_or("?", |c| &c.name))
}

/// Names of the columns that a lookup adds to the joined row.
pub(super) fn lookup_names(lookup: &crate::physical::IndexLookup) -> Vec<String> {
    let columns = lookup.columns.iter();
    let mut all: Vec<String> =
        columns.map(|at| table_column(&lookup.alias, &lookup.table, *at)).collect();
    if lookup.row_keys {
        all.push(format!("{}.<key>", lookup.alias));
    }
    all
}

/// Names of the columns of a joined row.
pub(super) fn both(plan: &Plan, left: &PlanNode, right: &PlanNode) -> Vec<String> {
    let mut all = names(plan, left);
    all.extend(names(plan, right));
    all
}

fn joined(
    plan: &Plan,
    left: &PlanNode,
    right: &PlanNode,
    output: &[usize],
    node: &PlanNode,
) -> Vec<String> {
    picked(&both(plan, left, right), output, node)
}

fn picked(all: &[String], output: &[usize], node: &PlanNode) -> Vec<String> {
    let mut names: Vec<String> = output.iter().map(|at| name(all, *at)).collect();
    if names.len() < node.columns.len() {
        names.push("<matched>".into());
    }
    names
}

/// An expression with its columns shown by these names.
pub(super) fn show(expr: &Expr, names: &[String]) -> String {
    expr.display_with(&|at| name(names, at)).to_string()
}

/// Several expressions, separated by `separator`.
pub(super) fn show_all(exprs: &[Expr], names: &[String], separator: &str) -> String {
    exprs.iter().map(|e| show(e, names)).collect::<Vec<_>>().join(separator)
}

pub(super) fn name(names: &[String], at: usize) -> String {
    names.get(at).cloned().unwrap_or_else(|| format!("#{at}"))
}
