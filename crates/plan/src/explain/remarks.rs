//! Remarks of EXPLAIN about operators above the tables of a block.
//!
//! Must not know where the remarks are shown.

use selkie_expr::{Expr, ExprKind};

use super::names::Names;
use super::rows::number;
use crate::physical::{Access, AggregateStrategy, Operator, PlanNode};
use selkie_types::stack;

/// The remark that an operator is.
pub(super) fn remarks_of(operator: &Operator) -> Option<&'static str> {
    match operator {
        Operator::Sort(_) | Operator::TopN(_) => Some("Using filesort"),
        Operator::Aggregate(a) if !a.groups.is_empty() && a.strategy == AggregateStrategy::Hash => {
            Some("Using temporary")
        }
        Operator::Distinct(_) | Operator::Window(_) => Some("Using temporary"),
        _ => None,
    }
}

/// Whether rows are grouped in memory.
pub(super) fn is_grouped(operator: &Operator) -> bool {
    matches!(operator, Operator::Aggregate(a)
        if !a.groups.is_empty() && a.strategy == AggregateStrategy::Hash)
}

/// Whether groups are sorted, which are kept for that.
pub(super) fn sorts_groups(operator: &Operator) -> bool {
    let input = match operator {
        Operator::Sort(sort) => &*sort.input,
        Operator::TopN(top) => &top.input,
        _ => return false,
    };
    makes_groups(input)
}

fn makes_groups(node: &PlanNode) -> bool {
    stack::ensure();
    match &node.operator {
        Operator::Project { input, .. } | Operator::Filter { input, .. } => makes_groups(input),
        Operator::Aggregate(aggregate) => !aggregate.groups.is_empty(),
        _ => false,
    }
}

/// Compat: ranks of a search that is also the access to its table are kept while they are sorted.
pub(super) const SORTS_BY_RANK: &str = "by rank";

/// Whether a filter tests the rows of a table, by their ranks, by subqueries that run for each row,
/// or by values that no scan may use.
pub(super) fn tests_rows(conditions: &[Expr], input: &PlanNode) -> bool {
    let Operator::TableScan(scan) = &input.operator else { return false };
    let is_whole = matches!(scan.access, Access::Full { .. });
    let ranks = |e: &Expr| e.any(&mut |e| matches!(e.kind, ExprKind::Match(_)));
    let runs = |e: &Expr| e.any(&mut |e| is_run_for_rows(e));
    conditions.iter().any(|e| ranks(e) || runs(e) || is_whole && !e.is_deterministic())
}

/// Whether an operator joins rows of tables.
pub(super) fn is_join(node: &PlanNode) -> bool {
    use Operator::{HashJoin, IndexJoin, NestedLoopJoin};
    matches!(node.operator, HashJoin(_) | IndexJoin(_) | NestedLoopJoin(_))
}

/// The aliases of the tables that each condition reads, if it runs a subquery for each row.
pub(super) fn tables_tested(conditions: &[Expr], names: &Names<'_>) -> Vec<Vec<String>> {
    let tested = conditions.iter().filter(|e| e.any(&mut |e| is_run_for_rows(e)));
    let table = |name: String| Some(name.split_once('.')?.0.to_owned());
    let tables = |e: &Expr| e.columns().into_iter().filter_map(|at| table(names.get(at)?));
    tested.map(|e| tables(e).collect()).collect()
}

/// Whether an expression is a subquery that reads values of the row it runs for.
fn is_run_for_rows(e: &Expr) -> bool {
    let ExprKind::Subquery(subquery) = &e.kind else { return false };
    !subquery.args.is_empty() || !subquery.operands.is_empty()
}

/// Whether rows are sorted by a rank.
pub(super) fn sorts_by_rank(operator: &Operator) -> bool {
    let keys = match operator {
        Operator::Sort(sort) => &sort.keys,
        Operator::TopN(top) => &top.keys,
        _ => return false,
    };
    keys.iter().any(|key| key.expr.any(&mut |e| matches!(e.kind, ExprKind::Match(_))))
}

/// Number of rows wanted of the input of an operator, of which `cut` are wanted, if its input is no
/// join.
pub(super) fn cut_below(operator: &Operator, cut: Option<u64>) -> Option<u64> {
    match operator {
        Operator::TopN(top) if !top.counted => {
            let offset = top.offset.as_ref().map_or(Some(0), number)?;
            Some(number(&top.limit)?.saturating_add(offset))
        }
        Operator::Sort(_) | Operator::Distinct(_) | Operator::Aggregate(_) => cut,
        _ => None,
    }
}
