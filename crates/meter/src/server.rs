//! The server's account: the bytes all threads hold together, and the limits.
//!
//! Must not know sessions: threads report only sums.

use std::sync::atomic::{AtomicI64, Ordering};

static TOTAL: AtomicI64 = AtomicI64::new(0);
static MOST: AtomicI64 = AtomicI64::new(0);
static LIMIT: AtomicI64 = AtomicI64::new(i64::MAX);

static ASIDE: AtomicI64 = AtomicI64::new(0);
static STATEMENT: AtomicI64 = AtomicI64::new(i64::MAX);

/// Adds bytes a thread took or gave back. Returns what counts for the limit.
pub(crate) fn add(bytes: i64) -> i64 {
    let total = TOTAL.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if total > MOST.load(Ordering::Relaxed) {
        MOST.fetch_max(total, Ordering::Relaxed);
    }
    total - ASIDE.load(Ordering::Relaxed)
}

/// Adds bytes that have a limit of their own, such as those of a cache, and do not count for that
/// of statements; less than 0 when they are given back.
pub fn set_aside(bytes: i64) {
    ASIDE.fetch_add(bytes, Ordering::Relaxed);
}

/// Bytes that count for the limit.
pub(crate) fn limited() -> i64 {
    total_used() - ASIDE.load(Ordering::Relaxed)
}

/// Bytes the server holds.
pub fn total_used() -> i64 {
    TOTAL.load(Ordering::Relaxed)
}

/// The largest number of bytes it held.
pub fn most_used() -> i64 {
    MOST.load(Ordering::Relaxed)
}

/// Bytes the server may hold, besides those set aside; above it, statements are refused more.
pub fn memory_limit() -> i64 {
    LIMIT.load(Ordering::Relaxed)
}

/// Bytes a single statement may hold.
pub fn statement_limit() -> i64 {
    STATEMENT.load(Ordering::Relaxed)
}

/// Sets the limit of all statements together and of one statement.
pub fn set_limits(total: i64, statement: i64) {
    LIMIT.store(total, Ordering::Relaxed);
    STATEMENT.store(statement, Ordering::Relaxed);
}
