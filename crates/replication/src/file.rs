//! A file of events, checked as it is read: its magic, lengths, places and checksums.
//!
//! Must not do I/O: callers hand over the bytes from a place on, and more when asked.

use std::fmt;
use std::sync::Arc;

use crate::codec::{Event, EventKind, Format, Frame, HEADER_BYTES, Header, flags};
use crate::error::DecodeError;

/// First bytes of every file.
pub const MAGIC: [u8; 4] = *b"\xfebin";

/// An event at its place.
#[derive(Clone, Debug)]
pub struct Placed<'a> {
    /// Offset in the file at which the event begins.
    pub offset: u64,
    /// Header, body and checksum.
    pub frame: Frame<'a>,
    /// The decoded event.
    pub event: Event<'a>,
}

/// Result of one step through a file.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    /// The next event.
    Event(Box<Placed<'a>>),
    /// The next step needs at least so many bytes from [`FileReader::offset`] on.
    Need(usize),
}

/// Kind of damage of a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The file does not begin with [`MAGIC`].
    Magic,
    /// An event claims a length that is shorter than a header.
    Length(u32),
    /// The file ends inside an event of so many bytes.
    Torn(u32),
    /// An event claims an end position that is not its own.
    Place {
        /// End position in the header.
        says: u32,
        /// Real end position, modulo 2^32.
        ends: u32,
    },
    /// The first event is of this type, not FORMAT_DESCRIPTION.
    NoFormat(EventKind),
    /// An event cannot be decoded, or its checksum is wrong.
    Event(DecodeError),
    /// The rest of the file is encrypted.
    Encrypted,
}

/// Damage of a file and its place.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Offset of the damaged event.
    pub offset: u64,
    /// Kind of damage.
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

/// State of a reader between two events of a file.
#[derive(Clone, Debug, Default)]
pub struct FileReader {
    offset: u64,
    /// The format; none before the first event.
    format: Option<Arc<Format>>,
    /// Whether end positions are not checked: events of a relay log keep those of the primary.
    is_relay: bool,
    is_encrypted: bool,
}

impl FileReader {
    /// A reader at the first byte of a file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offset from which the next step needs bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The format of the next event.
    pub fn format(&self) -> Option<&Format> {
        self.format.as_deref()
    }

    /// Goes to the event that begins at `offset`; the format stays.
    pub fn skip_to(&mut self, offset: u64) {
        self.offset = offset;
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

    /// The event at the front of `bytes`, which begin `before` bytes behind the offset.
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

    /// Checks and decodes one event, which is all of `bytes`.
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

    /// Compares the end position in a header with the real one.
    fn check_place(&self, header: &Header, offset: u64) -> Result<(), FileError> {
        let ends = (offset + u64::from(header.event_length)) as u32;
        let says = header.end_log_pos;
        if self.is_relay || says == ends {
            return Ok(());
        }
        Err(self.error(Damage::Place { says, ends }))
    }

    /// The error for damage at the reader's offset.
    pub fn error(&self, damage: Damage) -> FileError {
        FileError { offset: self.offset, damage }
    }
}

/// The events of a file in memory. The iterator ends after an error.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    reader: FileReader,
    bytes: &'a [u8],
    has_failed: bool,
}

impl<'a> Events<'a> {
    /// All events of a whole file.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { reader: FileReader::new(), bytes, has_failed: false }
    }

    /// The format of the next event.
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

/// Damage of a file that ends although the step at `offset` needs `bytes` bytes.
pub fn torn(bytes: usize, offset: usize) -> Damage {
    let is_magic = offset == 0 && bytes <= MAGIC.len();
    if is_magic { Damage::Magic } else { Damage::Torn(bytes as u32) }
}
