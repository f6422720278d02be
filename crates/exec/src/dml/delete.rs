//! DELETE from one or several tables: keys of a batch are deleted together, or row by row between
//! triggers.

use std::sync::Arc;

use hashbrown::HashSet;
use selkie_catalog::TableInfo;
use selkie_plan::physical::{Delete as Plan, DeleteTarget};
use selkie_types::{Batch, ByteRows, Column, Condition, Level, SqlError, SqlResult};

use super::foreign::{ForeignKeys, Rows, may_stay};
use super::keeps::{keeps_changes, returns_reads};
use super::on_duplicate::fetch;
use super::portion::Portion;
use super::undo::{Undo, undone_on_error};
use super::update::has_join;
use super::{Returning, send_returned};
use crate::Outcome;
use crate::op::{open as open_node, row_count, store};
use crate::run::{Env, OpenTable};
use crate::state::around::Triggers;
use crate::state::error::from_engine;
use crate::state::session::bump;

struct Target<'r> {
    env: Env<'r>,
    plan: &'r DeleteTarget,
    open: &'r OpenTable<'r>,
    seen: Option<HashSet<Box<[u8]>>>,
    foreign: Option<ForeignKeys<'r>>,
    triggers: Option<Box<dyn Triggers + 'r>>,
    portion: Option<Portion<'r>>,
    ignore: bool,
    /// Compat: of several tables, rows that IGNORE keeps are not told of.
    silent: bool,
    /// Rows may have gone since they were read.
    again: bool,
    /// Rows that may still go, where LIMIT counts them here.
    left: Option<u64>,
    deleted: u64,
}

pub(super) fn run(env: Env<'_>, plan: &Plan, returning: Returning<'_>) -> SqlResult<Outcome> {
    let several = plan.targets.len() > 1;
    let tables: Vec<&TableInfo> = plan.targets.iter().map(|t| &*t.table).collect();
    super::safe::check(env, &plan.source, &tables, (true, plan.limit.is_some()))?;
    let joined = several || has_join(&plan.source);
    let mut targets = Vec::new();
    for target in &plan.targets {
        let seen = joined.then(HashSet::new);
        let open = env.rt.table(&target.table)?;
        let foreign = ForeignKeys::of(env, target.table.def.id)?;
        let (ignore, silent) = (plan.ignore, plan.multiple);
        let left = row_count(env, plan.limit.as_ref())?;
        let triggers = env.triggers(&target.table, "DELETE")?;
        let portion = target.portion.as_ref().map(|portion| Portion::new(env, portion));
        let portion = portion.transpose()?;
        let same = |before: &Target<'_>| before.plan.table.def.id == target.table.def.id;
        let again = env.rt.is_live() || targets.iter().any(same);
        let (plan, deleted) = (target, 0);
        targets.push(Target {
            env,
            plan,
            open,
            seen,
            foreign,
            triggers,
            portion,
            ignore,
            silent,
            again,
            left,
            deleted,
        });
    }
    let mut source = open_node(env, &plan.source)?;
    if several {
        let rows = store(env, &mut *source)?;
        drop(source);
        // Compat: table by table, as triggers and the binary log show.
        for target in &mut targets {
            rows.each(|batch| target.delete_stored(batch))?;
        }
    } else {
        while !targets.iter().any(Target::is_full)
            && let Some(batch) = source.next()?
        {
            targets
                .iter_mut()
                .try_for_each(|target| target.delete_returning(&batch, plan, returning))?;
        }
    }
    targets.iter_mut().flat_map(|target| &mut target.portion).for_each(Portion::finish);
    Ok(Outcome::changed(targets.iter().map(|t| t.deleted).sum()))
}

fn send(env: Env<'_>, plan: &Plan, batch: &Batch, returning: Returning<'_>) -> SqlResult<()> {
    let Some(columns) = plan.targets.first().and_then(|t| t.columns.clone()) else { return Ok(()) };
    let rows = Batch::new(batch.columns()[columns].to_vec(), batch.rows());
    send_returned(env, &plan.returning, &rows, returning)
}

