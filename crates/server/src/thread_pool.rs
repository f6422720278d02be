//! Threads that serve many connections: as many at work as the machine has cores.
//!
//! Connections belong to *groups*. Of a group's threads one at a time waits for the sockets, takes
//! what has arrived into the group's queue and serves it, statement by statement; another takes
//! over when it waits for anything but its own work ([`selkie_engine::blocking`]) or takes too
//! long. Answers that must not leave before a commit is durable are held back by the group until a
//! thread has time to wait for the log ([`held`]); other short ones leave together when a thread
//! has served what was queued ([`answers`]).
//!
//! In a crowd connections take turns of some statements ([`turn`]), and those that have no
//! transaction open wait while enough transactions are at work ([`transactions`]).
//!
//! Must not know sessions: a [`Client`] is served and says what it waits for.
//!
//! # Invariants
//! - POOL-1 A client is served by one thread at a time: only who moved its connection from idle to
//!   queued, or took it from the queue, touches it.
//! - POOL-2 Data that arrives while a client is served or queued makes it queued again: none is
//!   left unseen, although the socket reports each arrival once.
//! - POOL-3 A group with work or open sockets has a thread that is at work or waits for the
//!   sockets, or will get one at the next look of the timer.

mod answers;
mod client;
mod connection;
mod footprint;
mod group;
mod held;
mod poller;
mod pool;
mod queue;
mod statistics;
mod timer;
mod transactions;
mod turn;
mod waits;
mod worker;

pub(crate) use client::{Client, Priority, Progress};
pub(crate) use pool::{Limits, ThreadPool};
pub(crate) use waits::REASONS;
