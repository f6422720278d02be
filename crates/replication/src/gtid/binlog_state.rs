//! What a binary log has had: for each domain the last group of each server, and the last of all.
//!
//! Must not lock or count by itself: callers take numbers under their own lock.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::gtid::id::{Gtid, ParseError, parse_list, write_list};
use crate::gtid::position::Position;

/// A group that may not follow what the log has had, in strict mode (error 1950).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OutOfOrder {
    /// The group.
    pub gtid: Gtid,
    /// The last one of its domain.
    pub existing: Gtid,
}

/// Groups of one domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Domain {
    /// Last number of each server.
    servers: BTreeMap<u32, u64>,
    /// Server of the last group.
    last: Option<u32>,
    /// Highest number seen.
    highest: u64,
}

impl Domain {
    fn last(&self, domain: u32) -> Option<Gtid> {
        let server = self.last?;
        self.servers.get(&server).map(|seq| Gtid { domain, server, seq: *seq })
    }

    /// The last group of each server, the last of all at the end.
    fn gtids(&self, domain: u32) -> impl Iterator<Item = Gtid> {
        let others = self.servers.iter().filter(|(server, _)| Some(**server) != self.last);
        let others = others.map(move |(server, seq)| Gtid { domain, server: *server, seq: *seq });
        others.chain(self.last(domain))
    }
}

/// `gtid_binlog_state`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BinlogState {
    domains: BTreeMap<u32, Domain>,
}

impl BinlogState {
    /// The number of the next group of a domain: one more than the highest seen.
    pub fn next_seq(&self, domain: u32) -> Option<u64> {
        let highest = self.domains.get(&domain).map_or(0, |domain| domain.highest);
        highest.checked_add(1)
    }

    /// Whether a group may follow in strict mode: its number is above that of its domain's last.
    pub fn check_strict(&self, gtid: Gtid) -> Result<(), OutOfOrder> {
        match self.last(gtid.domain) {
            Some(existing) if existing.seq >= gtid.seq => Err(OutOfOrder { gtid, existing }),
            _ => Ok(()),
        }
    }

    /// Takes note of a group, whatever its number.
    pub fn add(&mut self, gtid: Gtid) {
        let domain = self.domains.entry(gtid.domain).or_default();
        domain.servers.insert(gtid.server, gtid.seq);
        domain.last = Some(gtid.server);
        domain.highest = domain.highest.max(gtid.seq);
    }

    /// The last group of a domain.
    pub fn last(&self, domain: u32) -> Option<Gtid> {
        self.domains.get(&domain)?.last(domain)
    }

    /// The last group of a server in a domain.
    pub fn last_of(&self, domain: u32, server: u32) -> Option<Gtid> {
        let seq = *self.domains.get(&domain)?.servers.get(&server)?;
        Some(Gtid { domain, server, seq })
    }

    /// All groups it knows, as a GTID_LIST event has them: the last of a domain is its last one.
    pub fn gtids(&self) -> impl Iterator<Item = Gtid> {
        self.domains.iter().flat_map(|(number, domain)| domain.gtids(*number))
    }

    /// `gtid_binlog_pos`: the last group of each domain.
    pub fn position(&self) -> Position {
        self.domains.keys().filter_map(|domain| self.last(*domain)).collect()
    }

    /// Forgets a domain; whether it was known.
    pub fn forget(&mut self, domain: u32) -> bool {
        self.domains.remove(&domain).is_some()
    }

    /// Whether the log had a group: its server reached its number.
    pub fn has(&self, gtid: Gtid) -> bool {
        self.last_of(gtid.domain, gtid.server).is_some_and(|last| last.seq >= gtid.seq)
    }
}

impl FromIterator<Gtid> for BinlogState {
    /// From groups as a GTID_LIST event has them.
    fn from_iter<I: IntoIterator<Item = Gtid>>(gtids: I) -> Self {
        let mut state = Self::default();
        gtids.into_iter().for_each(|gtid| state.add(gtid));
        state
    }
}

impl FromStr for BinlogState {
    type Err = ParseError;

    /// A server may be there twice in a domain: the last number counts.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse_list(text).map(Self::from_iter)
    }
}

impl fmt::Display for BinlogState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(self.gtids(), f)
    }
}

impl fmt::Display for OutOfOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot follow {}", self.gtid, self.existing)
    }
}

impl std::error::Error for OutOfOrder {}
