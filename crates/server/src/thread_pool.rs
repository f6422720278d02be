//! Threads that serve many connections: as many at work as the machine has cores.
//!
//! Connections belong to *groups*. In each group one thread at a time waits for the sockets, puts
//! the connections with new data into the group's queue, and serves them, statement by statement.
//! Another thread takes over when this one waits for anything but its own work
//! ([`selkie_engine::blocking`]) or takes too long. The group holds back an answer whose commit is
//! not durable yet, until a thread has time to wait for the log ([`held`]). A client that waits for
//! something outside of the pool needs no thread until that comes ([`parked`]). Other short answers
//! are sent together when a thread has served the queue ([`answers`]).
//!
//! With very many connections, each takes a turn of several statements ([`turn`]). Connections
//! without an open transaction wait while enough transactions are at work ([`transactions`]).
//!
//! Must not know sessions: a [`Client`] is served and returns what it waits for.
//!
//! # Invariants
//! - POOL-1 A client is served by one thread at a time: only the thread that moved its connection
//!   from idle to queued, or took it from the queue, may use it.
//! - POOL-2 Data that arrives while a client is served or queued makes it queued again: no data
//!   stays unseen, although the socket reports each arrival only once.
//! - POOL-3 A group with work or open sockets has a thread that is at work or waits for the
//!   sockets, or it gets one at the timer's next check.

mod answers;
mod background;
mod client;
mod connection;
mod footprint;
mod group;
mod held;
mod parked;
mod poller;
mod pool;
mod queue;
mod statistics;
mod timer;
mod transactions;
mod turn;
mod waits;
mod worker;

pub(crate) use background::NICE as BACKGROUND;
pub(crate) use client::{Client, Priority, Progress};
pub(crate) use pool::{Limits, ThreadPool};
pub(crate) use waits::REASONS;
