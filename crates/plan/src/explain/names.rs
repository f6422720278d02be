//! Column names for the operators of a plan, used to print expressions. A physical plan has
//! positions only, so names are derived from the inputs. A name must not be made before it is asked
//! for: a plan may have thousands of joins above each other.

use selkie_expr::Expr;
use selkie_expr::aggregate::{Aggregate as Call, AggregateKind};
use selkie_types::stack;

use crate::physical::{Operator, Plan, PlanNode};

/// Names of the columns of a row.
#[derive(Clone)]
pub(super) enum Names<'p> {
    /// The output of a node.
    Of(&'p Plan, &'p PlanNode),
    Listed(Vec<String>),
    /// A joined row: its sides, and how many columns the left one has.
    Joined(Box<[Names<'p>; 2]>, usize),
}

impl<'p> Names<'p> {
    /// The name of the column at a position, `None` behind the last.
    pub(super) fn get(&self, at: usize) -> Option<String> {
        stack::ensure();
        selkie_meter::tick(4);
        match self {
            Self::Of(plan, node) => output_name(plan, node, at),
            Self::Listed(names) => names.get(at).cloned(),
            Self::Joined(sides, width) => match at.checked_sub(*width) {
                None => sides[0].get(at),
                Some(right) => sides[1].get(right),
            },
        }
    }

    /// As [`Self::get`], with a number for a column without a name.
    pub(super) fn name(&self, at: usize) -> String {
        self.get(at).unwrap_or_else(|| format!("#{at}"))
    }

    /// The row of a node followed by a looked up one.
    pub(super) fn looked_up(
        plan: &'p Plan,
        left: &'p PlanNode,
        lookup: &crate::physical::IndexLookup,
    ) -> Self {
        let right = Self::Listed(lookup_names(lookup));
        Self::Joined(Box::new([names(plan, left), right]), left.columns.len())
    }
}

/// Names of a node's output columns.
pub(super) fn names<'p>(plan: &'p Plan, node: &'p PlanNode) -> Names<'p> {
    Names::Of(plan, node)
}

fn output_name(plan: &Plan, node: &PlanNode, at: usize) -> Option<String> {
    if let Some(of) = &node.of_units
        && let Some(Some(name)) = of.names.get(at)
    {
        return Some(format!("{}.{name}", of.alias));
    }
    match &node.operator {
        Operator::TableScan(scan) => match scan.output.get(at) {
            Some(column) => Some(table_column(&scan.alias, &scan.table, scan.columns[*column])),
            None => (scan.row_keys && at == scan.output.len()).then(|| key_name(&scan.alias)),
        },
        Operator::SystemTableScan(scan) => match scan.columns.get(at) {
            Some(column) => Some(table_column(&scan.alias, &scan.table, *column)),
            None => (scan.numbered && at == scan.columns.len()).then(|| key_name(&scan.alias)),
        },
        Operator::IndexJoin(join) => {
            let row = Names::looked_up(plan, &join.left, &join.lookup);
            picked(&row, &join.output, node, at)
        }
        Operator::HashJoin(join) => {
            picked(&both(plan, &join.left, &join.right), &join.output, node, at)
        }
        Operator::NestedLoopJoin(join) => {
            picked(&both(plan, &join.left, &join.right), &join.output, node, at)
        }
        Operator::Project { input, exprs } => exprs.get(at).map(|e| show(e, &names(plan, input))),
        Operator::Aggregate(aggregate) => {
            let below = names(plan, &aggregate.input);
            match at.checked_sub(aggregate.groups.len()) {
                None => Some(show(&aggregate.groups[at], &below)),
                Some(at) => aggregate.aggregates.get(at).map(|call| call_name(call, &below)),
            }
        }
        Operator::Window(window) => match at.checked_sub(window.input.columns.len()) {
            None => names(plan, &window.input).get(at),
            Some(at) => (at < window.calls.len()).then(|| format!("window#{at}")),
        },
        Operator::RowNumbers(numbers) => match at.checked_sub(numbers.input.columns.len()) {
            None => names(plan, &numbers.input).get(at),
            Some(at) => (at == 0).then(|| "rownum()".into()),
        },
        Operator::JsonTable(join) => match at.checked_sub(join.input.columns.len()) {
            None => names(plan, &join.input).get(at),
            Some(at) => {
                let table = &join.table;
                table.columns.get(at).map(|c| format!("`{}`.`{}`", table.alias, c.name))
            }
        },
        Operator::CommonTableScan(table) | Operator::WorkTableScan(table) => {
            let common = plan.common_tables.get(*table).map_or("", |c| &c.name);
            (at < node.columns.len()).then(|| format!("{common}.#{at}"))
        }
        Operator::SetOperation(set) => names(plan, set.inputs.first()?).get(at),
        Operator::RecursiveUnion(union) => names(plan, &union.parts.first()?.anchor).get(at),
        _ => match node.inputs().first() {
            Some(input) if input.columns.len() == node.columns.len() => names(plan, input).get(at),
            _ => (at < node.columns.len()).then(|| format!("#{at}")),
        },
    }
}

fn call_name(call: &Call, below: &Names<'_>) -> String {
    match (call.kind, &call.args[..]) {
        // It stands for the value itself.
        (AggregateKind::AnyValue, [value]) => show(value, below),
        _ => call.display_with(&|at| below.name(at)),
    }
}

fn key_name(alias: &str) -> String {
    format!("{alias}.<key>")
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
        all.push(key_name(&lookup.alias));
    }
    all
}

/// Names of the columns of a joined row.
pub(super) fn both<'p>(plan: &'p Plan, left: &'p PlanNode, right: &'p PlanNode) -> Names<'p> {
    Names::Joined(Box::new([names(plan, left), names(plan, right)]), left.columns.len())
}

/// The name at a position of a join's output, which takes these columns of the joined row.
fn picked(row: &Names<'_>, output: &[usize], node: &PlanNode, at: usize) -> Option<String> {
    match output.get(at) {
        Some(column) => Some(row.name(*column)),
        None => {
            let has_mark = output.len() < node.columns.len();
            (has_mark && at == output.len()).then(|| "<matched>".into())
        }
    }
}

/// An expression with its columns shown by these names.
pub(super) fn show(expr: &Expr, names: &Names<'_>) -> String {
    expr.display_with(&|at| names.name(at)).to_string()
}

/// Several expressions, separated by `separator`.
pub(super) fn show_all(exprs: &[Expr], names: &Names<'_>, separator: &str) -> String {
    exprs.iter().map(|e| show(e, names)).collect::<Vec<_>>().join(separator)
}
