//! GTID, which begins a group, and GTID_LIST, which names the last groups before a place.
//!
//! Must not compare numbers; the crate's `gtid` has the rules.

use crate::bytes::{Reader, put_u32, put_u64};
use crate::error::{DecodeError, DecodeResult};
use crate::gtid::Gtid;

/// The beginning of a group. The header has the server of its GTID.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GtidEvent<'a> {
    /// Number in the domain.
    pub seq: u64,
    /// The domain.
    pub domain: u32,
    /// [`GtidEvent::STANDALONE`] and others.
    pub flags: u8,
    /// Number shared by groups that were committed together; with [`GtidEvent::GROUP_COMMIT_ID`].
    pub commit_id: u64,
    /// Format of the XA branch's identifier; with [`GtidEvent::PREPARED_XA`] or
    /// [`GtidEvent::COMPLETED_XA`].
    pub xa_format: u32,
    /// Global part of the identifier.
    pub gtrid: &'a [u8],
    /// Branch part of the identifier.
    pub bqual: &'a [u8],
    /// Fields that newer servers add.
    pub extra: Option<GtidExtra<'a>>,
}

/// Fields that newer servers add to a GTID event.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GtidExtra<'a> {
    /// [`GtidExtra::MULTI_ENGINE`] and others.
    pub flags: u8,
    /// Engines that took part, less one; with [`GtidExtra::MULTI_ENGINE`].
    pub engines: u8,
    /// Number of the group that began the ALTER; with [`GtidExtra::COMMIT_ALTER`] or
    /// [`GtidExtra::ROLLBACK_ALTER`].
    pub start: u64,
    /// Bytes behind the known fields; they belong to unknown flags.
    pub rest: &'a [u8],
}

impl GtidExtra<'_> {
    /// The count of engines is there.
    pub const MULTI_ENGINE: u8 = 1;
    /// A split ALTER begins.
    pub const START_ALTER: u8 = 2;
    /// The split ALTER is committed.
    pub const COMMIT_ALTER: u8 = 4;
    /// The split ALTER is rolled back.
    pub const ROLLBACK_ALTER: u8 = 8;
}

/// Bytes of an event that has no variable part.
const LEAST_BYTES: usize = 19;

impl<'a> GtidEvent<'a> {
    /// The group is one event, without a terminator.
    pub const STANDALONE: u8 = 1;
    /// A commit id is there.
    pub const GROUP_COMMIT_ID: u8 = 2;
    /// All changes of the group can be rolled back.
    pub const TRANSACTIONAL: u8 = 4;
    /// A replica may apply the group in parallel with others.
    pub const ALLOW_PARALLEL: u8 = 8;
    /// The group waited for a row lock on the primary.
    pub const WAITED: u8 = 16;
    /// The group changes definitions.
    pub const DDL: u8 = 32;
    /// The group prepares an XA branch.
    pub const PREPARED_XA: u8 = 64;
    /// The group ends a prepared XA branch.
    pub const COMPLETED_XA: u8 = 128;

    /// A group without a branch, a commit id and extras.
    pub fn new(seq: u64, domain: u32, flags: u8) -> Self {
        Self { seq, domain, flags, commit_id: 0, xa_format: 0, gtrid: &[], bqual: &[], extra: None }
    }

