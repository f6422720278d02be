//! The walk over the relay files of an earlier life: which of their groups are not applied, and
//! where the last whole one ends.
//!
//! # Invariants
//! - KEPT-1 Groups are used again only if nothing is missing between what is applied and the first
//!   of them. If that is not certain, none are used: the primary has them.
//! - KEPT-2 What is behind the last whole group is never used.
//!
//! Must not read files, and must not trust them.

use std::collections::BTreeMap;

use crate::codec::{Checksum, Event, EventKind, GtidListEvent, flags};
use crate::gtid::{Gtid, Position};
use crate::log::FileNumber;
use crate::replica::note::Place;
use crate::replica::stream::{Stream, StreamError, Wants};

/// A place in relay files.
pub type RelayPlace = (FileNumber, u64);

/// The groups that a connection has applied, durably.
#[derive(Clone, Debug)]
pub struct Known {
    /// The last group of each domain.
    pub gtids: Position,
    /// The place in the primary's log.
    pub place: Place,
    /// Whether the connection asks by groups.
    pub by_gtids: bool,
}

/// The part of relay files that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Place of the first group that is not applied.
    pub first: RelayPlace,
    /// End of the last whole group.
    pub end: RelayPlace,
    /// The same in the primary's log.
    pub received: Place,
    /// The last whole group of each domain that has some which are not applied.
    pub gtids: Position,
    /// Groups behind `first` that are applied: the last one of each such domain.
    pub done: BTreeMap<u32, Gtid>,
}

/// Groups of one domain.
#[derive(Clone, Debug)]
struct Domain {
    /// Place of the first one that is not known to be applied.
    first: Option<RelayPlace>,
    /// End of the one that was applied last, once it was met.
    applied: Option<RelayPlace>,
    /// Lowest number.
    lowest: u64,
    last: Gtid,
}

/// A walk between two events.
#[derive(Debug)]
pub struct Walk {
    known: Known,
    stream: Stream,
    /// Number of the running group, and its place.
    group: Option<(Option<Gtid>, RelayPlace)>,
    domains: BTreeMap<u32, Domain>,
    /// End of the group that was applied last, if the connection asks by places.
    met: Option<RelayPlace>,
    /// Whether there is a group without a number, though the connection asks by groups.
    is_unclear: bool,
    end: Option<RelayPlace>,
}

impl Walk {
    /// A walk that begins at the first file that is there.
    pub fn new(known: Known) -> Self {
        let stream = Stream::new(Wants::default(), Checksum::Crc32, Position::default());
        Self {
            known,
            stream,
            group: None,
            domains: BTreeMap::new(),
            met: None,
            is_unclear: false,
            end: None,
        }
    }

    /// Takes the next event, which is between two places of a file. After an error the walk is
    /// over.
    pub fn take(
        &mut self,
        event: &[u8],
        (begin, end): (RelayPlace, RelayPlace),
    ) -> Result<(), StreamError> {
        let frame = self.stream.course().split(event)?;
        let header = frame.header;
        let looked = match header.kind {
            EventKind::GTID | EventKind::GTID_LIST => {
                frame.verify()?;
                Some(Event::decode(&frame, self.stream.course().format())?)
            }
            _ => None,
        };
        let was_within = self.stream.is_within_group();
        self.stream.take(event)?;
        match looked {
            Some(Event::Gtid(gtid)) => {
                let gtid = Gtid { domain: gtid.domain, server: header.server_id, seq: gtid.seq };
                self.group = Some((Some(gtid), begin));
            }
            Some(Event::GtidList(list)) if list.flags & GtidListEvent::IGNORED != 0 => {
                list.gtids.into_iter().for_each(|gtid| self.pass(gtid, (begin, end)));
            }
            _ if !was_within && self.stream.is_within_group() => self.group = Some((None, begin)),
            _ => {}
        }
        let is_tail = header.has(flags::RELAY_LOG) && header.kind == EventKind::ROTATE;
        if self.stream.is_within_group() || is_tail {
            return Ok(());
        }
        match self.group.take() {
            Some((Some(gtid), begin)) => self.pass(gtid, (begin, end)),
            Some((None, _)) => self.is_unclear = true,
            None => {}
        }
        let is_met = match self.known.place.file.is_empty() {
            // Nothing is applied.
            true => self.met.is_none(),
            false => *self.stream.complete() == self.known.place,
        };
        if is_met {
            self.met = Some(end);
        }
        self.end = Some(end);
        Ok(())
    }

    /// Goes behind a group.
    fn pass(&mut self, gtid: Gtid, (begin, end): (RelayPlace, RelayPlace)) {
        let fresh = Domain { first: None, applied: None, lowest: gtid.seq, last: gtid };
        let domain = self.domains.entry(gtid.domain).or_insert(fresh);
        domain.lowest = domain.lowest.min(gtid.seq);
        domain.last = gtid;
        if self.known.gtids.last(gtid.domain) == Some(gtid) {
            (domain.first, domain.applied) = (None, Some(end));
        } else {
            domain.first.get_or_insert(begin);
        }
    }

    /// The part that is used. None if the files do not go on from what is applied.
    pub fn finish(self) -> Option<Kept> {
        let end = self.end?;
        let new = self.domains.values().filter(|domain| domain.first.is_some());
        let gtids = new.map(|domain| domain.last).collect();
        let received = self.stream.complete().clone();
        if !self.known.by_gtids {
            return Some(Kept { first: self.met?, end, received, gtids, done: BTreeMap::new() });
        }
        let goes_on = |(number, domain): (&u32, &Domain)| {
            let applied = self.known.gtids.last(*number);
            domain.applied.is_some() || applied.is_none_or(|applied| applied.seq < domain.lowest)
        };
        if self.is_unclear || !self.domains.iter().all(goes_on) {
            return None;
        }
        let first = self.domains.values().filter_map(|domain| domain.first).min().unwrap_or(end);
        let is_behind = |domain: &Domain| domain.applied.is_some_and(|applied| applied > first);
        let applied = self.domains.iter().filter(|(_, domain)| is_behind(domain));
        let done = applied.filter_map(|(number, _)| self.known.gtids.last(*number));
        let done = done.map(|gtid| (gtid.domain, gtid)).collect();
        Some(Kept { first, end, received, gtids, done })
    }
}
