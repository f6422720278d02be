//! The threads and the relay files of a connection, as its statements need them.
//!
//! Must not know how threads receive and apply, or how relay files are written.

use std::path::PathBuf;
use std::sync::Arc;

use selkie_replication::replica::Known;
use selkie_types::error::catalogue::{ER_RELAY_LOG_FAIL, ER_RELAY_LOG_INIT};
use selkie_types::{SqlError, SqlResult};

use super::connection::{Connection, Running, STEP, UsingGtid};
use super::relay::{RelayLog, relay_names};
use super::{applier, receiver};
use crate::server::Server;

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

/// The relay files. The first time in a life, those of the one before are used as far as they go on
/// from what is applied: what this server has acknowledged may be nowhere else.
pub(super) fn open_relay(server: &Server, connection: &Connection) -> SqlResult<RelayLog> {
    let names = || relay_names(server, &connection.name);
    let opened = connection.open_relay(|| {
        let settings = receiver::relay_settings(server, connection);
        let using = connection.config.lock().using_gtid;
        let state = server.applied().state();
        let Some(place) = state.place(&connection.name).cloned() else {
            return RelayLog::open(names(), settings);
        };
        let by_gtids = using != UsingGtid::No;
        let known = Known { gtids: state.gtids().clone(), place, by_gtids };
        let (relay, kept) = RelayLog::reopen(names(), settings, known)?;
        if let Some(kept) = kept {
            connection.go_on_with(kept, receiver::applied_gtids(server, using), &names());
        }
        Ok(relay)
    });
    opened.map_err(|error| {
        tracing::error!("Failed to open the relay log '{}': {error}", names().shown_base);
        SqlError::new(&ER_RELAY_LOG_INIT, &[&error])
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
pub(super) fn drop_relay_files(server: &Server, connection: &Connection) -> SqlResult<()> {
    let dropped = match connection.relay() {
        Some(relay) => relay.reset(),
        None => RelayLog::remove(&relay_names(server, &connection.name)),
    };
    dropped.map_err(|error| {
        tracing::error!("The relay files could not begin anew: {error}");
        SqlError::new(&ER_RELAY_LOG_FAIL, &[&error])
    })?;
    connection.begin_relay_anew();
    Ok(())
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
