//! Events of a few fixed fields: ROTATE, INTVAR, RAND, XID, XA_PREPARE, INCIDENT,
//! BINLOG_CHECKPOINT, START_ENCRYPTION.
//!
//! Must not decide how a server reacts to them.

use crate::bytes::{Reader, put_long, put_short, put_u16, put_u32, put_u64};
use crate::error::DecodeResult;

/// The file that follows this one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rotate<'a> {
    /// Offset of the first event in the next file.
    pub position: u64,
    /// Name of the next file.
    pub file: &'a [u8],
}

impl<'a> Rotate<'a> {
    pub(super) fn decode(post: &[u8], mut rest: Reader<'a>) -> DecodeResult<Self> {
        let position = Reader::new(post).u64("position")?;
        Ok(Self { position, file: rest.take_rest() })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u64(out, self.position);
        out.extend_from_slice(self.file);
    }
}

/// A number that the next statement uses.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Intvar {
    /// [`Intvar::LAST_INSERT_ID`] or [`Intvar::INSERT_ID`].
    pub which: u8,
    /// The number.
    pub value: u64,
}

impl Intvar {
    /// The value of LAST_INSERT_ID().
    pub const LAST_INSERT_ID: u8 = 1;
    /// The first value of an AUTO_INCREMENT column.
    pub const INSERT_ID: u8 = 2;

    pub(super) fn decode(mut rest: Reader<'_>) -> DecodeResult<Self> {
        Ok(Self { which: rest.u8("kind of number")?, value: rest.u64("number")? })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.which);
        put_u64(out, self.value);
    }
}

/// Seeds of RAND in the next statement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Rand {
    /// `rand_seed1`.
    pub seed1: u64,
    /// `rand_seed2`.
    pub seed2: u64,
}

impl Rand {
    pub(super) fn decode(mut rest: Reader<'_>) -> DecodeResult<Self> {
        Ok(Self { seed1: rest.u64("seed")?, seed2: rest.u64("seed")? })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u64(out, self.seed1);
        put_u64(out, self.seed2);
    }
}

/// A commit, by the number of its transaction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Xid(pub u64);

impl Xid {
    pub(super) fn decode(mut rest: Reader<'_>) -> DecodeResult<Self> {
        rest.u64("xid").map(Self)
    }

    pub(super) fn encode(self, out: &mut Vec<u8>) {
        put_u64(out, self.0);
    }
}

/// A prepared XA branch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct XaPrepare<'a> {
    /// Whether the branch is committed in one phase: 0 or 1.
    pub one_phase: u8,
    /// Format of the branch's identifier.
    pub format: u32,
    /// Global part of the identifier.
    pub gtrid: &'a [u8],
    /// Branch part of the identifier.
    pub bqual: &'a [u8],
}

impl<'a> XaPrepare<'a> {
    pub(super) fn decode(mut rest: Reader<'a>) -> DecodeResult<Self> {
        let one_phase = rest.u8("phases")?;
        let format = rest.u32("format of a branch")?;
        let (gtrid, bqual) = (rest.u32("length of a branch")?, rest.u32("length of a branch")?);
        let gtrid = rest.counted(u64::from(gtrid), "branch")?;
        let bqual = rest.counted(u64::from(bqual), "branch")?;
        Ok(Self { one_phase, format, gtrid, bqual })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.one_phase);
        put_u32(out, self.format);
        put_u32(out, self.gtrid.len() as u32);
        put_u32(out, self.bqual.len() as u32);
        out.extend_from_slice(self.gtrid);
        out.extend_from_slice(self.bqual);
    }
}

/// An incident on the primary.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Incident<'a> {
    /// Number of the incident; 1 says that events were lost.
    pub incident: u16,
    /// Description of the incident.
    pub message: &'a [u8],
}

impl<'a> Incident<'a> {
    pub(super) fn decode(post: &[u8], mut rest: Reader<'a>) -> DecodeResult<Self> {
        let incident = Reader::new(post).u16("incident")?;
        let message = if rest.is_empty() { &[] } else { rest.short_bytes("message")? };
        Ok(Self { incident, message })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u16(out, self.incident);
        put_short(out, self.message);
    }
}

/// The name in a BINLOG_CHECKPOINT event.
pub(super) fn checkpoint<'a>(post: &[u8], mut rest: Reader<'a>) -> DecodeResult<&'a [u8]> {
    let length = Reader::new(post).u32("length of the name")?;
    rest.counted(u64::from(length), "name of a file")
}

pub(super) fn put_checkpoint(name: &[u8], out: &mut Vec<u8>) {
    put_long(out, name);
}

/// Encryption of the events behind it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StartEncryption {
    /// Number of the scheme; always 1.
    pub scheme: u8,
    /// Version of the key.
    pub key_version: u32,
    /// First bytes of the counter blocks.
    pub nonce: [u8; 12],
}

impl StartEncryption {
    pub(super) fn decode(mut rest: Reader<'_>) -> DecodeResult<Self> {
        let scheme = rest.u8("scheme of encryption")?;
        let key_version = rest.u32("version of the key")?;
        let mut nonce = [0; 12];
        nonce.copy_from_slice(rest.bytes(12, "nonce")?);
        Ok(Self { scheme, key_version, nonce })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.scheme);
        put_u32(out, self.key_version);
        out.extend_from_slice(&self.nonce);
    }
}
