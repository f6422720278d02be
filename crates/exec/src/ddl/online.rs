//! ADD INDEX while others change rows: they keep the new index from its start on, those who may not
//! have done so are waited for, then it is filled and published. Nobody waits for the statement.
//! DROP INDEX and other changes of a moment ask for their lock again and again, for a short time
//! each.
//!
//! Must not be used for a change of anything but indexes: others run under the old definition until
//! the end, and some of them beyond it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use selkie_catalog::{TableInfo, TableKind, new_version};
use selkie_engine::{WaitKind, blocking};
use selkie_plan::define::AlterPlan;
use selkie_sql::ast::{AlterAction, AlterAlgorithm, AlterLock, AlterTable, IndexKind};
use selkie_types::error::catalogue::{ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT};
use selkie_types::{SqlError, SqlResult};

use super::change::is_temporary;
use super::{Ddl, copy};
use crate::Outcome;
use crate::state::metadata::{LockMode, LockTicket};

/// The server changes rows of its own tables without locks on their names.
const SYSTEM_SCHEMA: &str = "mysql";

/// Longest time for which a change of a moment holds others up, as long as it is polite.
const ASKING: Duration = Duration::from_millis(50);

/// Bounds of the pause between two requests.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(1);

/// Time after which it waits like any other change, so that it is not starved.
const POLITE: Duration = Duration::from_secs(10);

/// The lock that ALTER TABLE takes at first.
pub(super) fn first_lock(alter: &AlterTable, schema: &str) -> LockMode {
    let is_online = |action: &AlterAction| match action {
        AlterAction::AddIndex(index) => {
            matches!(index.kind, IndexKind::Plain | IndexKind::Unique)
                && index.without_overlaps.is_none()
        }
        AlterAction::DropIndex { .. }
        | AlterAction::RenameIndex { .. }
        | AlterAction::SetIndexIgnored { .. } => true,
        AlterAction::Algorithm(algorithm) => *algorithm != AlterAlgorithm::Copy,
        AlterAction::Lock(lock) => matches!(lock, AlterLock::None | AlterLock::Default),
        _ => false,
    };
    if alter.actions.contains(&AlterAction::Lock(AlterLock::Exclusive)) {
        return LockMode::Exclusive;
    }
    let is_online = !alter.ignore && alter.actions.iter().all(is_online);
    match is_online && !schema.eq_ignore_ascii_case(SYSTEM_SCHEMA) {
        true => LockMode::Online,
        false => LockMode::Upgradable,
    }
}

/// Whether a change reads and writes no rows.
fn is_of_a_moment(plan: &AlterPlan) -> bool {
    plan.added_indexes.of_keys.is_empty()
        && plan.added_indexes.of_texts.is_empty()
        && plan.rebuild.is_none()
        && plan.reread.is_none()
        && plan.added_foreign_keys.is_empty()
}

/// Whether a request for a lock was in vain, and may succeed later.
pub(super) fn is_lost(error: &SqlError) -> bool {
    error.is(&ER_LOCK_WAIT_TIMEOUT) || error.is(&ER_LOCK_DEADLOCK)
}

impl Ddl<'_> {
    /// Whether a change under a lock in `mode` can be made while others change rows.
    fn is_online(&self, mode: LockMode, old: &TableInfo, plan: &AlterPlan) -> SqlResult<bool> {
        let only_adds = !plan.added_indexes.of_keys.is_empty()
            && plan.added_indexes.of_texts.is_empty()
            && plan.dropped_indexes.is_empty()
            && plan.added_foreign_keys.is_empty();
        let keeps_rows = plan.rebuild.is_none() && plan.reread.is_none() && !plan.copies;
        let is_plain = old.kind == TableKind::Base && old.partitions.is_none();
        let fits = mode == LockMode::Online && only_adds && keeps_rows && is_plain;
        Ok(fits && self.instance.engine_of(old)?.capabilities().grows_indexes)
    }

    /// Makes a change under a first lock in `mode`; if others must not change rows meanwhile, takes
    /// a stronger one.
    pub(super) fn carry_out(
        &mut self,
        mode: LockMode,
        old: &Arc<TableInfo>,
        plan: AlterPlan,
    ) -> SqlResult<Outcome> {
        if self.is_online(mode, old, &plan)? {
            return self.add_indexes_online(old, &plan);
        }
        let weak = mode == LockMode::Online && !is_temporary(old);
        let _stronger = match weak {
            true if is_of_a_moment(&plan) => Some(self.lock_politely(old)?),
            true => Some(self.lock_as(old.schema(), old.name(), LockMode::Upgradable)?),
            false => None,
        };
        self.apply(old, plan)
    }

    /// Adds indexes while others change rows.
    fn add_indexes_online(&mut self, old: &Arc<TableInfo>, plan: &AlterPlan) -> SqlResult<Outcome> {
        let table = TableInfo { version: new_version(), ..plan.table.clone() };
        let engine = self.instance.engine_of(&table)?.clone();
        let mut change = self.begin_change()?;
        let added = &plan.added_indexes.of_keys;
        let fail = |error| self.index_error(error, old, (&table, 0));
        for position in added {
            engine.start_index(change.trx(), &table.def, *position).map_err(fail)?;
        }
        self.drain(old)?;
        let filled = added.iter().try_for_each(|position| {
            engine.fill_index(self.control, &table.def, *position).map_err(fail)
        });
        self.session.frame.kill.progress().end();
        filled?;
        change.put_table(&table)?;
        change.redefine(&table);
        let ids = added.iter().map(|position| table.def.indexes[*position].id);
        ids.for_each(|id| change.index_built(&engine, table.def.id, id));
        self.publish(change, old, table, plan)?;
        let warnings = self.session.diagnostics.warning_count();
        Ok(copy::Copied::default().outcome(warnings, false))
    }

    /// Locks everybody out, without holding others up for long.
    fn lock_politely(&self, table: &TableInfo) -> SqlResult<LockTicket> {
        let (begun, limit, mut pause) = (Instant::now(), self.lock_limit(), FIRST_PAUSE);
        loop {
            let left = limit.saturating_sub(begun.elapsed());
            let last = begun.elapsed() >= POLITE || left <= ASKING;
            let patience = if last { left } else { ASKING };
            let name = (table.schema(), table.name());
            match self.lock_for(name, LockMode::Exclusive, patience) {
                Err(error) if is_lost(&error) && !last => {}
                done => return done,
            }
            self.control.check()?;
            blocking(WaitKind::MetadataLock, || std::thread::sleep(pause.min(left)));
            pause = LAST_PAUSE.min(pause * 2);
        }
    }

    /// Waits for all who may have changed rows before.
    fn drain(&self, table: &TableInfo) -> SqlResult<()> {
        let (names, limit) = ((table.schema(), table.name()), self.lock_limit());
        self.instance.locks.drain(self.control, self.session.core.id, names, limit)
    }
}