impl Target<'_> {
    /// Whether as many rows have gone as LIMIT says.
    fn is_full(&self) -> bool {
        self.left == Some(0)
    }

    /// Gives rows of the only table to RETURNING and deletes them: one by one, if they are counted.
    fn delete_returning(
        &mut self,
        batch: &Batch,
        plan: &Plan,
        returning: Returning<'_>,
    ) -> SqlResult<()> {
        if self.left.is_none() && !self.again && !returns_reads(&plan.returning) {
            send(self.env, plan, batch, returning)?;
            return self.delete(batch);
        }
        for row in 0..batch.rows() {
            if self.is_full() {
                break;
            }
            let one = batch.slice(row, row + 1);
            let Some(one) = self.as_it_is(one)? else { continue };
            send(self.env, plan, &one, returning)?;
            self.delete(&one)?;
        }
        Ok(())
    }

    /// A row as it is now, if it may have changed since it was read; `None` if it has gone.
    fn as_it_is(&self, row: Batch) -> SqlResult<Option<Batch>> {
        let key = row.column(self.plan.key);
        if !self.again || key.is_null(0) {
            return Ok(Some(row));
        }
        let Some(now) = fetch(self.env, self.open, key.bytes(0))? else { return Ok(None) };
        let Some(place) = self.plan.columns.clone() else { return Ok(Some(row)) };
        let mut columns = row.columns().to_vec();
        for (at, column) in now.into_iter().enumerate() {
            if !self.plan.table.is_computed(at) {
                columns[place.start + at] = column;
            }
        }
        Ok(Some(Batch::new(columns, 1)))
    }

    /// Deletes rows of several tables; those that have gone meanwhile need no deletion.
    fn delete_stored(&mut self, batch: &Batch) -> SqlResult<()> {
        if !self.again {
            return self.delete(batch);
        }
        for row in 0..batch.rows() {
            if let Some(one) = self.as_it_is(batch.gather(&[row as u32]))? {
                self.delete(&one)?;
            }
        }
        Ok(())
    }

    fn delete(&mut self, batch: &Batch) -> SqlResult<()> {
        self.env.check()?;
        let column = batch.column(self.plan.key);
        let mut keys = ByteRows::with_capacity(batch.rows());
        let mut rows = Vec::new();
        for row in (0..batch.rows()).filter(|&row| !column.is_null(row)) {
            let key = column.bytes(row);
            if self.seen.as_mut().is_none_or(|seen| seen.insert(key.into())) {
                keys.push(key);
                rows.push(row as u32);
            }
        }
        if self.portion.is_some() {
            for (at, row) in rows.iter().enumerate() {
                let mut key = ByteRows::with_capacity(1);
                key.push(keys.get(at));
                self.delete_portion(&key, &batch.gather(&[*row]))?;
            }
            return Ok(());
        }
        if self.triggers.is_none() {
            return self.delete_rows(&keys, &batch.gather(&rows));
        }
        let together = rows.len() > 1 && self.takes_batches();
        if together && self.delete_together(&keys, &batch.gather(&rows))? {
            return Ok(());
        }
        for (at, row) in rows.iter().enumerate() {
            let mut key = ByteRows::with_capacity(1);
            key.push(keys.get(at));
            self.delete_triggered(&key, &batch.gather(&[*row]))?;
        }
        Ok(())
    }

    /// Whether triggers cannot tell if rows are deleted together (TRIGGER-1): an error ends the
    /// statement, which is rolled back, and no rows of other tables go with them.
    fn takes_batches(&self) -> bool {
        self.triggers.as_ref().is_some_and(|triggers| triggers.take_batches())
            && !self.ignore
            && !keeps_changes(&self.plan.table)
            && self.foreign.is_none()
    }

    /// Deletes rows after the BEFORE triggers of them all, before the AFTER triggers of the first.
    /// False, with nothing done, if something is wrong with one: triggers run row by row then.
    fn delete_together(&mut self, keys: &ByteRows, rows: &Batch) -> SqlResult<bool> {
        let Some(triggers) = &self.triggers else { return Ok(false) };
        let columns = self.plan.columns.clone().unwrap_or_default();
        let old = &rows.columns()[columns];
        let undo = Undo::begin(self.open)?;
        let result =
            triggers.before(old, &mut [], rows.rows()).and_then(|_| self.delete_keys(keys));
        let all = result.as_ref().is_ok_and(|deleted| *deleted == rows.rows() as u64);
        if undo.applies(&result) || (result.is_ok() && !all) {
            undo.run(self.open)?;
            return Ok(false);
        }
        let deleted = result?;
        self.deleted += deleted;
        bump(&self.env.counters().handler_delete, deleted);
        let numbers: Vec<u32> = (0..rows.rows() as u32).collect();
        triggers.after(old, &[], &numbers).map_err(|failed| failed.error)?;
        Ok(true)
    }

    /// Deletes one row between its triggers.
    fn delete_triggered(&mut self, key: &ByteRows, row: &Batch) -> SqlResult<()> {
        let columns = self.plan.columns.clone().unwrap_or_default();
        let old = row.columns()[columns].to_vec();
        if let Some(triggers) = &self.triggers {
            triggers.before(&old, &mut [], 1)?;
        }
        let before = self.deleted;
        // Its children are found by what it is after its triggers.
        let Some(row) = self.as_it_is(row.clone())? else { return Ok(()) };
        self.delete_rows(key, &row)?;
        match &self.triggers {
            Some(triggers) if self.deleted > before => triggers.after_one(&old, &[]),
            _ => Ok(()),
        }
    }

    /// Deletes what a row has of a portion, between the triggers of the row.
    fn delete_portion(&mut self, key: &ByteRows, row: &Batch) -> SqlResult<()> {
        let Some(mut portion) = self.portion.take() else { return Ok(()) };
        let before = (self.deleted, self.left);
        let done = portion.whole(|portion| {
            let columns = self.plan.columns.clone().unwrap_or_default();
            let old = row.columns()[columns.clone()].to_vec();
            if let Some(triggers) = &self.triggers {
                triggers.before(&old, &mut [], 1)?;
            }
            let Some(now) = self.as_it_is(row.clone())? else { return Ok(()) };
            let (row, old) = (&now, now.columns()[columns].to_vec());
            let cut = portion.cut(row)?;
            if portion.keeps_row(&cut) {
                let kept = portion.keep_part(key, &old, &cut)?;
                self.deleted += u64::from(kept);
                self.left = self.left.map(|left| left.saturating_sub(kept.into()));
            } else {
                self.delete_rows(key, row)?;
                if self.deleted > before.0 {
                    portion.insert_rest(&old, &cut)?;
                }
            }
            match &self.triggers {
                Some(triggers) if self.deleted > before.0 => triggers.after_one(&old, &[]),
                _ => Ok(()),
            }
        });
        self.portion = Some(portion);
        if done?.is_none() {
            (self.deleted, self.left) = before;
        }
        Ok(())
    }

    fn delete_rows(&mut self, keys: &ByteRows, rows: &Batch) -> SqlResult<()> {
        let deleted = match &self.foreign {
            Some(foreign) => self.delete_related(foreign, keys, rows)?,
            None => self.delete_keys(keys)?,
        };
        self.deleted += deleted;
        self.left = self.left.map(|left| left.saturating_sub(deleted));
        bump(&self.env.counters().handler_delete, deleted);
        Ok(())
    }

    fn delete_keys(&self, keys: &ByteRows) -> SqlResult<u64> {
        let deleted = self.open.delete(self.env.rt.control, keys);
        deleted.map_err(|e| from_engine(e, &self.plan.table.def))
    }

    /// Deletes rows that others may refer to. Under IGNORE those that cannot go stay, with a
    /// warning each.
    fn delete_related(
        &self,
        foreign: &ForeignKeys<'_>,
        keys: &ByteRows,
        rows: &Batch,
    ) -> SqlResult<u64> {
        let Some(columns) = self.plan.columns.clone() else {
            return Err(SqlError::internal("a plan gives no columns of a row that is referred to"));
        };
        let columns = &rows.columns()[columns];
        if !self.ignore {
            return foreign.delete(&Rows { keys, columns });
        }
        let mut deleted = 0;
        for row in 0..keys.len() {
            let mut key = ByteRows::with_capacity(1);
            key.push(keys.get(row));
            let columns: Vec<Arc<Column>> =
                columns.iter().map(|c| Arc::new(c.gather(&[row as u32]))).collect();
            let one = Rows { keys: &key, columns: &columns };
            match undone_on_error(self.open, || foreign.delete(&one)) {
                Ok(count) => deleted += count,
                Err(error) if may_stay(&error) && self.silent => {}
                Err(error) if may_stay(&error) => {
                    self.env.eval.push(Condition::from_error(Level::Warning, &error));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(deleted)
    }
}
