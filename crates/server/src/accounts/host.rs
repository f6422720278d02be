//! Host patterns of accounts: the clients they match, and the order from specific to general.
//!
//! Must not resolve names: callers bring a client's host name and its address.

use selkie_types::stack;

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

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a client of this name or address matches.
    pub fn matches(&self, host: &str, ip: &str) -> bool {
        if let Some((network, mask)) = self.netmask() {
            return ip.parse::<Ipv4Addr>().is_ok_and(|ip| u32::from(ip) & mask == network);
        }
        [host, ip].iter().any(|h| !h.is_empty() && like_host(h.as_bytes(), self.0.as_bytes()))
    }

    /// Sort key: the more specific pattern comes first.
    pub fn specificity(&self) -> Specificity {
        match self.netmask() {
            Some((_, mask)) => {
                let shortest = Reverse(1000 + mask.count_ones());
                Specificity { wildcards: Wildcards::OfOne, shortest, runs: 0, of_one: 0, begin: 0 }
            }
            None => Specificity::of(&self.0),
        }
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

/// Sort key of patterns.
///
/// Compat: patterns without wildcards come first, then those without `%`. Of patterns with `%`,
/// those come first that match no short names, then those with fewer runs of `%`. Then those with
/// fewer `_`, then those whose first wildcard comes earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Specificity {
    wildcards: Wildcards,
    shortest: Reverse<u32>,
    runs: u32,
    of_one: u32,
    begin: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wildcards {
    None,
    OfOne,
    OfMany,
}

impl Specificity {
    /// The sort key of a pattern.
    pub fn of(pattern: &str) -> Self {
        let (mut said, mut of_one, mut runs, mut begin) = (0, 0, 0, None);
        let mut wildcards = Wildcards::None;
        let mut chars = pattern.chars();
        let mut before = None;
        while let Some(c) = chars.next() {
            let goes_on = before.replace(c) == Some('%');
            match c {
                '%' => {
                    wildcards = Wildcards::OfMany;
                    runs += u32::from(!goes_on);
                }
                '_' => {
                    wildcards = wildcards.max(Wildcards::OfOne);
                    of_one += 1;
                }
                _ => {
                    said += 1;
                    if c == '\\' {
                        chars.next();
                    }
                    continue;
                }
            }
            begin.get_or_insert(said);
        }
        if pattern.is_empty() {
            wildcards = Wildcards::OfMany;
        }
        let shortest = if wildcards == Wildcards::OfMany { said + of_one } else { 0 };
        let begin = begin.unwrap_or(0);
        Self { wildcards, shortest: Reverse(shortest), runs, of_one, begin }
    }
}

/// LIKE with `%`, `_` and backslash escapes for hosts: ASCII letters match in any case.
fn like_host(text: &[u8], pattern: &[u8]) -> bool {
    like_by(text, pattern, |a, b| a.eq_ignore_ascii_case(&b))
}

/// LIKE with `%`, `_` and backslash escapes for databases: case-sensitive.
pub(super) fn like(text: &[u8], pattern: &[u8]) -> bool {
    like_by(text, pattern, |a, b| a == b)
}

fn like_by(text: &[u8], pattern: &[u8], same: fn(u8, u8) -> bool) -> bool {
    stack::ensure();
    match pattern {
        [] => text.is_empty(),
        [b'%', rest @ ..] => (0..=text.len()).any(|skip| like_by(&text[skip..], rest, same)),
        [b'_', rest @ ..] => !text.is_empty() && like_by(&text[1..], rest, same),
        [b'\\', c, rest @ ..] | [c, rest @ ..] => {
            text.first().is_some_and(|t| same(*t, *c)) && like_by(&text[1..], rest, same)
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
        let mut all = ["%", "d%", "d%1", "d1_", "d_1%", "d_1", "d__", "\\_1%", "_d1", "d11", "d1%"];
        all.sort_by_key(|p| Specificity::of(p));
        assert_eq!(
            all,
            ["d11", "_d1", "d_1", "d1_", "d__", "d_1%", "d%1", "\\_1%", "d1%", "d%", "%"]
        );
    }
}
