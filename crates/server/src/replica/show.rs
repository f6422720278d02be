//! SHOW SLAVE STATUS and SHOW ALL SLAVES STATUS.
//!
//! Must not wait for a thread: it shows what the threads have noted.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use selkie_replication::replica::FilterRule;
use selkie_sql::ast::StringLiteral;
use selkie_types::{SqlError, SqlResult, SqlType, TypeKind, Value};

use super::change::FIRST_OFFSET;
use super::connection::{Config, Connection, Progress, ReceiverState, Until, UsingGtid};
use super::{names, threads};
use crate::admin::{Answer, answer_text};
use crate::server::Server;
use crate::session::Shared;
use crate::variables::{VarValue, registry};

/// A column with its value in one row.
type Cell = (&'static str, SqlType, Value);

/// SHOW SLAVE ['name'] STATUS. Compat: without a primary there is no row.
pub(crate) fn status(shared: &Shared, name: Option<&StringLiteral>) -> SqlResult<Answer> {
    let connection = names::find(&shared.server, &names::said(shared, name)?)?;
    let row = cells(&connection);
    let is_shown = connection.has_primary();
    Ok(answer(vec![row], |_| is_shown))
}

/// SHOW ALL SLAVES STATUS.
pub(crate) fn all(shared: &Shared) -> Answer {
    let server = &shared.server;
    let shown: Vec<_> = server.replica.list().into_iter().filter(|c| c.has_primary()).collect();
    let is_empty = shown.is_empty();
    let first = server.replica.find("").filter(|_| is_empty);
    let rows = shown.iter().chain(&first).map(|connection| all_cells(server, connection));
    answer(rows.collect(), |_| !is_empty)
}

/// Rows of cells as an answer; the first row says the columns even if it is not shown.
fn answer(rows: Vec<Vec<Cell>>, is_shown: impl Fn(&[Cell]) -> bool) -> Answer {
    let columns =
        rows.first().map(|row| row.iter().map(|(name, ty, _)| ((*name).to_owned(), ty.clone())));
    let columns = columns.into_iter().flatten().collect();
    let shown = rows.into_iter().filter(|row| is_shown(row));
    let rows = shown.map(|row| row.into_iter().map(|(_, _, value)| value).collect()).collect();
    Answer::Rows { columns, rows }
}

fn text(name: &'static str, characters: u32, value: impl Into<String>) -> Cell {
    (name, answer_text(characters), Value::bytes(value.into()))
}

fn yes_no(name: &'static str, characters: u32, value: bool) -> Cell {
    text(name, characters, if value { "Yes" } else { "No" })
}

fn number(name: &'static str, kind: TypeKind, digits: u32, value: Option<u64>) -> Cell {
    let mut ty = SqlType::new(kind, digits, 0);
    ty.unsigned = true;
    (name, ty, value.map_or(Value::Null, Value::UInt))
}

fn int(name: &'static str, digits: u32, value: impl Into<u64>) -> Cell {
    number(name, TypeKind::Int, digits, Some(value.into()))
}

fn big(name: &'static str, digits: u32, value: u64) -> Cell {
    number(name, TypeKind::BigInt, digits, Some(value))
}

fn all_cells(server: &Server, connection: &Connection) -> Vec<Cell> {
    let progress = connection.progress.lock().clone();
    let mut heartbeat = SqlType::new(TypeKind::Double, 10, 3);
    heartbeat.unsigned = true;
    let period = connection.config.lock().heartbeat.as_secs_f64();
    let relay_size = connection.max_relay_log_size.load(Ordering::Relaxed);
    let mut row = vec![
        text("Connection_name", 192, connection.name.clone()),
        text("Slave_SQL_State", 30, applier_state(&progress)),
    ];
    row.extend(cells(connection));
    row.extend([
        int("Retried_transactions", 10, progress.retried_transactions),
        big("Max_relay_log_size", 10, relay_size),
        int("Executed_log_entries", 10, progress.executed_entries),
        int("Slave_received_heartbeats", 10, progress.received_heartbeats),
        ("Slave_heartbeat_period", heartbeat, Value::Double(period)),
        text("Gtid_Slave_Pos", 20, server.applied().state().gtids().to_string()),
    ]);
    row
}

fn applier_state(progress: &Progress) -> String {
    if progress.is_applying { progress.applier_state.to_owned() } else { String::new() }
}

fn cells(connection: &Connection) -> Vec<Cell> {
    let config = connection.config.lock().clone();
    let progress = connection.progress.lock().clone();
    let mut row = places(connection, &config, &progress);
    row.extend(rules(connection));
    row.extend(errors("Last_Errno", "Last_Error", progress.applier_error.as_ref()));
    row.extend(position(connection, &progress));
    row.extend(security(&config, &progress));
    row.extend(errors("Last_IO_Errno", "Last_IO_Error", progress.receiver_error.as_ref()));
    row.extend(errors("Last_SQL_Errno", "Last_SQL_Error", progress.applier_error.as_ref()));
    row.extend(groups(connection, &config, &progress));
    row.push(text("Replicate_Rewrite_DB", 23, connection.filter().text(FilterRule::RewriteDb)));
    row
}

fn places(connection: &Connection, config: &Config, progress: &Progress) -> Vec<Cell> {
    let receiving = match progress.receiver {
        ReceiverState::Stopped if !connection.receiver.is_running() => "No",
        ReceiverState::Stopped | ReceiverState::Connecting => "Connecting",
        ReceiverState::Preparing => "Preparing",
        ReceiverState::Connected => "Yes",
    };
    let state = if receiving == "No" { "" } else { progress.receiver_state };
    vec![
        text("Slave_IO_State", 30, state),
        text("Master_Host", 766, config.host.clone()),
        text("Master_User", 385, config.user.clone()),
        int("Master_Port", 7, config.port),
        int("Connect_Retry", 10, config.connect_retry.as_secs()),
        text("Master_Log_File", 512, progress.received.file.clone()),
        big("Read_Master_Log_Pos", 10, progress.received.offset.max(FIRST_OFFSET)),
        text("Relay_Log_File", 512, progress.relay.file.clone()),
        big("Relay_Log_Pos", 10, progress.relay.offset.max(FIRST_OFFSET)),
        text("Relay_Master_Log_File", 512, progress.applied.file.clone()),
        text("Slave_IO_Running", 3, receiving),
        yes_no("Slave_SQL_Running", 3, connection.applier.is_running()),
    ]
}

fn rules(connection: &Connection) -> Vec<Cell> {
    let filter = connection.filter();
    [
        ("Replicate_Do_DB", 20, FilterRule::DoDb),
        ("Replicate_Ignore_DB", 20, FilterRule::IgnoreDb),
        ("Replicate_Do_Table", 20, FilterRule::DoTable),
        ("Replicate_Ignore_Table", 23, FilterRule::IgnoreTable),
        ("Replicate_Wild_Do_Table", 24, FilterRule::WildDoTable),
        ("Replicate_Wild_Ignore_Table", 28, FilterRule::WildIgnoreTable),
    ]
    .map(|(name, characters, rule)| text(name, characters, filter.text(rule)))
    .into()
}

fn errors(number: &'static str, name: &'static str, error: Option<&SqlError>) -> [Cell; 2] {
    let code = error.map_or(0, SqlError::code);
    [int(number, 4, code), text(name, 20, error.map_or("", SqlError::message))]
}

fn position(connection: &Connection, progress: &Progress) -> Vec<Cell> {
    let (condition, file, offset) = match &progress.until {
        Until::None => ("None", String::new(), 0),
        Until::Primary(place) => ("Master", place.file.clone(), place.offset),
        Until::Relay(place) => ("Relay", place.file.clone(), place.offset),
        Until::Gtid(_) => ("Gtid", String::new(), 0),
    };
    let offset_applied = match &*progress.applied.file {
        "" if progress.applier_state.is_empty() => 0,
        "" => FIRST_OFFSET,
        _ => progress.applied.offset,
    };
    vec![
        int("Skip_Counter", 10, progress.skip_counter),
        big("Exec_Master_Log_Pos", 10, offset_applied),
        big("Relay_Log_Space", 10, threads::relay_space(connection)),
        text("Until_Condition", 6, condition),
        text("Until_Log_File", 512, file),
        big("Until_Log_Pos", 10, offset),
    ]
}

fn security(config: &Config, progress: &Progress) -> Vec<Cell> {
    vec![
        yes_no("Master_SSL_Allowed", 7, config.ssl),
        text("Master_SSL_CA_File", 512, config.ssl_ca.clone()),
        text("Master_SSL_CA_Path", 512, config.ssl_capath.clone()),
        text("Master_SSL_Cert", 512, config.ssl_cert.clone()),
        text("Master_SSL_Cipher", 512, config.ssl_cipher.clone()),
        text("Master_SSL_Key", 512, config.ssl_key.clone()),
        number("Seconds_Behind_Master", TypeKind::BigInt, 10, seconds_behind(progress)),
        yes_no("Master_SSL_Verify_Server_Cert", 3, config.ssl_verify),
    ]
}

/// Age of the group that is being applied, by the primary's clock; unknown unless both threads
/// do their work.
fn seconds_behind(progress: &Progress) -> Option<u64> {
    if progress.receiver != ReceiverState::Connected || !progress.is_applying {
        return None;
    }
    let Some(since) = progress.applying_since else { return Some(0) };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64);
    let behind = now + progress.clock_difference - i64::from(since);
    Some(u64::try_from(behind).unwrap_or(0))
}

