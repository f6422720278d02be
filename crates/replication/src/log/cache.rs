//! Events of a group before it has a place: whole events with end positions 0 and room for their
//! checksums.
//!
//! Must not seal. A cache past its limit moves all events but the last one to a group file, since
//! the last one may still be changed.

use std::fmt;
use std::io;

use crate::codec::{Checksum, Event, EventKind, HEADER_BYTES, Header};
use crate::log::seal::{event_length, format, set_length};
use crate::log::spill::{GroupFile, Shelf, Spill};

/// Place of the flags in a rows event.
const ROW_FLAGS_AT: usize = HEADER_BYTES + 6;

/// Reason why an event was not added; the cache is as before.
#[derive(Debug)]
pub enum CacheError {
    /// The group would be larger than allowed (error 1197).
    TooLarge,
    /// The group file cannot be written.
    Io(io::Error),
}

/// State of a cache to which it can be cut back.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CacheMark {
    len: u64,
    last: Option<u64>,
    last_rows: Option<u64>,
}

impl CacheMark {
    /// Whether there were no events.
    pub fn is_begin(&self) -> bool {
        self.len == 0
    }
}

/// Events of a group.
pub struct Cache {
    checksum: Checksum,
    /// The events behind those in the group file.
    memory: Vec<u8>,
    /// Offset in `memory` of an event that is being written.
    open: Option<usize>,
    /// Offset of the last event, which is in memory until the group is complete.
    last: Option<u64>,
    /// Offset of the last rows event.
    last_rows: Option<u64>,
    spill_at: usize,
    /// Bytes that can ride with a commit.
    most_small: usize,
    max_size: u64,
    shelf: Option<Shelf>,
    spill: Option<Spill>,
    /// The group file, complete and durable, if nothing was changed since.
    finished: Option<GroupFile>,
    used_disk: bool,
}

impl Cache {
    /// An empty cache that stays in memory. [`crate::log::BinaryLog::cache`] makes one that can use
    /// a group file.
    pub fn new(checksum: Checksum) -> Self {
        Self {
            checksum,
            memory: Vec::new(),
            open: None,
            last: None,
            last_rows: None,
            spill_at: usize::MAX,
            most_small: usize::MAX,
            max_size: u64::MAX,
            shelf: None,
            spill: None,
            finished: None,
            used_disk: false,
        }
    }

    /// An empty cache that uses a group file for more than `most_small` bytes.
    pub(super) fn on(shelf: Shelf, checksum: Checksum, most_small: usize) -> Self {
        let spill_at = most_small;
        Self { shelf: Some(shelf), spill_at, most_small, ..Self::new(checksum) }
    }

    /// Sets the bytes that stay in memory, which are not more than can ride with a commit, and the
    /// bytes that the cache may have.
    pub fn set_limits(&mut self, spill_at: usize, max_size: u64) {
        (self.spill_at, self.max_size) = (spill_at.min(self.most_small), max_size);
    }

    /// Bytes of the events, with the room for checksums.
    pub fn len(&self) -> u64 {
        self.spilled() + self.memory.len() as u64
    }

    /// Whether no event is there.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The checksum that the events have room for.
    pub fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// Whether a group file was used since the last [`Cache::clear`].
    pub fn used_disk(&self) -> bool {
        self.used_disk
    }

    /// Bytes in the group file.
    fn spilled(&self) -> u64 {
        self.spill.as_ref().map_or(0, Spill::len)
    }

    /// Appends an event.
    pub fn add(
        &mut self,
        event: &Event<'_>,
        timestamp: u32,
        server_id: u32,
        flags: u16,
    ) -> Result<(), CacheError> {
        self.begin_event(event.kind(), timestamp, server_id, flags);
        event.encode_body(format(self.checksum), &mut self.memory);
        self.end_event()
    }

    /// Begins an event whose body the caller appends to [`Cache::buffer`]. [`Cache::end_event`]
    /// must follow.
    pub fn begin_event(&mut self, kind: EventKind, timestamp: u32, server_id: u32, flags: u16) {
        self.finished = None;
        self.open = Some(self.memory.len());
        let mut header = Header::new(kind, timestamp, server_id);
        header.flags = flags;
        header.encode(&mut self.memory);
    }

