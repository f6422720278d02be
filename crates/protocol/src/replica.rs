//! Commands of a replica: its registration, and its request for the binary log.
//!
//! Must not look for the file: names stay as they came.

use crate::error::{DecodeError, DecodeResult};
use crate::reader::Reader;

/// Longest host of a replica, in bytes.
const HOST: usize = 60;
/// Longest user of a replica, in bytes.
const USER: usize = 48;
/// Longest password of a replica, in bytes.
const PASSWORD: usize = 48;

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

    /// Whether a flag is set.
    pub fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
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
        let cut = RegisterSlave::decode(b"\x02\0\0\0\x04hos");
        assert_eq!(cut, Err(DecodeError::Truncated("report-host")));
        let by_gtid = BinlogDump::decode(b"\x04\0\0\0\x02\0\x02\0\0\0").unwrap();
        assert_eq!((by_gtid.offset, by_gtid.server_id, by_gtid.file), (4, 2, &b""[..]));
        assert!(by_gtid.has(BinlogDump::ANNOTATE) && !by_gtid.has(BinlogDump::NON_BLOCK));
        let by_name = BinlogDump::decode(b"\x04\0\0\0\x01\0\x02\0\0\0b.000001\0").unwrap();
        assert_eq!(by_name.file, b"b.000001");
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..90)) {
            let _ = (RegisterSlave::decode(&bytes), BinlogDump::decode(&bytes));
        }
    }
}
