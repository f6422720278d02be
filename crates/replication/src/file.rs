//! A file of events, checked as it is read: its magic, lengths, places and checksums.
//!
//! Must not do I/O: callers hand over the bytes from a place on, and more when asked.

use std::fmt;
use std::sync::Arc;

use crate::codec::{Event, EventKind, Format, Frame, HEADER_BYTES, Header, flags};
use crate::error::DecodeError;

/// What a file begins with.
pub const MAGIC: [u8; 4] = *b"\xfebin";

/// An event at its place.
#[derive(Clone, Debug)]
pub struct Placed<'a> {
    /// Where it begins.
    pub offset: u64,
    /// Its parts.
    pub frame: Frame<'a>,
    /// What it says.
    pub event: Event<'a>,
}

/// What a step through a file gives.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    /// The next event.
    Event(Box<Placed<'a>>),
    /// So many bytes from [`FileReader::offset`] on are needed to go on.
    Need(usize),
}

/// What is wrong with a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// It does not begin as a binary log does.
    Magic,
    /// An event says a length that none can have.
    Length(u32),
    /// It ends inside an event, of so many bytes.
    Torn(u32),
    /// An event says that it ends elsewhere than it does.
    Place {
        /// What it says.
        says: u32,
        /// Where it does.
        ends: u32,
    },
    /// The first event says nothing of the format.
    NoFormat(EventKind),
    /// An event cannot be decoded, or has another checksum.
    Event(DecodeError),
    /// What follows is encrypted.
    Encrypted,
}

/// What is wrong with a file, and where.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Where the event begins.
    pub offset: u64,
    /// What is wrong.
    pub damage: Damage,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: ", self.offset)?;
        match self.damage {
            Damage::Magic => write!(f, "this is not a binary log"),
            Damage::Length(length) => write!(f, "no event has a length of {length}"),
            Damage::Torn(length) => write!(f, "the file ends inside an event of {length} bytes"),
            Damage::Place { says, ends } => {
                write!(f, "event says it ends at {says}, not at {ends}")
            }
            Damage::NoFormat(kind) => {
                write!(f, "file begins with {}, not with its format", kind.name())
            }
            Damage::Event(error) => write!(f, "{error}"),
            Damage::Encrypted => write!(f, "what follows is encrypted"),
        }
    }
}

impl std::error::Error for FileError {}

/// What a reader has come to know of a file.
#[derive(Clone, Debug, Default)]
pub struct FileReader {
    offset: u64,
    /// The format; none before the first event.
    format: Option<Arc<Format>>,
    /// Whether events keep the places of another file.
    is_relay: bool,
    is_encrypted: bool,
}

impl FileReader {
    /// Before the first byte.
    pub fn new() -> Self {
        Self::default()
    }

    /// Where the next bytes lie.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The format of what comes next.
    pub fn format(&self) -> Option<&Format> {
        self.format.as_deref()
    }

    /// The next event, from the bytes at [`FileReader::offset`] on.
    pub fn step<'a>(&mut self, bytes: &'a [u8]) -> Result<Step<'a>, FileError> {
        if self.offset == 0 {
            let Some(magic) = bytes.get(..MAGIC.len()) else { return Ok(Step::Need(MAGIC.len())) };
            if magic != MAGIC {
                return Err(self.error(Damage::Magic));
            }
            return self.event(bytes.get(MAGIC.len()..).unwrap_or_default(), MAGIC.len());
        }
        self.event(bytes, 0)
    }

    /// The event that `bytes` begin with, which lie `before` bytes behind the place.
    fn event<'a>(&mut self, bytes: &'a [u8], before: usize) -> Result<Step<'a>, FileError> {
        if self.is_encrypted && !bytes.is_empty() {
            return Err(self.error(Damage::Encrypted));
        }
        let Ok(header) = Header::decode(bytes) else {
            return Ok(Step::Need(before + HEADER_BYTES));
        };
        let length = header.event_length as usize;
        if length < HEADER_BYTES {
            return Err(self.error(Damage::Length(header.event_length)));
        }
        let Some(bytes) = bytes.get(..length) else {
            return Ok(Step::Need(before.saturating_add(length)));
        };
        let offset = self.offset + before as u64;
        self.offset = offset;
        let placed = self.placed(bytes, offset)?;
        self.offset = offset + length as u64;
        Ok(Step::Event(Box::new(placed)))
    }

    /// The event that `bytes` are, checked.
    fn placed<'a>(&mut self, bytes: &'a [u8], offset: u64) -> Result<Placed<'a>, FileError> {
        let kind = Header::decode(bytes).map_err(|e| self.error(Damage::Event(e)))?.kind;
        let format = match (&self.format, kind) {
            (_, EventKind::FORMAT_DESCRIPTION) => {
                let read = Format::decode(bytes.get(HEADER_BYTES..).unwrap_or_default());
                Arc::new(read.map_err(|error| self.error(Damage::Event(error)))?)
            }
            (Some(format), _) => Arc::clone(format),
            (None, kind) => return Err(self.error(Damage::NoFormat(kind))),
        };
        let frame = Frame::split(bytes, &format).and_then(|frame| {
            frame.verify()?;
            Ok(frame)
        });
        let frame = frame.map_err(|error| self.error(Damage::Event(error)))?;
        self.is_relay |= frame.header.has(flags::RELAY_LOG);
        self.check_place(&frame.header, offset)?;
        let event = Event::decode(&frame, &format);
        let event = event.map_err(|error| self.error(Damage::Event(error)))?;
        self.is_encrypted |= matches!(event, Event::StartEncryption(_));
        self.format = Some(format);
        Ok(Placed { offset, frame, event })
    }

    /// Compares where an event says it ends with where it does.
    fn check_place(&self, header: &Header, offset: u64) -> Result<(), FileError> {
        let ends = (offset + u64::from(header.event_length)) as u32;
        let says = header.end_log_pos;
        if self.is_relay || says == ends {
            return Ok(());
        }
        Err(self.error(Damage::Place { says, ends }))
    }

    /// What is wrong at the place.
    pub fn error(&self, damage: Damage) -> FileError {
        FileError { offset: self.offset, damage }
    }
}

/// The events of a file that is in memory. Nothing comes behind an error.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    reader: FileReader,
    bytes: &'a [u8],
    has_failed: bool,
}

impl<'a> Events<'a> {
    /// Of a whole file.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { reader: FileReader::new(), bytes, has_failed: false }
    }

    /// The format of what comes next.
    pub fn format(&self) -> Option<&Format> {
        self.reader.format()
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<Placed<'a>, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = usize::try_from(self.reader.offset()).unwrap_or(usize::MAX);
        let rest = self.bytes.get(offset..).unwrap_or_default();
        if self.has_failed || rest.is_empty() && offset > 0 {
            return None;
        }
        let item = match self.reader.step(rest) {
            Ok(Step::Event(placed)) => Ok(*placed),
            Ok(Step::Need(bytes)) => Err(self.reader.error(torn(bytes, offset))),
            Err(error) => Err(error),
        };
        self.has_failed = item.is_err();
        Some(item)
    }
}

/// What a file lacks that ends before `bytes` more.
pub fn torn(bytes: usize, offset: usize) -> Damage {
    let is_magic = offset == 0 && bytes <= MAGIC.len();
    if is_magic { Damage::Magic } else { Damage::Torn(bytes as u32) }
}