    /// The buffer whose end is the body of the event that was begun. What was there before must
    /// stay.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.memory
    }

    /// Bytes so far of the event that was begun.
    pub fn open_len(&self) -> usize {
        self.open.map_or(0, |begin| self.memory.len() - begin)
    }

    /// Ends the event that was begun: its length is known now. On error it is taken back.
    pub fn end_event(&mut self) -> Result<(), CacheError> {
        let Some(begin) = self.open.take() else { return Ok(()) };
        let place = self.spilled() + begin as u64;
        self.memory.resize(self.memory.len() + self.checksum.bytes(), 0);
        let length = u32::try_from(self.memory.len() - begin);
        let (Ok(length), true) = (length, self.len() <= self.max_size) else {
            self.memory.truncate(begin);
            return Err(CacheError::TooLarge);
        };
        let event = self.memory.get_mut(begin..).unwrap_or_default();
        set_length(event, length);
        let kind = Header::decode(event).map(|header| header.kind);
        if self.memory.len() > self.spill_at
            && let Err(error) = self.spill_before(begin)
        {
            self.memory.truncate(begin);
            return Err(CacheError::Io(error));
        }
        self.last = Some(place);
        if kind.is_ok_and(is_rows) {
            self.last_rows = Some(place);
        }
        Ok(())
    }

    /// Appends the events of another cache, which is empty then. False, and nothing is changed, if
    /// they would not stay in memory.
    pub fn take_small(&mut self, other: &mut Cache) -> bool {
        let is_large = self.spilled() + other.spilled() > 0
            || self.memory.len() + other.memory.len() > self.spill_at;
        if is_large || self.checksum != other.checksum {
            return false;
        }
        self.finished = None;
        let base = self.memory.len() as u64;
        self.memory.append(&mut other.memory);
        self.last = other.last.map(|at| at + base).or(self.last);
        self.last_rows = other.last_rows.map(|at| at + base).or(self.last_rows);
        (other.last, other.last_rows, other.finished) = (None, None, None);
        true
    }

    /// Bytes of the last event, without the room for its checksum; 0 if there is none.
    pub fn last_event_len(&self) -> usize {
        let begin = self.last.unwrap_or(self.len());
        ((self.len() - begin) as usize).saturating_sub(self.checksum.bytes())
    }

    /// Whether the events take more room than allowed.
    pub fn is_full(&self) -> bool {
        self.len() > self.max_size
    }

    /// Makes the last event longer by what `append` appends. On an error, and if `append` returns
    /// false, the event stays as it is.
    pub fn extend_last_event<E>(
        &mut self,
        append: impl FnOnce(&mut Vec<u8>) -> Result<bool, E>,
    ) -> Result<(), E> {
        let Some(begin) = self.last.and_then(|at| at.checked_sub(self.spilled())) else {
            return Ok(());
        };
        self.finished = None;
        let end = self.memory.len().saturating_sub(self.checksum.bytes());
        self.memory.truncate(end);
        let appended = append(&mut self.memory);
        if !matches!(appended, Ok(true)) {
            self.memory.truncate(end);
        }
        self.close_last(begin as usize);
        appended.map(drop)
    }

    /// Adds room for the checksum of the event at offset `begin` of the memory, the last one, and
    /// writes its length.
    fn close_last(&mut self, begin: usize) {
        self.memory.resize(self.memory.len() + self.checksum.bytes(), 0);
        let length = self.memory.len().saturating_sub(begin) as u32;
        set_length(self.memory.get_mut(begin..).unwrap_or_default(), length);
    }

    /// Sets flags of the last rows event, as the statement's end does. False if no event of rows is
    /// in memory.
    pub fn flag_last_rows(&mut self, flags: u16) -> bool {
        self.change_flags(|byte, flag| byte | flag, flags)
    }

    /// Clears flags of the last rows event, after a cut into its statement.
    pub fn unflag_last_rows(&mut self, flags: u16) -> bool {
        self.change_flags(|byte, flag| byte & !flag, flags)
    }

    fn change_flags(&mut self, change: impl Fn(u8, u8) -> u8, flags: u16) -> bool {
        let Some(at) = self.last_rows.and_then(|at| at.checked_sub(self.spilled())) else {
            return false;
        };
        self.finished = None;
        let place = self.memory.iter_mut().skip(at as usize + ROW_FLAGS_AT);
        place.zip(flags.to_le_bytes()).for_each(|(to, flag)| *to = change(*to, flag));
        true
    }

    /// The present state; no event may be begun.
    pub fn mark(&self) -> CacheMark {
        CacheMark { len: self.len(), last: self.last, last_rows: self.last_rows }
    }

    /// Takes back all events since a mark, and the event that was begun. An event that was made
    /// longer has its length of then again.
    pub fn cut(&mut self, mark: &CacheMark) -> io::Result<()> {
        (self.finished, self.open) = (None, None);
        let last = mark.last.unwrap_or_default();
        if last < self.spilled() {
            // The last event may be changed, even if it ends where the file does.
            self.take_back(last, mark.len)?;
        } else {
            self.memory.truncate(mark.len.saturating_sub(self.spilled()) as usize);
        }
        (self.last, self.last_rows) = (mark.last, mark.last_rows);
        if let (Some(_), Some(begin)) = (mark.last, last.checked_sub(self.spilled())) {
            let end = self.memory.len().saturating_sub(self.checksum.bytes());
            self.memory.truncate(end);
            self.close_last(begin as usize);
        }
        Ok(())
    }

    /// Makes `last` the end of the group file, and the bytes from there up to `end` the memory.
    fn take_back(&mut self, last: u64, end: u64) -> io::Result<()> {
        let mut event = vec![0; end.saturating_sub(last) as usize];
        if let Some(spill) = &mut self.spill {
            spill.read(last, &mut event)?;
            spill.cut(last);
        }
        self.memory = event;
        Ok(())
    }

    /// Takes back all events; the memory is kept if it is not larger than usual.
    pub fn clear(&mut self) {
        (self.finished, self.open) = (None, None);
        (self.last, self.last_rows) = (None, None);
        (self.spill, self.used_disk) = (None, false);
        self.memory.clear();
        self.memory.shrink_to(KEPT_MEMORY);
    }

    /// Moves the events before offset `at` of the memory to the group file.
    fn spill_before(&mut self, at: usize) -> io::Result<()> {
        let Some(shelf) = self.shelf.as_ref().filter(|_| at > 0) else { return Ok(()) };
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::create(shelf)?),
        };
        self.used_disk = true;
        spill.append(self.memory.get(..at).unwrap_or_default())?;
        self.memory.drain(..at);
        Ok(())
    }

    /// The events, if all are in memory and few enough to ride with the commit.
    pub(super) fn small(&self) -> Option<&[u8]> {
        let fits = self.spilled() == 0 && self.memory.len() <= self.spill_at;
        (fits || self.shelf.is_none()).then_some(&self.memory)
    }

    /// The group file, if it has all events and is durable.
    pub(super) fn finished(&self) -> Option<GroupFile> {
        self.finished
    }

    /// Makes the events ready for a place: a large group's group file becomes complete and durable.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        if self.small().is_none() && self.finished.is_none() {
            self.spill_before(self.memory.len())?;
            let spill = self.spill.as_mut();
            self.finished = spill.map(Spill::finish).transpose()?;
        }
        Ok(())
    }

    /// Leaves the group file to the log, and takes back all events.
    pub(super) fn hand_over(&mut self) {
        self.spill.take().into_iter().for_each(Spill::hand_over);
        self.clear();
    }

    /// Gives the events room for another kind of checksum. Marks and rows events taken before are
    /// forgotten, since all offsets change.
    pub(super) fn convert(&mut self, checksum: Checksum) -> io::Result<()> {
        if checksum.bytes() == self.checksum.bytes() {
            return Ok(());
        }
        let old = (self.spill.take(), std::mem::take(&mut self.memory));
        let tail = (self.checksum.bytes(), checksum.bytes());
        (self.finished, self.last, self.last_rows) = (None, None, None);
        if let Err(error) = self.take_events(&old, tail) {
            (self.spill, self.memory) = old;
            return Err(error);
        }
        self.checksum = checksum;
        Ok(())
    }

    /// Appends all events of `old` with a tail of another length.
    fn take_events(
        &mut self,
        (spill, memory): &(Option<Spill>, Vec<u8>),
        tail: (usize, usize),
    ) -> io::Result<()> {
        let mut offset = 0;
        let mut event = Vec::new();
        while let Some(spill) = spill.as_ref().filter(|spill| offset < spill.len()) {
            event.resize(HEADER_BYTES, 0);
            spill.read(offset, &mut event)?;
            let length = Header::decode(&event).map_or(0, |header| header.event_length);
            event.resize((length as usize).max(HEADER_BYTES), 0);
            spill.read(offset, &mut event)?;
            offset += event.len() as u64;
            self.take_event(&event, tail)?;
        }
        let mut rest = memory.as_slice();
        while let Some(length) = event_length(rest) {
            let (event, behind) = rest.split_at(length);
            self.take_event(event, tail)?;
            rest = behind;
        }
        Ok(())
    }

    fn take_event(&mut self, event: &[u8], (old, new): (usize, usize)) -> io::Result<()> {
        let begin = self.memory.len();
        let kept = event.len().saturating_sub(old);
        self.memory.extend_from_slice(event.get(..kept).unwrap_or_default());
        self.memory.resize(begin + kept + new, 0);
        let length = (kept + new) as u32;
        set_length(self.memory.get_mut(begin..).unwrap_or_default(), length);
        if self.memory.len() > self.spill_at { self.spill_before(begin) } else { Ok(()) }
    }
}

/// Memory that an empty cache keeps for its next events.
const KEPT_MEMORY: usize = 64 << 10;

/// Whether an event of a type has rows, and their flags at [`ROW_FLAGS_AT`].
fn is_rows(kind: EventKind) -> bool {
    let first = EventKind::WRITE_ROWS_V1..=EventKind::DELETE_ROWS_V1;
    let compressed = EventKind::WRITE_ROWS_COMPRESSED_V1..=EventKind::DELETE_ROWS_COMPRESSED_V1;
    first.contains(&kind) || compressed.contains(&kind)
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "the events of the group take more room than allowed"),
            Self::Io(error) => write!(f, "group file: {error}"),
        }
    }
}

impl std::error::Error for CacheError {}
