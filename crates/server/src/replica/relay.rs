//! Relay files of a connection: the receiver adds to them, the applier reads them.
//!
//! # Invariants
//! - RELAY-1 A reader sees whole groups only, and what it may see is never cut.
//! - RELAY-2 A file can be read without the ones before it: it begins with the replica's own
//!   format, then, in the middle of a stream, with the primary's format and place.
//!
//! Only events that are not published may be cut: the rest of a group that did not come. Must not
//! be needed to know what was applied (REPLICA-1).

mod files;
mod kept;
mod names;
mod reader;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::{Condvar, Mutex};
use selkie_replication::codec::{Checksum, HEADER_BYTES, Header};
use selkie_replication::log::FileNumber;
use selkie_replication::replica::{Course, Kept, Known, Place, RelayWriter};

use crate::binlog::LogNames;
use crate::variables::VERSION;

pub(crate) use names::relay_names;
pub(crate) use reader::{RelayReader, is_bad_checksum};

/// Settings of relay files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelaySettings {
    /// Number of this server.
    pub(crate) server_id: u32,
    /// Size at which a new file begins.
    pub(crate) max_size: u64,
    /// Whether readers compare checksums: `slave_sql_verify_checksum`.
    pub(crate) verify: bool,
}

/// The relay files of a connection.
#[derive(Clone, Debug)]
pub(crate) struct RelayLog(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    names: LogNames,
    settings: Mutex<RelaySettings>,
    /// Held while files are written. Taken before `public`.
    writer: Mutex<Writer>,
    public: Mutex<Public>,
    /// Notified when `public` has changed, and by [`RelayLog::wake`].
    grown: Condvar,
}

/// The end of the files, as the receiver knows it.
#[derive(Debug)]
struct Writer {
    /// The last file.
    file: Arc<File>,
    /// Bytes of it, of which some may not be published.
    length: u64,
    /// Published bytes of it.
    published: u64,
    /// Whether its name is durable.
    is_named: bool,
    /// The stream behind `length`.
    course: Course,
    /// The stream behind `published`.
    published_course: Course,
    /// The next event begins a new file.
    is_ended: bool,
}

/// The files as readers see them.
#[derive(Debug, Default)]
struct Public {
    /// Number of resets.
    age: u64,
    /// Number of calls of [`RelayLog::wake`].
    wakes: u64,
    /// The files and their published lengths.
    files: VecDeque<(FileNumber, u64)>,
    /// Whether events of a primary have been published since the reset.
    has_events: bool,
}

impl RelayLog {
    /// Removes what an earlier life has left under these names, and begins the first file.
    pub(crate) fn open(names: LogNames, settings: RelaySettings) -> io::Result<Self> {
        files::remove_all(&names)?;
        let (file, length) = files::create(&names, 1, &head(settings, Checksum::Crc32))?;
        files::write_index(&names, [1].into_iter())?;
        let public = Public { files: VecDeque::from([(1, length)]), ..Public::default() };
        Ok(Self::new(names, settings, Writer::new(file, length, Checksum::Crc32), public))
    }

    /// Goes on with what an earlier life has left, as far as it follows what is applied. Returns
    /// what that is; none if nothing of it is used, so that the first file begins.
    pub(crate) fn reopen(
        names: LogNames,
        settings: RelaySettings,
        known: Known,
    ) -> io::Result<(Self, Option<Kept>)> {
        let found = kept::walk(&names, known)?;
        let Some(kept) = found.filter(|kept| !kept.received.file.is_empty()) else {
            return Ok((Self::open(names, settings)?, None));
        };
        let (files, file) = kept::cut(&names, &kept)?;
        let public = Public { files: files.into(), has_events: true, ..Public::default() };
        // The next event begins a stream, in a file of its own.
        let writer = Writer::new(file, kept.end.1, Checksum::Crc32);
        Ok((Self::new(names, settings, writer, public), Some(kept)))
    }

    fn new(names: LogNames, settings: RelaySettings, writer: Writer, public: Public) -> Self {
        Self(Arc::new(Shared {
            names,
            settings: Mutex::new(settings),
            writer: Mutex::new(writer),
            public: Mutex::new(public),
            grown: Condvar::new(),
        }))
    }

    /// Removes all files of these names, which nobody uses.
    pub(crate) fn remove(names: &LogNames) -> io::Result<()> {
        files::remove_all(names)
    }

    /// Changes the settings, from the next event on.
    pub(crate) fn set(&self, settings: RelaySettings) {
        *self.0.settings.lock() = settings;
    }

