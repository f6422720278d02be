//! The server's first packet (handshake version 10) in the form of MariaDB 10.11.
//!
//! Must not choose its contents: version, capabilities and scramble come from the server.

use crate::capabilities::Capabilities;
use crate::error::{DecodeError, DecodeResult};
use crate::reader::Reader;
use crate::status::Status;
use crate::writer::{put_nul_bytes, put_u16, put_u32};

/// Length of the authentication challenge.
pub const SCRAMBLE: usize = 20;

/// The handshake packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Version string.
    pub version: String,
    /// Connection number; only its low 32 bits are sent.
    pub connection_id: u64,
    /// The challenge, without NUL bytes.
    pub scramble: [u8; SCRAMBLE],
    /// Capabilities of the server.
    pub capabilities: Capabilities,
    /// Number of the default collation; its low byte is sent.
    pub collation: u8,
    /// Session status.
    pub status: Status,
    /// Authentication plugin of the challenge.
    pub plugin: String,
}

impl Greeting {
    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let standard = self.capabilities.standard();
        out.push(10);
        put_nul_bytes(out, self.version.as_bytes());
        put_u32(out, self.connection_id as u32);
        out.extend_from_slice(&self.scramble[..8]);
        out.push(0);
        put_u16(out, standard as u16);
        out.push(self.collation);
        put_u16(out, self.status.0);
        put_u16(out, (standard >> 16) as u16);
        out.push(SCRAMBLE as u8 + 1);
        out.extend_from_slice(&[0; 6]);
        put_u32(out, self.capabilities.extended());
        put_nul_bytes(out, &self.scramble[8..]);
        put_nul_bytes(out, self.plugin.as_bytes());
    }

    /// Parses the payload, for clients.
    pub fn decode(payload: &[u8]) -> DecodeResult<Self> {
        let mut r = Reader::new(payload);
        if r.u8("protocol version")? != 10 {
            return Err(DecodeError::Invalid("protocol version"));
        }
        let version = String::from_utf8_lossy(r.nul_bytes("version")?).into_owned();
        let connection_id = u64::from(r.u32("connection id")?);
        let mut scramble = [0; SCRAMBLE];
        scramble[..8].copy_from_slice(r.bytes(8, "scramble")?);
        r.u8("filler")?;
        let low = u64::from(r.u16("capabilities")?);
        let collation = r.u8("collation")?;
        let status = Status(r.u16("status")?);
        let high = u64::from(r.u16("capabilities")?);
        r.u8("scramble length")?;
        r.bytes(6, "filler")?;
        let extended = u64::from(r.u32("extended capabilities")?);
        scramble[8..].copy_from_slice(r.bytes(SCRAMBLE - 8, "scramble")?);
        r.u8("filler")?;
        let plugin = String::from_utf8_lossy(r.nul_bytes_or_rest()).into_owned();
        let capabilities = Capabilities(low | high << 16 | extended << 32);
        Ok(Self { version, connection_id, scramble, capabilities, collation, status, plugin })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Greeting {
        Greeting {
            version: "5.5.5-10.11.19-MariaDB-selkie-0.1.0".into(),
            connection_id: 182,
            scramble: *b"'p#Ywm;|%;<Z0\"VmCFu;",
            capabilities: Capabilities(0x001d_81ff_f7fe | 0x1d << 32),
            collation: 45,
            status: Status::AUTOCOMMIT,
            plugin: "mysql_native_password".into(),
        }
    }

    #[test]
    fn round_trip() {
        let mut out = Vec::new();
        sample().encode(&mut out);
        assert_eq!(Greeting::decode(&out), Ok(sample()));
    }

    #[test]
    fn layout_after_the_version() {
        let mut out = Vec::new();
        sample().encode(&mut out);
        let tail = &out[1 + sample().version.len() + 1..];
        assert_eq!(&tail[..4], &[0xb6, 0, 0, 0]);
        assert_eq!(&tail[13..15], &[0xfe, 0xf7]);
        assert_eq!(tail[15], 45);
        assert_eq!(tail[20], 21);
        assert_eq!(tail.last(), Some(&0));
    }
}
