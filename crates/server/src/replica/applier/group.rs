//! A group on its way through an applier: its number, and which event ends it.
//!
//! Must not read relay files or run events.

use std::sync::Arc;

use selkie_replication::codec::{Event, EventKind, GtidEvent, Header};
use selkie_replication::gtid::Gtid;
use selkie_replication::replica::{Flights, GroupEnds, Place};

use crate::replica::connection::Progress;

/// A group.
#[derive(Debug)]
pub(in crate::replica) struct Group {
    /// Its number; none if the primary gives none.
    pub(in crate::replica) gtid: Option<Gtid>,
    /// Flags of its GTID event.
    pub(in crate::replica) flags: u8,
    /// Seconds since 1970 at which the primary ran it.
    pub(in crate::replica) timestamp: Option<u32>,
    /// Place at which it begins in the relay files.
    pub(super) begin: Place,
    /// Its number among the groups of the workers, if the coordinator applies it beside them.
    pub(super) order: Option<(u64, Arc<Flights>)>,
    ends: GroupEnds,
    /// The same at the group's begin.
    first: GroupEnds,
    /// Events taken.
    taken: u64,
}

impl Group {
    /// The group whose first event this is.
    pub(in crate::replica) fn begin(header: &Header, event: &Event<'_>, begin: Place) -> Self {
        let (gtid, flags, ends) = match event {
            Event::Gtid(gtid) => {
                let id = Gtid { domain: gtid.domain, server: header.server_id, seq: gtid.seq };
                (Some(id), gtid.flags, GroupEnds::numbered(gtid))
            }
            _ => (None, 0, GroupEnds::default()),
        };
        let timestamp = (header.timestamp != 0).then_some(header.timestamp);
        Self { gtid, flags, timestamp, begin, order: None, ends, first: ends, taken: 0 }
    }

    /// The group before its first event.
    pub(super) fn again(&self) -> Self {
        let (begin, first) = (self.begin.clone(), self.first);
        Self { begin, order: None, ends: first, taken: 0, ..*self }
    }

    /// Begins anew, because the group is tried again.
    pub(super) fn restart(&mut self) {
        (self.ends, self.taken) = (self.first, 0);
    }

    /// Whether no event was taken.
    pub(super) fn is_at_begin(&self) -> bool {
        self.taken == 0
    }

    /// Takes the next event; whether it ends the group.
    pub(super) fn take(&mut self, kind: EventKind, event: &Event<'_>) -> bool {
        self.taken += 1;
        let text = match event {
            Event::Query(query) => Some(query.text),
            _ => None,
        };
        self.ends.take(kind, text)
    }

    /// Counts the group as SHOW SLAVE STATUS does.
    pub(in crate::replica) fn count(&self, progress: &mut Progress) {
        let count = match self.flags {
            flags if flags & GtidEvent::DDL != 0 => &mut progress.ddl_groups,
            flags if flags & GtidEvent::TRANSACTIONAL != 0 => &mut progress.transactional_groups,
            _ => &mut progress.non_transactional_groups,
        };
        *count += u64::from(self.gtid.is_some());
    }
}
