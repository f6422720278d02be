//! The threads and the relay files of a connection, as its statements need them.
//!
//! Must not know how threads receive and apply, or how relay files are written.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use selkie_replication::replica::Place;
use selkie_types::error::catalogue::ER_RELAY_LOG_INIT;
use selkie_types::{SqlError, SqlResult};

use super::connection::{Connection, Running};
use super::relay::{RelayLog, relay_names};
use super::{applier, receiver};
use crate::server::Server;

/// Time between two looks of who waits for the end of a thread.
const STEP: Duration = Duration::from_millis(50);

/// A relay file with its length.
pub(super) type RelayFile = (String, u64);

/// Starts the thread that receives.
pub(super) fn start_receiver(server: &Arc<Server>, connection: &Arc<Connection>) -> SqlResult<()> {
    let relay = open_relay(server, connection)?;
    receiver::start(server, connection, relay)
}

/// Starts the thread that applies.
pub(super) fn start_applier(server: &Arc<Server>, connection: &Arc<Connection>) -> SqlResult<()> {
    let relay = open_relay(server, connection)?;
    applier::start(server, connection, relay)
}

fn open_relay(server: &Server, connection: &Connection) -> SqlResult<RelayLog> {
    let names = || relay_names(server, &connection.name);
    let opened = connection
        .open_relay(|| RelayLog::open(names(), receiver::relay_settings(server, connection)));
    opened.map_err(|error| {
        tracing::error!("Failed to open the relay log '{}': {error}", names().shown_base);
        SqlError::new(&ER_RELAY_LOG_INIT, &[])
    })
}

/// Waits until a thread that was asked to stop has ended. `check` fails if nobody waits any more.
pub(super) fn wait_ended(thread: &Running, check: &dyn Fn() -> SqlResult<()>) -> SqlResult<()> {
    while !thread.wait_ended(STEP) {
        check()?;
    }
    Ok(())
}

/// Removes the relay files. The next ones begin with what the primary sends after this.
pub(super) fn drop_relay_files(connection: &Connection) {
    if let Some(Err(error)) = connection.relay().map(RelayLog::reset) {
        tracing::error!("The relay files could not begin anew: {error}");
    }
    let mut progress = connection.progress.lock();
    progress.relay = Place::default();
    progress.ahead.clear();
}

/// The relay files.
pub(super) fn relay_files(connection: &Connection) -> Vec<RelayFile> {
    connection.relay().map(RelayLog::files).unwrap_or_default()
}

/// Path of a relay file.
pub(super) fn relay_path(server: &Server, connection: &Connection, file: &str) -> PathBuf {
    relay_names(server, &connection.name).directory.join(file)
}

/// Length of all relay files.
pub(super) fn relay_space(connection: &Connection) -> u64 {
    connection.relay().map_or(0, RelayLog::space)
}
