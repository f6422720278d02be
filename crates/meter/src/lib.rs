//! The statement that a thread runs: the bytes it has allocated, its limits, and requests to end
//! it.
//!
//! # What it is
//! One account of memory for everything that works for a session: parser, planner, functions,
//! operators, results. The allocator of the program ([`Counting`]) counts what the thread takes and
//! gives back. The thread reports that in steps to the session's [`Account`] and to the server's
//! total. Long loops report their work ([`spend`]). About once a millisecond of work they learn
//! whether their statement was killed, is out of time or holds too much.
//!
//! # Invariants
//! - METER-1 The total differs from the bytes that all threads hold by at most one step per thread,
//!   plus what each has freed in small blocks since its last allocation.
//! - METER-2 An account is charged only for what its thread does between [`attach`] and the drop of
//!   the returned value.
//! - METER-3 Nothing here allocates while it counts.
//! - METER-4 Blocks that a thread keeps for itself count as freed; they are less than half a MiB.
//!
//! # Not here
//! No limit is chosen here, and no decision about what a statement is. An error is only returned,
//! or, inside [`interruptible`], carried out of code that cannot return one. The allocator itself
//! never fails a statement, since allocations happen anywhere.

mod account;
mod blocks;
mod counting;
mod fuel;
mod pages;
mod server;
mod thread;

#[cfg(test)]
mod tests;

pub use account::{Account, Asked};
pub use counting::Counting;
pub use fuel::{check, held, left, room};
pub use selkie_types::pace::{ask, demand, interruptible, spend, tick};
pub use server::{memory_limit, most_used, set_aside, set_limits, statement_limit, total_used};
pub use thread::{Attached, Mark, account, attach, detached};
