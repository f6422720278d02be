//! System variables that a receiver obeys.
//!
//! Must not keep values: most of them can change while it runs.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::replica::connection::Connection;
use crate::replica::relay::RelaySettings;
use crate::server::Server;
use crate::variables::{VarValue, ids, registry};

fn value(server: &Server, name: &str) -> VarValue {
    server.globals.get(registry().find(name).expect("a variable of the table").id)
}

/// A number.
pub(super) fn number(server: &Server, name: &str) -> u64 {
    value(server, name).as_u64()
}

/// A text; empty if it is not set.
pub(super) fn text(server: &Server, name: &str) -> String {
    value(server, name).as_str().to_owned()
}

/// Number of this server.
pub(super) fn server_id(server: &Server) -> u32 {
    server.globals.get(ids().server_id).as_u64() as u32
}

/// `slave_net_timeout`.
pub(super) fn net_timeout(server: &Server) -> Duration {
    Duration::from_secs(number(server, "slave_net_timeout").max(1))
}

/// `slave_max_allowed_packet`.
pub(super) fn max_packet(server: &Server) -> u64 {
    number(server, "slave_max_allowed_packet")
}

/// Settings of a connection's relay files.
pub(crate) fn relay_settings(server: &Server, connection: &Connection) -> RelaySettings {
    let max_size = match connection.max_relay_log_size.load(Ordering::Relaxed) {
        0 => server.globals.get(ids().max_binlog_size).as_u64(),
        size => size,
    };
    let verify = value(server, "slave_sql_verify_checksum").as_bool();
    RelaySettings { server_id: server_id(server), max_size, verify }
}

/// `rpl_semi_sync_slave_enabled`.
pub(super) fn acknowledges(server: &Server) -> bool {
    value(server, "rpl_semi_sync_slave_enabled").as_bool()
}

/// `rpl_semi_sync_slave_kill_conn_timeout`.
pub(super) fn kill_timeout(server: &Server) -> Duration {
    Duration::from_secs(number(server, "rpl_semi_sync_slave_kill_conn_timeout").max(1))
}

/// Whether a kind of message about acknowledgements goes to the log:
/// `rpl_semi_sync_slave_trace_level`.
pub(super) fn traces(server: &Server, kind: u64) -> bool {
    number(server, "rpl_semi_sync_slave_trace_level") & kind != 0
}
