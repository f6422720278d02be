//! Records inside a group, encoded and decoded. The first byte is the kind. Its high bit means that
//! the page is that of the previous page record in the group, as for most. All integers are
//! little-endian. Must not panic on any bytes.
//!
//! ```text
//! init page     01 | file u32 | page u32 | type u8
//! write bytes   02 | file u32 | page u32 | offset u16 | len u16 | bytes
//! page op       03 | file u32 | page u32 | op u8 | len u16 | payload
//! row           04 | len u32 | payload
//! transaction   05 | len u32 | payload
//! file created  06 | file u32
//! file dropped  07 | file u32
//! rider         08 | len u32 | payload
//! ```

use crate::ids::{FileId, PageId};

const INIT: u8 = 1;
const WRITE: u8 = 2;
const OP: u8 = 3;
const ROW: u8 = 4;
const TRX: u8 = 5;
const FILE_CREATED: u8 = 6;
const FILE_DROPPED: u8 = 7;
const RIDER: u8 = 8;
const SAME_PAGE: u8 = 0x80;
/// Bytes before the payload of a record with a long payload.
const SIZED_HEADER: usize = 5;

/// One record, borrowing from its group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Record<'a> {
    /// The page becomes an empty page of `kind` (I5: first record of a newly allocated page).
    Init {
        /// The page.
        page: PageId,
        /// Its new type byte.
        kind: u8,
    },
    /// Bytes of the page are replaced.
    Write {
        /// The page.
        page: PageId,
        /// Offset of the bytes in the page.
        offset: u16,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// An operation of the page's owner, redone by `PageRedo`.
    Op {
        /// The page.
        page: PageId,
        /// The owner's operation number.
        op: u8,
        /// The owner's arguments.
        payload: &'a [u8],
    },
    /// A logical row change, opaque here: for undo of losers and for change feeds.
    Row(&'a [u8]),
    /// A transaction's change of state, opaque here.
    Trx(&'a [u8]),
    /// A data file exists from this position on.
    FileCreated(FileId),
    /// A data file is gone from this position on.
    FileDropped(FileId),
    /// Bytes of a rider, opaque here: its owner's files are written from them.
    Rider(&'a [u8]),
}

/// Appends records to a buffer.
#[derive(Default)]
pub(crate) struct RecordWriter {
    buf: Vec<u8>,
    last_page: Option<PageId>,
}

impl RecordWriter {
    /// A writer that reuses `buf`'s memory.
    pub(crate) fn reusing(mut buf: Vec<u8>) -> RecordWriter {
        buf.clear();
        RecordWriter { buf, last_page: None }
    }

    /// The encoded records.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buf
    }

    /// Whether nothing was recorded.
    pub(crate) fn is_empty(&self) -> bool {
        self.buf.is_empty()
    }

    /// The memory, for the next writer.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buf
    }

    fn page_record(&mut self, kind: u8, page: PageId) {
        if self.last_page == Some(page) {
            self.buf.push(kind | SAME_PAGE);
            return;
        }
        self.buf.push(kind);
        self.buf.extend_from_slice(&page.file.0.to_le_bytes());
        self.buf.extend_from_slice(&page.page.0.to_le_bytes());
        self.last_page = Some(page);
    }

    fn sized(&mut self, kind: u8, payload: &[u8]) {
        self.sized_header(kind, payload.len());
        self.buf.extend_from_slice(payload);
    }

    fn sized_header(&mut self, kind: u8, len: usize) {
        self.buf.push(kind);
        self.buf.extend_from_slice(&(len as u32).to_le_bytes());
    }

    /// Appends one record. Payloads of page records are shorter than 64 KiB, as pages are.
    pub(crate) fn push(&mut self, record: Record<'_>) {
        match record {
            Record::Init { page, kind } => {
                self.page_record(INIT, page);
                self.buf.push(kind);
            }
            Record::Write { page, offset, bytes } => {
                self.page_record(WRITE, page);
                self.buf.extend_from_slice(&offset.to_le_bytes());
                self.buf.extend_from_slice(&short_len(bytes).to_le_bytes());
                self.buf.extend_from_slice(bytes);
            }
            Record::Op { page, op, payload } => {
                self.page_record(OP, page);
                self.buf.push(op);
                self.buf.extend_from_slice(&short_len(payload).to_le_bytes());
                self.buf.extend_from_slice(payload);
            }
            Record::Row(payload) => self.sized(ROW, payload),
            Record::Trx(payload) => self.sized(TRX, payload),
            Record::FileCreated(file) => self.file_record(FILE_CREATED, file),
            Record::FileDropped(file) => self.file_record(FILE_DROPPED, file),
            Record::Rider(payload) => self.sized(RIDER, payload),
        }
    }

    /// Length of all records together with a rider's record of `len` bytes.
    pub(crate) fn len_with_rider(&self, len: usize) -> usize {
        self.buf.len() + SIZED_HEADER + len
    }

    /// Appends a rider's record, whose `len` bytes `fill` appends.
    pub(crate) fn rider(&mut self, len: usize, fill: impl FnOnce(&mut Vec<u8>)) {
        let end = self.len_with_rider(len);
        self.buf.reserve(end - self.buf.len());
        self.sized_header(RIDER, len);
        fill(&mut self.buf);
        assert_eq!(self.buf.len(), end, "a rider has not brought as many bytes as it said");
    }

    fn file_record(&mut self, kind: u8, file: FileId) {
        self.buf.push(kind);
        self.buf.extend_from_slice(&file.0.to_le_bytes());
    }
}

fn short_len(bytes: &[u8]) -> u16 {
    u16::try_from(bytes.len()).expect("payload of a page record is longer than a page")
}

/// Decodes the records of one group. On bytes that are no record it yields `Err(BadRecord)` once
/// and then ends.
pub(crate) struct RecordReader<'a> {
    rest: &'a [u8],
    last_page: Option<PageId>,
}

