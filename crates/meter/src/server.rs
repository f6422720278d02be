//! The server's account: what all threads hold together.
//!
//! Must not know who holds it.

use std::sync::atomic::{AtomicI64, Ordering};

static TOTAL: AtomicI64 = AtomicI64::new(0);
static MOST: AtomicI64 = AtomicI64::new(0);
static LIMIT: AtomicI64 = AtomicI64::new(i64::MAX);

static STATEMENT: AtomicI64 = AtomicI64::new(i64::MAX);

/// Adds what a thread took or gave back; the total now.
pub(crate) fn add(bytes: i64) -> i64 {
    let total = TOTAL.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if total > MOST.load(Ordering::Relaxed) {
        MOST.fetch_max(total, Ordering::Relaxed);
    }
    total
}

/// Bytes the server has allocated.
pub fn total_used() -> i64 {
    TOTAL.load(Ordering::Relaxed)
}

/// The most it ever had.
pub fn most_used() -> i64 {
    MOST.load(Ordering::Relaxed)
}

/// Bytes the server may allocate before statements are refused more.
pub fn memory_limit() -> i64 {
    LIMIT.load(Ordering::Relaxed)
}

/// Bytes a single statement may hold.
pub fn statement_limit() -> i64 {
    STATEMENT.load(Ordering::Relaxed)
}

/// Sets both: of all together, and of one statement.
pub fn set_limits(total: i64, statement: i64) {
    LIMIT.store(total, Ordering::Relaxed);
    STATEMENT.store(statement, Ordering::Relaxed);
}
