//! Rows kept and read again: common tables, materialised inputs. A common table is computed once
//! per execution, by its first reader; the rows live in the [`Runtime`](crate::run::Runtime).

use std::sync::Arc;

use selkie_plan::physical::{Access, Operator as PlanOperator};
use selkie_types::{Batch, SqlError, SqlResult, stack};

use super::{BoxOperator, Operator, open};
use crate::run::stored_rows::{Replay, StoredRows};
use crate::run::{Env, SharedRows};
use crate::state::session::bump;

/// Reads all batches of an operator.
pub(crate) fn drain(op: &mut dyn Operator) -> SqlResult<Vec<Batch>> {
    let mut batches = Vec::new();
    while let Some(batch) = op.next()? {
        selkie_meter::check()?;
        batches.push(batch);
    }
    Ok(batches)
}

/// Reads all batches of an operator, those that do not fit into memory to a file.
pub(crate) fn store(env: Env<'_>, op: &mut dyn Operator) -> SqlResult<StoredRows> {
    StoredRows::collect(env.rt, || op.next())
}

/// Rows of a common table, computed by its first reader.
pub(super) struct CommonScan<'r> {
    env: Env<'r>,
    table: usize,
    replay: Option<Replay>,
}

impl<'r> CommonScan<'r> {
    pub(super) fn open(env: Env<'r>, table: usize) -> SqlResult<Self> {
        Ok(Self { env, table, replay: None })
    }

    fn rows(&self) -> SqlResult<SharedRows> {
        stack::check()?;
        let rt = self.env.rt;
        if let Some(rows) = &rt.commons.rows.borrow()[self.table] {
            return Ok(rows.clone());
        }
        if let Some(with) = rt.plan.common_tables[self.table].computed_with {
            Self::open(self.env, with)?.rows()?;
            return Ok(rt.commons.rows.borrow()[self.table].clone().unwrap_or_default());
        }
        let mut op = open(self.env, &rt.plan.common_tables[self.table].plan)?;
        let rows = Arc::new(store(self.env, &mut *op)?);
        bump(&self.env.counters().created_tmp_tables, 1);
        rt.commons.rows.borrow_mut()[self.table] = Some(rows.clone());
        Ok(rows)
    }
}

impl Operator for CommonScan<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        if self.replay.is_none() {
            self.replay = Some(Replay::new(self.rows()?));
        }
        let rows = self.replay.as_mut().map_or(Ok(None), Replay::next)?;
        Ok(self.env.count_kept(rows))
    }
}

/// Rows of the previous round of a recursive common table.
pub(super) struct WorkScan<'r> {
    env: Env<'r>,
    rows: Replay,
}

impl<'r> WorkScan<'r> {
    pub(super) fn open(env: Env<'r>, table: usize) -> SqlResult<Self> {
        let rows = env.rt.commons.round.borrow()[table].clone();
        let missing = || SqlError::internal("the rows of a recursive table are not there");
        Ok(Self { env, rows: Replay::new(rows.ok_or_else(missing)?) })
    }
}

impl Operator for WorkScan<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        Ok(self.env.count_kept(self.rows.next()?))
    }
}

/// Reads its whole input before it gives rows.
pub(super) struct Materialize<'r> {
    env: Env<'r>,
    input: Option<BoxOperator<'r>>,
    rows: Replay,
    /// Whether the rows kept are not counted.
    is_unseen: bool,
}

impl<'r> Materialize<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>) -> Self {
        let is_unseen = keeps_no_rows(&env.rt.plan.root.operator);
        Self { env, input: Some(input), rows: Replay::new(SharedRows::default()), is_unseen }
    }
}

impl Operator for Materialize<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        if let Some(mut input) = self.input.take() {
            self.rows = Replay::new(Arc::new(store(self.env, &mut *input)?));
        }
        let batch = self.rows.next()?;
        Ok(if self.is_unseen { batch } else { self.env.count_kept(batch) })
    }
}

/// Whether the rows that are kept for a change would not be kept by MariaDB. Compat: an UPDATE of
/// one table keeps the places of rows, and reads the rows again, if it reads them by an index.
fn keeps_no_rows(change: &PlanOperator) -> bool {
    let PlanOperator::Update(update) = change else { return false };
    let [target] = &update.targets[..] else { return false };
    let mut whole = false;
    update.source.visit(&mut |node| {
        if let PlanOperator::TableScan(scan) = &node.operator {
            let is_target = scan.table.def.id == target.table.def.id;
            whole |= is_target && matches!(scan.access, Access::Full { .. });
        }
    });
    whole && !update.multiple
}