    pub(super) fn decode(body: &'a [u8]) -> DecodeResult<Self> {
        let mut reader = Reader::new(body);
        let (seq, domain) = (reader.u64("seq")?, reader.u32("domain")?);
        let mut event = Self::new(seq, domain, reader.u8("flags of a group")?);
        if event.has(Self::GROUP_COMMIT_ID) {
            event.commit_id = reader.u64("commit id")?;
        }
        if event.has(Self::PREPARED_XA | Self::COMPLETED_XA) {
            event.xa_format = reader.u32("format of a branch")?;
            let (gtrid, bqual) = (reader.u8("length of a branch")?, reader.u8("branch")?);
            event.gtrid = reader.bytes(usize::from(gtrid), "branch")?;
            event.bqual = reader.bytes(usize::from(bqual), "branch")?;
        }
        let rest = reader.peek();
        let is_filled = body.len() <= LEAST_BYTES && rest.iter().all(|byte| *byte == 0);
        if !is_filled && !rest.is_empty() {
            let mut extra = GtidExtra::decode(&mut reader)?;
            if body.len() <= LEAST_BYTES {
                extra.rest = without_zeros(extra.rest);
            }
            event.extra = Some(extra);
        }
        Ok(event)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let begin = out.len();
        put_u64(out, self.seq);
        put_u32(out, self.domain);
        out.push(self.flags);
        if self.has(Self::GROUP_COMMIT_ID) {
            put_u64(out, self.commit_id);
        }
        if self.has(Self::PREPARED_XA | Self::COMPLETED_XA) {
            let short = |bytes: &'a [u8]| bytes.get(..255).unwrap_or(bytes);
            let (gtrid, bqual) = (short(self.gtrid), short(self.bqual));
            put_u32(out, self.xa_format);
            out.extend([gtrid.len() as u8, bqual.len() as u8]);
            out.extend_from_slice(gtrid);
            out.extend_from_slice(bqual);
        }
        self.extra.iter().for_each(|extra| extra.encode(out));
        out.resize(out.len().max(begin + LEAST_BYTES), 0);
    }

    /// Whether at least one of `flags` is set.
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }
}

impl<'a> GtidExtra<'a> {
    /// Decodes the bytes behind the other fields.
    fn decode(reader: &mut Reader<'a>) -> DecodeResult<Self> {
        let flags = reader.u8("extra flags")?;
        let mut extra = Self { flags, engines: 0, start: 0, rest: &[] };
        if flags & Self::MULTI_ENGINE != 0 {
            extra.engines = reader.u8("count of engines")?;
        }
        if flags & (Self::COMMIT_ALTER | Self::ROLLBACK_ALTER) != 0 {
            extra.start = reader.u64("number of the group that began")?;
        }
        extra.rest = reader.take_rest();
        Ok(extra)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.flags);
        if self.flags & Self::MULTI_ENGINE != 0 {
            out.push(self.engines);
        }
        if self.flags & (Self::COMMIT_ALTER | Self::ROLLBACK_ALTER) != 0 {
            put_u64(out, self.start);
        }
        out.extend_from_slice(self.rest);
    }
}

/// `bytes` without the zeros at its end, which fill up a short event.
fn without_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
    bytes.get(..bytes.len() - zeros).unwrap_or_default()
}

/// The last group of each pair of domain and server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GtidListEvent {
    /// [`GtidListEvent::UNTIL_REACHED`] and others.
    pub flags: u32,
    /// The groups. In each domain the newest one comes last.
    pub gtids: Vec<Gtid>,
}

/// Bits of the count that are flags.
const FLAG_BITS: u32 = 0xf000_0000;
/// Bytes of a group in the list.
const GTID_BYTES: usize = 16;
/// Zeros that an empty list has behind its count.
const EMPTY_FILL: [u8; 2] = [0; 2];

impl GtidListEvent {
    /// The replica's UNTIL position is reached.
    pub const UNTIL_REACHED: u32 = 1 << 28;
    /// The replica ignored the groups up to these.
    pub const IGNORED: u32 = 1 << 29;

    pub(super) fn decode(body: &[u8]) -> DecodeResult<Self> {
        let mut reader = Reader::new(body);
        let word = reader.u32("count of groups")?;
        let count = (word & !FLAG_BITS) as usize;
        if count > reader.remaining() / GTID_BYTES {
            return Err(DecodeError::Truncated("list of groups"));
        }
        let mut gtids = Vec::with_capacity(count);
        for _ in 0..count {
            let domain = reader.u32("domain")?;
            let server = reader.u32("server")?;
            gtids.push(Gtid { domain, server, seq: reader.u64("seq")? });
        }
        Ok(Self { flags: word & FLAG_BITS, gtids })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u32(out, self.gtids.len() as u32 & !FLAG_BITS | self.flags & FLAG_BITS);
        for gtid in &self.gtids {
            put_u32(out, gtid.domain);
            put_u32(out, gtid.server);
            put_u64(out, gtid.seq);
        }
        if self.gtids.is_empty() {
            out.extend_from_slice(&EMPTY_FILL);
        }
    }
}
