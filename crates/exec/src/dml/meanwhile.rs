//! Statements that change their own rows behind their backs: a cascade, a trigger or a function
//! changes or deletes rows of a table that the statement has read, but not come to yet.
//!
//! Such a statement takes its rows as they are when it comes to them (LIVE-1).

use std::sync::Arc;

use selkie_catalog::{Snapshot, TableInfo};
use selkie_engine::TableId;
use selkie_plan::physical::{Insert, InsertMode, Operator as Op, Plan};
use selkie_types::Column;

use super::targets;
use crate::run::Reading;
use crate::{Instance, Session};

/// The way in which the rows of a plan have to be read.
pub(crate) fn reading(instance: &Instance, session: &Session, plan: &Plan) -> Reading {
    match super::keeps::reads_row_by_row(plan) {
        _ if changes_own_rows(instance, session, plan) => Reading::Live,
        true => Reading::OneByOne,
        false => Reading::Batches,
    }
}

fn changes_own_rows(instance: &Instance, session: &Session, plan: &Plan) -> bool {
    let has_old_rows = match &plan.root.operator {
        Op::Update(_) | Op::Delete(_) => true,
        Op::Insert(insert) => meets_rows(insert),
        _ => false,
    };
    has_old_rows && (has_cascade(plan) || has_program(instance, session, plan))
}

fn meets_rows(insert: &Insert) -> bool {
    insert.on_duplicate.is_some() || insert.mode == InsertMode::Replace
}

/// Whether cascades of the statement's own changes may reach its rows.
fn has_cascade(plan: &Plan) -> bool {
    let links = plan.foreign.tables.iter().flat_map(|table| &table.children);
    let mut cascades = links.filter(|link| {
        let key = link.key();
        !key.on_delete.refuses() || !key.on_update.refuses()
    });
    cascades.any(|link| targets(plan).any(|target| target.def.id == link.child.def.id))
}

/// Whether triggers or functions may change the statement's rows, by themselves or by cascades.
fn has_program(instance: &Instance, session: &Session, plan: &Plan) -> bool {
    if plan.uses.functions.is_empty() && plan.changes.triggers.is_empty() {
        return false;
    }
    let reached = instance.programs.reached(instance, session, plan);
    let mut waiting: Vec<Arc<TableInfo>> =
        reached.into_iter().filter(|r| r.is_changed).map(|r| r.table).collect();
    let snapshot = instance.catalog.snapshot();
    let mut seen: Vec<TableId> = Vec::new();
    while let Some(table) = waiting.pop() {
        if targets(plan).any(|target| target.def.id == table.def.id) {
            return true;
        }
        if !seen.contains(&table.def.id) {
            seen.push(table.def.id);
            waiting.extend(cascaded(&snapshot, &table));
        }
    }
    false
}

/// The tables that changes of a table's rows cascade to.
fn cascaded<'s>(
    snapshot: &'s Snapshot,
    table: &'s TableInfo,
) -> impl Iterator<Item = Arc<TableInfo>> + 's {
    let children = snapshot.children(table.schema(), table.name());
    let cascades = |child: &&Arc<TableInfo>| {
        let keys = child.foreign_keys.iter();
        let mut keys = keys.filter(|key| key.refers_to(table.schema(), table.name()));
        keys.any(|key| !key.on_delete.refuses() || !key.on_update.refuses())
    };
    children.filter(cascades).cloned()
}

/// Columns of a row as they are to be stored: what the statement has not changed of `old` is as it
/// is `now`.
pub(super) fn merged(old: &[Arc<Column>], new: &mut [Arc<Column>], now: &[Arc<Column>]) {
    for ((old, new), now) in old.iter().zip(new).zip(now) {
        if old.value(0) == new.value(0) {
            *new = now.clone();
        }
    }
}
