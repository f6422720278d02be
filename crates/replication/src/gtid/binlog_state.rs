//! State of a binary log: for each domain the last group of each server, and the last of all.
//!
//! Must not lock, and must not count by itself: callers take numbers under their own lock.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::gtid::id::{Gtid, ParseError, parse_list, write_list};
use crate::gtid::position::Position;

/// A group that strict mode refuses, as its number is not above its domain's last (error 1950).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OutOfOrder {
    /// The refused group.
    pub gtid: Gtid,
    /// The last group of its domain.
    pub existing: Gtid,
}

/// Groups of one domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Domain {
    /// Last number of each server.
    servers: BTreeMap<u32, u64>,
    /// Server of the last group.
    last: Option<u32>,
    /// Highest number of all servers.
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

    /// Refuses a group that may not follow in strict mode, where its number must be above the last
    /// one of its domain.
    pub fn check_strict(&self, gtid: Gtid) -> Result<(), OutOfOrder> {
        match self.last(gtid.domain) {
            Some(existing) if existing.seq >= gtid.seq => Err(OutOfOrder { gtid, existing }),
            _ => Ok(()),
        }
    }

    /// Adds a group as the last one of its domain, even if its number is lower.
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

    /// All groups of the state in the order of a GTID_LIST event: the newest of a domain is its
    /// last.
    pub fn gtids(&self) -> impl Iterator<Item = Gtid> {
        self.domains.iter().flat_map(|(number, domain)| domain.gtids(*number))
    }

    /// `gtid_binlog_pos`: the last group of each domain.
    pub fn position(&self) -> Position {
        self.domains.keys().filter_map(|domain| self.last(*domain)).collect()
    }

    /// Removes a domain. The result says whether the state had it.
    pub fn forget(&mut self, domain: u32) -> bool {
        self.domains.remove(&domain).is_some()
    }

    /// Whether the log has had a group: its server has reached the group's number.
    pub fn has(&self, gtid: Gtid) -> bool {
        self.last_of(gtid.domain, gtid.server).is_some_and(|last| last.seq >= gtid.seq)
    }
}

impl FromIterator<Gtid> for BinlogState {
    /// The state of groups in the order of a GTID_LIST event.
    fn from_iter<I: IntoIterator<Item = Gtid>>(gtids: I) -> Self {
        let mut state = Self::default();
        gtids.into_iter().for_each(|gtid| state.add(gtid));
        state
    }
}

impl FromStr for BinlogState {
    type Err = ParseError;

    /// A domain may have a server twice: the last number counts.
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
