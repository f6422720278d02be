//! A dump under way: the file it reads, and the events it hands over.
//!
//! Must not go behind the place that the caller allows.

use super::ask::{Annotations, Ask, Capability, MarkedEvents, Start};
use super::groups::{Fate, Groups};
use super::made::{FirstEvent, Maker, first_event};
use super::old::{Form, form};
use super::refusal::{Reason, Refusal, Spot};
use super::start::{Begun, FIRST, Found, why};
use crate::codec::{Checksum, Event, GtidListEvent, HEADER_BYTES, Header, flags};
use crate::log::{BinaryLog, FileNumber, FileScan, Place, ScanError};

/// Result of a step.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// There may be more to hand over.
    Went,
    /// All events up to the allowed place were handed over.
    CaughtUp,
    /// The reader has got the last group that it wants.
    Ended,
}

/// A group that a dump has gone past.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Its last event was handed over.
    Sent,
    /// The reader has it.
    Known,
    /// The reader does not want it.
    Unwanted,
}

/// Reader's view of the file under way.
struct Reading<'a> {
    scan: FileScan<'a>,
    file: FileNumber,
    name: String,
    /// Offset of the last event, and end of what was read.
    last: (u64, u64),
}

/// A dump.
pub struct Dump<'a> {
    log: &'a BinaryLog,
    capability: Capability,
    annotations: Annotations,
    marked: MarkedEvents,
    /// Checksum of events made before the first file is read; none if the reader knows of none.
    asked: Option<Checksum>,
    groups: Groups,
    maker: Maker,
    /// File and offset at which the reader wanted to begin.
    first: (String, u64),
    reading: Reading<'a>,
    /// The group whose last event came with the last step.
    passed: Option<(Place, Passed)>,
}

impl<'a> Dump<'a> {
    /// Begins a dump: hands over the name of the file and its first event.
    pub fn begin(
        found: &Found<'a>,
        ask: &Ask,
        send: &mut dyn FnMut(&[u8]),
    ) -> Result<Self, Refusal> {
        let Begun { place, groups } = found.begin(ask).map_err(|reason| unplaced(reason, ask))?;
        let checksum = ask.checksum.unwrap_or(Checksum::None);
        let reading = Reading::of(found.log, place.file, found.upto);
        let mut dump = Self {
            log: found.log,
            capability: ask.capability,
            annotations: ask.annotations,
            marked: ask.marked,
            asked: ask.checksum,
            groups,
            maker: Maker { server_id: found.server_id, checksum },
            first: (first_name(ask).unwrap_or(&reading.name).to_owned(), place.offset),
            reading,
            passed: None,
        };
        let form = match (place.offset, dump.groups.is_within()) {
            (FIRST, false) => FirstEvent::Whole,
            (FIRST, true) => FirstEvent::Later,
            _ => FirstEvent::Elsewhere,
        };
        dump.open(place.offset, form, send)?;
        if place.offset != FIRST {
            dump.reading.scan.skip_to(place.offset);
        }
        Ok(dump)
    }

    /// The file that is read.
    pub fn file(&self) -> FileNumber {
        self.reading.file
    }

    /// Place at which the dump is.
    pub fn place(&self) -> Place {
        Place { file: self.reading.file, offset: self.reading.scan.offset() }
    }

    /// The group that the last step has gone past, and the place behind it. Its last event was the
    /// first one that the step handed over.
    pub fn passed(&self) -> Option<(Place, Passed)> {
        self.passed
    }

    /// An event that says that there is no further one yet.
    pub fn heartbeat(&self) -> Vec<u8> {
        self.maker.heartbeat(&self.reading.name, self.reading.scan.offset())
    }

    /// The end of the dump for a reason that the caller has, in the words of the others.
    pub fn refusal(&self, reason: Reason) -> Refusal {
        let Reading { name, last: (event, end), .. } = &self.reading;
        let (event, end) = (*event, *end);
        let spot = Spot { first: self.first.clone(), file: name.clone(), event, end };
        Refusal { reason, spot: has_spot(reason).then(|| Box::new(spot)) }
    }

    /// Goes on by one event, or to the next file. `upto` is the end of what the reader may get; it
    /// never goes back.
    pub fn step(&mut self, upto: Place, send: &mut dyn FnMut(&[u8])) -> Result<Step, Refusal> {
        self.passed = None;
        if let Some(step) = self.event(send)? {
            return Ok(step);
        }
        let (file, end) = (self.reading.file, self.reading.scan.offset());
        let (limit, next) = self.limit(upto)?;
        if end < limit {
            self.reading.scan.extend(Place { file, offset: limit });
            return Ok(Step::Went);
        }
        match next {
            Some(next) => self.go_to(next, upto, send).map(|()| Step::Went),
            None => Ok(Step::CaughtUp),
        }
    }

    /// End of what may be read of the file, and the file behind it if there is one.
    fn limit(&self, upto: Place) -> Result<(u64, Option<FileNumber>), Refusal> {
        let file = self.reading.file;
        if file == upto.file {
            return Ok((upto.offset, None));
        }
        let mut files = self.log.files().into_iter().skip_while(|(number, _)| *number != file);
        let (here, next) = (files.next(), files.next());
        match (here, next) {
            (Some((_, length)), Some((next, _))) if file < upto.file => Ok((length, Some(next))),
            // The log began anew.
            _ => Err(self.refusal(Reason::NoNextFile)),
        }
    }

