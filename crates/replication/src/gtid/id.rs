//! One number of a group: domain, server, sequence.
//!
//! Must not know the groups before it.

use std::fmt;
use std::str::FromStr;

/// The number of a group, written `domain-server-seq`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gtid {
    /// Stream of groups; groups of one domain keep their order.
    pub domain: u32,
    /// Server that logged the group first.
    pub server: u32,
    /// Number in the domain.
    pub seq: u64,
}

/// Reason why a text is not a number or a list of numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// The text does not have the form of one.
    Malformed,
    /// Two numbers of a list have the same domain.
    DuplicateDomain(Gtid, Gtid),
}

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.domain, self.server, self.seq)
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => write!(f, "not a list of domain-server-seq"),
            Self::DuplicateDomain(a, b) => write!(f, "{a} and {b} have the same domain"),
        }
    }
}

impl std::error::Error for ParseError {}

impl FromStr for Gtid {
    type Err = ParseError;

    /// Spaces and a plus sign may stand before each integer, and nothing may stand behind it.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut parts = text.split('-').map(|part| part.trim_start_matches(SPACES));
        let mut part = || parts.next().ok_or(ParseError::Malformed);
        let malformed = |_| ParseError::Malformed;
        let domain = part()?.parse().map_err(malformed)?;
        let server = part()?.parse().map_err(malformed)?;
        let seq = part()?.parse().map_err(malformed)?;
        let ends = parts.next().is_none();
        if ends { Ok(Self { domain, server, seq }) } else { Err(ParseError::Malformed) }
    }
}

/// Characters that are skipped before an integer.
const SPACES: [char; 6] = [' ', '\t', '\n', '\x0b', '\x0c', '\r'];

/// The numbers of a list with commas between them; an empty text is an empty list.
pub(super) fn parse_list(text: &str) -> Result<Vec<Gtid>, ParseError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(',').map(str::parse).collect()
}

/// Writes numbers with commas between them.
pub(super) fn write_list(
    gtids: impl Iterator<Item = Gtid>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for (at, gtid) in gtids.enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(f, "{comma}{gtid}")?;
    }
    Ok(())
}
