//! The stream of events that a primary sends: what belongs together, how far it is complete, and
//! what this replica does not want.
//!
//! # Invariants
//! - STREAM-1 The complete place, and the complete groups, are those before the running group.
//! - STREAM-2 A group is kept whole or passed over whole.
//!
//! Must not write events anywhere, and must not trust them: any bytes give a value or an error.

use std::collections::BTreeMap;
use std::fmt;

use crate::codec::{Checksum, Event, EventKind, Format, Frame, GtidEvent};
use crate::error::DecodeError;
use crate::gtid::{Gtid, Position};
use crate::replica::course::Course;
use crate::replica::ends::{GroupEnds, goes_on};
use crate::replica::note::Place;
use crate::replica::relay::RelayWriter;

/// Groups that a replica wants.
#[derive(Clone, Debug, Default)]
pub struct Wants {
    /// Number of the replica: it has its own groups, unless they are wanted too.
    pub own_server: Option<u32>,
    /// `IGNORE_SERVER_IDS`.
    pub ignored_servers: Vec<u32>,
    /// `DO_DOMAIN_IDS`; empty for all.
    pub do_domains: Vec<u32>,
    /// `IGNORE_DOMAIN_IDS`.
    pub ignored_domains: Vec<u32>,
}

impl Wants {
    fn takes_server(&self, server: u32) -> bool {
        self.own_server != Some(server) && !self.ignored_servers.contains(&server)
    }

    fn takes_domain(&self, domain: u32) -> bool {
        match &*self.do_domains {
            [] => !self.ignored_domains.contains(&domain),
            wanted => wanted.contains(&domain),
        }
    }
}

/// An event's fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is kept.
    Kept {
        /// The group before it has no end: its events have to go.
        breaks: bool,
        /// No event behind it belongs to its group.
        ends: bool,
    },
    /// It is passed over.
    Passed {
        /// As for [`Taken::Kept`].
        breaks: bool,
    },
    /// The primary is alive.
    Heartbeat,
}

/// Reason why an event cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamError {
    /// The event was damaged on its way.
    Checksum,
    /// The bytes are no event.
    Malformed(DecodeError),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checksum => write!(f, "the checksum of an event is wrong"),
            Self::Malformed(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for StreamError {}

impl From<DecodeError> for StreamError {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Checksum { .. } => Self::Checksum,
            other => Self::Malformed(other),
        }
    }
}

/// A group that has begun.
#[derive(Clone, Copy, Debug)]
struct Group {
    gtid: Option<Gtid>,
    ends: GroupEnds,
    is_wanted: bool,
}

/// Part of an event in the stream's groups.
enum Role {
    /// It begins a group.
    Begins(Group),
    /// It belongs to the running group, or to none.
    Within,
    /// It stands between groups.
    Between,
}

/// A stream of events between two of them.
#[derive(Clone, Debug)]
pub struct Stream {
    wants: Wants,
    course: Course,
    group: Option<Group>,
    complete: Place,
    gtids: Position,
    /// Checksum of the events there, if the applier has not heard of groups that were passed over.
    owes: Option<Checksum>,
    /// The last of those groups by domain.
    passed: BTreeMap<u32, Gtid>,
}

impl Stream {
    /// A stream before its first event, whose events have this checksum. The replica has `gtids`.
    pub fn new(wants: Wants, checksum: Checksum, gtids: Position) -> Self {
        Self {
            wants,
            course: Course::new(checksum),
            group: None,
            complete: Place::default(),
            gtids,
            owes: None,
            passed: BTreeMap::new(),
        }
    }

    /// The place in the primary's log up to which all is complete.
    pub fn complete(&self) -> &Place {
        &self.complete
    }

    /// The last complete group of each domain.
    pub fn gtids(&self) -> &Position {
        &self.gtids
    }

    /// Whether a group has begun and not ended.
    pub fn is_within_group(&self) -> bool {
        self.group.is_some()
    }

    /// The format of the next event, and the place of the last one.
    pub fn course(&self) -> &Course {
        &self.course
    }

