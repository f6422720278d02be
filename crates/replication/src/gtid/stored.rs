//! Numbers of groups as bytes, in records of the log and in notes of a replica.
//!
//! Must not trust a count: it comes back after a crash.

use crate::bytes::{Reader, put_u32, put_u64};
use crate::error::{DecodeError, DecodeResult};
use crate::gtid::id::Gtid;

/// Bytes of a number.
pub(crate) const GTID_BYTES: u64 = 4 + 4 + 8;

/// Appends a number.
pub(crate) fn put_gtid(out: &mut Vec<u8>, gtid: Gtid) {
    put_u32(out, gtid.domain);
    put_u32(out, gtid.server);
    put_u64(out, gtid.seq);
}

/// Reads a number.
pub(crate) fn gtid(reader: &mut Reader<'_>) -> DecodeResult<Gtid> {
    let (domain, server) = (reader.u32("domain")?, reader.u32("server")?);
    Ok(Gtid { domain, server, seq: reader.u64("seq")? })
}

/// Appends numbers and their count.
pub(crate) fn put_gtids(out: &mut Vec<u8>, gtids: &[Gtid]) {
    put_u32(out, gtids.len() as u32);
    gtids.iter().for_each(|gtid| put_gtid(out, *gtid));
}

/// Reads numbers and their count.
pub(crate) fn gtids(reader: &mut Reader<'_>) -> DecodeResult<Vec<Gtid>> {
    let count = reader.u32("count of groups")? as usize;
    if count > reader.remaining() / GTID_BYTES as usize {
        return Err(DecodeError::Truncated("groups"));
    }
    (0..count).map(|_| gtid(reader)).collect()
}