    /// The names of the files.
    pub(crate) fn names(&self) -> &LogNames {
        &self.0.names
    }

    /// Removes all files and begins the first one. Readers from before fail.
    pub(crate) fn reset(&self) -> io::Result<()> {
        let mut writer = self.0.writer.lock();
        let settings = *self.0.settings.lock();
        files::remove_all(&self.0.names)?;
        let (file, length) = files::create(&self.0.names, 1, &head(settings, Checksum::Crc32))?;
        files::write_index(&self.0.names, [1].into_iter())?;
        *writer = Writer::new(file, length, Checksum::Crc32);
        let mut public = self.0.public.lock();
        let (age, wakes) = (public.age + 1, public.wakes);
        *public = Public { age, wakes, files: VecDeque::from([(1, length)]), has_events: false };
        self.0.grown.notify_all();
        Ok(())
    }

    /// Whether nothing of a primary has been received since the reset.
    pub(crate) fn is_fresh(&self) -> bool {
        !self.0.public.lock().has_events
    }

    /// Begins a stream whose events have this checksum, in a new file. The rest of a group is cut.
    pub(crate) fn begin_stream(&self, checksum: Checksum) -> io::Result<()> {
        let mut writer = self.0.writer.lock();
        self.cut_locked(&mut writer);
        self.rotate(&mut writer, Course::new(checksum))
    }

    /// FLUSH RELAY LOGS: a new file, at once or with the next group.
    pub(crate) fn flush(&self) -> io::Result<()> {
        let mut writer = self.0.writer.lock();
        if writer.length > writer.published {
            writer.is_ended = true;
            return Ok(());
        }
        let course = writer.course.clone();
        self.rotate(&mut writer, course)
    }

    /// Adds whole events that end a group, or belong to none, as they were received.
    #[cfg(test)]
    pub(crate) fn append(&self, events: &[u8]) -> io::Result<()> {
        self.push(events)?;
        self.publish();
        Ok(())
    }

    /// Adds whole events that no reader sees yet. After an error the same events may come again.
    pub(crate) fn push(&self, events: &[u8]) -> io::Result<()> {
        let mut writer = self.0.writer.lock();
        let settings = *self.0.settings.lock();
        let is_full = writer.is_ended || writer.published >= settings.max_size;
        if is_full && writer.length == writer.published {
            let course = writer.course.clone();
            self.rotate(&mut writer, course)?;
        }
        let mut course = writer.course.clone();
        let mut rest = events;
        while !rest.is_empty() {
            let header = Header::decode(rest).map_err(invalid)?;
            let length = header.event_length as usize;
            let split = rest.split_at_checked(length).filter(|_| length >= HEADER_BYTES);
            let (event, behind) = split.ok_or_else(|| invalid("event length"))?;
            let frame = course.split(event).map_err(invalid)?;
            course.pass(&frame).map_err(invalid)?;
            rest = behind;
        }
        if let Err(error) = writer.file.write_all_at(events, writer.length) {
            // A part that was written is written over, or cut, later.
            let _ = writer.file.set_len(writer.length);
            return Err(error);
        }
        writer.length += events.len() as u64;
        writer.course = course;
        Ok(())
    }

    /// Shows readers what was added.
    pub(crate) fn publish(&self) {
        let mut writer = self.0.writer.lock();
        writer.published = writer.length;
        writer.published_course = writer.course.clone();
        let mut public = self.0.public.lock();
        public.has_events = true;
        if let Some((_, length)) = public.files.back_mut() {
            *length = writer.published;
        }
        self.0.grown.notify_all();
    }

