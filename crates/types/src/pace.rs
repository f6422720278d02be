//! Pace of long work: it tells how much it does and is asked now and then whether it may go on.
//!
//! Must not know what may end a statement: whoever runs statements says so by [`set_judge`].

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

use crate::SqlResult;
use crate::stack::Ended;

/// Units of work between two questions: a unit is about a nanosecond, or a byte that is looked at.
const TANK: i64 = 1 << 19;

/// Bytes from which on a value is asked for before it is made: fewer are noticed once they are
/// there.
pub const MUCH: usize = 256 << 10;

/// Says whether the statement of the thread may go on, and have so many bytes more.
type Judge = fn(usize) -> SqlResult<()>;

static JUDGE: OnceLock<Judge> = OnceLock::new();

thread_local! {
    static FUEL: Cell<i64> = const { Cell::new(TANK) };
    /// Depth of [`interruptible`] pieces of work on the thread.
    static INSIDE: Cell<u32> = const { Cell::new(0) };
}

/// Says who judges; the first one stays.
pub fn set_judge(judge: Judge) {
    let _ = JUDGE.set(judge);
}

fn judged(more: usize) -> SqlResult<()> {
    JUDGE.get().map_or(Ok(()), |judge| judge(more))
}

/// The next who spends anything asks.
pub fn run_out() {
    FUEL.set(0);
}

/// Says that so many units of work are done next, and asks now and then whether they may.
#[inline]
pub fn spend(units: usize) -> SqlResult<()> {
    let left = FUEL.get() - units as i64;
    FUEL.set(left);
    if left <= 0 { refuel() } else { Ok(()) }
}

#[cold]
fn refuel() -> SqlResult<()> {
    FUEL.set(TANK);
    // Stays empty for a statement that has to end, so that whatever goes on meets the error again.
    judged(0).inspect_err(|_| run_out())
}

/// As [`spend`], for code that cannot return an error: it ends the [`interruptible`] piece of work
/// around it, and does nothing outside of one.
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
        // Whoever can return an error next asks.
        0 => run_out(),
        _ => end_if(refuel()),
    }
}

fn end_if(outcome: SqlResult<()>) {
    if let Err(error) = outcome
        && INSIDE.get() > 0
    {
        // No panic is reported: nothing went wrong.
        resume_unwind(Box::new(Ended(error)));
    }
}

/// An error if `bytes` are much and more than the statement may have: to be asked before so many
/// are written at once.
#[inline]
pub fn ask(bytes: usize) -> SqlResult<()> {
    if bytes < MUCH { Ok(()) } else { judged(bytes) }
}

/// As [`ask`], for code that cannot return an error, as [`tick`].
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

/// Counts a piece of work as long as it lasts, however it ends.
struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(INSIDE.get() - 1);
    }
}

/// Does a piece of work that [`tick`] may end. It must hold no lock and leave nothing half done
/// that outlives it: sorting, searching, matching.
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
