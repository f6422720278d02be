//! A connection to a primary: its configuration, and the progress of its two threads.
//!
//! Must not do I/O.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};
use selkie_replication::Gtid;
use selkie_replication::gtid::Position;
use selkie_replication::replica::{Kept, ParallelMode, Place, ReplicaFilter};
use selkie_types::{SqlError, SqlResult};

use super::duplicates::Domains;
use super::relay::RelayLog;
use super::workers::Workers;
use crate::backend::KeptTables;
use crate::binlog::LogNames;
use crate::options::ReplicaOptions;

/// Port of a primary for which none is said.
pub(crate) const DEFAULT_PORT: u16 = 3306;
/// Time between two looks of who waits for a thread, or for another statement.
pub(super) const STEP: Duration = Duration::from_millis(50);
/// Times to connect before a receiver gives up.
pub(crate) const DEFAULT_RETRIES: u64 = 100_000;

/// Kind of position by which a connection asks its primary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UsingGtid {
    /// By file and position.
    No,
    /// By `gtid_current_pos`.
    CurrentPos,
    /// By `gtid_slave_pos`.
    #[default]
    SlavePos,
}

impl UsingGtid {
    /// Its name in SHOW SLAVE STATUS and in texts of errors.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::No => "No",
            Self::CurrentPos => "Current_Pos",
            Self::SlavePos => "Slave_Pos",
        }
    }
}

/// Values that CHANGE MASTER sets.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) host: String,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) port: u16,
    pub(crate) connect_retry: Duration,
    pub(crate) retry_count: u64,
    /// `MASTER_HEARTBEAT_PERIOD`; zero for none.
    pub(crate) heartbeat: Duration,
    pub(crate) ssl: bool,
    pub(crate) ssl_ca: String,
    pub(crate) ssl_capath: String,
    pub(crate) ssl_cert: String,
    pub(crate) ssl_key: String,
    pub(crate) ssl_cipher: String,
    pub(crate) ssl_crl: String,
    pub(crate) ssl_crlpath: String,
    pub(crate) ssl_verify: bool,
    /// Seconds between a change at the primary and here.
    pub(crate) delay: u32,
    pub(crate) using_gtid: UsingGtid,
    pub(crate) ignore_server_ids: Vec<u32>,
    pub(crate) do_domains: Vec<u32>,
    pub(crate) ignore_domains: Vec<u32>,
}

impl Config {
    /// A connection without a primary.
    pub(crate) fn new(heartbeat: Duration) -> Self {
        let empty = String::new;
        Self {
            host: empty(),
            user: empty(),
            password: empty(),
            port: DEFAULT_PORT,
            connect_retry: Duration::from_secs(60),
            retry_count: DEFAULT_RETRIES,
            heartbeat,
            ssl: false,
            ssl_ca: empty(),
            ssl_capath: empty(),
            ssl_cert: empty(),
            ssl_key: empty(),
            ssl_cipher: empty(),
            ssl_crl: empty(),
            ssl_crlpath: empty(),
            ssl_verify: false,
            delay: 0,
            using_gtid: UsingGtid::SlavePos,
            ignore_server_ids: Vec::new(),
            do_domains: Vec::new(),
            ignore_domains: Vec::new(),
        }
    }
}

/// State of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReceiverState {
    /// Slave_IO_Running: No.
    #[default]
    Stopped,
    /// Slave_IO_Running: Connecting.
    Connecting,
    /// Slave_IO_Running: Preparing.
    Preparing,
    /// Slave_IO_Running: Yes.
    Connected,
}

/// Place or group at which an applier stops.
#[derive(Clone, Debug, Default)]
pub(crate) enum Until {
    /// Nowhere.
    #[default]
    None,
    /// Before the first group that ends behind a place of the primary's log.
    Primary(Place),
    /// Before the first group behind a place in the relay files.
    Relay(Place),
    /// When these groups are applied.
    Gtid(Position),
}

/// Acknowledgements of what a receiver has received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acks {
    /// Whether the receiver acknowledges.
    pub(crate) is_on: bool,
    /// Number of those sent: Rpl_semi_sync_slave_send_ack.
    pub(crate) sent: u64,
}

