//! One session's account: what its commands hold, what they may hold, and what was asked of them.
//!
//! Must not be charged by two threads at once for more than they add.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use selkie_types::error::catalogue::{
    ER_CONNECTION_KILLED, ER_OPTION_PREVENTS_STATEMENT, ER_OUT_OF_RESOURCES, ER_STATEMENT_TIMEOUT,
};
use selkie_types::{SqlError, SqlResult};

use crate::server;

/// A request to a session from outside.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Nothing.
    Nothing,
    /// To end the statement that runs.
    EndStatement,
    /// To end the connection.
    EndConnection,
}

/// Bytes a statement may hold while the server as a whole is over its limit: those that hold much
/// are ended, not those that come to see what is wrong.
const MODEST: i64 = 4 << 20;

/// No time at which a statement has to end.
const NEVER: u64 = u64::MAX;

/// One session's account.
#[derive(Debug)]
pub struct Account {
    asked: AtomicU8,
    /// In microseconds since [`BEGINNING`].
    deadline: AtomicU64,
    used: AtomicI64,
    most: AtomicI64,
    /// `used` when the statement began.
    before: AtomicI64,
    session_limit: AtomicI64,
}

/// The limit that was exceeded.
enum Excess {
    /// The session's, which is told.
    OfSession(i64),
    /// The statement's, or the server's.
    OfStatement,
}

impl Excess {
    fn error(self) -> SqlError {
        match self {
            Self::OfSession(limit) => {
                let option = format_args!("--max-session-mem-used={limit}");
                SqlError::new(&ER_OPTION_PREVENTS_STATEMENT, &[&option])
            }
            Self::OfStatement => SqlError::new(&ER_OUT_OF_RESOURCES, &[]),
        }
    }
}

static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

fn micros(at: Instant) -> u64 {
    at.saturating_duration_since(*BEGINNING).as_micros() as u64
}

impl Default for Account {
    fn default() -> Self {
        Self {
            asked: AtomicU8::new(0),
            deadline: AtomicU64::new(NEVER),
            used: AtomicI64::new(0),
            most: AtomicI64::new(0),
            before: AtomicI64::new(0),
            session_limit: AtomicI64::new(i64::MAX),
        }
    }
}

impl Account {
    /// The pending request.
    #[inline]
    pub fn asked(&self) -> Asked {
        match self.asked.load(Ordering::Acquire) {
            0 => Asked::Nothing,
            1 => Asked::EndStatement,
            _ => Asked::EndConnection,
        }
    }

    /// Asks for something; a connection that is being ended stays so.
    pub fn ask(&self, what: Asked) {
        self.asked.fetch_max(what as u8, Ordering::AcqRel);
    }

    /// Forgets a request to end the statement.
    pub fn statement_is_over(&self) {
        let over = Asked::EndStatement as u8;
        let _ = self.asked.compare_exchange(over, 0, Ordering::AcqRel, Ordering::Acquire);
    }

    /// A command begins: it has no deadline yet, and holds nothing.
    pub fn begin_command(&self) {
        self.deadline.store(NEVER, Ordering::Relaxed);
        self.before.store(self.used.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Until when the statement may run.
    pub fn set_deadline(&self, at: Option<Instant>) {
        self.deadline.store(at.map_or(NEVER, micros), Ordering::Relaxed);
    }

    /// Sets the most bytes the session may hold.
    pub fn set_limit(&self, session: i64) {
        self.session_limit.store(session, Ordering::Relaxed);
    }

    /// Bytes held; never less than none, though a session may free what another one took.
    pub fn used(&self) -> i64 {
        self.used.load(Ordering::Relaxed).max(0)
    }

    /// The most that was held.
    pub fn most(&self) -> i64 {
        self.most.load(Ordering::Relaxed)
    }

    /// Counts `bytes`, of which the server as a whole has `total` then. Whether that is too much.
    pub(crate) fn add(&self, bytes: i64, total: i64) -> bool {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if used > self.most.load(Ordering::Relaxed) {
            self.most.fetch_max(used, Ordering::Relaxed);
        }
        bytes > 0 && self.excess(used, total).is_some()
    }

    fn excess(&self, used: i64, total: i64) -> Option<Excess> {
        let own = used - self.before.load(Ordering::Relaxed);
        let session = self.session_limit.load(Ordering::Relaxed);
        if used > session && own > 0 {
            return Some(Excess::OfSession(session));
        }
        let much =
            own > server::statement_limit() || (total > server::memory_limit() && own > MODEST);
        much.then_some(Excess::OfStatement)
    }

    /// An error if the statement has to end, or if `more` bytes were too many.
    pub(crate) fn check(&self, more: i64) -> SqlResult<()> {
        match self.asked() {
            Asked::Nothing => {}
            Asked::EndStatement => return Err(SqlError::interrupted()),
            Asked::EndConnection => return Err(SqlError::new(&ER_CONNECTION_KILLED, &[])),
        }
        let deadline = self.deadline.load(Ordering::Relaxed);
        if deadline != NEVER && micros(Instant::now()) >= deadline {
            return Err(SqlError::new(&ER_STATEMENT_TIMEOUT, &[]));
        }
        let used = self.used.load(Ordering::Relaxed).saturating_add(more);
        let total = server::total_used().saturating_add(more);
        self.excess(used, total).map_or(Ok(()), |excess| Err(excess.error()))
    }
}
