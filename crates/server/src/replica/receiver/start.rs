//! The place from which a receiver asks its primary.
//!
//! Must not ask the primary.

use selkie_replication::gtid::Position;
use selkie_replication::replica::Place;

use crate::replica::connection::{Connection, UsingGtid};
use crate::replica::relay::RelayLog;
use crate::server::Server;

/// A place to begin at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StartPosition {
    /// The groups that this server has, if it asks by them.
    pub(super) gtids: Option<Position>,
    /// The place in the primary's log, which is asked for otherwise.
    pub(super) place: Place,
}

/// The place behind what was received within this life, or else behind what was applied.
pub(super) fn start_position(
    server: &Server,
    connection: &Connection,
    relay: &RelayLog,
) -> StartPosition {
    let using = connection.config.lock().using_gtid;
    let progress = connection.progress.lock();
    let is_fresh = relay.is_fresh();
    let gtids = match using {
        UsingGtid::No => None,
        _ if !is_fresh => Some(progress.received_gtids.clone()),
        _ => Some(applied_gtids(server, using)),
    };
    let mut place = match is_fresh {
        true => progress.applied.clone(),
        false => progress.received.clone(),
    };
    // Before a place is known, the log is read from its beginning.
    place.offset = place.offset.max(4);
    StartPosition { gtids, place }
}

/// The groups that this server has applied, and with `CurrentPos` those that it has logged itself.
pub(in crate::replica) fn applied_gtids(server: &Server, using: UsingGtid) -> Position {
    let value = match using {
        UsingGtid::CurrentPos => crate::binlog::value(server, "gtid_current_pos"),
        _ => None,
    };
    match value {
        Some(value) => value.as_str().parse().unwrap_or_default(),
        None => server.applied().state().gtids().clone(),
    }
}
