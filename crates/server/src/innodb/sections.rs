//! Parts of both the status report and the deadlock report: transactions and locks in InnoDB's
//! lines.
//!
//! Must not call the engine: callers bring the data.

use std::fmt::Write;
use std::time::SystemTime;

use selkie_engine::{LockExtent, LockInfo, LockStrength, TransactionInfo, TransactionPhase};

use super::look::Names;
use crate::sessions::{Activity, SessionHandle};
use crate::time::local_datetime;

/// `trx_operation_state`: the present step of the engine in the transaction's statement.
pub(super) fn operation(trx: &TransactionInfo, activity: Option<&Activity>) -> &'static str {
    let state = activity.filter(|a| a.info.is_some()).map_or("", |a| a.state);
    match trx.phase {
        TransactionPhase::RollingBack => "rollback",
        TransactionPhase::Committing => "committing",
        TransactionPhase::Prepared => "",
        TransactionPhase::LockWait | TransactionPhase::Running => match state {
            "Update" => "inserting",
            "Updating" if trx.phase == TransactionPhase::LockWait => "starting index read",
            "Updating" => "updating or deleting",
            "Sending data" => "fetching rows",
            _ if trx.phase == TransactionPhase::LockWait => "starting index read",
            _ => "",
        },
    }
}

/// Writes the lines about a transaction, except its query.
pub(super) fn transaction(
    out: &mut String,
    prefix: &str,
    trx: &TransactionInfo,
    session: Option<&SessionHandle>,
) {
    let activity = session.map(SessionHandle::activity);
    let age = SystemTime::now().duration_since(trx.started).map_or(0, |age| age.as_secs());
    let state = match trx.phase {
        TransactionPhase::Prepared => format!("ACTIVE (PREPARED) {age} sec"),
        _ => format!("ACTIVE {age} sec"),
    };
    let operation = operation(trx, activity.as_ref());
    let space = if operation.is_empty() { "" } else { " " };
    let _ = writeln!(out, "{prefix}TRANSACTION {}, {state}{space}{operation}", trx.id);
    if activity.as_ref().is_some_and(|a| a.info.is_some())
        && trx.phase != TransactionPhase::Prepared
    {
        let _ = writeln!(out, "mysql tables in use 1, locked {}", u8::from(trx.rows_locked > 0));
    }
    let wait = match trx.phase {
        TransactionPhase::LockWait => "LOCK WAIT ",
        TransactionPhase::RollingBack => "ROLLING BACK ",
        _ => "",
    };
    let (structs, bytes, rows) = (trx.lock_structs, trx.lock_bytes, trx.rows_locked);
    let _ = write!(out, "{wait}{structs} lock struct(s), heap size {bytes}, {rows} row lock(s)");
    if trx.undo_records > 0 {
        let _ = write!(out, ", undo log entries {}", trx.undo_records);
    }
    out.push('\n');
    if let (Some(session), Some(activity)) = (session, activity) {
        thread(out, session, &activity);
    }
}

/// The text of a foreign key error, made from the statement's error.
pub(crate) fn foreign_key_error(session: &SessionHandle, error: &str) -> String {
    let mut out = local_datetime(SystemTime::now());
    let _ = writeln!(out, " 0x{:x} Transaction:", session.id);
    thread(&mut out, session, &session.activity());
    let (what, constraint) = error.split_once(" (").unwrap_or((error, ""));
    let constraint = constraint.strip_suffix(')').unwrap_or(constraint);
    let (table, constraint) = constraint.split_once(", ").unwrap_or((constraint, ""));
    let _ = writeln!(out, "{what} for table {table}:\n,\n  {constraint}\n");
    out
}

fn thread(out: &mut String, session: &SessionHandle, activity: &Activity) {
    let (host, _) = session.host.rsplit_once(':').unwrap_or((&session.host, ""));
    let address = if host == "localhost" && session.host.contains(':') { " 127.0.0.1" } else { "" };
    let _ = writeln!(
        out,
        "MariaDB thread id {}, OS thread handle {}, query id {} {host}{address} {} {}",
        session.id,
        session.id,
        activity.query_id,
        session.user(),
        activity.state
    );
    if let Some(info) = &activity.info {
        let _ = writeln!(out, "{info}");
    }
}

/// Writes the lines about a lock.
pub(super) fn lock(out: &mut String, names: &Names, lock: &LockInfo) {
    let table = names.table(lock.table, false);
    let trx = lock.transaction;
    if lock.extent == LockExtent::Table {
        let mode = strength_word(lock.strength);
        let waiting = if lock.granted { "" } else { " waiting" };
        let _ = writeln!(out, "TABLE LOCK table {table} trx id {trx} lock mode {mode}{waiting}");
        return;
    }
    let index = names.index(lock).unwrap_or_default();
    let (space, page) = (lock.table, lock.index.map_or(0, |id| id.0 + 1));
    let _ = writeln!(
        out,
        "RECORD LOCKS space id {space} page no {page} n bits 0 index {index} of table {table} \
         trx id {trx} lock_mode {}{}{}",
        strength_word(lock.strength),
        extent_words(lock),
        if lock.granted { "" } else { " waiting" }
    );
    record(out, lock.key.as_deref());
}

/// Writes the lines about a record: the bytes of its key as one field.
fn record(out: &mut String, key: Option<&[u8]>) {
    let bits = "PHYSICAL RECORD: n_fields 1; compact format; info bits 0";
    let (heap, bytes) = match key {
        None => (1, &b"supremum"[..]),
        Some(key) => (2, key),
    };
    let _ = writeln!(out, "Record lock, heap no {heap} {bits}");
    let _ = write!(out, " 0: len {}; hex ", bytes.len());
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    let shown = |byte: &u8| if (0x20..0x7f).contains(byte) { *byte as char } else { ' ' };
    let _ = writeln!(out, "; asc {};;\n", bytes.iter().map(shown).collect::<String>());
}

fn strength_word(strength: LockStrength) -> &'static str {
    match strength {
        LockStrength::Shared => "S",
        LockStrength::Exclusive => "X",
        LockStrength::IntentionShared => "IS",
        LockStrength::IntentionExclusive => "IX",
        LockStrength::AutoIncrement => "AUTO-INC",
    }
}

fn extent_words(lock: &LockInfo) -> &'static str {
    match (lock.extent, &lock.key) {
        (LockExtent::Table | LockExtent::NextKey, _) => "",
        (LockExtent::Record, _) => " locks rec but not gap",
        (LockExtent::Gap, _) => " locks gap before rec",
        (LockExtent::InsertIntention, Some(_)) => " locks gap before rec insert intention",
        (LockExtent::InsertIntention, None) => " insert intention",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_dumped() {
        let mut out = String::new();
        record(&mut out, Some(&[0x80, b'a']));
        assert!(out.ends_with(" 0: len 2; hex 8061; asc  a;;\n\n"), "{out}");
        out.clear();
        record(&mut out, None);
        assert!(out.contains("hex 73757072656d756d; asc supremum;;"), "{out}");
    }
}
