//! SHOW BINARY LOGS, SHOW BINLOG STATUS, PURGE, RESET MASTER, FLUSH BINARY LOGS.
//!
//! Must not check privileges; `admin` does.

use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult, SqlType, TypeKind, Value};

use crate::admin::{Answer, Notes, answer_text};
use crate::server::Server;

/// Longest name of a file in an answer, in characters.
const NAME: u32 = 255;
/// Longest name in SHOW BINLOG STATUS.
const LONG_NAME: u32 = 512;

/// Files that PURGE removes.
pub(crate) enum Upto {
    /// Files before the one with this name.
    File(String),
    /// Files that were last changed before this second.
    Time(u64),
}

fn number() -> SqlType {
    let mut ty = SqlType::new(TypeKind::BigInt, 20, 0);
    ty.unsigned = true;
    ty
}

/// SHOW BINARY LOGS.
pub(crate) fn show_logs(server: &Server) -> SqlResult<Answer> {
    let binlog = server.binlog().ok_or_else(|| SqlError::new(&ER_NO_BINARY_LOGGING, &[]))?;
    let files = binlog.told_files()?;
    let names = binlog.files().names();
    let row =
        |(file, length): (u32, u64)| vec![Value::bytes(names.file(file)), Value::UInt(length)];
    Ok(Answer::Rows {
        columns: vec![
            ("Log_name".to_owned(), answer_text(NAME)),
            ("File_size".to_owned(), number()),
        ],
        rows: files.into_iter().map(row).collect(),
    })
}

/// SHOW BINLOG STATUS; without a log it has no row.
pub(crate) fn show_status(server: &Server) -> SqlResult<Answer> {
    let columns = vec![
        ("File".to_owned(), answer_text(LONG_NAME)),
        ("Position".to_owned(), number()),
        ("Binlog_Do_DB".to_owned(), answer_text(NAME)),
        ("Binlog_Ignore_DB".to_owned(), answer_text(NAME)),
    ];
    let Some(binlog) = server.binlog() else {
        return Ok(Answer::Rows { columns, rows: Vec::new() });
    };
    let (end, _) = binlog.told()?;
    let list = |names: &[String]| Value::bytes(names.join(","));
    let row = vec![
        Value::bytes(binlog.files().names().file(end.file)),
        Value::UInt(end.offset),
        list(&binlog.filter.databases),
        list(&binlog.filter.ignored),
    ];
    Ok(Answer::Rows { columns, rows: vec![row] })
}

/// PURGE BINARY LOGS. Compat: without a log there is nothing to purge, and that is no error.
pub(crate) fn purge(server: &Server, upto: &Upto, notes: &mut Notes) -> SqlResult<()> {
    let Some(binlog) = server.binlog() else { return Ok(()) };
    match upto {
        Upto::File(name) => binlog.purge_to(name, notes),
        Upto::Time(seconds) => binlog.purge_before(*seconds, notes),
    }
}

/// RESET MASTER [TO n] by a statement of second `at`.
pub(crate) fn reset(server: &Server, to: Option<u64>, at: u32) -> SqlResult<()> {
    let binlog = server.binlog();
    let binlog = binlog.ok_or_else(|| SqlError::new(&ER_FLUSH_MASTER_BINLOG_CLOSED, &[]))?;
    binlog.reset(to, at)
}

/// FLUSH [BINARY] LOGS by a statement of second `at`. Compat: without a log it does nothing.
pub(crate) fn flush(server: &Server, at: u32) -> SqlResult<()> {
    server.binlog().map_or(Ok(()), |binlog| binlog.rotate(at))
}
