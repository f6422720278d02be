//! Connections over the life of a server: they begin with what the files of their last life say,
//! and their threads are stopped before the server ends.
//!
//! Must not fail the server's start: a replica that does not run can be repaired by statements.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::change::{default_heartbeat, new_connection};
use super::connection::{Config, Connection, Connections};
use super::{info_files, start, threads};
use crate::options::Settings;
use crate::server::Server;
use crate::variables::registry;

/// Time that the threads have to end.
const GRACE: Duration = Duration::from_secs(60);
/// Time that an applier has to end its group.
const PATIENCE: Duration = Duration::from_secs(1);

/// The connections as options configure them, before the server is there.
pub(crate) fn set_up(settings: &Settings) -> Connections {
    let number = |name: &str| registry().find(name).map_or(0, |def| settings.get(def).as_u64());
    let mut options = settings.replica.clone();
    options.ignores_case = number("lower_case_table_names") != 0;
    let heartbeat = Duration::from_secs_f64(number("slave_net_timeout") as f64 / 2.0);
    Connections::new(options, heartbeat, number("max_relay_log_size"))
}

/// Begins the connections that the files name, and starts their threads.
pub(crate) fn begin(server: &Arc<Server>) {
    let _admin = server.replica.admin.lock();
    for name in info_files::names(server) {
        load(server, &name);
    }
    if server.replica.options.skips_start {
        return;
    }
    for connection in server.replica.list() {
        if !connection.has_primary() {
            continue;
        }
        if let Err(error) = start::start_both(server, &connection) {
            tracing::error!(
                "Master '{}': Failed to start the slave threads: {error}",
                connection.name
            );
        }
    }
}

/// A connection with what its files say of it.
fn load(server: &Server, name: &str) {
    let known = server.replica.find(name);
    let connection = known.unwrap_or_else(|| Arc::new(new_connection(server, name)));
    let mut fresh = Config::new(default_heartbeat(server));
    fresh.retry_count = server.replica.options.retry_count;
    if let Some(saved) = info_files::load(server, name, fresh) {
        *connection.config.lock() = saved.config;
        let mut progress = connection.progress.lock();
        let noted = server.applied().state().place(name).cloned();
        progress.applied = noted.unwrap_or(saved.applied);
        // Without relay files, all that is not applied is received again.
        progress.received = progress.applied.clone();
    }
    server.replica.add(Arc::clone(&connection));
    if connection.has_primary() && threads::open_relay(server, &connection).is_err() {
        // It is tried again when the threads start.
        tracing::error!("Master '{name}': what was received before is not known");
    }
}

/// Stops all threads, and writes the files.
pub(crate) fn end(server: &Server) {
    let deadline = Instant::now() + GRACE;
    let ask_all = || {
        let all = server.replica.list();
        for connection in &all {
            connection.receiver.ask_to_stop();
            connection.applier.ask_to_stop();
        }
        all
    };
    // A statement may be waiting for the end of a thread, or just be starting one.
    drop(ask_all());
    let _admin = server.replica.admin.try_lock_until(deadline);
    let all = ask_all();
    for connection in &all {
        end_one(server, connection, deadline);
    }
}

fn end_one(server: &Server, connection: &Connection, deadline: Instant) {
    let applier = &connection.applier;
    if !applier.wait_ended(PATIENCE) {
        // It may wait for a lock of a client, which ends later. The group is rolled back.
        let session = server.sessions.find(applier.session.load(Ordering::Relaxed));
        session.iter().for_each(|session| session.kill_connection());
    }
    for thread in [&connection.applier, &connection.receiver] {
        if !thread.wait_ended(deadline.saturating_duration_since(Instant::now())) {
            tracing::warn!("Master '{}': a slave thread did not exit", connection.name);
        }
    }
    if !connection.has_primary() {
        return;
    }
    if let Err(error) = info_files::save(server, connection) {
        tracing::error!("Master '{}': {error}", connection.name);
    }
}
