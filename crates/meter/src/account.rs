//! One session's account: the bytes its commands hold, its limits, and requests to end it.
//!
//! Several threads may charge it at once: each adds only its own bytes. Any thread may send a
//! request.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use selkie_types::error::catalogue::{
    ER_CONNECTION_KILLED, ER_OPTION_PREVENTS_STATEMENT, ER_OUT_OF_RESOURCES, ER_STATEMENT_TIMEOUT,
};
use selkie_types::{SqlError, SqlResult};

use crate::server;

/// A request to a session from another session or the server.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Nothing.
    Nothing,
    /// End the running statement.
    EndStatement,
    /// End the connection.
    EndConnection,
}

/// Bytes a statement may hold while the server as a whole is over its limit. Large statements are
/// ended; small ones, such as those that look for the cause, may go on.
const MODEST: i64 = 4 << 20;

/// Deadline value for "no deadline".
const NEVER: u64 = u64::MAX;

/// One session's account.
#[derive(Debug)]
pub struct Account {
    asked: AtomicU8,
    /// Microseconds since [`BEGINNING`].
    deadline: AtomicU64,
    used: AtomicI64,
    most: AtomicI64,
    /// Value of `used` when the command began.
    before: AtomicI64,
    session_limit: AtomicI64,
}

/// The limit that was exceeded.
enum Excess {
    /// The session's limit; the error tells it.
    OfSession(i64),
    /// The statement's limit or the server's.
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

    /// Records a request. A request to end the connection is never replaced by a weaker one.
    pub fn ask(&self, what: Asked) {
        self.asked.fetch_max(what as u8, Ordering::AcqRel);
    }

    /// Removes a request to end the statement.
    pub fn statement_is_over(&self) {
        let over = Asked::EndStatement as u8;
        let _ = self.asked.compare_exchange(over, 0, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Begins a command, without a deadline and with no memory of its own.
    pub fn begin_command(&self) {
        self.deadline.store(NEVER, Ordering::Relaxed);
        self.before.store(self.used.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Sets the time at which the statement must end.
    pub fn set_deadline(&self, at: Option<Instant>) {
        self.deadline.store(at.map_or(NEVER, micros), Ordering::Relaxed);
    }

    /// Sets the most bytes the session may hold.
    pub fn set_limit(&self, session: i64) {
        self.session_limit.store(session, Ordering::Relaxed);
    }

    /// Bytes held. Never negative, although a session may free memory that another one took.
    pub fn used(&self) -> i64 {
        self.used.load(Ordering::Relaxed).max(0)
    }

    /// The largest number of bytes held.
    pub fn most(&self) -> i64 {
        self.most.load(Ordering::Relaxed)
    }

    /// Adds `bytes`; `total` is the server's sum with them, as far as it is limited. Returns
    /// whether a limit is exceeded.
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

    /// Bytes that the command may still take until it exceeds a limit; negative if it has.
    pub(crate) fn left(&self) -> i64 {
        let used = self.used.load(Ordering::Relaxed);
        let own = used - self.before.load(Ordering::Relaxed);
        let of_session = self.session_limit.load(Ordering::Relaxed).saturating_sub(used);
        let of_statement = server::statement_limit().saturating_sub(own);
        let of_server = server::memory_limit().saturating_sub(server::limited());
        of_session.min(of_statement).min(of_server)
    }

    /// Fails if the statement must end, or if `more` bytes would exceed a limit.
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
        let total = server::limited().saturating_add(more);
        self.excess(used, total).map_or(Ok(()), |excess| Err(excess.error()))
    }
}
