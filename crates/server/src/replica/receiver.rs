//! The receiver of a connection: a thread that gets events from the primary and puts them into
//! relay files.
//!
//! # Invariants
//! - RECEIVER-1 `progress.received` and `progress.received_gtids` are behind what readers of the
//!   relay files can see, and name the end of a whole group.
//! - RECEIVER-2 A stop ends every wait within a second.
//!
//! Must not apply anything, and must not put passwords into errors or logs.

mod dialogue;
mod intake;
mod settings;
mod start;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Wake;
use std::time::Duration;

use selkie_engine::Moment;
use selkie_exec::Killed;
use selkie_replication::replica::RelayWriter;
use selkie_types::error::catalogue::ER_SLAVE_THREAD;
use selkie_types::{SqlError, SqlResult};

use self::dialogue::Dialogue;
use self::intake::Intake;
use super::client::{Client, ClientError, Limits};
use super::connection::{Config, Connection, Progress, ReceiverState};
use super::relay::RelayLog;
use crate::net::Closer;
use crate::server::Server;
use crate::sessions::{Door, SessionHandle};
use crate::variables::VERSION;

pub(super) use self::settings::relay_settings;
pub(super) use self::start::applied_gtids;

/// Names of states, as MariaDB has them.
mod state {
    pub(super) const CONNECTING: &str = "Connecting to master";
    pub(super) const CHECKING: &str = "Checking master version";
    pub(super) const REGISTERING: &str = "Registering slave on master";
    pub(super) const REQUESTING: &str = "Requesting binlog dump";
    pub(super) const WAITING: &str = "Waiting for master to send event";
    pub(super) const QUEUEING: &str = "Queueing master event to the relay log";
    pub(super) const SPACE: &str =
        "Waiting for the slave SQL thread to free enough relay log space";
}

/// A stage of a connection's life that can fail, with the states of the next attempt.
#[derive(Clone, Copy, Debug)]
struct Stage {
    waiting: &'static str,
    again: &'static str,
}

const REGISTRATION: Stage = Stage {
    waiting: "Waiting to reconnect after a failed registration on master",
    again: "Reconnecting after a failed registration on master",
};
const REQUEST: Stage = Stage {
    waiting: "Waiting to reconnect after a failed binlog dump request",
    again: "Reconnecting after a failed binlog dump request",
};
const READ: Stage = Stage {
    waiting: "Waiting to reconnect after a failed master event read",
    again: "Reconnecting after a failed master event read",
};

/// End of an attempt to receive.
#[derive(Debug)]
enum End {
    /// Somebody wants the receiver to stop.
    Stopped,
    /// Trying again would not help.
    Fatal(SqlError),
    /// The primary may be there again later. With the error to show, if it is one.
    Lost(Stage, Option<SqlError>),
}

/// Starts the receiver of a connection, unless it runs.
pub(super) fn start(
    server: &Arc<Server>,
    connection: &Arc<Connection>,
    relay: RelayLog,
) -> SqlResult<()> {
    if !connection.receiver.begin() {
        return Ok(());
    }
    let receiver = Receiver::new(Arc::clone(server), Arc::clone(connection), relay);
    receiver.update(|progress| {
        progress.receiver = ReceiverState::Connecting;
        progress.receiver_error = None;
    });
    receiver.set_state(state::CONNECTING);
    let name = "slave_io".to_owned();
    // If there is no thread, the receiver ends as it is dropped.
    let spawned = std::thread::Builder::new().name(name).spawn(move || receiver.run());
    spawned.map(drop).map_err(|_| SqlError::new(&ER_SLAVE_THREAD, &[]))
}

/// The receiver, as its thread has it.
struct Receiver {
    server: Arc<Server>,
    connection: Arc<Connection>,
    relay: RelayLog,
    handle: Arc<SessionHandle>,
    /// Whether it acknowledges what it keeps: `rpl_semi_sync_slave_enabled` at its begin.
    acknowledges: bool,
}

impl Receiver {
    fn new(server: Arc<Server>, connection: Arc<Connection>, relay: RelayLog) -> Self {
        let id = server.sessions.next_id();
        let handle = SessionHandle::new(id, String::new(), Closer::default(), Door::System);
        handle.set_user("system user");
        handle.begin("Slave_IO", None, server.sessions.next_query_id(), Moment::now());
        let handle = Arc::new(handle);
        server.sessions.add(Arc::clone(&handle));
        connection.receiver.session.store(id, Ordering::Relaxed);
        let acknowledges = settings::acknowledges(&server);
        Self { server, connection, relay, handle, acknowledges }
    }

