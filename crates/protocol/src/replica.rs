//! Commands of a replica: its registration, and its request for the binary log.
//!
//! Must not look for the file: names stay as they came.

use crate::error::{DecodeError, DecodeResult};
use crate::reader::Reader;
use crate::writer::{put_u16, put_u32, put_u64};

/// Longest host of a replica, in bytes.
const HOST: usize = 60;
/// Longest user of a replica, in bytes.
const USER: usize = 48;
/// Longest password of a replica, in bytes.
const PASSWORD: usize = 48;

/// Longest name of a file, in bytes.
const FILE: usize = 512;

/// A replica as it describes itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterSlave<'a> {
    /// Number of the server.
    pub server_id: u32,
    /// Host at which clients reach it (`report_host`).
    pub host: &'a [u8],
    /// User for such clients.
    pub user: &'a [u8],
    /// Password for such clients.
    pub password: &'a [u8],
    /// Port at which clients reach it.
    pub port: u16,
    /// Number of its primary; zero for the server it registers with.
    pub master_id: u32,
}

impl<'a> RegisterSlave<'a> {
    /// Decodes the payload behind the command.
    pub fn decode(payload: &'a [u8]) -> DecodeResult<Self> {
        let mut r = Reader::new(payload);
        let server_id = r.u32("server id")?;
        let host = short(&mut r, HOST, "report-host")?;
        let user = short(&mut r, USER, "report-user")?;
        let password = short(&mut r, PASSWORD, "report-password")?;
        let port = r.u16("report-port")?;
        let _rank = r.u32("rank")?;
        Ok(Self { server_id, host, user, password, port, master_id: r.u32("master id")? })
    }
}

impl RegisterSlave<'_> {
    /// Appends the payload behind the command. Texts that are too long are cut.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_u32(out, self.server_id);
        for (text, most) in [(self.host, HOST), (self.user, USER), (self.password, PASSWORD)] {
            let text = text.get(..most).unwrap_or(text);
            out.push(text.len() as u8);
            out.extend_from_slice(text);
        }
        put_u16(out, self.port);
        put_u32(out, 0);
        put_u32(out, self.master_id);
    }
}

/// A text behind its length of one byte.
fn short<'a>(r: &mut Reader<'a>, most: usize, field: &'static str) -> DecodeResult<&'a [u8]> {
    let length = usize::from(r.u8(field)?);
    if length > most {
        return Err(DecodeError::Invalid(field));
    }
    r.bytes(length, field)
}

/// A request for the binary log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinlogDump<'a> {
    /// Offset of the first event.
    pub offset: u32,
    /// [`BinlogDump::NON_BLOCK`] and [`BinlogDump::ANNOTATE`].
    pub flags: u16,
    /// Number of the server that asks.
    pub server_id: u32,
    /// Name of the file; empty for the first one.
    pub file: &'a [u8],
}

impl<'a> BinlogDump<'a> {
    /// The answer ends where the log does.
    pub const NON_BLOCK: u16 = 1;
    /// The statements of rows are sent.
    pub const ANNOTATE: u16 = 2;

    /// Decodes the payload behind the command.
    pub fn decode(payload: &'a [u8]) -> DecodeResult<Self> {
        let mut r = Reader::new(payload);
        let (offset, flags) = (r.u32("offset")?, r.u16("flags")?);
        let server_id = r.u32("server id")?;
        // The name ends at a zero, or with the packet.
        let file = r.take_rest().split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(Self { offset, flags, server_id, file })
    }

    /// Appends the payload behind the command.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_u32(out, self.offset);
        put_u16(out, self.flags);
        put_u32(out, self.server_id);
        out.extend_from_slice(self.file);
    }

    /// Whether a flag is set.
    pub fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

/// Word of a replica that it has the log up to a place, on its disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack<'a> {
    /// Offset in the file.
    pub offset: u64,
    /// Name of the file.
    pub file: &'a [u8],
}

impl<'a> Ack<'a> {
    /// The first byte of such a packet, and of the two before each event for such a replica.
    pub const MAGIC: u8 = 0xef;