/// The bytes are no record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BadRecord;

impl<'a> RecordReader<'a> {
    /// Reads from the payload of a group.
    pub(crate) fn new(payload: &'a [u8]) -> RecordReader<'a> {
        RecordReader { rest: payload, last_page: None }
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], BadRecord> {
        let (head, rest) = self.rest.split_at_checked(n).ok_or(BadRecord)?;
        self.rest = rest;
        Ok(head)
    }

    fn u8(&mut self) -> Result<u8, BadRecord> {
        Ok(self.take(1)?[0])
    }

    fn u16(&mut self) -> Result<u16, BadRecord> {
        Ok(u16::from_le_bytes(self.take(2)?.try_into().map_err(|_| BadRecord)?))
    }

    fn u32(&mut self) -> Result<u32, BadRecord> {
        Ok(u32::from_le_bytes(self.take(4)?.try_into().map_err(|_| BadRecord)?))
    }

    fn page(&mut self, kind: u8) -> Result<PageId, BadRecord> {
        if kind & SAME_PAGE == 0 {
            let file = FileId(self.u32()?);
            self.last_page = Some(PageId::new(file, self.u32()?)).filter(|_| file.0 != 0);
        }
        self.last_page.ok_or(BadRecord)
    }

    fn record(&mut self) -> Result<Record<'a>, BadRecord> {
        let kind = self.u8()?;
        match kind & !SAME_PAGE {
            INIT => Ok(Record::Init { page: self.page(kind)?, kind: self.u8()? }),
            WRITE => {
                let (page, offset, len) = (self.page(kind)?, self.u16()?, self.u16()?);
                Ok(Record::Write { page, offset, bytes: self.take(len as usize)? })
            }
            OP => {
                let (page, op, len) = (self.page(kind)?, self.u8()?, self.u16()?);
                Ok(Record::Op { page, op, payload: self.take(len as usize)? })
            }
            ROW => self.u32().and_then(|len| self.take(len as usize)).map(Record::Row),
            TRX => self.u32().and_then(|len| self.take(len as usize)).map(Record::Trx),
            FILE_CREATED => Ok(Record::FileCreated(FileId(self.u32()?))),
            FILE_DROPPED => Ok(Record::FileDropped(FileId(self.u32()?))),
            RIDER => self.u32().and_then(|len| self.take(len as usize)).map(Record::Rider),
            _ => Err(BadRecord),
        }
    }
}

impl<'a> Iterator for RecordReader<'a> {
    type Item = Result<Record<'a>, BadRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let record = self.record();
        if record.is_err() {
            self.rest = &[];
        }
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn records_round_trip_and_repeat_pages_cheaply() {
        let (a, b) = (PageId::new(FileId(1), 7), PageId::new(FileId(2), 7));
        let records = [
            Record::Init { page: a, kind: 4 },
            Record::Write { page: a, offset: 100, bytes: b"abc" },
            Record::Op { page: b, op: 9, payload: b"" },
            Record::Row(b"row"),
            Record::Op { page: b, op: 1, payload: b"xyz" },
            Record::Trx(b"commit"),
            Record::FileCreated(FileId(5)),
            Record::FileDropped(FileId(4)),
            Record::Rider(b"events"),
            Record::Rider(b"more"),
        ];
        let mut writer = RecordWriter::default();
        records[..9].iter().for_each(|r| writer.push(*r));
        writer.rider(4, |out| out.extend_from_slice(b"more"));
        let back: Vec<_> = RecordReader::new(writer.bytes()).map(|r| r.expect("valid")).collect();
        assert_eq!(back, records);
        assert_eq!(writer.bytes().iter().filter(|b| **b == WRITE | SAME_PAGE).count(), 1);
    }

    proptest! {
        #[test]
        fn any_bytes_decode_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            for record in RecordReader::new(&bytes) {
                let _ = record;
            }
        }
    }
}