/// Values of SHOW SLAVE STATUS beside the configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    // Written by the receiver.
    pub(crate) receiver: ReceiverState,
    /// Slave_IO_State.
    pub(crate) receiver_state: &'static str,
    pub(crate) receiver_error: Option<SqlError>,
    /// Up to where all is in the relay files: Master_Log_File, Read_Master_Log_Pos.
    pub(crate) received: Place,
    /// Gtid_IO_Pos.
    pub(crate) received_gtids: Position,
    /// Master_Server_Id.
    pub(crate) primary_id: u32,
    /// Clock of the primary minus the replica's, in seconds.
    pub(crate) clock_difference: i64,
    pub(crate) received_heartbeats: u64,
    pub(crate) acks: Acks,
    // Written by the applier.
    pub(crate) is_applying: bool,
    /// Slave_SQL_Running_State while it runs; empty only if it has never run.
    pub(crate) applier_state: &'static str,
    pub(crate) applier_error: Option<SqlError>,
    /// End of the last applied group: Relay_Master_Log_File, Exec_Master_Log_Pos.
    pub(crate) applied: Place,
    /// Relay_Log_File, Relay_Log_Pos.
    pub(crate) relay: Place,
    /// Header's timestamp of the group being applied; none if all received ones are.
    pub(crate) applying_since: Option<u32>,
    /// Seconds until a delayed group is applied: SQL_Remaining_Delay.
    pub(crate) remaining_delay: Option<u32>,
    pub(crate) until: Until,
    pub(crate) skip_counter: u64,
    pub(crate) transactional_groups: u64,
    pub(crate) non_transactional_groups: u64,
    pub(crate) ddl_groups: u64,
    pub(crate) retried_transactions: u64,
    pub(crate) executed_entries: u64,
}

/// A thread of a connection: whether it runs, and whether it should stop.
#[derive(Debug, Default)]
pub(crate) struct Running {
    stop: AtomicBool,
    runs: Mutex<bool>,
    changed: Condvar,
    /// Number of the thread's session in the process list.
    pub(crate) session: AtomicU64,
    /// Socket that the thread may wait for.
    socket: Mutex<Option<TcpStream>>,
}

impl Running {
    /// Marks the thread as running; false if it runs already.
    pub(crate) fn begin(&self) -> bool {
        let mut runs = self.runs.lock();
        if *runs {
            return false;
        }
        self.stop.store(false, Ordering::Release);
        *runs = true;
        true
    }

    /// Marks the thread as ended.
    pub(crate) fn end(&self) {
        *self.runs.lock() = false;
        self.changed.notify_all();
    }

    /// Whether the thread runs.
    pub(crate) fn is_running(&self) -> bool {
        *self.runs.lock()
    }

    /// Asks the thread to stop, and ends what it waits for.
    pub(crate) fn ask_to_stop(&self) {
        self.stop.store(true, Ordering::Release);
        drop(self.runs.lock());
        self.changed.notify_all();
        self.hang_up();
    }

    fn hang_up(&self) {
        if let Some(socket) = &*self.socket.lock() {
            // It may be closed already, which is the goal.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Sets the socket that a stop closes.
    pub(crate) fn waits_for(&self, socket: Option<TcpStream>) {
        *self.socket.lock() = socket;
        if self.should_stop() {
            self.hang_up();
        }
    }

    /// Waits as long as said, but not longer than until a stop; whether the thread should stop.
    pub(crate) fn pause(&self, longest: Duration) -> bool {
        let mut runs = self.runs.lock();
        let go_on = |_: &mut bool| !self.should_stop();
        self.changed.wait_while_for(&mut runs, go_on, longest);
        self.should_stop()
    }

    /// Whether the thread is asked to stop.
    pub(crate) fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Waits until the thread has ended; false if it still runs after `longest`.
    pub(crate) fn wait_ended(&self, longest: Duration) -> bool {
        let mut runs = self.runs.lock();
        !self.changed.wait_while_for(&mut runs, |runs| *runs, longest).timed_out()
    }
}

/// A connection to a primary.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Its name in the letters it was given; empty for the default one.
    pub(crate) name: String,
    pub(crate) config: Mutex<Config>,
    pub(crate) progress: Mutex<Progress>,
    /// The events received and perhaps not applied yet, once they are needed.
    relay: OnceLock<RelayLog>,
    /// `max_relay_log_size`; zero for `max_binlog_size`.
    pub(crate) max_relay_log_size: AtomicU64,
    pub(crate) receiver: Running,
    pub(crate) applier: Running,
    filter: Mutex<Arc<ReplicaFilter>>,
    /// `slave_parallel_mode`.
    parallel_mode: Mutex<ParallelMode>,
    /// Groups behind the place in the relay files that are applied, in an earlier life or ahead of
    /// those of another domain: the last one of each domain.
    pub(super) done: Mutex<BTreeMap<u32, Gtid>>,
    /// Temporary tables of the primary's sessions.
    pub(super) temporary: Arc<KeptTables>,
}

impl Connection {
    /// A connection whose threads do not run.
    pub(crate) fn new(name: &str, config: Config, filter: ReplicaFilter, relay_size: u64) -> Self {
        Self {
            name: name.to_owned(),
            config: Mutex::new(config),
            progress: Mutex::default(),
            relay: OnceLock::new(),
            max_relay_log_size: AtomicU64::new(relay_size),
            receiver: Running::default(),
            applier: Running::default(),
            filter: Mutex::new(Arc::new(filter)),
            parallel_mode: Mutex::default(),
            done: Mutex::default(),
            temporary: Arc::default(),
        }
    }

    /// This connection with a parallel mode.
    pub(crate) fn with_mode(self, mode: ParallelMode) -> Self {
        self.set_parallel_mode(mode);
        self
    }

