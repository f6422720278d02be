//! Large groups: from their group file into the log's file, sealed on the way.
//!
//! Must not hold a whole event in memory: it may be a gigabyte.

use std::io;

use crate::codec::{Checksum, HEADER_BYTES, Header};
use crate::log::binary_log::BinaryLog;
use crate::log::files::{LogFiles, Place, damaged, read_exact};
use crate::log::seal::set_end;
use crate::log::spill::GroupFile;
use crate::log::writer::RUN_BYTES;

/// Bytes of an event's body that are read at once.
const PART: usize = 64 << 10;

/// A group file that is read from its beginning to its end.
struct Source<'a> {
    files: &'a dyn LogFiles,
    file: GroupFile,
    offset: u64,
    /// Checksum of what was read.
    hasher: crc32fast::Hasher,
}

impl Source<'_> {
    /// Appends the next `n` bytes to `out`.
    fn take(&mut self, n: usize, out: &mut Vec<u8>) -> io::Result<()> {
        if self.rest() < n as u64 {
            return Err(damaged("a group file ends inside an event"));
        }
        let begin = out.len();
        out.resize(begin + n, 0);
        let part = out.get_mut(begin..).unwrap_or_default();
        let read = |offset, buf: &mut [u8]| self.files.group_read(self.file.id, offset, buf);
        read_exact(self.offset, part, read)?;
        self.hasher.update(part);
        self.offset += n as u64;
        Ok(())
    }

    /// Bytes that were not read.
    fn rest(&self) -> u64 {
        self.file.len - self.offset
    }
}

/// The sealed events, which are written in large parts.
struct Target<'a> {
    files: &'a dyn LogFiles,
    place: Place,
    bytes: Vec<u8>,
}

impl Target<'_> {
    /// Offset behind all events so far.
    fn end(&self) -> u64 {
        self.place.offset + self.bytes.len() as u64
    }

    /// Writes what has come together, if it is enough.
    fn write_from(&mut self, enough: usize) -> io::Result<()> {
        if self.bytes.len() >= enough {
            self.files.write(self.place.file, self.place.offset, &self.bytes)?;
            self.place = self.place.after(self.bytes.len() as u64);
            self.bytes.clear();
        }
        Ok(())
    }
}

impl BinaryLog {
    /// Copies the events of a group file to their place. Their file must be there.
    pub(super) fn copy_group(
        &self,
        file: GroupFile,
        place: Place,
        checksum: Checksum,
    ) -> io::Result<()> {
        let files = &*self.files;
        let mut source = Source { files, file, offset: 0, hasher: crc32fast::Hasher::new() };
        let mut target = Target { files, place, bytes: Vec::with_capacity(RUN_BYTES + PART) };
        while source.rest() > 0 {
            copy_event(&mut source, &mut target, checksum)?;
        }
        target.write_from(1)?;
        let is_same = source.hasher.finalize() == file.crc;
        if is_same { Ok(()) } else { Err(damaged("a group file has a wrong checksum")) }
    }
}

/// Copies one event.
fn copy_event(
    source: &mut Source<'_>,
    target: &mut Target<'_>,
    checksum: Checksum,
) -> io::Result<()> {
    let (begin, offset) = (target.bytes.len(), target.end());
    source.take(HEADER_BYTES, &mut target.bytes)?;
    let header = target.bytes.get_mut(begin..).unwrap_or_default();
    let length = Header::decode(header).map_or(0, |header| header.event_length as usize);
    let body = length.checked_sub(HEADER_BYTES + checksum.bytes());
    let mut body = body.ok_or_else(|| damaged("a group file has an event without a header"))?;
    set_end(header, offset + length as u64);
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header);
    while body > 0 {
        target.write_from(RUN_BYTES)?;
        let (begin, part) = (target.bytes.len(), body.min(PART));
        source.take(part, &mut target.bytes)?;
        hasher.update(target.bytes.get(begin..).unwrap_or_default());
        body -= part;
    }
    // The room for the checksum is read too, and overwritten.
    let begin = target.bytes.len();
    source.take(checksum.bytes(), &mut target.bytes)?;
    if checksum == Checksum::Crc32 {
        target.bytes.truncate(begin);
        target.bytes.extend_from_slice(&hasher.finalize().to_le_bytes());
    }
    target.write_from(RUN_BYTES)
}
