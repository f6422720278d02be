//! State shared by all sessions.
//!
//! Must not hold state of a single session.

use hashbrown::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime};

use parking_lot::{Condvar, Mutex, RwLock};
use selkie_exec::session::PreparedTicket;
use selkie_protocol::auth::sha2;
use selkie_types::error::catalogue::ER_MAX_PREPARED_STMT_COUNT_REACHED;
use selkie_types::{SqlError, SqlResult};

use crate::accounts::{AccountName, AclStore, Usage};
use crate::backend::Backend;
use crate::binlog::Binlog;
use crate::dumps::Replicas;
use crate::events::Scheduler;
use crate::innodb::Monitor;
use crate::key_caches::KeyCaches;
use crate::lifecycle::most_connections;
use crate::locks::UserLocks;
use crate::net::Offers;
use crate::query_log::QueryLogs;
use crate::replica::{AppliedState, Connections, Riders};
use crate::sessions::{Door, SessionHandle, Sessions};
use crate::status::{Gauges, counter};
use crate::thread_pool::ThreadPool;
use crate::variables::{Globals, VarId, ids};

/// Logs of statements.
#[derive(Default)]
pub(crate) struct Logs {
    /// The general and the slow query log.
    pub(crate) queries: QueryLogs,
    /// The binary log, if there is one.
    binary: Option<Arc<Binlog>>,
    /// Replicas that have registered for the binary log.
    pub(crate) replicas: Replicas,
}

/// State shared by all sessions.
pub struct Server {
    /// Values of system variables.
    pub globals: Globals,
    /// Connected sessions.
    pub sessions: Sessions,
    /// Accounts and privileges.
    pub accounts: Arc<AclStore>,
    /// Usage of the accounts' limits.
    pub(crate) usage: Usage,
    /// Runs statements.
    pub backend: Arc<dyn Backend>,
    /// Directory of the data.
    pub datadir: PathBuf,
    /// Hashes of passwords that clients have proven before, for `caching_sha2_password`.
    pub(crate) password_cache: RwLock<HashMap<AccountName, (Vec<u8>, sha2::Cached)>>,
    /// Old values for reports about the transactional engine.
    pub(crate) innodb: Monitor,
    /// Key caches except the default one.
    pub(crate) key_caches: KeyCaches,
    /// The logs of statements.
    pub(crate) logs: Logs,
    /// Its state as a replica.
    applied: Arc<AppliedState>,
    /// Connections to primaries.
    pub(crate) replica: Connections,
    /// The event scheduler.
    pub(crate) events: Scheduler,
    /// The TLS offer to clients.
    pub(crate) tls: Offers,
    /// User locks.
    pub(crate) user_locks: Arc<UserLocks>,
    /// Number of prepared statements of all sessions.
    prepared: Arc<AtomicU64>,
    pool: OnceLock<ThreadPool>,
    started: Instant,
    started_at: SystemTime,
    flushed: Mutex<Instant>,
    max_used_at: Mutex<SystemTime>,
    stopping: AtomicBool,
    stop_signal: (Mutex<bool>, Condvar),
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("datadir", &self.datadir).finish_non_exhaustive()
    }
}

impl Server {
    /// A server with these variables, accounts and backend.
    pub fn new(
        globals: Globals,
        accounts: Arc<AclStore>,
        backend: Arc<dyn Backend>,
        datadir: PathBuf,
    ) -> Self {
        let sessions = Sessions::default();
        sessions.users.switch(globals.get(ids().userstat).as_bool());
        Self {
            globals,
            sessions,
            accounts,
            usage: Usage::default(),
            backend,
            datadir,
            password_cache: RwLock::default(),
            innodb: Monitor::default(),
            key_caches: KeyCaches::default(),
            logs: Logs::default(),
            applied: Arc::default(),
            replica: Connections::default(),
            events: Scheduler::default(),
            tls: Offers::default(),
            user_locks: Arc::default(),
            prepared: Arc::default(),
            pool: OnceLock::new(),
            started: Instant::now(),
            started_at: SystemTime::now(),
            flushed: Mutex::new(Instant::now()),
            max_used_at: Mutex::new(SystemTime::now()),
            stopping: AtomicBool::new(false),
            stop_signal: (Mutex::new(false), Condvar::new()),
        }
    }

    /// This server with an offer of TLS.
    pub(crate) fn with_tls(self, tls: Offers) -> Self {
        Self { tls, ..self }
    }

    /// This server with a binary log, or without, and with what it has applied.
    pub(crate) fn with_riders(self, riders: Riders) -> Self {
        let logs = Logs { binary: riders.binlog, ..self.logs };
        Self { logs, applied: riders.applied, ..self }
    }

    /// The state of this server as a replica.
    pub(crate) fn applied(&self) -> &AppliedState {
        &self.applied
    }

    /// This server with these connections to primaries.
    pub(crate) fn with_replica(self, replica: Connections) -> Self {
        Self { replica, ..self }
    }

    /// The binary log, if there is one.
    pub(crate) fn binlog(&self) -> Option<&Binlog> {
        self.logs.binary.as_deref()
    }

