//! This server as a replica: named connections to primaries, each with a thread that receives
//! events into relay files and one that applies them.
//!
//! # Invariants
//! - REPLICA-1 Rows and position change in one commit. Relay files and info files are never needed
//!   to know what was applied.
//! - REPLICA-2 A group is applied whole or not at all, in the primary's order.
//!
//! Must not know SQL or formats of events: `executor` and `replication` do.

mod applied;
mod applier;
mod change;
mod client;
mod connection;
mod duplicates;
mod events;
mod info_files;
mod life;
mod names;
mod receiver;
mod relay;
mod show;
mod start;
mod threads;
mod values;
mod wait;
mod workers;

pub(crate) use applied::{AppliedState, Riders};
pub(crate) use change::change;
pub(crate) use connection::Connections;
pub(crate) use events::show_events as show_relay_events;
pub(crate) use life::{begin, end, set_up};
pub(crate) use show::{all as show_all, shows_accounts, status as show_status, status_variables};
pub(crate) use start::{flush_first_relay, flush_relay, reset, start_stop};
pub(crate) use values::{
    assign as assign_variable, check as check_variable, check_stopped, is_of_connection,
    of_connection, value as variable,
};
pub(crate) use wait::{wait_for_groups, wait_for_place};
