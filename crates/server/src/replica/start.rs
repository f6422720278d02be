//! START SLAVE, STOP SLAVE and RESET SLAVE, of one connection or of all.
//!
//! Must not know what the threads do.

use std::sync::Arc;

use selkie_exec::Killed;
use selkie_replication::gtid::Position;
use selkie_replication::replica::{Note, Place};
use selkie_sql::ast::{SlaveUntil, Slaves, StartStopSlave, StringLiteral};
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::change::{default_heartbeat, implicit_change, must_stop, note_of};
use super::connection::{Config, Connection, Progress, Until, UsingGtid};
use super::relay::RelayLog;
use super::{info_files, names, threads};
use crate::accounts::Privileges;
use crate::admin::{Notes, parsed};
use crate::backend::ReplicaScope;
use crate::server::Server;
use crate::session::Shared;
use crate::slots::{hash_of_name, in_slots};

/// The threads that a statement means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Threads {
    receiver: bool,
    applier: bool,
}

impl Threads {
    /// Those that a statement names; none named means both.
    fn said(statement: &StartStopSlave) -> Self {
        let none = !statement.io_thread && !statement.sql_thread;
        Self { receiver: statement.io_thread || none, applier: statement.sql_thread || none }
    }

    /// Those of them that run, or those that do not.
    fn that_run(self, connection: &Connection, run: bool) -> Self {
        Self {
            receiver: self.receiver && connection.receiver.is_running() == run,
            applier: self.applier && connection.applier.is_running() == run,
        }
    }

    fn any(self) -> bool {
        self.receiver || self.applier
    }
}

