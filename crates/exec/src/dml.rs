//! INSERT, REPLACE, UPDATE and DELETE over their plans. [`crate::query`] runs them inside a
//! statement that is undone on error (EXEC-1). Must not commit, roll back or lock definitions.

mod auto_increment;
mod computed;
mod delete;
mod foreign;
mod insert;
mod keeps;
mod meanwhile;
mod on_duplicate;
mod portion;
mod row;
mod rows;
mod safe;
mod undo;
mod update;

use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind};
use selkie_engine::LockMode;
use selkie_expr::Expr;
use selkie_plan::physical::{Operator as Op, Plan};
use selkie_types::{Batch, SqlResult};

pub(crate) use insert::Inserter;
pub(crate) use meanwhile::reading;
pub(crate) use row::{WithoutField, check_error, is_false, is_zero};
pub(crate) use rows::RowChanger;

use crate::Outcome;
use crate::run::Env;
pub(crate) use crate::run::duplicate::duplicate_error;
use crate::run::rotation::rotated;
use crate::state::sink::PlanSink;

/// Receiver of the rows of RETURNING.
pub(crate) type Returning<'a> = &'a mut dyn FnMut(&Batch) -> SqlResult<()>;

/// Gives changed rows of a table to RETURNING, which has `exprs` over the table's columns.
fn send_returned(
    env: Env<'_>,
    exprs: &[Expr],
    rows: &Batch,
    returning: Returning<'_>,
) -> SqlResult<()> {
    if exprs.is_empty() || rows.rows() == 0 {
        return Ok(());
    }
    let columns: SqlResult<Vec<_>> = exprs.iter().map(|e| e.eval(env.eval, rows)).collect();
    returning(&Batch::new(columns?, rows.rows()))
}

/// Whether a plan changes rows of a computed table, which the server keeps.
pub(crate) fn changes_computed(plan: &Plan) -> bool {
    all_targets(plan).any(|table| table.kind == TableKind::System)
}

/// Stored tables whose rows a plan changes.
pub(crate) fn targets(plan: &Plan) -> impl Iterator<Item = &Arc<TableInfo>> {
    all_targets(plan).filter(|table| table.kind != TableKind::System)
}

/// Whether a plan may put many rows into a table: those of a query, or a long list.
pub(crate) fn fills(plan: &Plan) -> bool {
    const LONG: usize = 100;
    match &plan.root.operator {
        Op::Insert(insert) => {
            insert.is_query
                || matches!(&insert.source.operator, Op::Values(rows) if rows.len() >= LONG)
        }
        _ => false,
    }
}

fn all_targets(plan: &Plan) -> impl Iterator<Item = &Arc<TableInfo>> {
    let (inserted, updated, deleted) = match &plan.root.operator {
        Op::Insert(insert) => (Some(&insert.table), &[][..], &[][..]),
        Op::Update(update) => (None, &update.targets[..], &[][..]),
        Op::Delete(delete) => (None, &[][..], &delete.targets[..]),
        _ => (None, &[][..], &[][..]),
    };
    let changed = updated.iter().map(|t| &t.table);
    inserted.into_iter().chain(changed).chain(deleted.iter().map(|t| &t.table))
}

/// Runs a plan that changes rows.
pub(crate) fn run(env: Env<'_>, plan: &Plan, mut to: PlanSink<'_>) -> SqlResult<Outcome> {
    let has_rows = !plan.output.is_empty();
    if has_rows {
        to.begin(&plan.output)?;
    }
    let mut returning = |batch: &Batch| {
        let batch = crate::run::local_times::to_client(env.eval, &plan.output, batch.clone());
        to.sink.batch(&batch)
    };
    let changed = targets(plan).map(|table| &**table);
    let mut outcome = rotated(env, plan, changed, || match &plan.root.operator {
        _ if changes_computed(plan) => computed::run(env, plan, &mut returning),
        Op::Insert(insert) => insert::run(env, insert, &mut returning),
        Op::Update(update) => update::run(env, update),
        Op::Delete(delete) => delete::run(env, delete, &mut returning),
        _ => Err(selkie_types::SqlError::internal("the plan changes no rows")),
    })?;
    outcome.result_set = has_rows;
    if outcome.affected > 0 {
        for table in targets(plan) {
            env.rt.table(table)?.handle.note_change(env.rt.session.values.statement_start.get());
        }
    }
    Ok(outcome)
}

/// Row lock on rows that will be changed.
const CHANGE: LockMode = LockMode::Exclusive;
