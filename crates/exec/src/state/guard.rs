//! Turns a panic into an error: a bug ends its statement, not the session.
//!
//! # Invariants
//! - GUARD-1 Code that changes the session temporarily runs the work in between guarded, so that it
//!   can change it back. The same holds for code that undoes a statement after an error.
//! - GUARD-2 A panic at a place that may not have been undone rolls the transaction back.

use std::any::Any;

use selkie_types::{SqlError, SqlResult, stack};

use crate::Session;

/// Runs `work`; a panic becomes error 1815, a stack overflow error 1436.
pub fn guarded<R>(work: impl FnOnce() -> SqlResult<R>) -> SqlResult<R> {
    stack::guarded(work, |payload| SqlError::internal(said(payload)))
}

fn said(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic")
}

/// As [`guarded`], for work that no inner code undoes: a panic rolls the transaction back
/// (GUARD-2).
pub(crate) fn whole<R>(
    session: &mut Session,
    work: impl FnOnce(&mut Session) -> SqlResult<R>,
) -> SqlResult<R> {
    let mut returned = false;
    let nesting = session.programs.nesting;
    let result = guarded(|| {
        let result = work(session);
        returned = true;
        result
    });
    if let Err(error) = &result
        && !returned
    {
        session.programs.nesting = nesting;
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
    // The client gets the statement's own error; a failed rollback goes to the log.
    if let Err(failed) = session.rollback_for(error) {
        tracing::error!("rollback after a panic failed: {failed}");
    }
    session.leave();
}
