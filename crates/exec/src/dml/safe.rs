//! `sql_safe_updates`: rows are changed only if a key or LIMIT says which. May look at plans; never
//! touches rows.

use selkie_catalog::TableInfo;
use selkie_plan::physical::{Access, Operator as Op, PlanNode, TableScan};
use selkie_types::error::catalogue::ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE;
use selkie_types::{SqlError, SqlResult, stack};

use super::update::has_join;
use crate::Instance;
use crate::run::Env;

/// Error 1175 if a table is read from end to end and no condition could use a key of it. Compat: in
/// a join it counts what is done, for each table; a DELETE without any condition is refused even
/// with LIMIT; several keys do not count for a table that is known to be empty. `limited`: the
/// statement counts rows itself.
pub(super) fn check(
    env: Env<'_>,
    source: &PlanNode,
    targets: &[&TableInfo],
    (deletes, limited): (bool, bool),
) -> SqlResult<()> {
    if !env.rt.session.frame.settings.dml.sql_safe_updates
        || ((limited || is_limited(source)) && !(deletes && is_unconditional(source)))
    {
        return Ok(());
    }
    let joined = has_join(source);
    let mut scanned = false;
    source.visit(&mut |node| scanned |= scans_all(env, node, targets, joined));
    if scanned { Err(SqlError::new(&ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE, &[])) } else { Ok(()) }
}

fn is_limited(node: &PlanNode) -> bool {
    stack::ensure();
    match &node.operator {
        Op::Limit(_) | Op::TopN(_) => true,
        Op::Project { input, .. } | Op::Filter { input, .. } | Op::Materialize(input) => {
            is_limited(input)
        }
        _ => false,
    }
}

fn is_unconditional(node: &PlanNode) -> bool {
    let mut conditions = false;
    node.visit(&mut |node| {
        conditions |= match &node.operator {
            Op::TableScan(scan) => !scan.filter.is_empty(),
            Op::Filter { .. } => true,
            _ => false,
        }
    });
    !conditions
}

fn scans_all(env: Env<'_>, node: &PlanNode, targets: &[&TableInfo], joined: bool) -> bool {
    let Op::TableScan(scan) = &node.operator else { return false };
    let whole = match &scan.access {
        Access::Full { .. } => true,
        Access::Index(range) => range.ranges.is_empty(),
        Access::Union(_) => return !joined && is_known_empty(env.rt.instance, scan),
        Access::Text(_) => false,
    };
    let is_target = || targets.iter().any(|table| table.def.id == scan.table.def.id);
    whole && (joined || scan.shown.possible_keys.is_empty() && is_target())
}

fn is_known_empty(instance: &Instance, scan: &TableScan) -> bool {
    let counts = scan.table.engine.rows.counted && scan.parts.is_none();
    let handle = counts.then(|| instance.look_into(&scan.table)).flatten();
    handle.is_some_and(|handle| handle.table.statistics().rows == 0)
}
