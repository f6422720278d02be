//! All events as one value, and which decoder belongs to which type.
//!
//! Must not hold formats of its own: every arm is another file's.

use crate::bytes::Reader;
use crate::codec::checksum::Checksum;
use crate::codec::format::Format;
use crate::codec::frame::{self, Frame};
use crate::codec::gtid_event::{GtidEvent, GtidListEvent};
use crate::codec::header::Header;
use crate::codec::kind::EventKind;
use crate::codec::load::{ExecuteLoad, LoadBlock};
use crate::codec::query::Query;
use crate::codec::rows::Rows;
use crate::codec::small::{
    Incident, Intvar, Rand, Rotate, StartEncryption, XaPrepare, Xid, checkpoint, put_checkpoint,
};
use crate::codec::table_map::TableMap;
use crate::codec::user_var::UserVar;
use crate::error::DecodeResult;

/// An event without its header. Texts and rows borrow from the bytes it was decoded from.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// A statement.
    Query(Query<'a>),
    /// A statement whose text is a compressed block.
    QueryCompressed(Query<'a>),
    /// The server ended.
    Stop,
    /// The next file.
    Rotate(Rotate<'a>),
    /// A value of LAST_INSERT_ID or of an AUTO_INCREMENT column.
    Intvar(Intvar),
    /// Seeds of RAND.
    Rand(Rand),
    /// A user variable.
    UserVar(UserVar<'a>),
    /// The format of the events behind it.
    FormatDescription(Format),
    /// A commit.
    Xid(Xid),
    /// A prepared XA branch.
    XaPrepare(XaPrepare<'a>),
    /// The first part of a file for LOAD DATA.
    BeginLoadQuery(LoadBlock<'a>),
    /// A further part of such a file.
    AppendBlock(LoadBlock<'a>),
    /// The LOAD DATA statement.
    ExecuteLoadQuery(ExecuteLoad<'a>),
    /// The number of a file whose LOAD DATA did not take place.
    DeleteFile(u32),
    /// A table and its columns.
    TableMap(TableMap<'a>),
    /// Rows inserted, updated or deleted.
    Rows(Rows<'a>),
    /// Something went wrong on the primary.
    Incident(Incident<'a>),
    /// The name of a file: it has no event behind the header's position yet.
    Heartbeat(&'a [u8]),
    /// The statement of the rows behind it.
    AnnotateRows(&'a [u8]),
    /// The oldest file that recovery needs.
    BinlogCheckpoint(&'a [u8]),
    /// The number of a group.
    Gtid(GtidEvent<'a>),
    /// The last groups before this place.
    GtidList(GtidListEvent),
    /// The events behind it are encrypted.
    StartEncryption(StartEncryption),
    /// An event whose body is kept as bytes.
    Unknown(EventKind, &'a [u8]),
}

impl<'a> Event<'a> {
    /// The event of a frame.
    pub fn decode(frame: &Frame<'a>, format: &Format) -> DecodeResult<Self> {
        let kind = frame.header.kind;
        if kind == EventKind::FORMAT_DESCRIPTION {
            let behind = frame.bytes().get(usize::from(format.header_length)..);
            return Format::decode(behind.unwrap_or_default()).map(Event::FormatDescription);
        }
        Self::decode_body(kind, frame.body, format)
    }

    /// The event of a type and a body.
    fn decode_body(kind: EventKind, body: &'a [u8], format: &Format) -> DecodeResult<Self> {
        let mut reader = Reader::new(body);
        if !is_decoded(kind) {
            return Ok(Event::Unknown(kind, body));
        }
        let post = reader.bytes(format.post_header(kind), "post-header")?;
        Ok(match kind {
            EventKind::QUERY => Event::Query(Query::decode(post, reader)?),
            EventKind::QUERY_COMPRESSED => Event::QueryCompressed(Query::decode(post, reader)?),
            EventKind::STOP => Event::Stop,
            EventKind::ROTATE => Event::Rotate(Rotate::decode(post, reader)?),
            EventKind::INTVAR => Event::Intvar(Intvar::decode(reader)?),
            EventKind::RAND => Event::Rand(Rand::decode(reader)?),
            EventKind::USER_VAR => Event::UserVar(UserVar::decode(reader)?),
            EventKind::XID => Event::Xid(Xid::decode(reader)?),
            EventKind::XA_PREPARE => Event::XaPrepare(XaPrepare::decode(reader)?),
            EventKind::BEGIN_LOAD_QUERY => Event::BeginLoadQuery(LoadBlock::decode(post, reader)?),
            EventKind::APPEND_BLOCK => Event::AppendBlock(LoadBlock::decode(post, reader)?),
            EventKind::EXECUTE_LOAD_QUERY => {
                Event::ExecuteLoadQuery(ExecuteLoad::decode(post, reader)?)
            }
            EventKind::DELETE_FILE => Event::DeleteFile(Reader::new(post).u32("file id")?),
            EventKind::TABLE_MAP => Event::TableMap(TableMap::decode(post, reader)?),
            kind if Rows::is(kind) => Event::Rows(Rows::decode(kind, post, reader)?),
            EventKind::INCIDENT => Event::Incident(Incident::decode(post, reader)?),
            EventKind::HEARTBEAT => Event::Heartbeat(reader.take_rest()),
            EventKind::ANNOTATE_ROWS => Event::AnnotateRows(reader.take_rest()),
            EventKind::BINLOG_CHECKPOINT => Event::BinlogCheckpoint(checkpoint(post, reader)?),
            EventKind::GTID => Event::Gtid(GtidEvent::decode(body)?),
            EventKind::GTID_LIST => Event::GtidList(GtidListEvent::decode(body)?),
            EventKind::START_ENCRYPTION => Event::StartEncryption(StartEncryption::decode(reader)?),
            other => Event::Unknown(other, body),
        })
    }

    /// The event's type.
    pub fn kind(&self) -> EventKind {
        match self {
            Event::Query(_) => EventKind::QUERY,
            Event::QueryCompressed(_) => EventKind::QUERY_COMPRESSED,
            Event::Stop => EventKind::STOP,
            Event::Rotate(_) => EventKind::ROTATE,
            Event::Intvar(_) => EventKind::INTVAR,
            Event::Rand(_) => EventKind::RAND,
            Event::UserVar(_) => EventKind::USER_VAR,
            Event::FormatDescription(_) => EventKind::FORMAT_DESCRIPTION,
            Event::Xid(_) => EventKind::XID,
            Event::XaPrepare(_) => EventKind::XA_PREPARE,
            Event::BeginLoadQuery(_) => EventKind::BEGIN_LOAD_QUERY,
            Event::AppendBlock(_) => EventKind::APPEND_BLOCK,
            Event::ExecuteLoadQuery(_) => EventKind::EXECUTE_LOAD_QUERY,
            Event::DeleteFile(_) => EventKind::DELETE_FILE,
            Event::TableMap(_) => EventKind::TABLE_MAP,
            Event::Rows(rows) => rows.kind(),
            Event::Incident(_) => EventKind::INCIDENT,
            Event::Heartbeat(_) => EventKind::HEARTBEAT,
            Event::AnnotateRows(_) => EventKind::ANNOTATE_ROWS,
            Event::BinlogCheckpoint(_) => EventKind::BINLOG_CHECKPOINT,
            Event::Gtid(_) => EventKind::GTID,
            Event::GtidList(_) => EventKind::GTID_LIST,
            Event::StartEncryption(_) => EventKind::START_ENCRYPTION,
            Event::Unknown(kind, _) => *kind,
        }
    }

    /// Appends the event: the header with type and length filled in, body, checksum.
    pub fn encode(&self, header: &Header, format: &Format, out: &mut Vec<u8>) {
        let header = Header { kind: self.kind(), ..*header };
        let checksum = match self {
            // It has a checksum even if other events have none, unless its writer is too old.
            Event::FormatDescription(own) if own.knows_checksums => Checksum::Crc32,
            Event::FormatDescription(_) => Checksum::None,
            _ => format.checksum,
        };
        frame::join(&header, checksum, out, |out| self.encode_body(format, out));
    }

    /// Appends the body with post-headers as the format has them.
    pub(crate) fn encode_body(&self, format: &Format, out: &mut Vec<u8>) {
        let begin = out.len();
        let post = format.post_header(self.kind());
        // Zeros fill a post-header that is longer than its known fields.
        let fill = |out: &mut Vec<u8>| out.resize(out.len().max(begin + post), 0);
        match self {
            Event::Query(query) | Event::QueryCompressed(query) => {
                query.encode_post(out);
                fill(out);
                query.encode_rest(out);
            }
            Event::Stop => fill(out),
            Event::Rotate(rotate) => rotate.encode(out),
            Event::Intvar(intvar) => intvar.encode(out),
            Event::Rand(rand) => rand.encode(out),
            Event::UserVar(variable) => variable.encode(out),
            Event::FormatDescription(format) => format.encode(out),
            Event::Xid(xid) => xid.encode(out),
            Event::XaPrepare(prepare) => prepare.encode(out),
            Event::BeginLoadQuery(block) | Event::AppendBlock(block) => block.encode(out),
            Event::ExecuteLoadQuery(load) => {
                load.encode_post(out);
                fill(out);
                load.query.encode_rest(out);
            }
            Event::DeleteFile(id) => out.extend_from_slice(&id.to_le_bytes()),
            Event::TableMap(map) => map.encode(post, out),
            Event::Rows(rows) => rows.encode(post, out),
            Event::Incident(incident) => incident.encode(out),
            Event::Heartbeat(bytes) | Event::AnnotateRows(bytes) => out.extend_from_slice(bytes),
            Event::BinlogCheckpoint(name) => put_checkpoint(name, out),
            Event::Gtid(gtid) => {
                gtid.encode(out);
                fill(out);
            }
            Event::GtidList(list) => list.encode(out),
            Event::StartEncryption(start) => start.encode(out),
            Event::Unknown(_, body) => out.extend_from_slice(body),
        }
    }
}

/// Whether this crate decodes the bodies of a type.
fn is_decoded(kind: EventKind) -> bool {
    let numbers = [2..=5, 9..=9, 11..=11, 13..=19, 23..=27, 30..=32, 38..=38, 160..=168];
    numbers.iter().any(|range| range.contains(&kind.0))
}