/// Runs START SLAVE, STOP SLAVE, START ALL SLAVES, STOP ALL SLAVES.
pub(crate) fn start_stop(
    shared: &Shared,
    statement: &StartStopSlave,
    notes: &mut Notes,
) -> SqlResult<()> {
    if !statement.start && shared.handle.in_transaction() {
        return Err(SqlError::new(&ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
    }
    let wanted = Threads::said(statement);
    let _turn = shared.server.replica.turn(&|| check_alive(shared))?;
    match &statement.which {
        Slaves::All => all(shared, statement.start, wanted, notes),
        Slaves::One(name) => {
            let name = names::said(shared, name.as_ref())?;
            // Compat: who may not do it is told whether there is such a connection.
            let connection = names::find(&shared.server, &name)?;
            check_may(shared)?;
            match statement.start {
                true => start_one(shared, statement, &connection, notes),
                false => stop_one(shared, wanted, &connection, notes),
            }
        }
    }
}

/// Fails if the statement is killed.
pub(super) fn check_alive(shared: &Shared) -> SqlResult<()> {
    match shared.handle.kill.get() {
        Killed::No => Ok(()),
        _ => Err(SqlError::interrupted()),
    }
}

fn check_may(shared: &Shared) -> SqlResult<()> {
    shared.access.lock().check_global(Privileges::SUPER | Privileges::REPLICATION_SLAVE_ADMIN)
}

/// Starts or stops the threads of all connections. Compat: it is allowed to all if there is nothing
/// to do.
fn all(shared: &Shared, start: bool, wanted: Threads, notes: &mut Notes) -> SqlResult<()> {
    let connections = shared.server.replica.list();
    let hashes: Vec<u32> = connections.iter().map(|c| hash_of_name(&c.name)).collect();
    for connection in in_slots(&hashes).into_iter().map(|at| &connections[at]) {
        if !connection.has_primary() {
            continue;
        }
        let concerned = wanted.that_run(connection, !start);
        if !concerned.any() {
            continue;
        }
        check_may(shared)?;
        let (done, def, verb) = match start {
            true => {
                forget_until(connection, concerned);
                (start_threads(&shared.server, connection, concerned), &ER_SLAVE_STARTED, "START")
            }
            false => (stop_threads(shared, connection, concerned), &ER_SLAVE_STOPPED, "STOP"),
        };
        let name = &connection.name;
        if let Err(error) = done {
            notes.push(selkie_types::Condition::from_error(selkie_types::Level::Error, &error));
            return Err(SqlError::new(&ER_CANT_START_STOP_SLAVE, &[&verb, name]));
        }
        notes.push(note_of(def, &[name]));
    }
    Ok(())
}

fn start_one(
    shared: &Shared,
    statement: &StartStopSlave,
    connection: &Arc<Connection>,
    notes: &mut Notes,
) -> SqlResult<()> {
    if let Some(SlaveUntil::Gtid(_)) = statement.until {
        if connection.is_running() {
            return Err(SqlError::new(&ER_SLAVE_WAS_RUNNING, &[]));
        }
        if statement.io_thread || statement.sql_thread {
            return Err(SqlError::new(&ER_BAD_SLAVE_UNTIL_COND, &[]));
        }
        if connection.config.lock().using_gtid == UsingGtid::No {
            return Err(SqlError::new(&ER_UNTIL_REQUIRES_USING_GTID, &[]));
        }
    }
    let concerned = Threads::said(statement).that_run(connection, false);
    if !concerned.any() {
        notes.push(note_of(&ER_SLAVE_WAS_RUNNING, &[]));
        return Ok(());
    }
    if !connection.has_primary() {
        return Err(no_primary());
    }
    match &statement.until {
        None => forget_until(connection, concerned),
        Some(_) if !concerned.applier => notes.push(note_of(&ER_UNTIL_COND_IGNORED, &[])),
        Some(until) => {
            connection.progress.lock().until = read_until(until)?;
            if !shared.server.replica.options.skips_start {
                notes.push(note_of(&ER_MISSING_SKIP_SLAVE, &[]));
            }
        }
    }
    start_threads(&shared.server, connection, concerned)
}

/// The error of a connection that has no primary.
fn no_primary() -> SqlError {
    let text = "Misconfigured slave: MASTER_HOST was not set; Fix in config file or with CHANGE \
                MASTER TO";
    SqlError::with_message(&ER_BAD_SLAVE, text)
}

fn forget_until(connection: &Connection, starting: Threads) {
    if starting.applier {
        connection.progress.lock().until = Until::None;
    }
}

fn read_until(until: &SlaveUntil) -> SqlResult<Until> {
    let place = |file: &StringLiteral, offset: u64| {
        let file = names::text(file);
        let number = file.rsplit_once('.').map_or("", |(_, number)| number);
        match !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) {
            true => Ok(Place { file, offset }),
            false => Err(SqlError::new(&ER_BAD_SLAVE_UNTIL_COND, &[])),
        }
    };
    Ok(match until {
        SlaveUntil::Master(file, offset) => Until::Primary(place(file, *offset)?),
        SlaveUntil::Relay(file, offset) => Until::Relay(place(file, *offset)?),
        SlaveUntil::Gtid(list) => Until::Gtid(parsed::<Position>(&names::text(list))?),
    })
}

/// Starts threads that do not run.
fn start_threads(
    server: &Arc<Server>,
    connection: &Arc<Connection>,
    threads: Threads,
) -> SqlResult<()> {
    if server.is_stopping() {
        return Err(SqlError::interrupted());
    }
    if threads.receiver {
        connection.progress.lock().receiver_error = None;
        threads::start_receiver(server, connection)?;
    }
    if threads.applier {
        connection.progress.lock().applier_error = None;
        threads::start_applier(server, connection)?;
    }
    Ok(())
}

/// Starts both threads of a connection; for the server's start.
pub(super) fn start_both(server: &Arc<Server>, connection: &Arc<Connection>) -> SqlResult<()> {
    start_threads(server, connection, Threads { receiver: true, applier: true })
}

fn stop_one(
    shared: &Shared,
    wanted: Threads,
    connection: &Connection,
    notes: &mut Notes,
) -> SqlResult<()> {
    let concerned = wanted.that_run(connection, true);
    if !concerned.any() {
        notes.push(note_of(&ER_SLAVE_WAS_NOT_RUNNING, &[]));
        return Ok(());
    }
    stop_threads(shared, connection, concerned)
}

/// Stops threads that run, and waits for their end. A killed statement leaves them stopping.
fn stop_threads(shared: &Shared, connection: &Connection, threads: Threads) -> SqlResult<()> {
    let receiver = threads.receiver.then_some(&connection.receiver);
    let applier = threads.applier.then_some(&connection.applier);
    let threads = || applier.into_iter().chain(receiver);
    threads().for_each(|thread| thread.ask_to_stop());
    // An applier may wait for events.
    connection.relay().into_iter().for_each(|relay| relay.wake());
    threads().try_for_each(|thread| threads::wait_ended(thread, &|| check_alive(shared)))?;
    info_files::save(&shared.server, connection)
}

/// Runs FLUSH RELAY LOGS: the relay log of a connection, if it has one, goes on in a new file.
pub(crate) fn flush_relay(shared: &Shared, name: Option<&StringLiteral>) -> SqlResult<()> {
    flush_relay_of(&*names::find(&shared.server, &names::said(shared, name)?)?)
}

/// The part of FLUSH LOGS for replicas. Compat: it is about the connection without a name.
pub(crate) fn flush_first_relay(shared: &Shared) -> SqlResult<()> {
    shared.server.replica.find("").map_or(Ok(()), |connection| flush_relay_of(&connection))
}

fn flush_relay_of(connection: &Connection) -> SqlResult<()> {
    let flushed = connection.relay().map_or(Ok(()), RelayLog::flush);
    flushed.map_err(|error| {
        SqlError::with_message(&ER_SLAVE_RELAY_LOG_WRITE_FAILURE, error.to_string())
    })
}

/// Runs RESET SLAVE.
pub(crate) fn reset(
    shared: &Shared,
    name: Option<&StringLiteral>,
    all: bool,
    notes: &mut Notes,
) -> SqlResult<()> {
    let server = &shared.server;
    let name = names::said(shared, name)?;
    let _turn = server.replica.turn(&|| check_alive(shared))?;
    let connection = names::find(server, &name)?;
    if connection.is_running() {
        return Err(must_stop(&connection.name));
    }
    let using = std::mem::take(&mut connection.config.lock().using_gtid);
    notes.extend(implicit_change("RESET SLAVE", using, UsingGtid::SlavePos));
    // Not the other way round: after a crash in between, these files would be taken for what
    // follows the new beginning.
    threads::drop_relay_files(server, &connection)?;
    forget_progress(server, &connection)?;
    info_files::remove(server, &connection)?;
    if !all {
        return Ok(());
    }
    server.applied().note(&Note::Forget(connection.name.clone()))?;
    if connection.name.is_empty() {
        forget_primary(&mut connection.config.lock());
        return Ok(());
    }
    drop_temporary_tables(server, &connection)?;
    server.replica.remove(&connection.name);
    info_files::save_names(server)
}

/// Drops the tables that the primary's sessions have left.
fn drop_temporary_tables(server: &Arc<Server>, connection: &Connection) -> SqlResult<()> {
    if connection.temporary.lock().is_empty() {
        return Ok(());
    }
    let scope = ReplicaScope::new(connection.filter(), Arc::clone(&connection.temporary));
    let session = server.backend.replica_session(server, Arc::new(scope), "Slave_SQL");
    session.map(|mut session| session.drop_temporary_tables())
}

/// The connection begins anew with what the primary has.
fn forget_progress(server: &Server, connection: &Connection) -> SqlResult<()> {
    let begin = Note::Begin { connection: connection.name.clone(), at: Place::default() };
    server.applied().note(&begin)?;
    let mut config = connection.config.lock();
    config.delay = 0;
    config.ssl_verify = false;
    config.heartbeat = default_heartbeat(server);
    let mut progress = connection.progress.lock();
    // Counts stay.
    *progress = Progress {
        transactional_groups: progress.transactional_groups,
        non_transactional_groups: progress.non_transactional_groups,
        ddl_groups: progress.ddl_groups,
        retried_transactions: progress.retried_transactions,
        executed_entries: progress.executed_entries,
        ..Progress::default()
    };
    Ok(())
}

/// RESET SLAVE ALL of the default connection. Compat: what concerns TLS stays.
fn forget_primary(config: &mut Config) {
    let fresh = Config::new(config.heartbeat);
    *config = Config {
        connect_retry: config.connect_retry,
        retry_count: config.retry_count,
        ssl: config.ssl,
        ssl_ca: std::mem::take(&mut config.ssl_ca),
        ssl_capath: std::mem::take(&mut config.ssl_capath),
        ssl_cert: std::mem::take(&mut config.ssl_cert),
        ssl_key: std::mem::take(&mut config.ssl_key),
        ssl_cipher: std::mem::take(&mut config.ssl_cipher),
        ssl_crl: std::mem::take(&mut config.ssl_crl),
        ssl_crlpath: std::mem::take(&mut config.ssl_crlpath),
        ssl_verify: config.ssl_verify,
        ..fresh
    };
}
