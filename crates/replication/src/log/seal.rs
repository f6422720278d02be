//! Sealing: end positions and checksums of events that have got their place, and the group's own
//! first event.
//!
//! Must not allocate: it works on the bytes that the engine's log gets.

use std::sync::OnceLock;

use crate::codec::{Checksum, Event, Format, GtidEvent, HEADER_BYTES, Header, flags};
use crate::gtid::Gtid;
use crate::log::files::Place;
use crate::log::group::GroupHead;

/// Place of the length in a header.
const LENGTH_AT: usize = 9;
/// Place of the end position in a header.
const END_AT: usize = 13;
/// Bytes of a GTID event without XA branch: header and post-header.
const GTID_LEAST: usize = 19;
/// Bytes before the branch: number, domain, flags.
const GTID_FIXED: usize = 13;

/// The format of this server's events, whose version and time are never looked at.
pub(super) fn format(checksum: Checksum) -> &'static Format {
    static PLAIN: OnceLock<Format> = OnceLock::new();
    static SUMMED: OnceLock<Format> = OnceLock::new();
    let cell = if checksum == Checksum::Crc32 { &SUMMED } else { &PLAIN };
    cell.get_or_init(|| Format::new("", 0, checksum))
}

/// Length of the event at the front of `bytes`, if they hold all of it.
pub(super) fn event_length(bytes: &[u8]) -> Option<usize> {
    let length = bytes.get(LENGTH_AT..LENGTH_AT + 4)?;
    let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
    (HEADER_BYTES..=bytes.len()).contains(&length).then_some(length)
}

/// Writes a length into the header at the front of `event`.
pub(super) fn set_length(event: &mut [u8], length: u32) {
    put_at(event, LENGTH_AT, length);
}

/// Writes an end position into the header at the front of `event`: the format has 32 bits for it.
pub(super) fn set_end(event: &mut [u8], end: u64) {
    put_at(event, END_AT, end as u32);
}

fn put_at(event: &mut [u8], at: usize, value: u32) {
    let place = event.iter_mut().skip(at);
    place.zip(value.to_le_bytes()).for_each(|(to, from)| *to = from);
}

/// Seals whole events, the first of which begins at offset `begin`. Its FORMAT_DESCRIPTION events
/// must be sealed already.
pub(super) fn seal(mut events: &mut [u8], begin: u64, checksum: Checksum) {
    let mut end = begin;
    while let Some(length) = event_length(events) {
        let (event, rest) = events.split_at_mut(length);
        end += length as u64;
        set_end(event, end);
        if checksum == Checksum::Crc32 {
            let (covered, sum) = event.split_at_mut(length - Checksum::Crc32.bytes());
            sum.copy_from_slice(&crc32fast::hash(covered).to_le_bytes());
        }
        events = rest;
    }
}

/// Length of the GTID event of a group.
pub(super) fn gtid_length(head: &GroupHead, checksum: Checksum) -> u64 {
    let branch = head.branch().map_or(0, |(_, gtrid, bqual)| 4 + 2 + gtrid.len() + bqual.len());
    (HEADER_BYTES + GTID_LEAST.max(GTID_FIXED + branch) + checksum.bytes()) as u64
}

/// Appends the GTID event of a group whose place is `place`.
pub(super) fn put_gtid(
    (head, gtid): (&GroupHead, Gtid),
    place: Place,
    checksum: Checksum,
    out: &mut Vec<u8>,
) {
    let mut event = GtidEvent::new(gtid.seq, gtid.domain, head.flags);
    if let Some((format, gtrid, bqual)) = head.branch() {
        (event.xa_format, event.gtrid, event.bqual) = (format, gtrid, bqual);
    }
    let mut header = Header::new(crate::EventKind::GTID, head.timestamp, gtid.server);
    header.flags = flags::SUPPRESS_USE | head.header;
    header.end_log_pos = (place.offset + gtid_length(head, checksum)) as u32;
    Event::Gtid(event).encode(&header, format(checksum), out);
}

/// Appends an event with its end position, for an event that begins at `offset`. Returns its end.
pub(super) fn put_event(
    event: &Event<'_>,
    mut header: Header,
    (offset, checksum): (u64, Checksum),
    out: &mut Vec<u8>,
) -> u64 {
    // The first time tells the length.
    let begin = out.len();
    event.encode(&header, format(checksum), out);
    let end = offset + (out.len() - begin) as u64;
    out.truncate(begin);
    header.end_log_pos = end as u32;
    event.encode(&header, format(checksum), out);
    end
}
