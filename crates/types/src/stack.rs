//! Guard of the thread's stack: every recursion over something a client shapes asks here.
//!
//! A step that may fail calls [`check`] and passes error 1436 on. A step that has no way to fail
//! calls [`ensure`], which unwinds to whoever runs the statement ([`guarded`]); that costs the
//! statement, not the server. Must not be used to ask how deep something is: limits of depth that
//! clients can rely on are the parser's.
//!
//! # Invariants
//! - STACK-1 No cycle of calls whose length a client chooses is without one of the two.
//! - STACK-2 Dropping, cloning and comparing trees cannot fail: a tree is built by a recursion that
//!   asks and needs more stack for each level, or its height has a limit where it is built.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::error::catalogue::ER_STACK_OVERRUN_NEED_MORE;
use crate::{SqlError, SqlResult};

/// Stack of a thread that runs statements. Frames of code that is not optimised are several times
/// as large.
pub const SIZE: usize = if cfg!(debug_assertions) { 64 << 20 } else { 16 << 20 };

/// Bytes left for code below that does not ask: library calls, drops while unwinding.
pub const RESERVE: usize = if cfg!(debug_assertions) { 512 << 10 } else { 1 << 20 };

/// The payload that unwinds a statement where no error can be returned.
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
        // No bug, so nothing that is told of panics is told of it.
        resume_unwind(Box::new(Ended(overrun())));
    }
}

/// Unwinds to the nearest [`guarded`] with an error of code that has no way to fail: a limit that
/// only statements meet that nobody writes.
#[cold]
pub fn end(error: SqlError) -> ! {
    resume_unwind(Box::new(Ended(error)))
}

/// Runs `work`; what unwinds out of it becomes an error: what [`Ended`] carries, and of a panic
/// what `failed` says.
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
