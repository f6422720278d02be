//! A bug ends its statement, not the session: what unwinds becomes an error.
//!
//! # Invariants
//! - GUARD-1 Whoever changes the session for a while and changes it back runs what lies between
//!   guarded. So do those that undo a statement's changes after an error.
//! - GUARD-2 What unwinds from a place that is not known to be undone takes the transaction down.

use std::any::Any;

use selkie_types::{SqlError, SqlResult, stack};

use crate::Session;

/// Runs `work`; a panic becomes error 1815, a stack used up error 1436.
pub fn guarded<R>(work: impl FnOnce() -> SqlResult<R>) -> SqlResult<R> {
    stack::guarded(work, |payload| SqlError::internal(said(payload)))
}

fn said(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic")
}

/// As [`guarded`], for what nobody undoes who stands nearer: the transaction goes (GUARD-2).
pub(crate) fn whole<R>(
    session: &mut Session,
    work: impl FnOnce(&mut Session) -> SqlResult<R>,
) -> SqlResult<R> {
    let mut returned = false;
    let result = guarded(|| {
        let result = work(session);
        returned = true;
        result
    });
    if let Err(error) = &result
        && !returned
    {
        abandon(session, error);
    }
    result
}

#[cold]
fn abandon(session: &mut Session, error: &SqlError) {
    session.absorb_nested();
    if session.transaction.is_nested() {
        return;
    }
    // The statement's own error is told; a transaction that cannot be undone is told in the log.
    if let Err(failed) = session.rollback_for(error) {
        tracing::error!("rollback after a panic failed: {failed}");
    }
    session.leave();
}
