//! A group on its way into the log: the rider of a commit.
//!
//! Must not do I/O in `place` and `fill`. Must take nothing before all that can be refused was
//! checked.

use std::io;

use crate::codec::Checksum;
use crate::gtid::Gtid;
use crate::log::binary_log::{BinaryLog, Refused, State};
use crate::log::cache::Cache;
use crate::log::files::Place;
use crate::log::record::{GROUP_HEADER, Op, Record};
use crate::log::seal::{gtid_length, put_gtid, seal};
use crate::log::spill::GroupFile;

/// Bytes a group may have: end positions have 32 bits, and a file may already have a gigabyte.
const MAX_GROUP: u64 = 3 << 30;
/// Bytes of a large group's record beside its first event.
const LARGE_HEADER: u64 = GROUP_HEADER + 1 + 8 + 8 + 4;

/// Fields of a group's GTID event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupHead {
    /// Seconds since 1970 at which the statement began.
    pub timestamp: u32,
    /// The server of the GTID.
    pub server_id: u32,
    /// The domain of the GTID.
    pub domain: u32,
    /// An explicit number; otherwise the next one of the domain.
    pub seq: Option<u64>,
    /// Flags of [`crate::codec::GtidEvent`].
    pub flags: u8,
    /// Flags of its header beside those that all GTID events have.
    pub header: u16,
    /// Format and parts of an XA branch's identifier, for a group with one of the XA flags.
    pub xa: Option<(u32, Vec<u8>, Vec<u8>)>,
    /// Whether an explicit number must be above the domain's last.
    pub strict: bool,
}

impl GroupHead {
    /// The XA branch, if the flags say that there is one.
    pub(super) fn branch(&self) -> Option<(u32, &[u8], &[u8])> {
        use crate::codec::GtidEvent as Event;
        let has_it = self.flags & (Event::PREPARED_XA | Event::COMPLETED_XA) != 0;
        let (format, gtrid, bqual) = self.xa.as_ref().map_or((0, &[][..], &[][..]), |xa| {
            let short = |bytes: &'_ Vec<u8>| bytes.len().min(255);
            let (gtrid, bqual) = (xa.1.get(..short(&xa.1)), xa.2.get(..short(&xa.2)));
            (xa.0, gtrid.unwrap_or_default(), bqual.unwrap_or_default())
        });
        has_it.then_some((format, gtrid, bqual))
    }
}

/// All that a group got under the order lock.
struct Placed {
    number: u64,
    place: Place,
    gtid: Gtid,
    /// Bytes of the group in the file.
    length: u64,
    checksum: Checksum,
    /// A recycled buffer for the queue's copy.
    copy: Vec<u8>,
}

/// A group and its events.
pub struct Group<'a> {
    log: &'a BinaryLog,
    head: GroupHead,
    events: &'a mut Cache,
    placed: Option<Placed>,
}

impl BinaryLog {
    /// A group without a place.
    pub fn group<'a>(&'a self, head: GroupHead, events: &'a mut Cache) -> Group<'a> {
        Group { log: self, head, events, placed: None }
    }
}

impl Group<'_> {
    /// Takes number and place, under the order lock. Returns the bytes that `fill` will append.
    pub fn place(&mut self) -> Result<usize, Refused> {
        let checksum = self.events.checksum();
        let length = gtid_length(&self.head, checksum) + self.events.len();
        let record_length = self.record_length(length, checksum) as usize;
        let mut state = self.log.state();
        if length > MAX_GROUP || record_length > state.most_record {
            return Err(Refused::TooLarge);
        }
        let gtid = self.number(&state)?;
        let is_ready = self.events.small().is_some() || self.events.finished().is_some();
        let fits = state.tip.is_open && state.tip.checksum == checksum && state.has_room(length);
        if !is_ready || !fits {
            return Err(Refused::NoRoom);
        }
        let place = state.tip.end;
        let number = state.tip.next;
        state.tip.place_group(length, gtid);
        state.counts.add(self.head.flags, self.events, length);
        let copy = state.queue_entry();
        drop(state);
        self.placed = Some(Placed { number, place, gtid, length, checksum, copy });
        Ok(record_length)
    }

    /// The number of the group, if it may have it.
    fn number(&self, state: &State) -> Result<Gtid, Refused> {
        let (domain, server) = (self.head.domain, self.head.server_id);
        let gtids = &state.tip.gtids;
        let seq = match self.head.seq {
            Some(seq) => seq,
            None => state.next_seq(domain).ok_or(Refused::SequenceEnd)?,
        };
        let gtid = Gtid { domain, server, seq };
        if self.head.strict && self.head.seq.is_some() {
            gtids.check_strict(gtid).map_err(Refused::OutOfOrder)?;
        }
        Ok(gtid)
    }

    /// Bytes of the record for a group of `length` bytes.
    fn record_length(&self, length: u64, checksum: Checksum) -> u64 {
        match self.events.small() {
            Some(_) => GROUP_HEADER + length,
            None => LARGE_HEADER + gtid_length(&self.head, checksum),
        }
    }

    /// Makes room after [`Refused::NoRoom`], without the order lock. A large group's events become
    /// durable here.
    pub fn make_room(&mut self) -> io::Result<()> {
        let checksum = self.log.state().tip.checksum;
        self.events.convert(checksum)?;
        self.events.finish()?;
        let length = gtid_length(&self.head, checksum) + self.events.len();
        self.log.make_room(length)
    }

    /// Appends the record, after [`Group::place`], and queues it for the writer. `lsn` is the
    /// commit's: when the engine's log is durable up to it, so is the record. The cache is empty
    /// afterwards if its events were in a group file.
    pub fn fill(&mut self, lsn: u64, out: &mut Vec<u8>) {
        let Some(placed) = &mut self.placed else { return };
        let mut copy = std::mem::take(&mut placed.copy);
        let (number, begin) = (placed.number, out.len());
        match (self.events.small(), self.events.finished()) {
            (Some(events), _) => put_small(placed, (&self.head, events), out),
            (None, Some(source)) => {
                put_large(placed, (&self.head, source), out);
                self.events.hand_over();
            }
            (None, None) => {}
        }
        copy.extend_from_slice(out.get(begin..).unwrap_or_default());
        self.log.filled(number, lsn, copy);
    }

    /// The group's number; zeros before it has one.
    pub fn gtid(&self) -> Gtid {
        let none = Gtid { domain: self.head.domain, server: self.head.server_id, seq: 0 };
        self.placed.as_ref().map_or(none, |placed| placed.gtid)
    }

    /// End of the group; the log's beginning before it has a place.
    pub fn end(&self) -> Place {
        self.placed.as_ref().map_or(Place::default(), |placed| placed.place.after(placed.length))
    }
}

fn put_small(placed: &Placed, (head, events): (&GroupHead, &[u8]), out: &mut Vec<u8>) {
    let &Placed { number, place, gtid, checksum, .. } = placed;
    Record { number, op: Op::Group { place, gtid, events: &[] } }.encode(out);
    put_gtid((head, gtid), place, checksum, out);
    let begin = out.len();
    out.extend_from_slice(events);
    let sealed = out.get_mut(begin..).unwrap_or_default();
    seal(sealed, place.offset + gtid_length(head, checksum), checksum);
}

fn put_large(placed: &Placed, (head, source): (&GroupHead, GroupFile), out: &mut Vec<u8>) {
    let &Placed { number, place, gtid, checksum, .. } = placed;
    let mut first = Vec::new();
    put_gtid((head, gtid), place, checksum, &mut first);
    Record { number, op: Op::Large { place, gtid, checksum, source, first: &first } }.encode(out);
}
