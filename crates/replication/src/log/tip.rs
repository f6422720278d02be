//! The binary log's state between two records: its files, its end, its groups.
//!
//! Must not do I/O. Placing a record, writing it and replaying it change a tip by the same rules.

use std::collections::VecDeque;

use crate::bytes::{Reader, put_u32, put_u64};
use crate::codec::Checksum;
use crate::error::{DecodeError, DecodeResult};
use crate::gtid::{BinlogState, Gtid, gtids, put_gtids};
use crate::log::files::{FileNumber, Place};
use crate::log::record::{FileHead, Op, place, put_place};

/// Version of the encoded form.
const VERSION: u8 = 1;

/// State between two records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tip {
    /// Number of the next record.
    pub(super) next: u64,
    /// LSN of the last record.
    pub(super) lsn: u64,
    /// End of the last event.
    pub(super) end: Place,
    /// Whether the current file takes groups: it has no STOP at its end.
    pub(super) is_open: bool,
    /// Checksum of the current file.
    pub(super) checksum: Checksum,
    /// The first file.
    pub(super) lowest: FileNumber,
    /// Lengths of the files before the current one, from the first on.
    pub(super) closed: VecDeque<u64>,
    /// The groups.
    pub(super) gtids: BinlogState,
}

impl Default for Tip {
    /// A log without files.
    fn default() -> Self {
        Self {
            next: 1,
            lsn: 0,
            end: Place::default(),
            is_open: false,
            checksum: Checksum::None,
            lowest: 0,
            closed: VecDeque::new(),
            gtids: BinlogState::default(),
        }
    }
}

impl Tip {
    /// Changes the state as a record does. An error says that the record does not belong here.
    pub(super) fn apply(&mut self, op: &Op<'_>) -> DecodeResult<()> {
        match op {
            Op::Group { place, gtid, events } => {
                self.check_place(*place, events.len() as u64)?;
                self.append(events.len() as u64, *gtid);
            }
            Op::Large { place, gtid, source, first, .. } => {
                let length = source.len.saturating_add(first.len() as u64);
                self.check_place(*place, length)?;
                self.append(length, *gtid);
            }
            Op::Begin { tail, head } => {
                if let Some((place, events)) = tail {
                    self.check_place(*place, events.len() as u64)?;
                    self.end = self.end.after(events.len() as u64);
                }
                self.begin(head)?;
            }
            Op::Stop { place, events } => {
                self.check_place(*place, events.len() as u64)?;
                self.end = self.end.after(events.len() as u64);
                self.is_open = false;
            }
            Op::Reset { gtids, head } => {
                if head.file == 0 {
                    return Err(DecodeError::Invalid("file"));
                }
                self.closed.clear();
                self.start(head);
                self.lowest = head.file;
                self.gtids = gtids.iter().copied().collect();
            }
            Op::Lowest(file) => self.forget_below(*file)?,
            Op::State(gtids) => self.gtids = gtids.iter().copied().collect(),
        }
        self.next += 1;
        Ok(())
    }

    /// Adds a group at the end. It does not count as a record.
    fn append(&mut self, length: u64, gtid: Gtid) {
        self.end = self.end.after(length);
        self.gtids.add(gtid);
    }

    /// Takes the place of a group at the end, whose events come later.
    pub(super) fn place_group(&mut self, length: u64, gtid: Gtid) {
        self.append(length, gtid);
        self.next += 1;
    }

    fn check_place(&self, place: Place, length: u64) -> DecodeResult<()> {
        let is_here = place == self.end && place.file != 0;
        if is_here && length <= u64::MAX / 2 && place.offset <= u64::MAX / 4 {
            return Ok(());
        }
        Err(DecodeError::Invalid("place"))
    }

