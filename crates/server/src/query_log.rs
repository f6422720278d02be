//! The general and the slow query log, in files and tables.
//!
//! Must not run statements: the backend writes the rows of the log tables. If a log cannot be
//! written, it is switched off; the statement must not fail.

mod file;
mod slow;

use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;

use self::file::LogFile;
use crate::server::Server;
use crate::session::Shared;
use crate::variables::{Globals, VarId, ids};

pub(crate) use slow::{Ran, Stopwatch, Verbosity, log_slow};

/// Bits of `log_output`.
mod output {
    pub(super) const NONE: u64 = 1;
    pub(super) const FILE: u64 = 2;
    pub(super) const TABLE: u64 = 4;
}

/// A line of the general log.
#[derive(Debug)]
pub struct GeneralEntry {
    /// Time the command arrived.
    pub at: SystemTime,
    /// User and host, in the format of the log tables.
    pub user_host: String,
    /// Number of the connection.
    pub thread_id: u64,
    /// `server_id`.
    pub server_id: u64,
    /// Name of the command.
    pub command: &'static str,
    /// Text of the command.
    pub argument: String,
}

/// An entry of the slow log.
#[derive(Debug)]
pub struct SlowEntry {
    /// Time the statement began.
    pub at: SystemTime,
    /// User and host, in the format of the log tables.
    pub user_host: String,
    /// Microseconds it took.
    pub query_micros: u64,
    /// Microseconds it waited for locks; always 0 here, because nothing measures them.
    pub lock_micros: u64,
    /// Rows it sent.
    pub rows_sent: u64,
    /// Rows it read.
    pub rows_examined: u64,
    /// Rows it changed.
    pub rows_affected: u64,
    /// Bytes it sent.
    pub bytes_sent: u64,
    /// The default database.
    pub schema: String,
    /// `LAST_INSERT_ID()` before the statement; always 0 here.
    pub last_insert_id: u64,
    /// The AUTO_INCREMENT value it generated.
    pub insert_id: u64,
    /// `server_id`.
    pub server_id: u64,
    /// Number of the connection.
    pub thread_id: u64,
    /// More lines for the file: about the plan, and the plan itself.
    pub remarks: String,
    /// The statement.
    pub text: String,
}

/// The files of both logs.
#[derive(Debug, Default)]
pub(crate) struct QueryLogs {
    general: Mutex<LogFile>,
    slow: Mutex<LogFile>,
}

impl QueryLogs {
    /// FLUSH LOGS, or a new file name: later entries go to a newly opened file.
    pub(crate) fn reopen(&self, general: bool, slow: bool) {
        if general {
            self.general.lock().close();
        }
        if slow {
            self.slow.lock().close();
        }
    }
}

/// Writes a command of this session to the general log, if that is on.
pub(crate) fn log_general(shared: &Shared, command: &'static str, argument: &[u8]) {
    let globals = &shared.server.globals;
    if !shared.habits().logs_commands {
        return;
    }
    let entry = GeneralEntry {
        at: SystemTime::now(),
        user_host: user_host(shared),
        thread_id: shared.handle.id,
        server_id: globals.get(ids().server_id).as_u64(),
        command,
        argument: String::from_utf8_lossy(argument).into_owned(),
    };
    let outputs = outputs(globals);
    if outputs & output::TABLE != 0 {
        shared.server.backend.log_general(&entry);
    }
    if outputs & output::FILE != 0 {
        write(
            &shared.server,
            &shared.server.logs.queries.general,
            ids().general_log_file,
            |file| file.general(&entry),
        );
    }
}

/// Targets of the logs. Compat: NONE overrides all other targets.
fn outputs(globals: &Globals) -> u64 {
    match globals.get(ids().log_output).as_u64() {
        outputs if outputs & output::NONE != 0 => 0,
        outputs => outputs,
    }
}

fn write(
    server: &Arc<Server>,
    log: &Mutex<LogFile>,
    name: VarId,
    line: impl FnOnce(&mut LogFile) -> std::io::Result<()>,
) {
    let path = server.datadir.join(server.globals.get(name).as_str());
    let mut log = log.lock();
    if let Err(error) = log.open(&path, &server.globals).and_then(|()| line(&mut log)) {
        tracing::error!("Could not use {} for logging (error {error})", path.display());
        log.give_up(&path);
    }
}

/// `user[account] @ host [address]`.
fn user_host(shared: &Shared) -> String {
    let access = shared.access.lock();
    let identity = access.identity();
    let user = &identity.account.user;
    let address = shared.handle.host.rsplit_once(':').map_or("", |(host, _)| host);
    let address = if address == identity.host { "" } else { address };
    format!("{user}[{}] @ {} [{address}]", identity.user, identity.host)
}
