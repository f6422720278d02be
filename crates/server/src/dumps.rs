//! Readers of the binary log: replicas and others that let the server send them its events.
//!
//! # Way of a dump
//! A session that gets the command leaves the thread pool for a thread of its own, reads its wishes
//! from its user variables, and becomes a [`Reader`]. It sends what is durable and waits for more.
//! Whoever adds to the log rings the [`Bell`]s of those who wait.
//!
//! # Invariants
//! - DUMP-1 No event is sent before it is durable, whatever `innodb_flush_log_at_trx_commit` is: no
//!   replica has more than this server after a crash.
//! - DUMP-2 A reader holds no lock while it sends or waits: one that does not read slows nobody.
//! - DUMP-3 A file that a reader is in is not purged.
//!
//! Must not know the format of events: `selkie_replication` does.

mod bell;
mod readers;
mod replicas;
mod served;
mod wishes;

pub(crate) use bell::Woken;
pub(crate) use readers::{Reader, Readers};
pub(crate) use replicas::{Replicas, show_replicas};
pub(crate) use served::{Haste, Served};
pub(crate) use wishes::{Wishes, wishes};
