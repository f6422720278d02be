//! Reads the log after a crash. The log ends at the first group with a bad length, LSN, epoch or
//! checksum: groups after such a hole were never acknowledged (I8).

use super::group::{
    BLOCK, Frame, GROUP_HEADER_LEN, check_group, durable_when_written, group_len, names_place, peek,
};
use super::segment::Segments;
use crate::error::{Result, StorageError};
use crate::ids::Lsn;
use crate::pool::Arena;

/// Bytes read ahead at once.
const WINDOW: usize = 4 << 20;
/// Groups up to this size are read in place.
const SMALL: usize = WINDOW - BLOCK as usize;
/// Distance beyond the end of the log in which groups are searched.
const SEARCH: u64 = 16 << 20;
/// Bound on the size of a group: no log buffer is large enough for a larger one.
const LARGEST: usize = 1 << 30;

/// One whole group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group<'r> {
    /// First byte.
    pub(crate) start: Lsn,
    /// First byte after it.
    pub(crate) end: Lsn,
    /// Its records.
    pub(crate) payload: &'r [u8],
}

/// Result of the search for groups after the end of the log.
#[derive(Default)]
pub(crate) struct BehindEnd {
    /// The highest position that such a group declares durable. If it is beyond the end, damage
    /// ended the log and not a crash.
    pub(crate) durable: Lsn,
    /// An epoch later than the log can have reached.
    pub(crate) later: Option<u32>,
}

/// Iterates over groups from a known good position.
pub(crate) struct LogReader<'s> {
    segments: &'s Segments,
    window: Arena,
    window_start: u64,
    window_len: usize,
    next: Lsn,
    epoch: u32,
    max_epoch: u32,
    large: Vec<u8>,
}

