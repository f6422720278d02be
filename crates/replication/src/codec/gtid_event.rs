//! GTID, which begins a group, and GTID_LIST, which says what came before a place.
//!
//! Must not compare numbers; the crate's `gtid` has the rules.

use crate::bytes::{Reader, put_u32, put_u64};
use crate::error::{DecodeError, DecodeResult};
use crate::gtid::Gtid;

/// The beginning of a group. The server of its GTID is that of the header.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GtidEvent<'a> {
    /// Number in the domain.
    pub seq: u64,
    /// The domain.
    pub domain: u32,
    /// [`GtidEvent::STANDALONE`] and others.
    pub flags: u8,
    /// Groups with one number were committed together; with [`GtidEvent::GROUP_COMMIT_ID`].
    pub commit_id: u64,
    /// Format of the branch's identifier; with [`GtidEvent::PREPARED_XA`] or
    /// [`GtidEvent::COMPLETED_XA`].
    pub xa_format: u32,
    /// Its global part.
    pub gtrid: &'a [u8],
    /// The branch.
    pub bqual: &'a [u8],
    /// What newer servers add.
    pub extra: Option<GtidExtra<'a>>,
}

/// What newer servers add to a GTID event.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GtidExtra<'a> {
    /// [`GtidExtra::MULTI_ENGINE`] and others.
    pub flags: u8,
    /// How many engines took part, less one; with [`GtidExtra::MULTI_ENGINE`].
    pub engines: u8,
    /// Number of the group that began the ALTER; with [`GtidExtra::COMMIT_ALTER`] or
    /// [`GtidExtra::ROLLBACK_ALTER`].
    pub start: u64,
    /// What flags that are not known belong to.
    pub rest: &'a [u8],
}

impl GtidExtra<'_> {
    /// Engines are counted.
    pub const MULTI_ENGINE: u8 = 1;
    /// An ALTER that was split begins.
    pub const START_ALTER: u8 = 2;
    /// It ends.
    pub const COMMIT_ALTER: u8 = 4;
    /// It failed.
    pub const ROLLBACK_ALTER: u8 = 8;
}

/// Bytes of an event that has no variable part.
const LEAST_BYTES: usize = 19;

impl<'a> GtidEvent<'a> {
    /// The group is one event, without a terminator.
    pub const STANDALONE: u8 = 1;
    /// A commit id is there.
    pub const GROUP_COMMIT_ID: u8 = 2;
    /// All it changes can be rolled back.
    pub const TRANSACTIONAL: u8 = 4;
    /// It may be applied beside others.
    pub const ALLOW_PARALLEL: u8 = 8;
    /// It waited for a row lock.
    pub const WAITED: u8 = 16;
    /// It changes definitions.
    pub const DDL: u8 = 32;
    /// It prepares a branch.
    pub const PREPARED_XA: u8 = 64;
    /// It ends a branch that was prepared.
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

    /// Whether one of some flags is set.
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }
}

impl<'a> GtidExtra<'a> {
    /// From what lies behind the other parts.
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

/// Without the zeros that fill up a short event.
fn without_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
    bytes.get(..bytes.len() - zeros).unwrap_or_default()
}

/// The last groups of domains and servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GtidListEvent {
    /// [`GtidListEvent::UNTIL_REACHED`] and others.
    pub flags: u32,
    /// The groups; in a domain the one written last comes last.
    pub gtids: Vec<Gtid>,
}

/// Bits of the count that are flags.
const FLAG_BITS: u32 = 0xf000_0000;
/// Bytes of a group in the list.
const GTID_BYTES: usize = 16;
/// Zeros that an empty list has behind its count.
const EMPTY_FILL: [u8; 2] = [0; 2];

impl GtidListEvent {
    /// The end that was asked for is reached.
    pub const UNTIL_REACHED: u32 = 1 << 28;
    /// Groups up to here were left out.
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
