//! The statement that a thread runs: the bytes it has allocated, how many it may, and whether it
//! has to end.
//!
//! # What it is
//! One account of memory for everything that works for a session: parser, planner, functions,
//! operators, results. The allocator of the program ([`Counting`]) counts what the thread takes and
//! gives back; the thread tells that to the session's [`Account`] and to the server's total in
//! steps. Loops that may last say how much they do ([`spend`]) and hear, about once a millisecond
//! of work, that their statement was killed, is out of time or holds too much.
//!
//! # Invariants
//! - METER-1 What all threads have told the total differs from what they hold by at most a step for
//!   each thread, and what it has freed in small blocks since it last allocated.
//! - METER-2 An account is told of nothing but what its thread does between [`attach`] and the drop
//!   of what that returns.
//! - METER-3 Nothing here allocates while it counts.
//!
//! # Not here
//! No limits of its own, no decision what a statement is. An error is only returned, or, inside
//! [`interruptible`], carried out of code that cannot return one; the allocator itself never fails
//! a statement, since it may be asked anywhere.

mod account;
mod counting;
mod fuel;
mod pages;
mod server;
mod thread;

#[cfg(test)]
mod tests;

pub use account::{Account, Asked};
pub use counting::Counting;
pub use fuel::{check, room};
pub use selkie_types::pace::{ask, demand, interruptible, spend, tick};
pub use server::{memory_limit, most_used, set_limits, statement_limit, total_used};
pub use thread::{Attached, Mark, attach, detached};
