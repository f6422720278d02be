//! DELETE from one or several tables.

use hashbrown::HashSet;
use selkie_plan::physical::{Delete as Plan, DeleteTarget};
use selkie_types::{Batch, ByteRows, SqlResult};

use super::Returning;
use super::update::has_join;
use crate::Outcome;
use crate::control::Memory;
use crate::error::from_engine;
use crate::op::{drain, open as open_node};
use crate::run::{Env, OpenTable};
use crate::session::bump;

struct Target<'r> {
    env: Env<'r>,
    plan: &'r DeleteTarget,
    open: &'r OpenTable<'r>,
    seen: Option<HashSet<Box<[u8]>>>,
    deleted: u64,
}

pub(super) fn run(env: Env<'_>, plan: &Plan, returning: Returning<'_>) -> SqlResult<Outcome> {
    let several = plan.targets.len() > 1;
    let joined = several || has_join(&plan.source);
    let mut targets = Vec::new();
    for target in &plan.targets {
        let seen = joined.then(HashSet::new);
        let open = env.rt.table(&target.table)?;
        targets.push(Target { env, plan: target, open, seen, deleted: 0 });
    }
    let mut source = open_node(env, &plan.source)?;
    if several {
        let mut memory = Memory::new(env.rt.control);
        let batches = drain(&mut *source, &mut memory)?;
        drop(source);
        for batch in &batches {
            targets.iter_mut().try_for_each(|target| target.delete(batch))?;
        }
    } else {
        while let Some(batch) = source.next()? {
            give_back(env, plan, &batch, returning)?;
            targets.iter_mut().try_for_each(|target| target.delete(&batch))?;
        }
    }
    Ok(Outcome::changed(targets.iter().map(|t| t.deleted).sum()))
}

fn give_back(env: Env<'_>, plan: &Plan, batch: &Batch, returning: Returning<'_>) -> SqlResult<()> {
    let Some(columns) = plan.targets.first().and_then(|t| t.columns.clone()) else { return Ok(()) };
    if plan.returning.is_empty() {
        return Ok(());
    }
    let row = Batch::new(batch.columns()[columns].to_vec(), batch.rows());
    let values: SqlResult<Vec<_>> = plan.returning.iter().map(|e| e.eval(env.eval, &row)).collect();
    returning(&Batch::new(values?, batch.rows()))
}

impl Target<'_> {
    fn delete(&mut self, batch: &Batch) -> SqlResult<()> {
        self.env.check()?;
        let column = batch.column(self.plan.key);
        let mut keys = ByteRows::with_capacity(batch.rows());
        for row in (0..batch.rows()).filter(|&row| !column.is_null(row)) {
            let key = column.bytes(row);
            if self.seen.as_mut().is_none_or(|seen| seen.insert(key.into())) {
                keys.push(key);
            }
        }
        let (table, control) = (&self.open.handle.table, self.env.rt.control);
        let deleted = table
            .delete(self.open.trx, control, &keys)
            .map_err(|e| from_engine(e, &self.plan.table.def))?;
        self.deleted += deleted;
        bump(&self.env.counters().handler_delete, deleted);
        Ok(())
    }
}