impl<'s> LogReader<'s> {
    /// Starts at `from`, where a group of epoch `epoch` or later starts. No epoch of the log is
    /// above `max_epoch`.
    pub(crate) fn new(
        segments: &'s Segments,
        from: Lsn,
        epoch: u32,
        max_epoch: u32,
    ) -> Result<LogReader<'s>> {
        let window = Arena::new(WINDOW).map_err(|e| StorageError::io("log reader", e))?;
        Ok(LogReader {
            segments,
            window,
            window_start: 0,
            window_len: 0,
            next: from,
            epoch,
            max_epoch,
            large: Vec::new(),
        })
    }

    /// Start of the next group; after the last one, the end of the log.
    pub(crate) fn position(&self) -> Lsn {
        self.next
    }

    /// The epoch of the last group or padding.
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Makes `[at, at + len)` available. Returns less than `len` bytes at the end of the segments.
    fn view(&mut self, at: Lsn, len: usize) -> Result<&[u8]> {
        let end = at.0 + len as u64;
        if at.0 < self.window_start || end > self.window_start + self.window_len as u64 {
            self.window_start = at.0 / BLOCK * BLOCK;
            self.window_len =
                self.segments.read(Lsn(self.window_start), self.window.bytes_mut())?;
        }
        let skip = (at.0 - self.window_start) as usize;
        let available = self.window_len.saturating_sub(skip).min(len);
        Ok(&self.window.bytes_mut()[skip.min(self.window_len)..][..available])
    }

    /// The next group, or `None` at the end of the log.
    pub(crate) fn next_group(&mut self) -> Result<Option<Group<'_>>> {
        loop {
            let (at, epochs) = (self.next, self.epoch..=self.max_epoch);
            match peek(self.view(at, 8)?, at, epochs) {
                Frame::Nothing => return Ok(None),
                Frame::Pad { len, epoch } => {
                    self.epoch = epoch;
                    self.next.0 += u64::from(len);
                }
                Frame::Group { len } => return self.read_group(at, len as usize),
            }
        }
    }

    fn read_group(&mut self, at: Lsn, len: usize) -> Result<Option<Group<'_>>> {
        let total = GROUP_HEADER_LEN + len;
        let (epoch, max_epoch) = (self.epoch, self.max_epoch);
        if total > LARGEST || !self.is_header_of(at)? || !self.collect(at, total)? {
            return Ok(None);
        }
        let Some((header, payload)) = self.whole(at, total).split_first_chunk::<GROUP_HEADER_LEN>()
        else {
            return Ok(None);
        };
        let Some(found) =
            check_group(header, payload, at).filter(|e| (epoch..=max_epoch).contains(e))
        else {
            return Ok(None);
        };
        self.epoch = found;
        self.next = Lsn(at.0 + group_len(len) as u64);
        let (start, end) = (at, self.next);
        let payload = &self.whole(at, total)[GROUP_HEADER_LEN..];
        Ok(Some(Group { start, end, payload }))
    }

    /// Whether the header at `at` names that place and a possible epoch. Old bytes in a recycled
    /// segment rarely do. Without this check their length could make the reader collect gigabytes
    /// before the checksum fails.
    fn is_header_of(&mut self, at: Lsn) -> Result<bool> {
        let epochs = self.epoch..=self.max_epoch;
        let header = self.view(at, GROUP_HEADER_LEN)?.first_chunk();
        Ok(header.is_some_and(|h| names_place(h, at, epochs)))
    }

    /// Searches for groups after the end of the log. Only groups that were never acknowledged may
    /// follow a hole.
    pub(crate) fn behind_end(&mut self) -> Result<BehindEnd> {
        let mut found = BehindEnd::default();
        let epochs = self.max_epoch..=u32::MAX;
        let first = Lsn(self.next.0.next_multiple_of(BLOCK));
        // Every flush starts a group at a block boundary, and none is further ahead than a log
        // buffer.
        for at in (first.0..first.0 + SEARCH).step_by(BLOCK as usize).map(Lsn) {
            let Some(header) = self.view(at, GROUP_HEADER_LEN)?.first_chunk().copied() else {
                break;
            };
            if !names_place(&header, at, epochs.clone()) {
                continue;
            }
            let Frame::Group { len } = peek(&header, at, self.max_epoch..=self.max_epoch) else {
                continue;
            };
            let total = GROUP_HEADER_LEN + len as usize;
            if total > LARGEST || !self.collect(at, total)? {
                continue;
            }
            let payload = &self.whole(at, total)[GROUP_HEADER_LEN..];
            if let Some(epoch) = check_group(&header, payload, at) {
                found.durable = found.durable.max(durable_when_written(&header, at));
                found.later = found.later.max(Some(epoch).filter(|epoch| *epoch > self.max_epoch));
            }
        }
        Ok(found)
    }

    /// Whether the log continues beyond the last segment: a whole group, or the header of one,
    /// would lie there.
    pub(crate) fn leaves_segments(&mut self) -> Result<bool> {
        let at = self.next;
        let there = self.view(at, GROUP_HEADER_LEN)?.len();
        if there < GROUP_HEADER_LEN {
            // The last block of the last segment is in use, so another segment existed after it.
            return Ok(true);
        }
        if !self.is_header_of(at)? {
            return Ok(false);
        }
        let epochs = self.epoch..=self.max_epoch;
        let Frame::Group { len } = peek(self.view(at, GROUP_HEADER_LEN)?, at, epochs) else {
            return Ok(false);
        };
        let total = GROUP_HEADER_LEN + len as usize;
        Ok(total <= LARGEST && !self.collect(at, total)?)
    }

    /// Makes a whole group available to `whole`; `false` if the segments end before the group.
    fn collect(&mut self, at: Lsn, total: usize) -> Result<bool> {
        if total <= SMALL {
            return Ok(self.view(at, total)?.len() == total);
        }
        let mut large = std::mem::take(&mut self.large);
        large.clear();
        while large.len() < total {
            let want = (total - large.len()).min(SMALL);
            let piece = self.view(Lsn(at.0 + large.len() as u64), want)?;
            if piece.len() < want {
                return Ok(false);
            }
            large.extend_from_slice(piece);
        }
        self.large = large;
        Ok(true)
    }

    /// The bytes that `collect` found.
    fn whole(&mut self, at: Lsn, total: usize) -> &[u8] {
        if total > SMALL {
            return &self.large;
        }
        let skip = (at.0 - self.window_start) as usize;
        &self.window.bytes_mut()[skip..skip + total]
    }
}
