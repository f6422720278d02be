//! A position in all domains: what a replica has applied, what it asks for, what it waits for.
//!
//! Must not remember more than the last group of each domain.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::gtid::id::{Gtid, ParseError, parse_list, write_list};

/// The last group of each domain, as `gtid_slave_pos` has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    last: BTreeMap<u32, Gtid>,
}

impl Position {
    /// The last group of a domain.
    pub fn last(&self, domain: u32) -> Option<Gtid> {
        self.last.get(&domain).copied()
    }

    /// The last groups, by domain.
    pub fn gtids(&self) -> impl Iterator<Item = Gtid> {
        self.last.values().copied()
    }

    /// Whether no domain has had a group.
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Takes a group as the last one of its domain.
    pub fn set(&mut self, gtid: Gtid) {
        self.last.insert(gtid.domain, gtid);
    }

    /// Takes a group as the last one of its domain if its number is higher, or the first.
    pub fn raise(&mut self, gtid: Gtid) {
        if !self.has(gtid) {
            self.set(gtid);
        }
    }

    /// Whether a group lies at or before this position: a reader who is here has it.
    pub fn has(&self, gtid: Gtid) -> bool {
        self.last(gtid.domain).is_some_and(|last| last.seq >= gtid.seq)
    }

    /// Whether this position is at or behind another one in all its domains, as MASTER_GTID_WAIT
    /// wants it.
    pub fn reaches(&self, other: &Position) -> bool {
        other.gtids().all(|gtid| self.has(gtid))
    }

    /// `gtid_current_pos`: where a server is that has applied up to here, and has logged `logged`
    /// as the last groups of their domains. Of what it logged, its own groups alone count.
    pub fn current(&self, logged: impl Iterator<Item = Gtid>, own_server: u32) -> Position {
        let mut current = self.clone();
        logged.filter(|gtid| gtid.server == own_server).for_each(|gtid| current.raise(gtid));
        current
    }
}

impl FromIterator<Gtid> for Position {
    fn from_iter<I: IntoIterator<Item = Gtid>>(gtids: I) -> Self {
        Self { last: gtids.into_iter().map(|gtid| (gtid.domain, gtid)).collect() }
    }
}

impl FromStr for Position {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut position = Position::default();
        for gtid in parse_list(text)? {
            if let Some(other) = position.last.insert(gtid.domain, gtid) {
                return Err(ParseError::DuplicateDomain(other, gtid));
            }
        }
        Ok(position)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(self.gtids(), f)
    }
}