    /// Seconds since the start.
    pub fn uptime(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    /// Time the server was started.
    pub fn started_at(&self) -> SystemTime {
        self.started_at
    }

    /// The thread pool that serves connections, if `thread_handling` chose one.
    pub(crate) fn pool(&self) -> Option<&ThreadPool> {
        self.pool.get()
    }

    /// Sets the thread pool.
    pub(crate) fn set_pool(&self, pool: ThreadPool) {
        // The server starts once, so no pool is set yet.
        let _ = self.pool.set(pool);
    }

    /// Requests the stop of the server; returns at once.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        *self.stop_signal.0.lock() = true;
        self.stop_signal.1.notify_all();
    }

    /// Whether the stop of the server was requested.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Waits until the stop of the server is requested.
    pub fn wait_for_stop(&self) {
        let mut asked = self.stop_signal.0.lock();
        while !*asked {
            self.stop_signal.1.wait(&mut asked);
        }
    }

    /// Notes the number of connected sessions, for the maximum.
    pub(crate) fn note_connections(&self, count: usize) {
        let counters = &self.sessions.ended;
        if count as u64 > counters.get(counter().max_used_connections) {
            counters.raise(counter().max_used_connections, count as u64);
            *self.max_used_at.lock() = SystemTime::now();
        }
    }

    /// The sessions of clients.
    fn connected(&self) -> Vec<Arc<SessionHandle>> {
        let mut live = self.sessions.list();
        live.retain(|session| session.door != Door::System);
        live
    }

    /// FLUSH STATUS: adds the session's counters to the server's and resets them.
    pub fn flush_status(&self, session: &crate::status::Counters) {
        self.sessions.ended.absorb_session(session);
        session.reset_session();
        let (ids, ended) = (counter(), &self.sessions.ended);
        for id in [ids.aborted_clients, ids.aborted_connects, ids.aborted_connects_preauth] {
            ended.reset(id, 0);
        }
        ended.reset(ids.max_used_connections, self.connected().len() as u64);
        if let Some(binlog) = self.binlog() {
            binlog.semi.flush_status();
            binlog.log().forget_caches();
        }
        self.backend.reset_result_counts();
        *self.flushed.lock() = Instant::now();
    }

    /// Values of status variables that are measured and not counted.
    pub fn gauges(&self) -> Gauges {
        let mut gauges = Gauges::new();
        let live = self.connected();
        let running = live.iter().filter(|s| s.activity().command != "Sleep").count();
        let mut put = |name: &str, value: String| {
            gauges.insert(name.to_owned(), value);
        };
        put("selkie_panics", crate::panics::count().to_string());
        put("uptime", self.uptime().to_string());
        put("uptime_since_flush_status", self.flushed.lock().elapsed().as_secs().to_string());
        put("threads_connected", live.len().to_string());
        put("threads_running", running.to_string());
        put("threads_cached", "0".to_owned());
        let (threads, idle) = self.pool().map_or((0, 0), ThreadPool::threads);
        put("threadpool_threads", threads.to_string());
        put("threadpool_idle_threads", idle.to_string());
        put("prepared_stmt_count", self.prepared.load(Ordering::Relaxed).to_string());
        put("slaves_connected", self.logs.replicas.count().to_string());
        for (name, count) in self.accounts.current().counts() {
            put(name, count.to_string());
        }
        put("max_used_connections_time", crate::time::local_datetime(*self.max_used_at.lock()));
        crate::memory::status(&mut gauges);
        self.backend.status(&mut gauges);
        crate::binlog::status(self, &mut gauges);
        if let Some(performance) = self.sessions.performance() {
            performance.status(&mut gauges);
        }
        gauges
    }

    /// Counts a prepared statement until the ticket is dropped. Fails (1461) if there are too many.
    pub(crate) fn count_prepared(&self) -> SqlResult<PreparedTicket> {
        let limit = self.globals.get(ids().max_prepared_stmt_count).as_u64();
        PreparedTicket::take(&self.prepared, limit)
            .ok_or_else(|| SqlError::new(&ER_MAX_PREPARED_STMT_COUNT_REACHED, &[&limit]))
    }

    /// Applies the new value of a server variable.
    pub(crate) fn variable_changed(&self, id: VarId) {
        let ids = ids();
        let general = id == ids.general_log || id == ids.general_log_file;
        let slow = [ids.slow_query_log, ids.log_slow_query].contains(&id)
            || [ids.slow_query_log_file, ids.log_slow_query_file].contains(&id);
        self.logs.queries.reopen(general, slow);
        if id == ids.selkie_memory_limit || id == ids.selkie_statement_memory {
            crate::memory::apply(&self.globals);
        }
        if id == ids.query_cache_type {
            let keeps = self.globals.get(id).as_u64();
            self.backend.set_variable("query_cache_type", keeps);
        }
        if id == ids.selkie_column_memory {
            let said = self.globals.get(id).as_u64();
            self.backend.set_variable("selkie_column_memory", crate::memory::of_columns(said));
        }
    }

    /// Maximum number of sessions connected through `door`.
    pub(crate) fn most_connections(&self, door: Door) -> usize {
        let id = match door {
            Door::Main => ids().max_connections,
            Door::Extra => ids().extra_max_connections,
            Door::System => return usize::MAX,
        };
        let files = self.globals.get(ids().open_files_limit).as_u64();
        self.globals.get(id).as_u64().min(most_connections(files)) as usize
    }
}
