//! Statements that change their own rows behind their backs: a cascade, a trigger or a function
//! changes or deletes rows of a table that the statement has read, but not come to yet.
//!
//! Such a statement takes its rows as they are when it comes to them (LIVE-1).

use std::sync::Arc;

use selkie_catalog::{ForeignKey, Snapshot, TableInfo};
use selkie_engine::TableId;
use selkie_plan::physical::{InsertMode, Operator as Op, Plan};
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
    let deletes = match &plan.root.operator {
        Op::Update(_) => false,
        Op::Insert(insert) if insert.on_duplicate.is_some() => false,
        Op::Insert(insert) if insert.mode == InsertMode::Replace => true,
        Op::Delete(_) => true,
        _ => return false,
    };
    has_cascade(plan, deletes) || has_program(instance, session, plan)
}

/// Whether cascades of the statement's own changes may reach its rows.
fn has_cascade(plan: &Plan, deletes: bool) -> bool {
    let links = plan.foreign.tables.iter().flat_map(|table| &table.children);
    let mut cascading = links.filter(|link| {
        let key = link.key();
        !key.on_update.refuses() || deletes && !key.on_delete.refuses()
    });
    cascading.any(|link| targets(plan).any(|target| target.def.id == link.child.def.id))
}

/// Whether triggers or functions may change the statement's rows, by themselves or by cascades.
fn has_program(instance: &Instance, session: &Session, plan: &Plan) -> bool {
    if plan.uses.functions.is_empty() && plan.changes.triggers.is_empty() {
        return false;
    }
    // A program cannot change a table that is in use itself: only cascades reach it.
    if !targets(plan).any(|target| target.foreign_keys.iter().any(ForeignKey::cascades)) {
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
    let is_reached = |child: &&Arc<TableInfo>| {
        let keys = child.foreign_keys.iter();
        let mut keys = keys.filter(|key| key.refers_to(table.schema(), table.name()));
        keys.any(ForeignKey::cascades)
    };
    children.filter(is_reached).cloned()
}

/// Columns of a row as they are to be stored: what the statement has not changed of `old` is as it
/// is `now`. Columns that are computed when rows are read are left to whoever computes them.
pub(super) fn merged(
    table: &TableInfo,
    (old, new): (&mut [Arc<Column>], &mut [Arc<Column>]),
    now: &[Arc<Column>],
) {
    for at in (0..now.len()).filter(|at| !table.is_computed(*at)) {
        if old[at].value(0) == new[at].value(0) {
            new[at] = now[at].clone();
        }
        old[at] = now[at].clone();
    }
}
