//! ALTER TABLE .. ANALYZE, CHECK, OPTIMIZE and REPAIR PARTITION: maintenance of the named leaves,
//! which answers as maintenance of a table does.

use hashbrown::HashSet;
use selkie_catalog::{Partitioning, TableInfo, TableKind};
use selkie_engine::Optimizes;
use selkie_sql::ast::{
    AlterAction, Ident, MaintenanceAction, PartitionMaintenance, Statement, TableName,
};
use selkie_types::charset::{identifier_eq, in_one_case};
use selkie_types::error::catalogue::{
    ER_PARTITION_DOES_NOT_EXIST, ER_PARTITION_MGMT_ON_NONPARTITIONED,
};
use selkie_types::{SqlError, SqlResult, Value};

use super::{Message, analyze, check_access, find_locked, ok, op_name, send_messages};
use crate::Outcome;
use crate::query::execution::Execution;
use crate::run::open_table;
use crate::state::error::from_engine;

/// Runs maintenance of partitions; `None` if `statement` is not that.
pub(crate) fn run_on_partitions(
    execution: &mut Execution<'_>,
    statement: &Statement,
) -> SqlResult<Option<Outcome>> {
    let Statement::AlterTable(alter) = statement else { return Ok(None) };
    let [AlterAction::MaintainPartitions { action, names }] = &alter.actions[..] else {
        return Ok(None);
    };
    let action = match action {
        PartitionMaintenance::Analyze => MaintenanceAction::Analyze,
        PartitionMaintenance::Check => MaintenanceAction::Check,
        PartitionMaintenance::Optimize => MaintenanceAction::Optimize,
        PartitionMaintenance::Repair => MaintenanceAction::Repair,
        PartitionMaintenance::Rebuild | PartitionMaintenance::Truncate => return Ok(None),
    };
    execution.session.commit()?;
    let done = run_action(execution, &alter.table, (action, names));
    if let Err(error) = &done {
        // The table's lock would otherwise stay until the session's next statement.
        execution.session.rollback_for(error)?;
        execution.session.commit()?;
    }
    done.map(Some)
}

fn run_action(
    execution: &mut Execution<'_>,
    target: &TableName,
    (action, names): (MaintenanceAction, &[Ident]),
) -> SqlResult<Outcome> {
    let schema = execution.session.schema_of(target)?.to_owned();
    let name = &*target.name.value;
    check_access(execution.session, action, &schema, name)?;
    let table = find_locked(execution, (&schema, name), action)?;
    let Some(partitions) = table.partitions.clone().filter(|_| table.kind == TableKind::Base)
    else {
        return Err(SqlError::new(&ER_PARTITION_MGMT_ON_NONPARTITIONED, &[]));
    };
    let messages = match leaves_of(&partitions, names) {
        Some(leaves) => maintain(execution, (&table, action), &leaves)?,
        None => {
            let wrong = SqlError::new(&ER_PARTITION_DOES_NOT_EXIST, &[]);
            vec![("error", wrong.message().to_owned())]
        }
    };
    execution.session.commit()?;
    let shown = format!("{schema}.{}", table.name());
    let row = |(kind, text): (&str, String)| {
        [shown.as_str(), op_name(action), kind, &text].map(Value::bytes).to_vec()
    };
    let rows: Vec<Vec<Value>> = messages.into_iter().map(row).collect();
    send_messages(execution, &rows)
}

/// The leaves of the named partitions, of all without a name; `None` if a name is wrong or given
/// twice.
pub(super) fn leaves_of(partitions: &Partitioning, names: &[Ident]) -> Option<Vec<usize>> {
    let each = partitions.leaves_each();
    if names.is_empty() {
        return Some((0..partitions.leaf_count()).collect());
    }
    let mut seen = HashSet::new();
    let mut leaves = Vec::new();
    for name in names {
        let same = |part: &selkie_catalog::Partition| identifier_eq(&part.name, &name.value);
        let at = partitions.parts.iter().position(same)?;
        if !seen.insert(in_one_case(&name.value)) {
            return None;
        }
        leaves.extend(at * each..(at + 1) * each);
    }
    leaves.sort_unstable();
    Some(leaves)
}

fn maintain(
    execution: &mut Execution<'_>,
    (table, action): (&TableInfo, MaintenanceAction),
    leaves: &[usize],
) -> SqlResult<Vec<Message>> {
    execution.begin_on(table)?;
    match action {
        MaintenanceAction::Check => check(execution, table, leaves),
        MaintenanceAction::Optimize => optimize(execution, table, leaves),
        MaintenanceAction::Analyze => {
            analyze::analyze(execution, table)?;
            Ok(vec![ok()])
        }
        MaintenanceAction::Repair | MaintenanceAction::Checksum => Ok(vec![ok()]),
    }
}

fn check(
    execution: &Execution<'_>,
    table: &TableInfo,
    leaves: &[usize],
) -> SqlResult<Vec<Message>> {
    let open = open_table(execution.instance, execution.session, table)?;
    let Some(parts) = &open.handle.parts else { return Ok(vec![ok()]) };
    let found = parts.check_leaves((open.trx, execution.control), leaves.iter().copied());
    let found = found.map_err(|e| from_engine(e, &table.def))?;
    if found.is_empty() {
        return Ok(vec![ok()]);
    }
    let mut messages: Vec<Message> = found.into_iter().map(|text| ("error", text)).collect();
    messages.push(("error", "Corrupt".to_owned()));
    Ok(messages)
}

fn optimize(
    execution: &mut Execution<'_>,
    table: &TableInfo,
    leaves: &[usize],
) -> SqlResult<Vec<Message>> {
    let open = open_table(execution.instance, execution.session, table)?;
    if let Some(parts) = &open.handle.parts {
        let reclaimed = parts.reclaim_leaves(execution.control, leaves.iter().copied());
        reclaimed.map_err(|e| from_engine(e, &table.def))?;
    }
    analyze::analyze(execution, table)?;
    let note = "Table does not support optimize on partitions. All partitions will be rebuilt and \
                analyzed.";
    Ok(match table.engine.maintenance.optimizes {
        Optimizes::ByCopy => vec![("note", note.to_owned()), ok()],
        Optimizes::Itself | Optimizes::Never => vec![ok()],
    })
}
