//! Rotation of history partitions: the partition that takes the rows of history of a statement, and
//! warnings that there are too few of them.
//!
//! Must not move rows: a statement that began with a partition goes on with it.

use selkie_catalog::{PartitionLimit, Partitioning, RotateBy, TableInfo};
use selkie_plan::physical::{InsertMode, Operator, Plan};
use selkie_types::error::catalogue::WARN_VERS_PART_FULL;
use selkie_types::temporal::MICROS_PER_SECOND;
use selkie_types::{Condition, SqlResult};

use super::{Env, Runtime};
use crate::state::parts::PartSet;
use crate::{Instance, Session};

/// Whether a plan may make rows of history out of current ones.
pub(crate) fn ends_rows(plan: &Plan) -> bool {
    match &plan.root.operator {
        Operator::Update(_) => true,
        Operator::Delete(delete) => !delete.purges_history,
        Operator::Insert(insert) => {
            insert.mode == InsertMode::Replace || insert.on_duplicate.is_some()
        }
        _ => false,
    }
}

/// Number of history partitions that a table with AUTO needs now and does not have.
pub(crate) fn lacking(
    instance: &Instance,
    session: &Session,
    info: &TableInfo,
) -> SqlResult<usize> {
    let Some(partitions) = &info.partitions else { return Ok(0) };
    match partitions.rotation().filter(|by| by.auto).map(|by| &by.by) {
        Some(RotateBy::Rows(limit)) => {
            let handle = instance.open_own(info)?;
            let Some(parts) = &handle.parts else { return Ok(0) };
            let rows = parts.part_rows();
            let open = open_by_rows(partitions, &rows, *limit);
            let is_last = open + 1 == history_count(partitions);
            Ok(usize::from(is_last && rows(open) >= *limit))
        }
        Some(RotateBy::Interval(interval)) => {
            let now = session.values.statement_start.get().div_euclid(MICROS_PER_SECOND);
            let mut end = partitions.history_ends().last();
            let mut count = 0;
            while let Some(at) = end.filter(|end| *end <= now) {
                // More than there may be is enough for the error.
                if count > Partitioning::MOST_LEAVES {
                    break;
                }
                (end, count) = (interval.after(at), count + 1);
            }
            Ok(count)
        }
        _ => Ok(0),
    }
}

/// Chooses the partition for rows of history of one table. Returns what the last partition is out
/// of, if that is known by now.
pub(crate) fn open_history(rt: &Runtime<'_>, info: &TableInfo) -> SqlResult<Option<&'static str>> {
    let Some((partitions, parts)) = rotating(rt, info)? else { return Ok(None) };
    match partitions.rotation().map(|rotation| &rotation.by) {
        Some(RotateBy::Rows(limit)) => {
            parts.router().open_history(open_by_rows(partitions, &parts.part_rows(), *limit));
            Ok(None)
        }
        Some(RotateBy::Interval(_)) => {
            let now = rt.session.values.statement_start.get().div_euclid(MICROS_PER_SECOND);
            let is_out = partitions.history_ends().last().is_some_and(|end| end <= now);
            Ok(is_out.then_some("INTERVAL"))
        }
        _ => Ok(None),
    }
}

/// The position of the history partition that takes new rows when each takes `limit`: the last one
/// with rows before an empty one, or the next if that is full.
fn open_by_rows(partitions: &Partitioning, rows: &dyn Fn(usize) -> u64, limit: u64) -> usize {
    let last = history_count(partitions).saturating_sub(1);
    let mut open = 0;
    while open < last && rows(open + 1) > 0 && rows(open) > 0 {
        open += 1;
    }
    if open < last && rows(open) >= limit { open + 1 } else { open }
}

/// Number of history partitions.
pub(crate) fn history_count(partitions: &Partitioning) -> usize {
    let is_history = |limit: &PartitionLimit| matches!(limit, PartitionLimit::History(_));
    partitions.parts.iter().filter(|part| is_history(&part.limit)).count()
}

/// Runs a change with the partitions of history chosen for its targets, and warns of tables whose
/// partitions are out.
pub(crate) fn rotated<'t, T>(
    env: Env<'_>,
    plan: &Plan,
    targets: impl Iterator<Item = &'t TableInfo>,
    run: impl FnOnce() -> SqlResult<T>,
) -> SqlResult<T> {
    let targets: Vec<&TableInfo> = targets.filter(|table| table.rotation().is_some()).collect();
    if targets.is_empty() || !ends_rows(plan) {
        return run();
    }
    for table in &targets {
        if let Some(what) = open_history(env.rt, table)? {
            warn(env, table, what);
        }
    }
    let result = run()?;
    for table in &targets {
        if is_full(env.rt, table)? {
            warn(env, table, "LIMIT");
        }
    }
    Ok(result)
}

/// Whether the last history partition has as many rows as it should take at most.
fn is_full(rt: &Runtime<'_>, info: &TableInfo) -> SqlResult<bool> {
    let Some((partitions, parts)) = rotating(rt, info)? else { return Ok(false) };
    // The next statement adds a partition where that is automatic.
    let by = partitions.rotation().filter(|rotation| !rotation.auto);
    let Some(RotateBy::Rows(limit)) = by.map(|rotation| &rotation.by) else {
        return Ok(false);
    };
    let last = history_count(partitions).saturating_sub(1);
    let rows = parts.part_rows();
    Ok(parts.router().opened_history() == Some(last) && rows(last) >= *limit)
}

fn warn(env: Env<'_>, info: &TableInfo, what: &str) {
    let Some(partitions) = &info.partitions else { return };
    let last = history_count(partitions).saturating_sub(1);
    let name = partitions.parts.get(last).map_or("", |part| &part.name);
    let arguments: [&dyn std::fmt::Display; 4] = [&info.schema(), &info.name(), &name, &what];
    // No value is at fault: a strict statement goes on.
    let warning = Condition::warning(&WARN_VERS_PART_FULL, &arguments);
    env.eval.push(Condition { soft: true, ..warning });
}

fn rotating<'r>(
    rt: &'r Runtime<'_>,
    info: &'r TableInfo,
) -> SqlResult<Option<(&'r Partitioning, &'r PartSet)>> {
    let Some(partitions) = info.partitions.as_deref().filter(|by| by.rotation().is_some()) else {
        return Ok(None);
    };
    let parts = rt.table(info)?.handle.parts.as_deref();
    Ok(parts.map(|parts| (partitions, parts)))
}
