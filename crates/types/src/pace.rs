//! Pace of long work: code reports its work here, and is stopped if its statement must end.
//!
//! Must not know why a statement ends: the code that runs statements registers a judge
//! ([`set_judge`]).

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

use crate::SqlResult;
use crate::stack::Ended;

/// Units of work between two calls of the judge. A unit is about a nanosecond, or one byte read.
const TANK: i64 = 1 << 19;

/// Size from which a value must be requested before it is made. Smaller values are counted after
/// they are made.
pub const MUCH: usize = 256 << 10;

/// Decides whether the thread's statement may continue, and have this many more bytes.
type Judge = fn(usize) -> SqlResult<()>;

static JUDGE: OnceLock<Judge> = OnceLock::new();

thread_local! {
    static FUEL: Cell<i64> = const { Cell::new(TANK) };
    /// Nesting depth of [`interruptible`] calls on the thread.
    static INSIDE: Cell<u32> = const { Cell::new(0) };
}

/// Registers the judge; only the first call counts.
pub fn set_judge(judge: Judge) {
    let _ = JUDGE.set(judge);
}

fn judged(more: usize) -> SqlResult<()> {
    JUDGE.get().map_or(Ok(()), |judge| judge(more))
}

/// Makes the next call of [`spend`] or [`tick`] on this thread ask the judge.
pub fn run_out() {
    FUEL.set(0);
}

/// Reports work that is about to be done; from time to time asks the judge for permission.
#[inline]
pub fn spend(units: usize) -> SqlResult<()> {
    let left = FUEL.get() - units as i64;
    FUEL.set(left);
    if left <= 0 { refuel() } else { Ok(()) }
}

#[cold]
fn refuel() -> SqlResult<()> {
    FUEL.set(TANK);
    // The tank stays empty for a statement that must end, so that later calls meet the error again.
    judged(0).inspect_err(|_| run_out())
}

/// Like [`spend`], for code that cannot return an error: unwinds to the enclosing
/// [`interruptible`], and does nothing without one.
#[inline]
pub fn tick(units: usize) {
    let left = FUEL.get() - units as i64;
    FUEL.set(left);
    if left <= 0 {
        tock();
    }
}

#[cold]
fn tock() {
    match INSIDE.get() {
        // The next code that can return an error asks.
        0 => run_out(),
        _ => end_if(refuel()),
    }
}

fn end_if(outcome: SqlResult<()>) {
    if let Err(error) = outcome
        && INSIDE.get() > 0
    {
        // No panic is reported, since nothing went wrong.
        resume_unwind(Box::new(Ended(error)));
    }
}

/// An error if `bytes` are at least [`MUCH`] and more than the statement may have. Call it before
/// writing that many bytes at once.
#[inline]
pub fn ask(bytes: usize) -> SqlResult<()> {
    if bytes < MUCH { Ok(()) } else { judged(bytes) }
}

/// Like [`ask`], for code that cannot return an error; see [`tick`].
#[inline]
pub fn demand(bytes: usize) {
    if bytes >= MUCH {
        insist(bytes);
    }
}

#[cold]
fn insist(bytes: usize) {
    end_if(judged(bytes));
}

/// Counts an [`interruptible`] call until it ends, in whichever way.
struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(INSIDE.get() - 1);
    }
}

/// Runs work that [`tick`] may end. The work must hold no lock and must leave no shared state half
/// changed: sorting, searching, matching.
pub fn interruptible<R>(work: impl FnOnce() -> R) -> SqlResult<R> {
    INSIDE.set(INSIDE.get() + 1);
    let inside = Inside;
    let outcome = catch_unwind(AssertUnwindSafe(work));
    drop(inside);
    outcome.map_err(|payload| match payload.downcast::<Ended>() {
        Ok(ended) => ended.0,
        Err(panic) => resume_unwind(panic),
    })
}
