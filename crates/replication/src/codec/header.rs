//! The nineteen bytes that every event begins with.
//!
//! Must not interpret the body, or the checksum at its end.

use crate::bytes::{Reader, put_u16, put_u32};
use crate::codec::kind::EventKind;
use crate::error::DecodeResult;

/// Length of a header.
pub const HEADER_BYTES: usize = 19;

/// Flags of a header.
pub mod flags {
    /// The file is open, or its server crashed before it closed the file. Only a
    /// FORMAT_DESCRIPTION event has this flag.
    pub const IN_USE: u16 = 0x1;
    /// The statement depends on the session's temporary tables.
    pub const THREAD_SPECIFIC: u16 = 0x4;
    /// The statement needs no `USE` before it.
    pub const SUPPRESS_USE: u16 = 0x8;
    /// The server made the event for a reader: no file has it.
    pub const ARTIFICIAL: u16 = 0x20;
    /// The replica made the event for its relay log.
    pub const RELAY_LOG: u16 = 0x40;
    /// A reader that does not know the event may ignore it.
    pub const IGNORABLE: u16 = 0x80;
    /// The session asked replicas to skip it.
    pub const SKIP_REPLICATION: u16 = 0x8000;
}

/// An event's header.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Seconds since 1970 at which the statement began.
    pub timestamp: u32,
    /// Type of the event.
    pub kind: EventKind,
    /// The server that first logged it.
    pub server_id: u32,
    /// Bytes of the event with header and checksum.
    pub event_length: u32,
    /// Offset in the file at which the event ends, modulo 2^32.
    pub end_log_pos: u32,
    /// See [`flags`].
    pub flags: u16,
}

impl Header {
    /// A header whose length and place are filled in later.
    pub fn new(kind: EventKind, timestamp: u32, server_id: u32) -> Self {
        Self { timestamp, kind, server_id, event_length: 0, end_log_pos: 0, flags: 0 }
    }

    /// The header at the beginning of `bytes`.
    pub fn decode(bytes: &[u8]) -> DecodeResult<Self> {
        let mut reader = Reader::new(bytes);
        Ok(Self {
            timestamp: reader.u32("timestamp")?,
            kind: EventKind(reader.u8("event type")?),
            server_id: reader.u32("server id")?,
            event_length: reader.u32("event length")?,
            end_log_pos: reader.u32("end position")?,
            flags: reader.u16("flags")?,
        })
    }

    /// Appends the header.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_u32(out, self.timestamp);
        out.push(self.kind.0);
        put_u32(out, self.server_id);
        put_u32(out, self.event_length);
        put_u32(out, self.end_log_pos);
        put_u16(out, self.flags);
    }

    /// Whether a flag is set.
    pub fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}
