//! Guard of the thread's stack: every recursion whose depth a client can choose asks here.
//!
//! A step that may fail calls [`check`] and returns error 1436. A step that cannot fail calls
//! [`ensure`], which unwinds to the code that runs the statement ([`guarded`]): the statement is
//! lost, not the server. Must not be used to measure depth: limits that clients can rely on are the
//! parser's.
//!
//! # Invariants
//! - STACK-1 Every cycle of calls whose length a client chooses calls one of the two.
//! - STACK-2 Dropping, cloning and comparing trees cannot fail. So a tree is built by a recursion
//!   that asks and needs more stack per level, or its height is limited where it is built.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::error::catalogue::ER_STACK_OVERRUN_NEED_MORE;
use crate::{SqlError, SqlResult};

/// Stack size of a thread that runs statements. Frames of unoptimised code are several times as
/// large.
pub const SIZE: usize = if cfg!(debug_assertions) { 64 << 20 } else { 16 << 20 };

/// Bytes reserved for code that does not ask: library calls, drops while unwinding.
pub const RESERVE: usize = if cfg!(debug_assertions) { 512 << 10 } else { 1 << 20 };

/// Payload of the unwinding of a statement, where no error can be returned.
#[derive(Debug)]
pub struct Ended(pub SqlError);

#[inline]
fn is_short() -> bool {
    stacker::remaining_stack().is_some_and(|left| left < RESERVE)
}

#[cold]
fn overrun() -> SqlError {
    let used = SIZE.saturating_sub(stacker::remaining_stack().unwrap_or(0));
    SqlError::new(&ER_STACK_OVERRUN_NEED_MORE, &[&used, &SIZE, &RESERVE])
}

/// Error 1436 if the stack is nearly used up.
#[inline]
pub fn check() -> SqlResult<()> {
    match is_short() {
        true => Err(overrun()),
        false => Ok(()),
    }
}

/// Unwinds to the nearest [`guarded`] if the stack is nearly used up.
#[inline]
pub fn ensure() {
    if is_short() {
        // This is no bug, so the panic hook must not see it.
        resume_unwind(Box::new(Ended(overrun())));
    }
}

/// Unwinds to the nearest [`guarded`] with an error, from code that cannot return one. Only for
/// limits that no real statement reaches.
#[cold]
pub fn end(error: SqlError) -> ! {
    resume_unwind(Box::new(Ended(error)))
}

/// Runs `work` and turns unwinding into an error: the error in [`Ended`], or for a panic the result
/// of `failed`.
pub fn guarded<R>(
    work: impl FnOnce() -> SqlResult<R>,
    failed: impl FnOnce(&(dyn Any + Send)) -> SqlError,
) -> SqlResult<R> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(payload) => match payload.downcast::<Ended>() {
            Ok(ended) => Err(ended.0),
            Err(payload) => Err(failed(&*payload)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deeper than any stack.
    const DEEP: u64 = u64::MAX;

    fn unwinding(left: u64) -> u64 {
        ensure();
        if left == 0 { 0 } else { std::hint::black_box(unwinding(left - 1)) + 1 }
    }

    fn failing(left: u64) -> SqlResult<u64> {
        check()?;
        if left == 0 { Ok(0) } else { Ok(std::hint::black_box(failing(left - 1)?) + 1) }
    }

    #[test]
    fn endless_recursion_is_an_error() {
        let bug = |_: &(dyn Any + Send)| SqlError::internal("a bug");
        let error = guarded(|| Ok(unwinding(DEEP)), bug).unwrap_err();
        assert!(error.is(&ER_STACK_OVERRUN_NEED_MORE));
        assert!(failing(DEEP).unwrap_err().is(&ER_STACK_OVERRUN_NEED_MORE));
    }

    #[test]
    fn a_panic_is_the_callers() {
        let failed = |payload: &(dyn Any + Send)| {
            SqlError::internal(payload.downcast_ref::<&str>().copied().unwrap_or("?"))
        };
        let error = guarded(|| -> SqlResult<()> { resume_unwind(Box::new("bug")) }, failed);
        assert!(error.unwrap_err().message().contains("bug"));
    }
}
