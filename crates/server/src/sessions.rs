//! All connected sessions: the process list, and the means to end a session.
//!
//! Must not hold anything that only the session's own thread needs.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use parking_lot::{Mutex, RwLock};
use selkie_engine::{Moment, WaitKind, noted_wait};
use selkie_exec::{KillFlag, Killed, LivePlans};

use crate::net::Closer;
use crate::performance::{Performance, Recorder};
use crate::status::{Counters, SharedCounters, Totals};
use crate::user_statistics::UserStatistics;

/// Present activity of a session.
#[derive(Clone, Debug)]
pub struct Activity {
    /// The Command column of the process list.
    pub command: &'static str,
    /// The State column.
    pub state: &'static str,
    /// Text of the statement.
    pub info: Option<Arc<str>>,
    /// Number of the statement.
    pub query_id: u64,
    /// Start of the activity.
    pub since: Moment,
}

/// The part of a session that other sessions see.
#[derive(Debug)]
pub struct SessionHandle {
    /// Connection number.
    pub id: u64,
    /// Host, with the port for TCP.
    pub host: String,
    /// Whether a kill was requested, and of which kind.
    pub kill: KillFlag,
    /// Plans that it runs.
    pub live: LivePlans,
    /// Status counters of the session.
    pub counters: Counters,
    /// Time it connected.
    pub connected: SystemTime,
    closer: Closer,
    user: Mutex<String>,
    schema: Mutex<Option<String>>,
    activity: Mutex<Activity>,
    in_transaction: AtomicBool,
    /// `unique_checks` in bit 0, `foreign_key_checks` in bit 1.
    checks: AtomicU8,
    /// Kind of wait its thread is in, for [`noted_wait`].
    pub(crate) waits: Arc<AtomicU8>,
    /// Port it came through.
    pub(crate) door: Door,
    /// Measures it for `performance_schema`, if that is on.
    recorder: OnceLock<Recorder>,
}

/// The State column of a waiting session; `None` if the state stays as it is.
fn wait_state(kind: WaitKind) -> Option<&'static str> {
    match kind {
        WaitKind::MetadataLock => Some("Waiting for table metadata lock"),
        WaitKind::GlobalLock => Some("Waiting for backup lock"),
        WaitKind::UserLock => Some("User lock"),
        WaitKind::Sleep => Some("User sleep"),
        WaitKind::LogFlush => Some("Commit"),
        WaitKind::RowLock
        | WaitKind::PageRead
        | WaitKind::TemporaryFile
        | WaitKind::Throttle
        | WaitKind::Network => None,
    }
}

/// Port that a connection comes through.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Door {
    /// The main port, or the Unix socket.
    #[default]
    Main,
    /// `extra_port`.
    Extra,
    /// None: it is a thread of the server, and no connection.
    System,
}

impl SessionHandle {
    /// A session that has just connected.
    pub fn new(id: u64, host: String, closer: Closer, door: Door) -> Self {
        let activity = Activity {
            command: "Connect",
            state: "login",
            info: None,
            query_id: 0,
            since: Moment::now(),
        };
        Self {
            id,
            host,
            kill: KillFlag::default(),
            live: LivePlans::default(),
            counters: Counters::default(),
            connected: SystemTime::now(),
            closer,
            user: Mutex::new("unauthenticated user".to_owned()),
            schema: Mutex::new(None),
            activity: Mutex::new(activity),
            in_transaction: AtomicBool::new(false),
            checks: AtomicU8::new(3),
            waits: Arc::default(),
            door,
            recorder: OnceLock::new(),
        }
    }

