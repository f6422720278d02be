//! Error 1104: queries that would examine more than `max_join_size` rows.
//!
//! Must not influence a plan, and must cost nothing without that limit.

use selkie_sql::ast::{DeleteTarget, Statement, TableRef};
use selkie_types::error::catalogue::ER_TOO_BIG_SELECT;
use selkie_types::{SqlError, SqlResult, stack};

use crate::physical::{Operator, Plan, PlanNode};
use crate::settings::PlanVariables;

/// Share of a row read that the limit counts. Compat: MariaDB compares a cost with it.
const OF_ROW: f64 = 0.2;

/// Error 1104 if a plan examines too many rows. EXPLAIN shows it all the same, and UPDATE and
/// DELETE of one table have no limit.
pub(super) fn check(
    plan: &Plan,
    statement: &Statement,
    variables: &PlanVariables,
) -> SqlResult<()> {
    let Some(most) = variables.max_join_size.filter(|_| !variables.explains) else {
        return Ok(());
    };
    let is_free = match statement {
        Statement::Update(update) => matches!(update.tables[..], [TableRef::Table(_)]),
        Statement::Delete(delete) => matches!(delete.target, DeleteTarget::Single(_)),
        _ => false,
    };
    let common = plan.common_tables.iter().map(|table| &table.plan);
    let roots = std::iter::once(&plan.root).chain(common);
    match !is_free && roots.map(cost).sum::<f64>() > most as f64 {
        true => Err(SqlError::new(&ER_TOO_BIG_SELECT, &[])),
        false => Ok(()),
    }
}

/// The rows that a node and those below it examine, as the limit counts them.
fn cost(node: &PlanNode) -> f64 {
    stack::ensure();
    let own = match &node.operator {
        Operator::TableScan(scan) => 1.0 + OF_ROW * scan.examined,
        Operator::SystemTableScan(_) => 1.0 + OF_ROW * node.rows,
        Operator::IndexJoin(join) => join.left.rows + OF_ROW * node.rows.max(join.left.rows),
        Operator::NestedLoopJoin(join) => OF_ROW * join.left.rows * join.right.rows,
        _ => 0.0,
    };
    own + node.inputs().into_iter().map(cost).sum::<f64>()
}
