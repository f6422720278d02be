//! Metadata locks of tables and schemas.
//!
//! Must not keep anything: the executor shows the locks that there are.

use selkie_exec::Instance;
use selkie_exec::metadata::{LockMode, ShownLock};
use selkie_types::Value;

use super::{Asked, optional};
use crate::performance::names;
use crate::tables::{Row, text};

/// LOCK_TYPE. Compat: MariaDB has no name for a table that nobody else may change.
fn kind(mode: LockMode) -> &'static str {
    match mode {
        LockMode::Read => "SHARED_READ",
        LockMode::Write => "SHARED_WRITE",
        LockMode::NoWrite => "SHARED_READ_ONLY",
        LockMode::Online | LockMode::Upgradable => "SHARED_UPGRADABLE",
        LockMode::Alone => "SHARED_NO_READ_WRITE",
        LockMode::Exclusive => "EXCLUSIVE",
    }
}

/// The locks on objects that exist, if the instrument is on.
pub(super) fn metadata_locks(asked: &Asked<'_>, instance: &Instance) -> Vec<Row> {
    if !asked.performance.setup.instrument(names::metadata_locks()).enabled {
        return Vec::new();
    }
    let snapshot = instance.catalog.snapshot();
    let names = snapshot.schemas().flat_map(|schema| {
        let tables = schema.tables.values().map(|table| table.name().to_owned());
        let own = String::new();
        tables.chain([own]).map(|table| (schema.name.to_string(), table))
    });
    instance.locks.shown(names).iter().map(|lock| row(asked, lock)).collect()
}

fn row(asked: &Asked<'_>, lock: &ShownLock) -> Row {
    // Sessions are in the order of their numbers.
    let at = asked.sessions.binary_search_by_key(&lock.owner, |session| session.id);
    let owner = at.ok().and_then(|at| asked.sessions[at].recorder());
    let is_table = !lock.table.is_empty();
    vec![
        ("OBJECT_TYPE", text(if is_table { "TABLE" } else { "SCHEMA" })),
        ("OBJECT_SCHEMA", text(&lock.schema)),
        ("OBJECT_NAME", optional(Some(&lock.table).filter(|_| is_table))),
        ("LOCK_TYPE", text(kind(lock.mode))),
        ("LOCK_DURATION", text("TRANSACTION")),
        ("LOCK_STATUS", text(if lock.is_granted { "GRANTED" } else { "PENDING" })),
        ("SOURCE", text("")),
        ("OWNER_THREAD_ID", owner.map_or(Value::Null, |owner| Value::UInt(owner.thread))),
    ]
}