    /// Mode in which it applies groups beside each other.
    pub(crate) fn parallel_mode(&self) -> ParallelMode {
        *self.parallel_mode.lock()
    }

    /// Sets which groups it applies beside each other; a running applier has its own mode.
    pub(crate) fn set_parallel_mode(&self, mode: ParallelMode) {
        *self.parallel_mode.lock() = mode;
    }

    /// The filter of the tables that it applies.
    pub(crate) fn filter(&self) -> Arc<ReplicaFilter> {
        Arc::clone(&self.filter.lock())
    }

    /// Sets which tables it applies; a running applier has its own filter.
    pub(crate) fn set_filter(&self, filter: ReplicaFilter) {
        *self.filter.lock() = Arc::new(filter);
    }

    /// Its relay files, if a thread has needed them.
    pub(crate) fn relay(&self) -> Option<&RelayLog> {
        self.relay.get()
    }

    /// Its relay files, for a thread that begins. `open` opens them the first time.
    pub(crate) fn open_relay(
        &self,
        open: impl FnOnce() -> io::Result<RelayLog>,
    ) -> io::Result<RelayLog> {
        // Threads are started one after the other.
        match self.relay.get() {
            Some(relay) => Ok(relay.clone()),
            None => open().map(|relay| self.relay.get_or_init(|| relay).clone()),
        }
    }

    /// Goes on with relay files of an earlier life. `asked` is what the connection asks by without
    /// them.
    pub(crate) fn go_on_with(&self, kept: Kept, asked: Position, names: &LogNames) {
        let (number, offset) = kept.first;
        let mut progress = self.progress.lock();
        progress.relay = Place { file: names.file(number), offset };
        progress.received = kept.received;
        progress.received_gtids = asked;
        // A later group of a domain may have a lower number.
        kept.gtids.gtids().for_each(|gtid| progress.received_gtids.set(gtid));
        drop(progress);
        *self.done.lock() = kept.done;
    }

    /// The relay files have begun anew.
    pub(crate) fn begin_relay_anew(&self) {
        self.progress.lock().relay = Place::default();
        self.done.lock().clear();
    }

    /// Whether one of its threads runs.
    pub(crate) fn is_running(&self) -> bool {
        self.receiver.is_running() || self.applier.is_running()
    }

    /// Whether it has a primary.
    pub(crate) fn has_primary(&self) -> bool {
        !self.config.lock().host.is_empty()
    }
}

/// All connections, by their names in lower case. The default one is always there; it may have no
/// primary.
#[derive(Debug)]
pub(crate) struct Connections {
    all: Mutex<BTreeMap<String, Arc<Connection>>>,
    /// Held by the statement that changes connections or starts and stops their threads. The
    /// threads themselves must not take it.
    pub(crate) admin: Mutex<()>,
    /// Domains that connections apply groups of, if several receive the same ones.
    pub(super) domains: Arc<Domains>,
    pub(super) options: ReplicaOptions,
    /// The sessions that apply groups beside each other.
    pub(crate) workers: Arc<Workers>,
}

impl Default for Connections {
    fn default() -> Self {
        Self::new(ReplicaOptions::default(), Duration::ZERO, 0)
    }
}

impl Connections {
    /// The default connection alone, as options configure it. The other arguments are its
    /// heartbeat period and `max_relay_log_size`.
    pub(crate) fn new(options: ReplicaOptions, heartbeat: Duration, relay_size: u64) -> Self {
        let config = Config { retry_count: options.retry_count, ..Config::new(heartbeat) };
        let first = Connection::new("", config, options.filter(""), relay_size)
            .with_mode(options.parallel_mode(""));
        Self {
            all: Mutex::new(BTreeMap::from([(String::new(), Arc::new(first))])),
            admin: Mutex::default(),
            domains: Arc::default(),
            options,
            workers: Arc::default(),
        }
    }

    /// Waits for the turn to change connections, or to start and stop threads. `check` fails if
    /// nobody waits any more.
    pub(crate) fn turn(&self, check: &dyn Fn() -> SqlResult<()>) -> SqlResult<MutexGuard<'_, ()>> {
        loop {
            let turn = self.admin.try_lock_for(STEP);
            // A statement that was killed meanwhile takes no turn.
            check()?;
            if let Some(turn) = turn {
                return Ok(turn);
            }
        }
    }

    /// The connection of a name.
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Connection>> {
        self.all.lock().get(&name.to_lowercase()).cloned()
    }

    /// All of them, in order of their names.
    pub(crate) fn list(&self) -> Vec<Arc<Connection>> {
        self.all.lock().values().cloned().collect()
    }

    /// Adds a connection.
    pub(crate) fn add(&self, connection: Arc<Connection>) {
        self.all.lock().insert(connection.name.to_lowercase(), connection);
    }

    /// Removes a connection.
    pub(crate) fn remove(&self, name: &str) {
        self.all.lock().remove(&name.to_lowercase());
    }
}