fn groups(connection: &Connection, config: &Config, progress: &Progress) -> Vec<Cell> {
    let list =
        |numbers: &[u32]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let value = VarValue::Enum(connection.parallel_mode() as u16);
    let mode = registry().find("slave_parallel_mode");
    let mode = mode.map(|def| value.show(def)).unwrap_or_default();
    let remaining = progress.remaining_delay.map(u64::from);
    // Compat: groups count for a connection that asks by them.
    let received_gtids = match config.using_gtid {
        UsingGtid::No => String::new(),
        _ => progress.received_gtids.to_string(),
    };
    vec![
        text("Replicate_Ignore_Server_Ids", 512, list(&config.ignore_server_ids)),
        int("Master_Server_Id", 8, progress.primary_id),
        text("Master_SSL_Crl", 512, config.ssl_crl.clone()),
        text("Master_SSL_Crlpath", 512, config.ssl_crlpath.clone()),
        text("Using_Gtid", 11, config.using_gtid.name()),
        text("Gtid_IO_Pos", 30, received_gtids),
        text("Replicate_Do_Domain_Ids", 512, list(&config.do_domains)),
        text("Replicate_Ignore_Domain_Ids", 512, list(&config.ignore_domains)),
        text("Parallel_Mode", 12, mode),
        int("SQL_Delay", 10, config.delay),
        number("SQL_Remaining_Delay", TypeKind::Int, 8, remaining),
        text("Slave_SQL_Running_State", 20, applier_state(progress)),
        big("Slave_DDL_Groups", 20, progress.ddl_groups),
        big("Slave_Non_Transactional_Groups", 20, progress.non_transactional_groups),
        big("Slave_Transactional_Groups", 20, progress.transactional_groups),
    ]
}

