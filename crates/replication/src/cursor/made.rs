//! Events that no file has, or has in another form: names of files, heartbeats, lists of groups,
//! and a file's first event for a reader that begins behind it.
//!
//! Must not decide when one is sent.

use crate::codec::{
    Checksum, Event, EventKind, Format, Frame, GtidListEvent, HEADER_BYTES, Header, Rotate, flags,
};
use crate::gtid::Gtid;

/// Place of the end in a header.
const END_AT: usize = 13;
/// Place of the flags in a header.
const FLAGS_AT: usize = 17;
/// Place of the time of creation in a FORMAT_DESCRIPTION event, behind two bytes of version and
/// fifty of the server's name.
const CREATED_AT: usize = HEADER_BYTES + 2 + 50;

/// Maker of events: the number of this server, and the checksum they get.
#[derive(Copy, Clone, Debug)]
pub(super) struct Maker {
    pub(super) server_id: u32,
    pub(super) checksum: Checksum,
}

impl Maker {
    fn event(self, event: &Event<'_>, end: u64, flags: u16) -> Vec<u8> {
        let mut header = Header::new(event.kind(), 0, self.server_id);
        (header.end_log_pos, header.flags) = (end as u32, flags);
        let mut out = Vec::new();
        event.encode(&header, &Format::new("", 0, self.checksum), &mut out);
        out
    }

    /// Says that the next events are from a file, from an offset on.
    pub(super) fn rotate(self, name: &str, position: u64) -> Vec<u8> {
        let rotate = Rotate { position, file: name.as_bytes() };
        self.event(&Event::Rotate(rotate), 0, flags::ARTIFICIAL)
    }

    /// Says that there is no event behind `end` yet.
    pub(super) fn heartbeat(self, name: &str, end: u64) -> Vec<u8> {
        self.event(&Event::Heartbeat(name.as_bytes()), end, 0)
    }

    /// Says that all groups up to these are sent, or are the reader's already. `list_flags` are
    /// those of [`GtidListEvent`].
    pub(super) fn list(self, gtids: Vec<Gtid>, list_flags: u32, end: u64) -> Vec<u8> {
        let list = GtidListEvent { flags: list_flags, gtids };
        self.event(&Event::GtidList(list), end, flags::ARTIFICIAL)
    }
}

/// Difference between a file's first event and what a reader gets of it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum FirstEvent {
    /// The reader begins with the file.
    Whole,
    /// The reader goes on behind the file's beginning: its temporary tables stay.
    Later,
    /// As [`Self::Later`], and its place stays too.
    Elsewhere,
}

/// A file's first event for a reader. It never says that the file is in use.
pub(super) fn first_event(frame: &Frame<'_>, form: FirstEvent) -> Vec<u8> {
    let mut event = frame.bytes().to_vec();
    let mut clear = |at: usize, bytes: usize| {
        event.iter_mut().skip(at).take(bytes).for_each(|byte| *byte = 0);
    };
    if frame.header.has(flags::IN_USE) {
        // The checksum does not cover this flag, and the file has no other one here.
        clear(FLAGS_AT, 1);
    }
    if form == FirstEvent::Elsewhere {
        clear(END_AT, 4);
    }
    if form != FirstEvent::Whole {
        clear(CREATED_AT, 4);
        sign(&mut event, frame.checksum);
    }
    event
}

/// Computes the checksum again, if the event has one.
pub(super) fn sign(event: &mut [u8], checksum: Option<u32>) {
    let covered = event.len().saturating_sub(Checksum::Crc32.bytes());
    if checksum.is_some()
        && let Some((covered, place)) = event.split_at_mut_checked(covered)
    {
        let sum = crc32fast::hash(covered).to_le_bytes();
        place.iter_mut().zip(sum).for_each(|(to, from)| *to = from);
    }
}

/// The type of an event in place of another one.
pub(super) fn set_kind(event: &mut [u8], kind: EventKind) {
    event.iter_mut().skip(4).take(1).for_each(|byte| *byte = kind.0);
}

/// The flags of an event in place of others.
pub(super) fn set_flags(event: &mut [u8], flags: u16) {
    let place = event.iter_mut().skip(FLAGS_AT);
    place.zip(flags.to_le_bytes()).for_each(|(to, from)| *to = from);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAKER: Maker = Maker { server_id: 1, checksum: Checksum::Crc32 };

    /// Bytes that MariaDB 10.11 sends.
    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16);
        digits.chunks(2).map(|digits| pair(digits).unwrap()).collect()
    }

    #[test]
    fn made_events_are_those_of_mariadb() {
        assert_eq!(
            MAKER.rotate("binlog.000001", 4),
            hex("00000000 04 01000000 2c000000 00000000 2000 0400000000000000
                 62696e6c6f672e303030303031 e9d2ca6e")
        );
        assert_eq!(
            MAKER.rotate("binlog.000002", 328),
            hex("00000000 04 01000000 2c000000 00000000 2000 4801000000000000
                 62696e6c6f672e303030303032 29f84e51")
        );
        assert_eq!(
            MAKER.heartbeat("binlog.000003", 635),
            hex("00000000 1b 01000000 24000000 7b020000 0000
                 62696e6c6f672e303030303033 c4bc2a73")
        );
        let gtid = Gtid { domain: 0, server: 1, seq: 2 };
        assert_eq!(
            MAKER.list(vec![gtid], 0, 608),
            hex("00000000 a3 01000000 2b000000 60020000 2000
                 01000000 00000000 01000000 0200000000000000 476b08d0")
        );
        assert_eq!(
            MAKER.list(Vec::new(), GtidListEvent::UNTIL_REACHED, 285),
            hex("00000000 a3 01000000 1d000000 1d010000 2000 00000010 0000 6281c90b")
        );
        let unaware = Maker { checksum: Checksum::None, ..MAKER };
        assert_eq!(unaware.rotate("binlog.000001", 4).len(), 40);
    }
}