    /// Decodes a packet.
    pub fn decode(payload: &'a [u8]) -> DecodeResult<Self> {
        let mut r = Reader::new(payload);
        if r.u8("magic")? != Self::MAGIC {
            return Err(DecodeError::Invalid("magic"));
        }
        let offset = r.u64("offset")?;
        let file = r.take_rest();
        match file.len() {
            0 => Err(DecodeError::Truncated("file")),
            1..=FILE => Ok(Self { offset, file }),
            _ => Err(DecodeError::Invalid("file")),
        }
    }

    /// Appends the packet.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(Self::MAGIC);
        put_u64(out, self.offset);
        out.extend_from_slice(self.file);
    }
}

/// An event as the primary sends it to a replica that acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marked<'a> {
    /// Whether the primary wants an acknowledgement when the event is kept.
    pub is_asked: bool,
    /// The event.
    pub event: &'a [u8],
}

impl<'a> Marked<'a> {
    /// Takes the two bytes off that stand before the event.
    pub fn decode(bytes: &'a [u8]) -> DecodeResult<Self> {
        match bytes {
            [Ack::MAGIC, asked, event @ ..] => Ok(Self { is_asked: asked & 1 != 0, event }),
            _ => Err(DecodeError::Invalid("magic")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn samples_of_mariadb() {
        let plain = b"\x02\0\0\0\0\0\0\xce\x10\0\0\0\0\0\0\0\0";
        let decoded = RegisterSlave::decode(plain).unwrap();
        assert_eq!((decoded.server_id, decoded.port, decoded.host), (2, 4302, &b""[..]));
        let mut out = Vec::new();
        decoded.encode(&mut out);
        assert_eq!(out, plain);
        let cut = RegisterSlave::decode(b"\x02\0\0\0\x04hos");
        assert_eq!(cut, Err(DecodeError::Truncated("report-host")));
        let by_gtid = BinlogDump::decode(b"\x04\0\0\0\x02\0\x02\0\0\0").unwrap();
        assert_eq!((by_gtid.offset, by_gtid.server_id, by_gtid.file), (4, 2, &b""[..]));
        assert!(by_gtid.has(BinlogDump::ANNOTATE) && !by_gtid.has(BinlogDump::NON_BLOCK));
        let by_name = BinlogDump::decode(b"\x04\0\0\0\x01\0\x02\0\0\0b.000001\0").unwrap();
        assert_eq!(by_name.file, b"b.000001");
        let mut out = Vec::new();
        by_name.encode(&mut out);
        assert_eq!(BinlogDump::decode(&out), Ok(by_name));
        let ack = Ack::decode(b"\xef\x76\x02\0\0\0\0\0\0binlog.000001").unwrap();
        assert_eq!((ack.offset, ack.file), (0x276, &b"binlog.000001"[..]));
        let mut out = Vec::new();
        ack.encode(&mut out);
        assert_eq!(Ack::decode(&out), Ok(ack));
        let marked = |bytes| Marked::decode(bytes).map(|marked| (marked.is_asked, marked.event));
        assert_eq!(marked(b"\xef\x01event"), Ok((true, &b"event"[..])));
        assert_eq!(marked(b"\xef\x00"), Ok((false, &b""[..])));
        assert_eq!(marked(b"\xce\x00event"), Err(DecodeError::Invalid("magic")));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..90)) {
            let _ = (RegisterSlave::decode(&bytes), BinlogDump::decode(&bytes));
        }

        #[test]
        fn bytes_are_an_acknowledgement_only_as_a_whole(
            mut bytes in prop::collection::vec(any::<u8>(), 0..600),
            is_marked: bool,
        ) {
            if let (true, Some(first)) = (is_marked, bytes.first_mut()) {
                *first = Ack::MAGIC;
            }
            let is_whole = bytes.first() == Some(&Ack::MAGIC) && (10..=9 + FILE).contains(&bytes.len());
            let decoded = Ack::decode(&bytes);
            prop_assert_eq!(decoded.is_ok(), is_whole);
            if let Ok(ack) = decoded {
                prop_assert_eq!(ack.offset.to_le_bytes(), &bytes[1..9]);
                prop_assert_eq!(ack.file, &bytes[9..]);
            }
        }
    }
}