    /// Takes the next event, which is all of `bytes`.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Taken, StreamError> {
        let frame = self.course.split(bytes)?;
        frame.verify()?;
        if matches!(frame.header.kind, EventKind::HEARTBEAT | EventKind::HEARTBEAT_V2) {
            return Ok(Taken::Heartbeat);
        }
        let event = self.looked_into(&frame)?;
        let role = self.role(&frame, event.as_ref());
        self.course.pass(&frame)?;
        let mut breaks = false;
        match role {
            Role::Begins(group) => {
                breaks = self.group.replace(group).is_some();
            }
            Role::Between => breaks = self.group.take().is_some(),
            Role::Within => {}
        }
        let is_wanted = self.group.map_or(frame.header.kind != EventKind::STOP, |g| g.is_wanted);
        let ends = self.ends(&frame, event.as_ref());
        if ends {
            self.end_group();
            if !is_wanted {
                self.owe();
            }
        }
        Ok(if is_wanted { Taken::Kept { breaks, ends } } else { Taken::Passed { breaks } })
    }

    /// The events whose contents matter here.
    fn looked_into<'a>(&self, frame: &Frame<'a>) -> Result<Option<Event<'a>>, StreamError> {
        match frame.header.kind {
            EventKind::GTID | EventKind::QUERY => {
                Ok(Some(Event::decode(frame, self.course.format())?))
            }
            _ => Ok(None),
        }
    }

    fn role(&self, frame: &Frame<'_>, event: Option<&Event<'_>>) -> Role {
        let server = frame.header.server_id;
        let kind = frame.header.kind;
        let anonymous = || {
            let is_wanted = self.wants.takes_server(server);
            Role::Begins(Group { gtid: None, ends: GroupEnds::default(), is_wanted })
        };
        match kind {
            EventKind::GTID => match event {
                Some(Event::Gtid(event)) => Role::Begins(self.numbered(server, event)),
                _ => Role::Within,
            },
            EventKind::MYSQL_GTID | EventKind::ANONYMOUS_GTID | EventKind::GTID_TAGGED => {
                anonymous()
            }
            EventKind::FORMAT_DESCRIPTION
            | EventKind::ROTATE
            | EventKind::STOP
            | EventKind::PREVIOUS_GTIDS => Role::Between,
            // Compat: a primary may send the list inside of a group.
            EventKind::GTID_LIST | EventKind::BINLOG_CHECKPOINT => Role::Within,
            EventKind::QUERY if self.group.is_none() => anonymous(),
            kind if self.group.is_none() && is_of_group(kind) => anonymous(),
            _ => Role::Within,
        }
    }

    fn numbered(&self, server: u32, event: &GtidEvent<'_>) -> Group {
        let is_wanted = self.wants.takes_server(server) && self.wants.takes_domain(event.domain);
        let gtid = Some(Gtid { domain: event.domain, server, seq: event.seq });
        Group { gtid, ends: GroupEnds::numbered(event), is_wanted }
    }

    /// Whether the event is the last one of the running group, or stands alone.
    fn ends(&mut self, frame: &Frame<'_>, event: Option<&Event<'_>>) -> bool {
        let Some(group) = &mut self.group else { return true };
        let text = match event {
            Some(Event::Query(query)) => Some(query.text),
            _ => None,
        };
        group.ends.take(frame.header.kind, text)
    }

    /// Ends the running group, if there is one: all before is complete.
    fn end_group(&mut self) {
        self.complete.clone_from(self.course.place());
        let Some(group) = self.group.take() else { return };
        if let Some(gtid) = group.gtid {
            self.gtids.set(gtid);
            if !group.is_wanted {
                self.passed.insert(gtid.domain, gtid);
            }
        }
    }

    /// Notes that the applier has to hear of what was passed over up to here.
    fn owe(&mut self) {
        self.owes = Some(self.course.format().checksum);
    }

    /// Events that tell the applier of what was passed over, if there is something to tell. They
    /// come before the next event that is kept, which may be taken already.
    pub fn take_passed(&mut self, writer: &RelayWriter<'_>) -> Option<Vec<u8>> {
        let format = Format::new("", 0, self.owes.take()?);
        // The place comes first: the groups are noted with it.
        let mut out = writer.rotate(&self.complete, &format);
        let gtids: Vec<Gtid> = std::mem::take(&mut self.passed).into_values().collect();
        if !gtids.is_empty() {
            out.extend(writer.passed(gtids, &format));
        }
        Some(out)
    }
}

/// Whether an event of this type belongs to a group, even if no number came before it.
fn is_of_group(kind: EventKind) -> bool {
    const KINDS: [EventKind; 5] = [
        EventKind::QUERY_COMPRESSED,
        EventKind::EXECUTE_LOAD_QUERY,
        EventKind::TRANSACTION_PAYLOAD,
        EventKind::XID,
        EventKind::XA_PREPARE,
    ];
    let is_list = matches!(kind, EventKind::GTID_LIST | EventKind::BINLOG_CHECKPOINT);
    KINDS.contains(&kind) || goes_on(kind) && !is_list
}