    fn begin(&mut self, head: &FileHead<'_>) -> DecodeResult<()> {
        if self.end.file.checked_add(1) != Some(head.file) {
            return Err(DecodeError::Invalid("file"));
        }
        if self.end.file == 0 {
            self.lowest = head.file;
        } else {
            self.closed.push_back(self.end.offset);
        }
        self.start(head);
        Ok(())
    }

    /// Makes a file with nothing but its head the current one.
    fn start(&mut self, head: &FileHead<'_>) {
        self.end = Place { file: head.file, offset: head.bytes.len() as u64 };
        (self.is_open, self.checksum) = (true, head.checksum);
    }

    fn forget_below(&mut self, file: FileNumber) -> DecodeResult<()> {
        if !(self.lowest..=self.end.file).contains(&file) {
            return Err(DecodeError::Invalid("file"));
        }
        self.closed.drain(..((file - self.lowest) as usize).min(self.closed.len()));
        self.lowest = file;
        Ok(())
    }

    /// The files with their lengths, the current one last.
    pub(super) fn files(&self) -> impl Iterator<Item = (FileNumber, u64)> {
        let closed = (self.lowest..).zip(self.closed.iter().copied());
        let current = (self.end.file, self.end.offset);
        closed.chain((self.end.file != 0).then_some(current))
    }

    /// Whether a file belongs to the log.
    pub(super) fn has(&self, file: FileNumber) -> bool {
        self.end.file != 0 && (self.lowest..=self.end.file).contains(&file)
    }

    /// The state as bytes, for a checkpoint.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        put_u64(&mut out, self.next);
        put_u64(&mut out, self.lsn);
        put_place(&mut out, self.end);
        out.extend([u8::from(self.is_open), self.checksum.code()]);
        put_u32(&mut out, self.lowest);
        put_u32(&mut out, self.closed.len() as u32);
        self.closed.iter().for_each(|length| put_u64(&mut out, *length));
        put_gtids(&mut out, &self.gtids.gtids().collect::<Vec<_>>());
        let sum = crc32fast::hash(&out);
        put_u32(&mut out, sum);
        out
    }

    /// The state from bytes of [`Tip::encode`].
    pub(super) fn decode(bytes: &[u8]) -> DecodeResult<Self> {
        let covered = bytes.len().checked_sub(4).ok_or(DecodeError::Truncated("checksum"))?;
        let (bytes, sum) = bytes.split_at(covered);
        let (stored, computed) = (Reader::new(sum).u32("checksum")?, crc32fast::hash(bytes));
        if stored != computed {
            return Err(DecodeError::Checksum { stored, computed });
        }
        let mut reader = Reader::new(bytes);
        if reader.u8("version")? != VERSION {
            return Err(DecodeError::Invalid("version"));
        }
        let tip = Self::fields(&mut reader)?;
        if tip.is_possible() && reader.is_empty() {
            return Ok(tip);
        }
        Err(DecodeError::Invalid("state"))
    }

    fn fields(reader: &mut Reader<'_>) -> DecodeResult<Self> {
        Ok(Self {
            next: reader.u64("next record")?,
            lsn: reader.u64("lsn")?,
            end: place(reader)?,
            is_open: reader.u8("whether the file is open")? != 0,
            checksum: Checksum::from_code(reader.u8("checksum algorithm")?),
            lowest: reader.u32("first file")?,
            closed: lengths(reader)?,
            gtids: gtids(reader)?.into_iter().collect(),
        })
    }

    fn is_possible(&self) -> bool {
        let before = self.end.file.checked_sub(self.lowest).map(|files| files as usize);
        (1..u64::MAX).contains(&self.next)
            && before == Some(self.closed.len())
            && (self.lowest == 0) == (self.end.file == 0)
    }
}

fn lengths(reader: &mut Reader<'_>) -> DecodeResult<VecDeque<u64>> {
    let count = reader.u32("count of files")? as usize;
    if count > reader.remaining() / 8 {
        return Err(DecodeError::Truncated("files"));
    }
    (0..count).map(|_| reader.u64("length of a file")).collect()
}
