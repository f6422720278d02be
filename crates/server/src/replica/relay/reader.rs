//! A reader of relay files: event by event, over the ends of files, waiting for more.
//!
//! Must not give an event that is not published, nor one of the replica about its own files.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selkie_replication::DecodeError;
use selkie_replication::codec::{Checksum, HEADER_BYTES, Header, flags};
use selkie_replication::file::MAGIC;
use selkie_replication::log::FileNumber;
use selkie_replication::replica::{Course, Place};

use super::{Shared, files, invalid, relay_writer};

/// Bytes read at once.
const CHUNK: usize = 64 << 10;

/// A reader.
#[derive(Debug)]
pub(crate) struct RelayReader {
    shared: Arc<Shared>,
    /// Age of the files it reads.
    age: u64,
    number: FileNumber,
    file: Option<File>,
    /// End of the last event.
    offset: u64,
    /// Bytes of the file from `base` on.
    chunk: Vec<u8>,
    base: u64,
    course: Course,
    /// Events to give before those of the file.
    pub(super) before: VecDeque<Vec<u8>>,
}

/// Result of a look at the files' ends.
enum Look {
    /// The file has more, up to here.
    Upto(u64),
    /// The next file has more.
    Next(FileNumber),
    /// There is no more.
    End,
}

/// Whether an error of a reader is that a checksum is not that of its event.
pub(crate) fn is_bad_checksum(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<DecodeError>());
    matches!(inner, Some(DecodeError::Checksum { .. }))
}

impl RelayReader {
    pub(super) fn first(shared: Arc<Shared>) -> Self {
        let (age, number) = {
            let public = shared.public.lock();
            (public.age, public.files.front().map_or(1, |(number, _)| *number))
        };
        Self::new(shared, age, number)
    }

    fn new(shared: Arc<Shared>, age: u64, number: FileNumber) -> Self {
        Self {
            shared,
            age,
            number,
            file: None,
            offset: MAGIC.len() as u64,
            chunk: Vec::new(),
            base: 0,
            course: Course::new(Checksum::Crc32),
            before: VecDeque::new(),
        }
    }

    pub(super) fn at(shared: Arc<Shared>, place: &Place) -> io::Result<Self> {
        let age = shared.public.lock().age;
        let number = shared.names.number(&place.file);
        let number = number.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let mut reader = Self::new(shared, age, number);
        let Look::Upto(end) = reader.look()? else {
            return Err(io::ErrorKind::NotFound.into());
        };
        if place.offset > end {
            return Err(invalid("a place behind the end of a relay file"));
        }
        while reader.offset < place.offset {
            reader.event(end)?;
        }
        if reader.offset != place.offset {
            return Err(invalid("a place inside an event of a relay file"));
        }
        let writer = relay_writer(*reader.shared.settings.lock());
        reader.before = writer.resumption(&reader.course).map_err(invalid)?.into();
        Ok(reader)
    }

    /// The next event of the primary; none if nothing comes within `longest`, or somebody calls
    /// [`super::RelayLog::wake`].
    pub(crate) fn next(&mut self, longest: Duration) -> io::Result<Option<Vec<u8>>> {
        let deadline = Instant::now() + longest;
        let wakes = self.shared.public.lock().wakes;
        if let Some(event) = self.before.pop_front() {
            return Ok(Some(event));
        }
        loop {
            match self.look()? {
                Look::Upto(end) => {
                    if let Some(event) = self.event(end)? {
                        return Ok(Some(event));
                    }
                }
                Look::Next(number) => {
                    self.number = number;
                    (self.file, self.offset) = (None, MAGIC.len() as u64);
                    self.chunk.clear();
                }
                Look::End => {
                    if !self.wait(wakes, deadline) {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Waits for more; false if that is enough.
    fn wait(&self, wakes: u64, deadline: Instant) -> bool {
        let mut public = self.shared.public.lock();
        let has_more = public.files.back().copied() != Some((self.number, self.offset));
        if has_more || public.age != self.age {
            return true;
        }
        let is_over = public.wakes != wakes;
        !is_over && !self.shared.grown.wait_until(&mut public, deadline).timed_out()
    }

    /// End of the last event that was given.
    pub(crate) fn place(&self) -> Place {
        Place { file: self.shared.names.file(self.number), offset: self.offset }
    }

    /// The stream behind the last event: its place in the primary's log, and the format.
    pub(crate) fn course(&self) -> &Course {
        &self.course
    }

    /// Whether all that is published was given.
    pub(crate) fn is_at_end(&self) -> bool {
        self.before.is_empty() && matches!(self.look(), Ok(Look::End))
    }

    fn look(&self) -> io::Result<Look> {
        let public = self.shared.public.lock();
        if public.age != self.age {
            return Err(io::Error::other("the relay files have begun anew"));
        }
        let at = public.files.iter().position(|(number, _)| *number == self.number);
        let Some(at) = at else { return Err(io::ErrorKind::NotFound.into()) };
        let end = public.files.get(at).map_or(0, |(_, length)| *length);
        if self.offset < end {
            return Ok(Look::Upto(end));
        }
        Ok(public.files.get(at + 1).map_or(Look::End, |(number, _)| Look::Next(*number)))
    }

    /// Goes behind the next event, which ends at `end` at the latest. None if it is one of the
    /// replica about its own files.
    fn event(&mut self, end: u64) -> io::Result<Option<Vec<u8>>> {
        let header = Header::decode(self.bytes(HEADER_BYTES, end)?).map_err(invalid)?;
        let length = header.event_length as usize;
        if length < HEADER_BYTES {
            return Err(invalid("event length"));
        }
        let event = self.bytes(length, end)?.to_vec();
        let frame = self.course.split(&event).map_err(invalid)?;
        if self.shared.settings.lock().verify {
            frame.verify().map_err(invalid)?;
        }
        self.course.pass(&frame).map_err(invalid)?;
        self.offset += length as u64;
        let is_own = header.has(flags::RELAY_LOG);
        Ok((!is_own).then_some(event))
    }

    /// The next `count` bytes, which end at `end` at the latest.
    fn bytes(&mut self, count: usize, end: u64) -> io::Result<&[u8]> {
        if count as u64 > end - self.offset {
            return Err(invalid("an event behind the end of a relay file"));
        }
        let from = self.offset.wrapping_sub(self.base) as usize;
        let is_there = self.offset >= self.base
            && from.checked_add(count).is_some_and(|to| to <= self.chunk.len());
        if !is_there {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(files::open(&self.shared.names, self.number)?),
            };
            let wanted = (count.max(CHUNK) as u64).min(end - self.offset) as usize;
            self.chunk.clear();
            self.chunk.resize(wanted, 0);
            self.base = self.offset;
            if let Err(error) = file.read_exact_at(&mut self.chunk, self.offset) {
                self.chunk.clear();
                return Err(error);
            }
        }
        let from = (self.offset - self.base) as usize;
        Ok(&self.chunk[from..from + count])
    }
}
