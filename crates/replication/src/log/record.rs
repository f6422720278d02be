//! Records: riders' bytes as the engine's log carries them. Each is one change of the binary log.
//!
//! Must not trust bytes: a record comes back from the engine's log after a crash.

use crate::bytes::{Reader, put_long, put_u32, put_u64};
use crate::codec::Checksum;
use crate::error::{DecodeError, DecodeResult};
use crate::gtid::{GTID_BYTES, Gtid, gtid, gtids, put_gtid, put_gtids};
use crate::log::files::{FileNumber, Place};
use crate::log::spill::GroupFile;

/// Bytes of a group's record before the events.
pub(super) const GROUP_HEADER: u64 = 1 + 8 + PLACE_BYTES + GTID_BYTES;
const PLACE_BYTES: u64 = 4 + 8;

/// An operation and its number. Records are numbered from 1 on, without gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) number: u64,
    pub(super) op: Op<'a>,
}

/// Events at the beginning of a file, its magic included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileHead<'a> {
    pub(super) file: FileNumber,
    /// Checksum of the events behind the head.
    pub(super) checksum: Checksum,
    pub(super) bytes: &'a [u8],
}

/// A change of the binary log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op<'a> {
    /// A group at its place.
    Group { place: Place, gtid: Gtid, events: &'a [u8] },
    /// A group whose events, but for its GTID event, are in a group file.
    Large { place: Place, gtid: Gtid, checksum: Checksum, source: GroupFile, first: &'a [u8] },
    /// A new file behind the last one, which ends with the events `tail`. Without events it is left
    /// in use, as a crash found it.
    Begin { tail: Option<(Place, &'a [u8])>, head: FileHead<'a> },
    /// The last events of a server's life.
    Stop { place: Place, events: &'a [u8] },
    /// All files are removed; the log begins anew with a state.
    Reset { gtids: Vec<Gtid>, head: FileHead<'a> },
    /// All files below this one are removed.
    Lowest(FileNumber),
    /// Another state.
    State(Vec<Gtid>),
}

const GROUP: u8 = 0;
const LARGE: u8 = 1;
const BEGIN: u8 = 2;
const STOP: u8 = 3;
const RESET: u8 = 4;
const LOWEST: u8 = 5;
const STATE: u8 = 6;

impl<'a> Record<'a> {
    /// Appends the record. The events of a group are its end: callers may append more of them.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let begin = out.len();
        out.push(self.op.code());
        put_u64(out, self.number);
        match &self.op {
            Op::Group { place, gtid, events } => {
                put_place(out, *place);
                put_gtid(out, *gtid);
                debug_assert_eq!((out.len() - begin) as u64, GROUP_HEADER);
                out.extend_from_slice(events);
            }
            Op::Large { place, gtid, checksum, source, first } => {
                put_place(out, *place);
                put_gtid(out, *gtid);
                out.push(checksum.code());
                put_u64(out, source.id);
                put_u64(out, source.len);
                put_u32(out, source.crc);
                out.extend_from_slice(first);
            }
            Op::Begin { tail, head } => {
                out.push(u8::from(tail.is_some()));
                if let Some((place, events)) = tail {
                    put_place(out, *place);
                    put_long(out, events);
                }
                head.encode(out);
            }
            Op::Stop { place, events } => {
                put_place(out, *place);
                out.extend_from_slice(events);
            }
            Op::Reset { gtids, head } => {
                put_gtids(out, gtids);
                head.encode(out);
            }
            Op::Lowest(file) => put_u32(out, *file),
            Op::State(gtids) => put_gtids(out, gtids),
        }
    }

    /// Whether the encoded record must be durable before anything of it is in files: it removes
    /// files, which nothing brings back, or it is the first one, without which a file would count
    /// as another log's.
    pub(super) fn is_irrevocable(bytes: &[u8]) -> bool {
        let number =
            bytes.get(1..9).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
        matches!(bytes.first(), Some(&(RESET | LOWEST))) || number == Some(1)
    }

    /// The record that is all of `bytes`.
    pub(super) fn decode(bytes: &'a [u8]) -> DecodeResult<Self> {
        let mut reader = Reader::new(bytes);
        let code = reader.u8("operation")?;
        let number = reader.u64("number of a record")?;
        let op = Op::decode(code, &mut reader)?;
        if reader.is_empty() {
            Ok(Self { number, op })
        } else {
            Err(DecodeError::Invalid("record"))
        }
    }
}

impl<'a> Op<'a> {
    fn code(&self) -> u8 {
        match self {
            Op::Group { .. } => GROUP,
            Op::Large { .. } => LARGE,
            Op::Begin { .. } => BEGIN,
            Op::Stop { .. } => STOP,
            Op::Reset { .. } => RESET,
            Op::Lowest(_) => LOWEST,
            Op::State(_) => STATE,
        }
    }

    fn decode(code: u8, reader: &mut Reader<'a>) -> DecodeResult<Self> {
        Ok(match code {
            GROUP => {
                let (place, gtid) = (place(reader)?, gtid(reader)?);
                Op::Group { place, gtid, events: reader.take_rest() }
            }
            LARGE => {
                let (place, gtid) = (place(reader)?, gtid(reader)?);
                let checksum = Checksum::from_code(reader.u8("checksum algorithm")?);
                let (id, len) = (reader.u64("group file")?, reader.u64("length")?);
                let source = GroupFile { id, len, crc: reader.u32("checksum")? };
                Op::Large { place, gtid, checksum, source, first: reader.take_rest() }
            }
            BEGIN => {
                let tail = match reader.u8("end of a file")? {
                    0 => None,
                    1 => Some((place(reader)?, long(reader)?)),
                    _ => return Err(DecodeError::Invalid("end of a file")),
                };
                Op::Begin { tail, head: FileHead::decode(reader)? }
            }
            STOP => Op::Stop { place: place(reader)?, events: reader.take_rest() },
            RESET => Op::Reset { gtids: gtids(reader)?, head: FileHead::decode(reader)? },
            LOWEST => Op::Lowest(reader.u32("file")?),
            STATE => Op::State(gtids(reader)?),
            _ => return Err(DecodeError::Invalid("operation")),
        })
    }
}

impl<'a> FileHead<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        put_u32(out, self.file);
        out.push(self.checksum.code());
        out.extend_from_slice(self.bytes);
    }

    fn decode(reader: &mut Reader<'a>) -> DecodeResult<Self> {
        let file = reader.u32("file")?;
        let checksum = Checksum::from_code(reader.u8("checksum algorithm")?);
        Ok(Self { file, checksum, bytes: reader.take_rest() })
    }
}

/// Appends a place.
pub(super) fn put_place(out: &mut Vec<u8>, place: Place) {
    put_u32(out, place.file);
    put_u64(out, place.offset);
}

/// Reads a place.
pub(super) fn place(reader: &mut Reader<'_>) -> DecodeResult<Place> {
    Ok(Place { file: reader.u32("file")?, offset: reader.u64("offset")? })
}

fn long<'a>(reader: &mut Reader<'a>) -> DecodeResult<&'a [u8]> {
    let length = reader.u32("length")?;
    reader.counted(u64::from(length), "events")
}