    fn go_to(
        &mut self,
        file: FileNumber,
        upto: Place,
        send: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Refusal> {
        self.reading = Reading::of(self.log, file, upto);
        self.open(FIRST, FirstEvent::Whole, send)
    }

    /// Hands over the name of the file under way and its first event.
    fn open(
        &mut self,
        offset: u64,
        form: FirstEvent,
        send: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Refusal> {
        send(&self.maker.rotate(&self.reading.name, offset));
        let (checksum, event) = match self.reading.scan.next_event() {
            Ok(Some(placed)) => match &placed.event {
                Event::FormatDescription(format) => {
                    (format.checksum, first_event(&placed.frame, form))
                }
                _ => return Err(self.refusal(Reason::Bogus)),
            },
            Ok(None) => return Err(self.refusal(Reason::Torn)),
            Err(error) => return Err(self.failed(&error)),
        };
        self.reading.last = (FIRST, self.reading.scan.offset());
        if self.asked.is_none() && checksum != Checksum::None {
            return Err(self.refusal(Reason::Checksums));
        }
        self.maker.checksum = checksum;
        send(&event);
        Ok(())
    }

    /// Hands over the next event of the file, if the reader gets it. None at the end of what may be
    /// read.
    fn event(&mut self, send: &mut dyn FnMut(&[u8])) -> Result<Option<Step>, Refusal> {
        let Self { reading, groups, log, .. } = self;
        let placed = match reading.scan.next_event() {
            Ok(Some(placed)) => placed,
            Ok(None) => return Ok(None),
            Err(error) => return Err(self.failed(&error)),
        };
        let end = placed.offset + placed.frame.bytes().len() as u64;
        reading.last = (placed.offset, end);
        let is_marked = placed.frame.header.has(flags::SKIP_REPLICATION);
        let is_unwanted = is_marked && self.marked == MarkedEvents::Unwanted;
        let fate = groups.take(&placed, || log.gtid_state());
        let is_skipped = fate == Ok(Fate::Skipped);
        let result = fate.and_then(|fate| match fate {
            Fate::Sent if is_unwanted => Ok(Form::Nothing),
            Fate::Sent => form(&placed, self.capability, self.annotations),
            Fate::Skipped => Ok(Form::Nothing),
        });
        let passed = match &result {
            Ok(Form::Nothing) if is_skipped && groups.skips_known() => Passed::Known,
            Ok(Form::Nothing) => Passed::Unwanted,
            _ => Passed::Sent,
        };
        if groups.passes(&placed.event) {
            self.passed = Some((Place { file: reading.file, offset: end }, passed));
        }
        match result {
            Ok(Form::Same) => send(placed.frame.bytes()),
            Ok(Form::Other(event)) => send(&event),
            Ok(Form::Nothing) => {}
            Err(reason) => return Err(self.refusal(reason)),
        }
        let is_end = groups.is_end(&placed.event);
        let owes_list = groups.take_list();
        if self.capability >= Capability::GTID && (is_end || owes_list) {
            let flags = if is_end { GtidListEvent::UNTIL_REACHED } else { 0 };
            send(&self.maker.list(self.groups.seen(), flags, end));
        }
        Ok(Some(if is_end { Step::Ended } else { Step::Went }))
    }

    /// The end of the dump for a file that cannot be read on.
    fn failed(&mut self, error: &ScanError) -> Refusal {
        let reason = why(error);
        let offset = self.reading.scan.offset().max(FIRST);
        let read = match reason {
            Reason::Damaged => self.reading.damaged_end(self.log, offset),
            _ => offset + HEADER_BYTES as u64,
        };
        self.reading.last = (offset, read);
        self.refusal(reason)
    }
}

impl<'a> Reading<'a> {
    /// A file from its beginning on.
    fn of(log: &'a BinaryLog, file: FileNumber, upto: Place) -> Self {
        let length = log.files().into_iter().find(|(number, _)| *number == file);
        let length = length.map_or(0, |(_, length)| length);
        let offset = if file == upto.file { upto.offset } else { length };
        Self {
            scan: log.scan_upto(Place { file, offset }),
            file,
            name: log.log_files().name(file),
            last: (FIRST, FIRST),
        }
    }

    /// End of an event whose checksum is wrong, by its header.
    fn damaged_end(&self, log: &BinaryLog, offset: u64) -> u64 {
        let mut bytes = [0; HEADER_BYTES];
        // Without a header the event itself is all there is to name.
        let read = log.log_files().read(self.file, offset, &mut bytes);
        let header = read.ok().and_then(|_| Header::decode(&bytes).ok());
        offset + header.map_or(0, |header| u64::from(header.event_length))
    }
}

/// Whether MariaDB names places with a reason.
fn has_spot(reason: Reason) -> bool {
    !matches!(
        reason,
        Reason::NoFile
            | Reason::TooOld
            | Reason::Unknown(_)
            | Reason::Diverged(_)
            | Reason::Hole(_)
    )
}

/// The end of a dump that did not begin.
fn unplaced(reason: Reason, ask: &Ask) -> Refusal {
    let spot = match &ask.start {
        Start::At { name, offset } if has_spot(reason) => {
            let name = first_name(ask).unwrap_or(name);
            let (first, file) = ((name.to_owned(), *offset), name.to_owned());
            Some(Box::new(Spot { first, file, event: FIRST, end: FIRST }))
        }
        _ => None,
    };
    Refusal { reason, spot }
}

/// The name that texts have for the first file, if it is not the file's own. Compat: MariaDB takes
/// an empty name for the directory.
fn first_name(ask: &Ask) -> Option<&'static str> {
    matches!(&ask.start, Start::At { name, .. } if name.is_empty()).then_some(".")
}
