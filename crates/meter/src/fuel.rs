//! The check in long work: the statement ends if it was killed, is out of time or holds too much.
//!
//! Must cost almost nothing while no check is due.

use selkie_types::{SqlResult, pace};

use crate::thread::with_account;

/// Fails if the statement of this thread was killed, is out of time or holds too much. Not with a
/// latch held.
pub fn check() -> SqlResult<()> {
    room(0)
}

/// As [`check`], as if the statement held `bytes` more. Call it before a large allocation.
pub fn room(bytes: usize) -> SqlResult<()> {
    let more = i64::try_from(bytes).unwrap_or(i64::MAX);
    with_account(|account| account.check(more)).unwrap_or(Ok(()))
}

/// Bytes that the statement of this thread may still take until it exceeds a limit; negative if it
/// has. Without a statement there is no limit.
pub fn left() -> i64 {
    with_account(crate::Account::left).unwrap_or(i64::MAX)
}

/// Bytes that the session of this thread holds; 0 without a session.
pub fn held() -> i64 {
    with_account(crate::Account::used).unwrap_or(0)
}

/// Makes [`room`] the check of this thread's work.
pub(crate) fn judge() {
    pace::set_judge(room);
}