    fn update(&self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.connection.progress.lock());
    }

    fn set_state(&self, state: &'static str) {
        self.handle.set_state(state);
        self.update(|progress| progress.receiver_state = state);
    }

    /// The maker of events that this server adds to the stream.
    fn writer(&self) -> RelayWriter<'static> {
        let server_id = settings::server_id(&self.server);
        RelayWriter { version: VERSION, server_id, timestamp: 0 }
    }

    /// Waits; true if the receiver should stop.
    fn pause(&self, longest: Duration) -> bool {
        self.connection.receiver.pause(longest) || self.should_stop()
    }

    fn should_stop(&self) -> bool {
        self.connection.receiver.should_stop() || self.server.is_stopping()
    }

    fn run(self) {
        let waker = Arc::new(Stopper(Arc::clone(&self.connection)));
        let handle = Arc::clone(&self.handle);
        let _wakes = handle.kill.wakes(waker.into());
        if handle.kill.get() != Killed::No {
            self.connection.receiver.ask_to_stop();
        }
        if let Err(error) = self.receive() {
            self.report(&error);
        }
        let progress = self.connection.progress.lock();
        let (file, offset) = (&progress.received.file, progress.received.offset);
        tracing::info!(
            connection = self.handle.id,
            "Slave I/O thread exiting, read up to log '{file}', position {offset}; GTID position {}",
            progress.received_gtids
        );
    }

    /// Shows and logs an error.
    fn report(&self, error: &SqlError) {
        tracing::error!(
            connection = self.handle.id,
            "Slave I/O: {}, Internal MariaDB error code: {}",
            error.message(),
            error.code()
        );
        self.update(|progress| progress.receiver_error = Some(error.clone()));
    }

    /// Receives until a stop or an error that stays.
    fn receive(&self) -> SqlResult<()> {
        let mut stage = None;
        // Attempts since the last event.
        let mut attempts = 0u64;
        loop {
            let config = self.connection.config.lock().clone();
            if let Some(Stage { waiting, again }) = stage {
                self.update(|progress| progress.receiver = ReceiverState::Connecting);
                self.set_state(waiting);
                // The first time, the primary may be there at once.
                if attempts > 0 && self.pause(config.connect_retry) {
                    return Ok(());
                }
                self.set_state(again);
                attempts += 1;
                if config.retry_count != 0 && attempts > config.retry_count {
                    return Ok(());
                }
            }
            let Some(client) = self.connect(&config, stage) else { return Ok(()) };
            match self.attempt(client, &config, &mut attempts) {
                End::Stopped => return Ok(()),
                End::Fatal(error) => return Err(error),
                End::Lost(next, error) => {
                    if self.should_stop() {
                        return Ok(());
                    }
                    error.iter().for_each(|error| self.report(error));
                    stage = Some(next);
                }
            }
        }
    }

    /// Connects, as often as it takes. None if the receiver should stop.
    fn connect(&self, config: &Config, stage: Option<Stage>) -> Option<Client> {
        let running = &self.connection.receiver;
        let mut failures = 0u64;
        while !self.should_stop() {
            let limits = Limits {
                timeout: settings::net_timeout(&self.server),
                max_packet: settings::max_packet(&self.server),
            };
            let watch = |socket| running.waits_for(Some(socket));
            match Client::connect(config, limits, &|| self.should_stop(), &watch) {
                Ok(client) => {
                    self.update(|progress| {
                        progress.receiver = ReceiverState::Preparing;
                        progress.receiver_error = None;
                    });
                    return Some(client);
                }
                Err(error) if !self.should_stop() => self.report_failure(config, stage, &error),
                Err(_) => return None,
            }
            failures += 1;
            // Compat: a count of zero has no end.
            if failures == config.retry_count || self.pause(config.connect_retry) {
                return None;
            }
        }
        None
    }

    fn report_failure(&self, config: &Config, stage: Option<Stage>, error: &ClientError) {
        let text = format!(
            "error {} to master '{}@{}:{}' - retry-time: {}  maximum-retries: {}  message: {}",
            if stage.is_some() { "reconnecting" } else { "connecting" },
            config.user,
            config.host,
            config.port,
            config.connect_retry.as_secs(),
            config.retry_count,
            error.message()
        );
        self.report(&SqlError::raw(error.code(), *b"HY000", text));
    }

    /// Says the dialogue over a new connection, and takes events until something ends that.
    fn attempt(&self, client: Client, config: &Config, attempts: &mut u64) -> End {
        let dialogue = Dialogue { receiver: self, client, config };
        let (client, stream) = match dialogue.run() {
            Ok(begun) => begun,
            Err(end) => return end,
        };
        self.update(|progress| progress.receiver = ReceiverState::Connected);
        let (id, is_marked) = (client.id(), client.is_marked());
        let end = match Intake::new(self, client, stream).run(attempts) {
            Ok(never) => match never {},
            Err(end) => end,
        };
        if is_marked && !matches!(end, End::Lost(..)) {
            self.kill_dump(config, id);
        }
        end
    }

    /// Ends the session of the primary that has sent events, which otherwise may wait for an
    /// acknowledgement until it looks at the socket.
    fn kill_dump(&self, config: &Config, id: u64) {
        let timeout = settings::kill_timeout(&self.server);
        let limits = Limits { timeout, max_packet: settings::max_packet(&self.server) };
        let killed = Client::connect(config, limits, &|| false, &|_| ()).and_then(|mut client| {
            client.query(&format!("KILL {id}"))?;
            client.quit()
        });
        if let Err(error) = killed {
            tracing::info!(
                connection = self.handle.id,
                "The session that has sent events to this replica could not be ended: {}",
                error.message()
            );
        }
    }
}

impl Drop for Receiver {
    /// The thread is over, also after a panic.
    fn drop(&mut self) {
        self.relay.cut();
        self.connection.receiver.waits_for(None);
        self.update(|progress| {
            progress.receiver = ReceiverState::Stopped;
            progress.receiver_state = "";
            progress.acks.is_on = false;
        });
        self.server.sessions.remove(self.handle.id);
        self.connection.receiver.end();
    }
}

/// Makes a kill of the thread's session stop the receiver.
struct Stopper(Arc<Connection>);

impl Wake for Stopper {
    fn wake(self: Arc<Self>) {
        self.0.receiver.ask_to_stop();
    }
}