    /// The recorder that measures it, if `performance_schema` is on.
    #[inline]
    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        self.recorder.get()
    }

    /// User name.
    pub fn user(&self) -> String {
        self.user.lock().clone()
    }

    /// Sets the user name.
    pub fn set_user(&self, user: &str) {
        *self.user.lock() = user.to_owned();
    }

    /// Default database.
    pub fn schema(&self) -> Option<String> {
        self.schema.lock().clone()
    }

    /// Sets the default database.
    pub fn set_schema(&self, schema: Option<&str>) {
        *self.schema.lock() = schema.map(str::to_owned);
        if let Some(recorder) = self.recorder() {
            recorder.entered(schema);
        }
    }

    /// The present activity.
    pub fn activity(&self) -> Activity {
        let mut activity = self.activity.lock().clone();
        if let Some(state) = noted_wait(&self.waits).and_then(wait_state) {
            activity.state = state;
        }
        activity
    }

    /// Starts a command.
    pub fn begin(
        &self,
        command: &'static str,
        info: Option<Arc<str>>,
        query_id: u64,
        since: Moment,
    ) {
        *self.activity.lock() = Activity { command, state: "starting", info, query_id, since };
    }

    /// Replaces the text of the statement; returns the old one.
    pub fn show_text(&self, text: Option<Arc<str>>) -> Option<Arc<str>> {
        std::mem::replace(&mut self.activity.lock().info, text)
    }

    /// Shows a thread of the server that waits for work.
    pub fn serve(&self, command: &'static str) {
        let mut activity = self.activity.lock();
        activity.command = command;
        activity.info = None;
        activity.state = "";
    }

    /// Marks the session as idle.
    pub fn sleep(&self) {
        let mut activity = self.activity.lock();
        activity.command = "Sleep";
        activity.state = "";
        activity.info = None;
        activity.since = Moment::recent();
    }

    /// Whether the session checks unique keys, and whether it checks foreign keys.
    pub fn checks(&self) -> (bool, bool) {
        let bits = self.checks.load(Ordering::Relaxed);
        (bits & 1 != 0, bits & 2 != 0)
    }

    /// Sets whether the session checks unique keys and foreign keys.
    pub fn set_checks(&self, unique: bool, foreign: bool) {
        self.checks.store(u8::from(unique) | u8::from(foreign) << 1, Ordering::Relaxed);
    }

    /// Sets the State column.
    pub fn set_state(&self, state: &'static str) {
        self.activity.lock().state = state;
    }

    /// Whether a transaction is open.
    pub fn in_transaction(&self) -> bool {
        self.in_transaction.load(Ordering::Relaxed)
    }

    /// Sets whether a transaction is open.
    pub fn set_in_transaction(&self, open: bool) {
        self.in_transaction.store(open, Ordering::Relaxed);
    }

    /// Ends the connection, also if it waits for its client.
    pub fn kill_connection(&self) {
        self.kill.raise(Killed::Connection);
        self.closer.interrupt();
    }

    /// Ends the connection if its client has gone.
    pub fn end_if_gone(&self) {
        if self.closer.is_closed() {
            self.kill.raise(Killed::Connection);
        }
    }

    /// Ends the running statement, if there is one.
    pub fn kill_query(&self) {
        if self.activity.lock().command != "Sleep" {
            self.kill.raise(Killed::Query);
        }
    }
}

/// Statement numbers that a thread reserves at a time.
const QUERY_IDS: u64 = 64;

/// All sessions of a server.
#[derive(Debug, Default)]
pub struct Sessions {
    live: RwLock<BTreeMap<u64, Arc<SessionHandle>>>,
    next_id: AtomicU64,
    next_query: AtomicU64,
    /// `performance_schema`, if it is on.
    performance: OnceLock<Arc<Performance>>,
    /// Statistics of users and clients.
    pub(crate) users: UserStatistics,
    /// Counters of the sessions that have ended, and the server's own counters.
    pub ended: SharedCounters,
}

impl Sessions {
    /// Measures all later sessions.
    pub(crate) fn measure(&self, performance: Performance) {
        // The server starts once, so nothing is set yet.
        let _ = self.performance.set(Arc::new(performance));
    }

    /// `performance_schema`, if it is on.
    pub(crate) fn performance(&self) -> Option<&Performance> {
        self.performance.get().map(|performance| &**performance)
    }

    /// The number of the next connection.
    pub fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A number for a statement. Threads reserve blocks of numbers, so that statements do not share
    /// a cache line. So the later of two concurrent statements may have the lower number.
    pub fn next_query_id(&self) -> u64 {
        thread_local! {
            static BLOCK: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
        }
        let (mut next, mut end) = BLOCK.get();
        if next == end {
            next = self.next_query.fetch_add(QUERY_IDS, Ordering::Relaxed) + 1;
            end = next + QUERY_IDS;
        }
        BLOCK.set((next + 1, end));
        next
    }

    /// Adds a session.
    pub fn add(&self, session: Arc<SessionHandle>) {
        if let Some(performance) = self.performance.get() {
            session.recorder.get_or_init(|| performance.recorder());
        }
        self.live.write().insert(session.id, session);
    }

    /// Removes a session and adds its counters to the server's.
    pub fn remove(&self, id: u64) {
        let removed = {
            let mut live = self.live.write();
            let removed = live.remove(&id);
            if let Some(session) = &removed {
                self.ended.absorb(&session.counters);
            }
            removed
        };
        if let Some(recorder) = removed.as_ref().and_then(|session| session.recorder()) {
            recorder.left();
        }
    }

    /// The session of this number.
    pub fn find(&self, id: u64) -> Option<Arc<SessionHandle>> {
        self.live.read().get(&id).cloned()
    }

    /// All sessions in order of their numbers.
    pub fn list(&self) -> Vec<Arc<SessionHandle>> {
        self.live.read().values().cloned().collect()
    }

    /// Number of sessions.
    pub fn count(&self) -> usize {
        self.live.read().len()
    }

    /// Number of sessions that came through `door`.
    pub fn count_by(&self, door: Door) -> usize {
        self.live.read().values().filter(|s| s.door == door).count()
    }

    /// Counters of the whole server.
    pub fn totals(&self) -> Totals {
        let live = self.list();
        Totals::of(live.iter().map(|s| &s.counters).chain([self.ended.all()]))
    }
}
