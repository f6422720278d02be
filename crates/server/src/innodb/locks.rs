//! INNODB_LOCKS and INNODB_LOCK_WAITS.
//!
//! Compat: shows only locks that a transaction waits for, and the locks that block them.

use std::collections::BTreeSet;

use selkie_engine::{LockDetail, LockExtent, LockInfo, LockStrength};
use selkie_types::{SqlMode, Value};

use super::Asked;
use super::look::{Look, lock_id};
use super::record::record_text;
use crate::tables::{Row, text};
use crate::variables::ids;

pub(super) fn locks(asked: &Asked<'_>) -> Vec<Row> {
    let look = Look::new(asked.instance, LockDetail::Waits);
    let mut seen = BTreeSet::new();
    let waits = look.found.waits.iter().flat_map(|wait| [wait.requested, wait.blocking]);
    let locks = waits.filter(|at| seen.insert(*at)).map(|at| &look.found.locks[at]);
    let mode = SqlMode::from_bits(asked.shared.var(ids().sql_mode).as_u64()).unwrap_or_default();
    let ansi = mode.contains(SqlMode::ANSI_QUOTES);
    locks.map(|lock| row(&look, lock, ansi)).collect()
}

pub(super) fn lock_waits(asked: &Asked<'_>) -> Vec<Row> {
    let look = Look::new(asked.instance, LockDetail::Waits);
    let row = |wait: &selkie_engine::LockWaitInfo| {
        let requested = &look.found.locks[wait.requested];
        let blocking = &look.found.locks[wait.blocking];
        vec![
            ("requesting_trx_id", Value::UInt(requested.transaction)),
            ("requested_lock_id", text(lock_id(requested))),
            ("blocking_trx_id", Value::UInt(blocking.transaction)),
            ("blocking_lock_id", text(lock_id(blocking))),
        ]
    };
    look.found.waits.iter().map(row).collect()
}

fn row(look: &Look<'_>, lock: &LockInfo, ansi: bool) -> Row {
    let is_table = lock.extent == LockExtent::Table;
    let unless_table = |value: Value| if is_table { Value::Null } else { value };
    let index = look.tables.index(lock).map_or(Value::Null, text);
    let data = unless_table(record_text(look, lock).map_or(Value::Null, text));
    vec![
        ("lock_id", text(lock_id(lock))),
        ("lock_trx_id", Value::UInt(lock.transaction)),
        ("lock_mode", text(mode_word(lock))),
        ("lock_type", text(if is_table { "TABLE" } else { "RECORD" })),
        ("lock_table", text(look.tables.table(lock.table, ansi))),
        ("lock_index", index),
        ("lock_space", unless_table(Value::UInt(lock.table.0))),
        ("lock_page", Value::Null),
        ("lock_rec", unless_table(Value::UInt(lock.record.into()))),
        ("lock_data", data),
    ]
}

fn mode_word(lock: &LockInfo) -> &'static str {
    match (lock.strength, lock.extent) {
        (LockStrength::Shared, LockExtent::Gap) => "S,GAP",
        (LockStrength::Shared, _) => "S",
        (LockStrength::Exclusive, LockExtent::Gap) => "X,GAP",
        (LockStrength::Exclusive, _) => "X",
        (LockStrength::IntentionShared, _) => "IS",
        (LockStrength::IntentionExclusive, _) => "IX",
        (LockStrength::AutoIncrement, _) => "AUTO_INC",
    }
}
