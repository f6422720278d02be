//! INNODB_TRX.
//!
//! Must not show the engine's internal transactions.

use std::sync::Arc;

use selkie_engine::{Isolation, LockDetail, TransactionInfo, TransactionPhase};
use selkie_types::Value;

use super::look::{Look, local, lock_id};
use super::{Asked, sections};
use crate::sessions::SessionHandle;
use crate::tables::{Row, text};

pub(super) fn transactions(asked: &Asked<'_>) -> Vec<Row> {
    let look = Look::new(asked.instance, LockDetail::Waits);
    // Compat: the youngest transaction first.
    look.found.transactions.iter().rev().map(|trx| row(asked, &look, trx)).collect()
}

/// The session of a transaction.
pub(super) fn session_of(
    shared: &crate::session::Shared,
    trx: &TransactionInfo,
) -> Option<Arc<SessionHandle>> {
    shared.server.sessions.find(trx.session?)
}

fn row(asked: &Asked<'_>, look: &Look<'_>, trx: &TransactionInfo) -> Row {
    let session = session_of(asked.shared, trx);
    let activity = session.as_ref().map(|s| s.activity());
    let info = activity.as_ref().and_then(|a| a.info.clone());
    let busy = info.is_some();
    let requested = look.requested(trx).map(lock_id);
    let number = |n: u64| Value::UInt(n);
    let flag = |on: bool| Value::Int(on.into());
    let checks = session.as_ref().map_or((true, true), |s| s.checks());
    vec![
        ("trx_id", number(trx.id)),
        ("trx_state", text(phase_word(trx.phase))),
        ("trx_started", local(trx.started)),
        ("trx_requested_lock_id", requested.map_or(Value::Null, text)),
        ("trx_wait_started", trx.wait_started.map_or(Value::Null, local)),
        ("trx_weight", number(trx.rows_modified + trx.rows_locked)),
        ("trx_mysql_thread_id", number(trx.session.unwrap_or(0))),
        ("trx_query", info.as_deref().map_or(Value::Null, |q| text(cut(q, 1024)))),
        ("trx_operation_state", text(sections::operation(trx, activity.as_ref()))),
        ("trx_tables_in_use", number(busy.into())),
        ("trx_tables_locked", number(trx.tables)),
        ("trx_lock_structs", number(trx.lock_structs)),
        ("trx_lock_memory_bytes", number(trx.lock_bytes)),
        ("trx_rows_locked", number(trx.rows_locked)),
        ("trx_rows_modified", number(trx.rows_modified)),
        ("trx_concurrency_tickets", number(0)),
        ("trx_isolation_level", text(isolation_word(trx.isolation))),
        ("trx_unique_checks", flag(checks.0)),
        ("trx_foreign_key_checks", flag(checks.1)),
        ("trx_last_foreign_key_error", Value::Null),
        ("trx_is_read_only", flag(trx.read_only)),
        ("trx_autocommit_non_locking", flag(is_plain_read(trx, session.as_deref()))),
    ]
}

/// Whether a transaction is a single statement (autocommit) that reads a snapshot.
fn is_plain_read(trx: &TransactionInfo, session: Option<&SessionHandle>) -> bool {
    let alone = session.is_some_and(|s| !s.in_transaction());
    alone && trx.has_snapshot && trx.rows_modified == 0 && trx.rows_locked == 0
}

pub(super) fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn phase_word(phase: TransactionPhase) -> &'static str {
    match phase {
        TransactionPhase::Running | TransactionPhase::Prepared => "RUNNING",
        TransactionPhase::LockWait => "LOCK WAIT",
        TransactionPhase::RollingBack => "ROLLING BACK",
        TransactionPhase::Committing => "COMMITTING",
    }
}

fn isolation_word(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadUncommitted => "READ UNCOMMITTED",
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn queries_are_cut_between_characters() {
        assert_eq!(cut("abc", 10), "abc");
        assert_eq!(cut("aä", 2), "a");
    }
}
