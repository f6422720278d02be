//! A file of the log, event by event, as far as it is written.
//!
//! Must not hold more than an event and a chunk of the file in memory.

use std::fmt;
use std::io;

use crate::codec::{Format, HEADER_BYTES, Header};
use crate::file::{FileError, FileReader, MAGIC, Placed, Step, torn};
use crate::log::binary_log::BinaryLog;
use crate::log::files::{FileNumber, LogFiles, Place, read_exact};

/// Bytes read at once.
const CHUNK: u64 = 64 << 10;

/// Reason why there is no next event.
#[derive(Debug)]
pub enum ScanError {
    /// The file cannot be read.
    Io(io::Error),
    /// The file is damaged.
    Damaged(FileError),
}

/// A file that is read from its beginning, or from an event on.
pub struct FileScan<'a> {
    files: &'a dyn LogFiles,
    /// End of what may be read.
    end: Place,
    reader: FileReader,
    /// The bytes from `base` on that were read.
    bytes: Vec<u8>,
    base: u64,
}

impl BinaryLog {
    /// A scan of a file up to what is written of it; none if the log has no such file. A scan that
    /// is at its end can go on when more is written: [`FileScan::extend`].
    pub fn scan(&self, file: FileNumber) -> Option<FileScan<'_>> {
        let end = self.written_end(file)?;
        Some(FileScan::new(&*self.files, end))
    }

    /// A scan of a file up to a place in it, which must be written.
    pub fn scan_upto(&self, end: Place) -> FileScan<'_> {
        FileScan::new(&*self.files, end)
    }

    /// End of what is written of a file.
    pub fn written_end(&self, file: FileNumber) -> Option<Place> {
        let state = self.state();
        let (_, length) = state.tip.files().find(|(number, _)| *number == file)?;
        let written = state.written;
        let offset = match file.cmp(&written.file) {
            std::cmp::Ordering::Less => length,
            std::cmp::Ordering::Equal => written.offset,
            std::cmp::Ordering::Greater => 0,
        };
        Some(Place { file, offset })
    }
}

impl<'a> FileScan<'a> {
    /// A scan up to `end`.
    pub(super) fn new(files: &'a dyn LogFiles, end: Place) -> Self {
        Self { files, end, reader: FileReader::new(), bytes: Vec::new(), base: 0 }
    }

    /// End of the last event, which is the beginning of the next one.
    pub fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// The format of the next event.
    pub fn format(&self) -> Option<&Format> {
        self.reader.format()
    }

    /// Lets the scan go up to a later end of the same file.
    pub fn extend(&mut self, end: Place) {
        if end.file == self.end.file {
            self.end.offset = self.end.offset.max(end.offset);
        }
    }

    /// Goes to the event that begins at `offset`. The file's first event must have been read.
    pub fn skip_to(&mut self, offset: u64) {
        self.reader.skip_to(offset);
        let behind = self.base + self.bytes.len() as u64;
        if !(self.base..=behind).contains(&offset) {
            self.bytes.clear();
            self.base = offset;
        }
    }

    /// The next event; none at the end.
    pub fn next_event(&mut self) -> Result<Option<Placed<'_>>, ScanError> {
        let offset = self.reader.offset();
        if offset >= self.end.offset {
            return Ok(None);
        }
        let before = if offset == 0 { MAGIC.len() } else { 0 };
        let need = before + HEADER_BYTES;
        if self.hold(need as u64)? {
            let header = Header::decode(self.rest().get(before..).unwrap_or_default());
            let length = header.map_or(0, |header| header.event_length);
            self.hold(before as u64 + u64::from(length))?;
        }
        let at = (offset - self.base) as usize;
        match self.reader.step(self.bytes.get(at..).unwrap_or_default()) {
            Ok(Step::Event(placed)) => Ok(Some(*placed)),
            Ok(Step::Need(need)) => {
                let damage = torn(need, usize::try_from(offset).unwrap_or(usize::MAX));
                Err(ScanError::Damaged(FileError { offset, damage }))
            }
            Err(error) => Err(ScanError::Damaged(error)),
        }
    }

    /// The bytes from the next event on that were read.
    fn rest(&self) -> &[u8] {
        self.bytes.get((self.reader.offset() - self.base) as usize..).unwrap_or_default()
    }

    /// Reads on until `need` bytes from the next event on are there; false if the end comes before.
    fn hold(&mut self, need: u64) -> Result<bool, ScanError> {
        let offset = self.reader.offset();
        let left = self.end.offset.saturating_sub(offset);
        if need > left || need <= self.rest().len() as u64 {
            return Ok(need <= left);
        }
        let gone = (offset - self.base) as usize;
        self.bytes.drain(..gone.min(self.bytes.len()));
        self.base = offset;
        let had = self.bytes.len();
        self.bytes.resize(need.max(CHUNK).min(left) as usize, 0);
        let buf = self.bytes.get_mut(had..).unwrap_or_default();
        let (files, file) = (self.files, self.end.file);
        let read = read_exact(offset + had as u64, buf, |at, rest| files.read(file, at, rest));
        if read.is_err() {
            self.bytes.truncate(had);
        }
        read.map(|()| true).map_err(ScanError::Io)
    }
}

impl From<ScanError> for io::Error {
    fn from(error: ScanError) -> Self {
        match error {
            ScanError::Io(error) => error,
            ScanError::Damaged(error) => io::Error::new(io::ErrorKind::InvalidData, error),
        }
    }
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Damaged(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ScanError {}
