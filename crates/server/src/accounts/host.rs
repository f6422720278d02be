//! Host patterns of accounts: which clients they match and which of several is more specific.
//!
//! Must not resolve names.

use std::cmp::Reverse;
use std::net::Ipv4Addr;

/// The host part of an account name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostPattern(String);

impl HostPattern {
    /// The pattern; an empty one matches every host.
    pub fn new(text: &str) -> Self {
        Self(if text.is_empty() { "%".to_owned() } else { text.to_owned() })
    }

    /// As written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a client of this name or address matches.
    pub fn matches(&self, host: &str, ip: &str) -> bool {
        if let Some((network, mask)) = self.netmask() {
            return ip.parse::<Ipv4Addr>().is_ok_and(|ip| u32::from(ip) & mask == network);
        }
        [host, ip].iter().any(|h| !h.is_empty() && like(h.as_bytes(), self.0.as_bytes()))
    }

    /// Sort key: the more specific pattern first.
    pub fn specificity(&self) -> impl Ord + use<> {
        let wildcard = self.0.find(['%', '_']);
        let masked = self.netmask().map(|(_, mask)| mask.count_ones() as usize);
        Reverse(match (wildcard, masked) {
            (None, None) => (2, 0),
            (None, Some(bits)) => (1, 1000 + bits),
            (Some(at), _) => (1, at),
        })
    }

    fn netmask(&self) -> Option<(u32, u32)> {
        let (network, mask) = self.0.split_once('/')?;
        let network: Ipv4Addr = network.parse().ok()?;
        let mask = match mask.parse::<u32>() {
            Ok(bits @ 0..=32) => u32::MAX.checked_shl(32 - bits).unwrap_or(0),
            _ => u32::from(mask.parse::<Ipv4Addr>().ok()?),
        };
        Some((u32::from(network), mask))
    }
}

/// LIKE with `%`, `_` and backslash escapes, ASCII letters in any case.
pub(super) fn like(text: &[u8], pattern: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'%', rest @ ..] => (0..=text.len()).any(|skip| like(&text[skip..], rest)),
        [b'_', rest @ ..] => !text.is_empty() && like(&text[1..], rest),
        [b'\\', c, rest @ ..] | [c, rest @ ..] => {
            text.first().is_some_and(|t| t.eq_ignore_ascii_case(c)) && like(&text[1..], rest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching() {
        let m = |p: &str, host: &str, ip: &str| HostPattern::new(p).matches(host, ip);
        assert!(m("%", "a.b", "1.2.3.4"));
        assert!(m("", "", "1.2.3.4"));
        assert!(m("LOCALHOST", "localhost", "127.0.0.1"));
        assert!(m("127.0.0.1", "localhost", "127.0.0.1"));
        assert!(m("10.1.%", "", "10.1.2.3"));
        assert!(m("10.0.0.0/255.0.0.0", "", "10.1.2.3"));
        assert!(m("10.1.2.0/24", "", "10.1.2.3"));
        assert!(!m("10.1.2.0/24", "", "10.1.3.3"));
        assert!(!m("host_", "host", "1.2.3.4"));
    }

    #[test]
    fn order() {
        let mut all = ["%", "10.%", "localhost", "10.1.%"].map(HostPattern::new);
        all.sort_by_key(HostPattern::specificity);
        assert_eq!(all.each_ref().map(HostPattern::as_str), ["localhost", "10.1.%", "10.%", "%"]);
    }
}
