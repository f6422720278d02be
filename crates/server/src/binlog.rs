//! The binary log as the server runs it: its files, its life, and the statements about it.
//!
//! # Invariants
//! - BLOG-1 Every change of the log is a rider of the engine's log. Files are written from that
//!   alone, when it is durable.
//! - BLOG-2 No place of the log is told to anybody before it is durable.
//!
//! Must not know the format of events: `selkie_replication` does. Must not decide what of a
//! statement is logged: the executor does.

mod domains;
mod events;
mod files;
mod life;
mod names;
mod position;
mod rider;
mod serving;
mod setup;
mod statements;
#[cfg(test)]
mod tests;
mod values;
mod writer;

pub(crate) use domains::delete_domains;
pub(crate) use events::{
    Asked, EventRows, failed_events, no_event_file, show_events, unreadable_event,
};
pub(crate) use life::{Binlog, now};
pub(crate) use names::LogNames;
pub(crate) use rider::{engine_error, out_of_order};
pub(crate) use setup::{derive_names, set_up, unbuilt};
pub(crate) use statements::{Upto, flush, purge, reset, show_logs, show_status};
pub(crate) use values::{apply, snapshot_status, status, value};
