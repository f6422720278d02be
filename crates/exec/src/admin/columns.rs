//! Builds the column groups of tables that reports read again and again, on a thread of its own.
//!
//! Tables that had groups before a restart get them first ([`column_list`](super::column_list)).
//! The table's definition is locked meanwhile, but whoever wants to change it ends the build. A
//! build that fails leaves the table to be read by rows.

use std::time::Duration;

use selkie_catalog::TableInfo;
use selkie_engine::{EngineError, EngineResult, GroupShape, NoWait, StatementContext, WaitKind};
use std::task::Waker;

use selkie_types::SqlResult;

use super::column_list::ColumnList;
use crate::Instance;
use crate::state::column_keeper::{ColumnKeeper, Work};
use crate::state::control::Control;
use crate::state::error::from_engine;
use crate::state::guard::guarded;
use crate::state::metadata::{LockMode, LockTicket, MetadataLocks, NOBODY};

/// Rows from which on the end of a table, which grows, gets another group.
const LEAST_MORE: u32 = GroupShape::USUAL.rows / 2;

/// Share of a table's rows in groups from which on plans are made for reading by groups.
const MOST: f64 = 0.8;

/// Builds groups until [`ColumnKeeper::stop`].
pub fn build_wanted_columns(instance: &Instance) {
    let keeper = &instance.upkeep.columns;
    let mut list = keeper.list().map(ColumnList::open).unwrap_or_default();
    while !keeper.stops()
        && let Some(listed) = list.take(instance)
    {
        if let Some(table) = instance.catalog.snapshot().table(&listed.schema, &listed.table) {
            try_build(instance, table, listed.columns);
        }
    }
    list.save(instance);
    while let Some(work) = keeper.next() {
        if let Work::Build(table) = work {
            try_build(instance, &table, 0);
        }
        list.save(instance);
    }
    list.save(instance);
}

fn try_build(instance: &Instance, table: &TableInfo, columns: u64) {
    if let Err(error) = guarded(|| build(instance, table, columns)) {
        tracing::debug!("column groups of {} are not built: {error}", table.name());
    }
}

/// Builds groups of a table, which count `columns` as read: a bit for each of the first 64.
fn build(instance: &Instance, table: &TableInfo, columns: u64) -> SqlResult<()> {
    let name = (table.schema(), table.name());
    let locks = &instance.locks;
    let control = Control::unattended();
    let lock = locks.lock(&control, NOBODY, name, LockMode::Read, Duration::ZERO)?;
    let snapshot = instance.catalog.snapshot();
    let now = snapshot.table(table.schema(), table.name());
    // A table that was changed meanwhile is looked at again when it is read again.
    let Some(table) = now.filter(|now| now.def.id == table.def.id) else { return Ok(()) };
    let Some(handle) = instance.look_into(table) else { return Ok(()) };
    let Some(source) = handle.table.columns() else { return Ok(()) };
    let share = || source.state().rows as f64 / handle.table.rows().max(1) as f64;
    let before = share();
    source.want(columns);
    let least = match source.state().groups {
        0 => GroupShape::USUAL.least,
        _ => LEAST_MORE,
    };
    let shape = GroupShape { least, ..GroupShape::USUAL };
    let builds = Builds { keeper: &instance.upkeep.columns, locks, lock: &lock };
    let built = source.build_columns(None, &builds, shape);
    let built = built.map_err(|e| from_engine(e, &table.def))?;
    if built > 0 {
        instance.upkeep.columns.note_built(table.def.id);
    }
    if built > 0 && before < MOST && share() >= MOST {
        // Plans are made anew: some are better with groups than with indexes.
        instance.catalog.publish(|_| {});
    }
    Ok(())
}

/// The context of a build: it ends with the server, and for whoever waits for the table.
struct Builds<'k> {
    keeper: &'k ColumnKeeper,
    locks: &'k MetadataLocks,
    lock: &'k LockTicket,
}

impl StatementContext for Builds<'_> {
    fn check_killed(&self) -> EngineResult<()> {
        match self.keeper.stops() || self.locks.is_awaited(self.lock) {
            true => Err(EngineError::Killed),
            false => Ok(()),
        }
    }

    fn wait(
        &self,
        kind: WaitKind,
        limit: Option<Duration>,
        waker: Waker,
        park: &mut dyn FnMut(Duration) -> bool,
    ) -> EngineResult<()> {
        // A build takes no lock of a row.
        NoWait.wait(kind, limit, waker, park)
    }

    fn lock_wait_timeout(&self) -> Duration {
        Duration::ZERO
    }
}
