//! Statistics of users and clients while `userstat` is on.
//!
//! A session adds what its counters have grown since its last command to two entries: its user's
//! and its client's.
//!
//! # Invariants
//! - USERS-1 While `userstat` is off, a command pays one look at a flag.
//! - USERS-2 Each growth of a counter is added to an entry once.

mod commands;
mod watched;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use hashbrown::HashMap;
use parking_lot::Mutex;
use selkie_types::Value;

use crate::tables::{Row, text};

pub(crate) use watched::{Watched, Who, Work};

/// Columns with the counters of a session whose growth they add up. The others are counted here.
const COLUMNS: &[(&str, &[&str])] = &[
    ("TOTAL_CONNECTIONS", &[]),
    ("CONCURRENT_CONNECTIONS", &[]),
    ("CONNECTED_TIME", &[]),
    ("BUSY_TIME", &["Busy_time"]),
    ("CPU_TIME", &["Cpu_time"]),
    ("BYTES_RECEIVED", &["Bytes_received"]),
    ("BYTES_SENT", &["Bytes_sent"]),
    ("BINLOG_BYTES_WRITTEN", &[]),
    ("ROWS_READ", &["Rows_read"]),
    ("ROWS_SENT", &["Rows_sent"]),
    ("ROWS_DELETED", &["Handler_delete"]),
    ("ROWS_INSERTED", &["Handler_write"]),
    ("ROWS_UPDATED", &["Handler_update"]),
    ("SELECT_COMMANDS", commands::SELECTS),
    ("UPDATE_COMMANDS", commands::UPDATES),
    ("OTHER_COMMANDS", commands::OTHERS),
    ("COMMIT_TRANSACTIONS", &["Handler_commit"]),
    ("ROLLBACK_TRANSACTIONS", &["Handler_rollback", "Handler_savepoint_rollback"]),
    ("DENIED_CONNECTIONS", &[]),
    ("LOST_CONNECTIONS", &[]),
    ("ACCESS_DENIED", &["Access_denied_errors"]),
    ("EMPTY_QUERIES", &["Empty_queries"]),
    ("TOTAL_SSL_CONNECTIONS", &[]),
    ("MAX_STATEMENT_TIME_EXCEEDED", &["Max_statement_time_exceeded"]),
];
const TOTAL: usize = 0;
const CONCURRENT: usize = 1;
const CONNECTED: usize = 2;
const BUSY: usize = 3;
const CPU: usize = 4;
const BINLOG: usize = 7;
const DENIED: usize = 18;
const LOST: usize = 19;
const REFUSED: usize = 20;
const OVER_TLS: usize = 22;

/// A number for each column; times in microseconds, except that of connections in seconds.
type Counts = [u64; COLUMNS.len()];

/// Counts of a user or of a client.
#[derive(Debug, Default)]
struct Entry([AtomicU64; COLUMNS.len()]);

impl Entry {
    fn add(&self, column: usize, n: u64) {
        if let Some(count) = self.0.get(column) {
            count.fetch_add(n, Relaxed);
        }
    }

    fn add_all(&self, growth: &Counts) {
        self.0.iter().zip(growth).filter(|(_, n)| **n > 0).for_each(|(count, n)| {
            count.fetch_add(*n, Relaxed);
        });
    }

    fn row(&self, first: &'static str, name: &str) -> Row {
        let value = |column: usize, count: &AtomicU64| match (column, count.load(Relaxed)) {
            (BUSY | CPU, micros) => Value::Double(micros as f64 / 1e6),
            (_, count) => Value::Int(count as i64),
        };
        let counts = COLUMNS.iter().zip(&self.0).enumerate();
        let counts = counts.map(|(at, ((column, _), count))| (*column, value(at, count)));
        [(first, text(name))].into_iter().chain(counts).collect()
    }
}

/// The entries of all users, or of all clients.
#[derive(Debug, Default)]
struct Entries {
    by_name: Mutex<HashMap<Box<str>, Arc<Entry>>>,
    /// Number of times they were forgotten.
    forgotten: AtomicU64,
}

impl Entries {
    /// The entry of a name, and whether it is new.
    fn find_or_make(&self, name: &str) -> (Arc<Entry>, bool) {
        let mut by_name = self.by_name.lock();
        match by_name.get(name) {
            Some(entry) => (Arc::clone(entry), false),
            None => (Arc::clone(by_name.entry(name.into()).or_default()), true),
        }
    }

    fn find(&self, name: &str) -> Option<Arc<Entry>> {
        self.by_name.lock().get(name).cloned()
    }

    fn forget(&self) {
        self.by_name.lock().clear();
        self.forgotten.fetch_add(1, Relaxed);
    }

    fn rows(&self, first: &'static str) -> Vec<Row> {
        let mut all: Vec<(Box<str>, Arc<Entry>)> =
            self.by_name.lock().iter().map(|(name, e)| (name.clone(), Arc::clone(e))).collect();
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        all.iter().map(|(name, entry)| entry.row(first, name)).collect()
    }
}

/// Statistics of all users and clients.
#[derive(Debug, Default)]
pub(crate) struct UserStatistics {
    on: AtomicBool,
    users: Entries,
    clients: Entries,
}

impl UserStatistics {
    /// Begins or ends counting (`userstat`).
    pub(crate) fn switch(&self, on: bool) {
        self.on.store(on, Relaxed);
    }

    /// Whether sessions are counted.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Relaxed)
    }

    /// Forgets all users (`FLUSH USER_STATISTICS`).
    pub(crate) fn forget_users(&self) {
        self.users.forget();
    }

    /// Forgets all clients (`FLUSH CLIENT_STATISTICS`).
    pub(crate) fn forget_clients(&self) {
        self.clients.forget();
    }

    /// Counts a refused login. Compat: users and clients without an entry get none.
    pub(crate) fn note_denied(&self, user: &str, client: &str) {
        if !self.is_on() {
            return;
        }
        for entry in [self.users.find(user), self.clients.find(client)].into_iter().flatten() {
            entry.add(DENIED, 1);
            entry.add(REFUSED, 1);
        }
    }

    /// Rows of `USER_STATISTICS`.
    pub(crate) fn user_rows(&self) -> Vec<Row> {
        self.users.rows("USER")
    }

    /// Rows of `CLIENT_STATISTICS`.
    pub(crate) fn client_rows(&self) -> Vec<Row> {
        self.clients.rows("CLIENT")
    }
}
