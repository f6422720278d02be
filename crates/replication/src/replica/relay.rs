//! Events that a replica itself writes into its relay files: what begins and ends a file, and what
//! tells its applier of groups that were passed over.
//!
//! Must not open files. An event of the replica about its own files has the flag RELAY_LOG, and one
//! that stands for events of the primary has the flag ARTIFICIAL.

use crate::codec::{Checksum, Event, Format, GtidListEvent, HEADER_BYTES, Header, Rotate, flags};
use crate::error::DecodeResult;
use crate::file::MAGIC;
use crate::gtid::Gtid;
use crate::replica::course::Course;
use crate::replica::note::Place;

/// Place of the end in a header.
const END_AT: usize = 13;
/// Place of the flags in a header.
const FLAGS_AT: usize = 17;
/// Place of the time of creation in a FORMAT_DESCRIPTION event.
const CREATED_AT: usize = HEADER_BYTES + 2 + 50;

/// A replica that writes.
#[derive(Clone, Copy, Debug)]
pub struct RelayWriter<'a> {
    /// Version of the server.
    pub version: &'a str,
    /// Number of the server.
    pub server_id: u32,
    /// The present time.
    pub timestamp: u32,
}

impl RelayWriter<'_> {
    /// The bytes that begin a relay file whose next events have this checksum.
    pub fn head(&self, checksum: Checksum) -> Vec<u8> {
        let format = Format::new(self.version, self.timestamp, checksum);
        let event = Event::FormatDescription(format.clone());
        let mut out = MAGIC.to_vec();
        self.put(&event, &format, (MAGIC.len() as u64, flags::RELAY_LOG), &mut out);
        out
    }

    /// The event that ends a relay file at `offset`, before the file `next`.
    pub fn tail(&self, offset: u64, next: &str, checksum: Checksum) -> Vec<u8> {
        let rotate = Event::Rotate(Rotate { position: MAGIC.len() as u64, file: next.as_bytes() });
        let mut out = Vec::new();
        let format = Format::new(self.version, 0, checksum);
        self.put(&rotate, &format, (offset, flags::RELAY_LOG), &mut out);
        out
    }

    /// Appends an event that ends behind `offset`.
    fn put(
        &self,
        event: &Event<'_>,
        format: &Format,
        (offset, flags): (u64, u16),
        out: &mut Vec<u8>,
    ) {
        let mut header = Header::new(event.kind(), self.timestamp, self.server_id);
        header.flags = flags;
        // The first time tells the length.
        let begin = out.len();
        event.encode(&header, format, out);
        header.end_log_pos = (offset + (out.len() - begin) as u64) as u32;
        out.truncate(begin);
        event.encode(&header, format, out);
    }

    /// The event that says where the next one is from.
    pub fn rotate(&self, place: &Place, format: &Format) -> Vec<u8> {
        let rotate = Rotate { position: place.offset, file: place.file.as_bytes() };
        self.artificial(&Event::Rotate(rotate), format)
    }

    /// The event that says that groups were passed over: `gtids` are the last ones of their
    /// domains.
    pub fn passed(&self, gtids: Vec<Gtid>, format: &Format) -> Vec<u8> {
        let list = GtidListEvent { flags: GtidListEvent::IGNORED, gtids };
        self.artificial(&Event::GtidList(list), format)
    }

    fn artificial(&self, event: &Event<'_>, format: &Format) -> Vec<u8> {
        let mut header = Header::new(event.kind(), 0, self.server_id);
        header.flags = flags::ARTIFICIAL;
        let mut out = Vec::new();
        event.encode(&header, format, &mut out);
        out
    }

    /// The events that a reader needs who begins in the middle of a stream: the format, and the
    /// place. Nothing before the format has come.
    pub fn resumption(&self, course: &Course) -> DecodeResult<Vec<Vec<u8>>> {
        if course.format_event().is_empty() {
            return Ok(Vec::new());
        }
        let rotate = self.rotate(course.place(), course.format());
        let mut format = course.format_event().to_vec();
        let has_sum = course.split(&format)?.checksum.is_some();
        // The event's place is no place here, and it begins no life of the primary.
        put_at(&mut format, END_AT, &[0; 4]);
        put_at(&mut format, FLAGS_AT, &flags::ARTIFICIAL.to_le_bytes());
        put_at(&mut format, CREATED_AT, &[0; 4]);
        if has_sum {
            let covered = format.len().saturating_sub(Checksum::Crc32.bytes());
            let sum = crc32fast::hash(format.get(..covered).unwrap_or_default());
            put_at(&mut format, covered, &sum.to_le_bytes());
        }
        Ok(vec![format, rotate])
    }
}

fn put_at(event: &mut [u8], at: usize, bytes: &[u8]) {
    event.iter_mut().skip(at).zip(bytes).for_each(|(to, from)| *to = *from);
}
