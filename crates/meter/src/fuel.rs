//! The judge of long work: a statement goes on unless it was killed, is out of time or holds too
//! much.
//!
//! Must cost next to nothing where it is not yet time to ask.

use selkie_types::{SqlResult, pace};

use crate::thread::with_account;

/// An error if the statement that this thread runs was killed, is out of time or holds too much.
/// Not with a latch held.
pub fn check() -> SqlResult<()> {
    room(0)
}

/// As [`check`], if the statement took `bytes` more: to be asked before much is allocated at once.
pub fn room(bytes: usize) -> SqlResult<()> {
    let more = i64::try_from(bytes).unwrap_or(i64::MAX);
    with_account(|account| account.check(more)).unwrap_or(Ok(()))
}

/// The thread's work is judged here from now on.
pub(crate) fn judge() {
    pace::set_judge(room);
}