    /// Makes all that is published durable, with the names of the files.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let (file, is_named) = {
            let mut writer = self.0.writer.lock();
            (Arc::clone(&writer.file), std::mem::replace(&mut writer.is_named, true))
        };
        let synced = file.sync_data();
        if is_named {
            return synced;
        }
        let named = synced.and_then(|()| File::open(&self.0.names.directory)?.sync_all());
        if named.is_err() {
            self.0.writer.lock().is_named = false;
        }
        named
    }

    /// Removes what is not published.
    pub(crate) fn cut(&self) {
        self.cut_locked(&mut self.0.writer.lock());
    }

    fn cut_locked(&self, writer: &mut Writer) {
        if writer.length > writer.published {
            // If it stays, no reader goes there, and the next event is written over it.
            let _ = writer.file.set_len(writer.published);
            writer.length = writer.published;
            writer.course = writer.published_course.clone();
        }
    }

    /// Ends the last file and begins the next one, in which the stream goes on. All is published.
    fn rotate(&self, writer: &mut Writer, course: Course) -> io::Result<()> {
        let settings = *self.0.settings.lock();
        let names = &self.0.names;
        let mut numbers: Vec<FileNumber> =
            self.0.public.lock().files.iter().map(|(number, _)| *number).collect();
        let next = numbers.last().map_or(1, |number| number + 1);
        numbers.push(next);
        let made = relay_writer(settings);
        let mut first = head(settings, course.format().checksum);
        for event in made.resumption(&course).map_err(invalid)? {
            first.extend_from_slice(&event);
        }
        let old = writer.published_course.format().checksum;
        let last = made.tail(writer.published, &names.file(next), old);
        let (file, length) = files::create(names, next, &first)?;
        let written = writer.file.write_all_at(&last, writer.published);
        // Of the files, at most the last one has bytes that are not durable.
        if let Err(error) = written
            .and_then(|()| writer.file.sync_data())
            .and_then(|()| files::write_index(names, numbers.iter().copied()))
        {
            let _ = writer.file.set_len(writer.published);
            let _ = std::fs::remove_file(names.directory.join(names.file(next)));
            return Err(error);
        }
        let ended = writer.published + last.len() as u64;
        *writer = Writer {
            file,
            length,
            published: length,
            is_named: false,
            course: course.clone(),
            published_course: course,
            is_ended: false,
        };
        let mut public = self.0.public.lock();
        if let Some((_, length)) = public.files.back_mut() {
            *length = ended;
        }
        public.files.push_back((next, length));
        self.0.grown.notify_all();
        Ok(())
    }

    /// A reader at the beginning of the first file.
    pub(crate) fn reader(&self) -> RelayReader {
        RelayReader::first(Arc::clone(&self.0))
    }

    /// A reader at a place that an earlier one gave. It gives the format of the events there first.
    pub(crate) fn reader_at(&self, place: &Place) -> io::Result<RelayReader> {
        RelayReader::at(Arc::clone(&self.0), place)
    }

    /// Ends the waits of all readers.
    pub(crate) fn wake(&self) {
        self.0.public.lock().wakes += 1;
        self.0.grown.notify_all();
    }

    /// Removes the files before this one.
    pub(crate) fn purge_below(&self, file: &str) -> io::Result<()> {
        let Some(lowest) = self.0.names.number(file) else { return Ok(()) };
        // The index names no file that is gone, and a writer makes no new file now.
        let _writer = self.0.writer.lock();
        let (gone, kept) = {
            let mut public = self.0.public.lock();
            let mut gone = Vec::new();
            while public.files.len() > 1
                && let Some((number, _)) = public.files.pop_front_if(|(number, _)| *number < lowest)
            {
                gone.push(number);
            }
            (gone, public.files.iter().map(|(number, _)| *number).collect::<Vec<_>>())
        };
        if gone.is_empty() {
            return Ok(());
        }
        files::write_index(&self.0.names, kept.into_iter())?;
        for number in gone {
            files::remove(&self.0.names, number)?;
        }
        // The receiver may wait for space.
        self.0.grown.notify_all();
        Ok(())
    }

    /// The files with their published lengths.
    pub(crate) fn files(&self) -> Vec<(String, u64)> {
        let public = self.0.public.lock();
        public.files.iter().map(|(number, length)| (self.0.names.file(*number), *length)).collect()
    }

    /// Bytes of all files.
    pub(crate) fn space(&self) -> u64 {
        self.0.public.lock().files.iter().map(|(_, length)| length).sum()
    }

    /// End of the last file.
    #[cfg(test)]
    pub(crate) fn last(&self) -> Place {
        let public = self.0.public.lock();
        let last = public.files.back();
        last.map_or_else(Place::default, |(number, length)| Place {
            file: self.0.names.file(*number),
            offset: *length,
        })
    }
}

impl Writer {
    fn new(file: Arc<File>, length: u64, checksum: Checksum) -> Self {
        let course = Course::new(checksum);
        let published_course = course.clone();
        Self {
            file,
            length,
            published: length,
            is_named: false,
            is_ended: false,
            published_course,
            course,
        }
    }
}

fn relay_writer(settings: RelaySettings) -> RelayWriter<'static> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let timestamp = now.map_or(0, |since| since.as_secs() as u32);
    RelayWriter { version: VERSION, server_id: settings.server_id, timestamp }
}

fn head(settings: RelaySettings, checksum: Checksum) -> Vec<u8> {
    relay_writer(settings).head(checksum)
}

/// Bytes that are no events.
fn invalid(what: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