/// Values of status variables. Those of a connection are the session's; they are empty if there is
/// no such connection.
pub(crate) fn status_variables(shared: &Shared, gauges: &mut crate::status::Gauges) {
    let all = shared.server.replica.list();
    let is_whole = |connection: &Arc<Connection>| {
        let progress = connection.progress.lock();
        progress.receiver == ReceiverState::Connected && connection.applier.is_running()
    };
    let retried: u64 = all.iter().map(|c| c.progress.lock().retried_transactions).sum();
    let acks: u64 = all.iter().map(|c| c.progress.lock().acks.sent).sum();
    let acknowledges = all.iter().any(|c| c.progress.lock().acks.is_on);
    let appliers = all.iter().filter(|connection| connection.applier.is_running()).count();
    let tables =
        |c: &Arc<Connection>| -> usize { c.temporary.lock().values().map(|own| own.len()).sum() };
    let open: usize = all.iter().map(tables).sum();
    let own = shared.server.replica.find(&names::default_name(shared));
    let of_own =
        |value: &dyn Fn(&Arc<Connection>) -> String| own.as_ref().map(value).unwrap_or_default();
    let values = [
        ("slaves_running", appliers.to_string()),
        ("slave_open_temp_tables", open.to_string()),
        ("slave_retried_transactions", retried.to_string()),
        ("rpl_semi_sync_slave_status", if acknowledges { "ON" } else { "OFF" }.to_owned()),
        ("rpl_semi_sync_slave_send_ack", acks.to_string()),
        ("slave_running", of_own(&|c| if is_whole(c) { "ON" } else { "OFF" }.to_owned())),
        (
            "slave_received_heartbeats",
            of_own(&|c| c.progress.lock().received_heartbeats.to_string()),
        ),
        (
            "slave_heartbeat_period",
            of_own(&|c| format!("{:.3}", c.config.lock().heartbeat.as_secs_f64())),
        ),
    ];
    gauges.extend(values.map(|(name, value)| (name.to_owned(), value)));
}

/// Whether the connection's identity is needed in names of replicas: `--show-slave-auth-info`.
pub(crate) fn shows_accounts(server: &Server) -> bool {
    server.replica.options.shows_accounts
}
