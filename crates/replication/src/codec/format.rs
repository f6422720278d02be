//! FORMAT_DESCRIPTION: the first event of a file, which describes the events behind it.
//!
//! Must not assume this crate's own lengths for the events of other writers.

use crate::bytes::{Reader, put_u16, put_u32};
use crate::codec::checksum::Checksum;
use crate::codec::header::HEADER_BYTES;
use crate::codec::kind::EventKind;
use crate::error::{DecodeError, DecodeResult};

/// Bytes of the writer's version.
const VERSION_BYTES: usize = 50;
/// The version of the format of all servers since MySQL 5.0.
const BINLOG_VERSION: u16 = 4;

/// Lengths of post-headers in MariaDB 10.11: the types from 1 on, which MySQL shares.
const MYSQL_LENGTHS: [u8; 42] = [
    56, 13, 0, 8, 0, 18, 0, 4, 4, 4, 4, 18, 0, 0, 228, 0, 4, 26, 8, 0, 0, 0, 8, 8, 8, 2, 0, 0, 0,
    10, 10, 10, 0, 0, 0, 0, 0, 0, 10, 10, 10, 0,
];
/// Lengths of post-headers in MariaDB 10.11: the types from 160 on, which MariaDB alone has.
const MARIADB_LENGTHS: [u8; 12] = [0, 4, 19, 4, 0, 13, 8, 8, 8, 10, 10, 10];
/// Types that MariaDB 10.11 has lengths for.
const TYPES: usize = 171;

/// A FORMAT_DESCRIPTION event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// Version of the format; 4.
    pub binlog_version: u16,
    /// The writer's version, filled up with zeros.
    pub server_version: [u8; VERSION_BYTES],
    /// Seconds since 1970 at which the writer started; zero in the files after its first.
    pub created: u32,
    /// Bytes of a header; 19.
    pub header_length: u8,
    /// Lengths of post-headers, for types from 1 on.
    pub lengths: Vec<u8>,
    /// Checksum algorithm of the events.
    pub checksum: Checksum,
    /// Whether the event names the algorithm: servers before MariaDB 5.3 and MySQL 5.6.1 do not.
    pub knows_checksums: bool,
}

impl Format {
    /// The format of MariaDB 10.11.
    pub fn new(server_version: &str, created: u32, checksum: Checksum) -> Self {
        let mut lengths = vec![0; TYPES];
        lengths.iter_mut().zip(MYSQL_LENGTHS).for_each(|(to, from)| *to = from);
        let others = lengths.iter_mut().skip(usize::from(EventKind::ANNOTATE_ROWS.0) - 1);
        others.zip(MARIADB_LENGTHS).for_each(|(to, from)| *to = from);
        let mut version = [0; VERSION_BYTES];
        let text = server_version.bytes().take(VERSION_BYTES - 1);
        version.iter_mut().zip(text).for_each(|(to, from)| *to = from);
        Self {
            binlog_version: BINLOG_VERSION,
            server_version: version,
            created,
            header_length: HEADER_BYTES as u8,
            lengths,
            checksum,
            knows_checksums: true,
        }
    }

    /// Decodes the bytes behind the header, the checksum's four bytes included.
    pub fn decode(bytes: &[u8]) -> DecodeResult<Self> {
        let mut reader = Reader::new(bytes);
        let binlog_version = reader.u16("binlog version")?;
        let version = reader.bytes(VERSION_BYTES, "server version")?;
        let mut server_version = [0; VERSION_BYTES];
        server_version.copy_from_slice(version);
        let created = reader.u32("time of creation")?;
        let header_length = reader.u8("header length")?;
        if binlog_version != BINLOG_VERSION || usize::from(header_length) != HEADER_BYTES {
            return Err(DecodeError::Invalid("binlog version"));
        }
        let knows_checksums = knows_checksums(version);
        let behind = if knows_checksums { 1 + Checksum::Crc32.bytes() } else { 0 };
        let lengths = reader.remaining().checked_sub(behind);
        let lengths = lengths.ok_or(DecodeError::Truncated("checksum algorithm"))?;
        let lengths = reader.bytes(lengths, "post-header lengths")?.to_vec();
        let code = if knows_checksums { reader.u8("checksum algorithm")? } else { 0 };
        let checksum = Checksum::from_code(code);
        Ok(Self {
            binlog_version,
            server_version,
            created,
            header_length,
            lengths,
            checksum,
            knows_checksums,
        })
    }

    /// Appends the body, without checksum.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_u16(out, self.binlog_version);
        out.extend_from_slice(&self.server_version);
        put_u32(out, self.created);
        out.push(self.header_length);
        out.extend_from_slice(&self.lengths);
        if self.knows_checksums {
            out.push(self.checksum.code());
        }
    }

    /// Bytes of the post-header of a type; 0 for a type that the writer does not know.
    pub fn post_header(&self, kind: EventKind) -> usize {
        let at = usize::from(kind.0).wrapping_sub(1);
        self.lengths.get(at).map_or(0, |length| usize::from(*length))
    }

    /// The writer's version as text.
    pub fn version_text(&self) -> String {
        let text = self.server_version.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(text).into_owned()
    }
}

/// Whether a server of that version writes the checksum algorithm.
fn knows_checksums(version: &[u8]) -> bool {
    let mut parts = version.split(|byte| !byte.is_ascii_digit());
    let mut part = || {
        let digits = parts.next().unwrap_or_default();
        digits.iter().fold(0u32, |n, d| n.saturating_mul(10).saturating_add(u32::from(d - b'0')))
    };
    let number = (part(), part(), part());
    let is_mariadb = version.windows(7).any(|text| text == b"MariaDB");
    number >= (5, 6, 1) || is_mariadb && number >= (5, 3, 0)
}
