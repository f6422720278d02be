//! A compiled pattern. Matching runs at full speed if it must be short, and watched otherwise.
//! Must not match a long text unwatched: PCRE2 cannot be interrupted then.

use std::sync::OnceLock;

use pcre2::bytes::{Regex, RegexBuilder};
use pcre2_sys::{PCRE2_CASELESS, PCRE2_MATCH_INVALID_UTF, PCRE2_UCP, PCRE2_UTF};
use selkie_types::error::catalogue::ER_REGEXP_ERROR;
use selkie_types::{SqlError, SqlResult};

use super::message;
use super::watched::{Failure, Watched};

/// Start and end of each group of a match, in bytes; the first group is the whole match.
pub(super) type Groups = Vec<Option<(usize, usize)>>;

/// Most steps of a match that need not be watched.
const SHORT: f64 = 2e7;

/// An upper bound for the steps of a match, estimated from its pattern.
#[derive(Debug, Default)]
struct Effort {
    /// Items with unlimited repetition: each multiplies the steps by the length of the text.
    repeats: i32,
    /// Alternatives: each doubles the steps.
    choices: i32,
    /// Repeated groups, or groups that contain themselves: there is no bound.
    nested: bool,
}

impl Effort {
    /// Estimates by the characters of a pattern, including escaped ones.
    fn of(pattern: &[u8]) -> Self {
        let mut effort = Self::default();
        let mut before = 0;
        for (at, &b) in pattern.iter().enumerate() {
            match b {
                b'*' | b'+' | b'{' if before == b')' => effort.nested = true,
                b'*' | b'+' | b'{' => effort.repeats += 1,
                b'(' if pattern[at..].starts_with(b"(?") => {
                    // A recursion has a number or a name here.
                    let next = pattern.get(at + 2).copied().unwrap_or(0);
                    effort.nested |= matches!(next, b'R' | b'&' | b'P' | b'+' | b'-' | b'0'..=b'9');
                }
                b'g' if before == b'\\' => effort.nested = true,
                b'?' | b'|' => effort.choices += 1,
                _ => {}
            }
            before = b;
        }
        effort
    }

    /// Whether a text of this length is matched in few steps.
    fn is_short(&self, length: usize) -> bool {
        if self.nested {
            return length <= 16;
        }
        let places = length.max(1) as f64;
        // A repeated item begins where the previous one ends, so their positions are ordered.
        let orders: f64 = (1..=self.repeats + 1).map(f64::from).product();
        places.powi(self.repeats + 1) / orders * 2f64.powi(self.choices) <= SHORT
    }
}

/// A pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    quick: Regex,
    watched: OnceLock<Option<Watched>>,
    text: String,
    options: u32,
    effort: Effort,
}

impl Pattern {
    /// Compiles a text of which `added` bytes are not the client's.
    pub(super) fn new(text: String, added: usize, utf: bool, caseless: bool) -> SqlResult<Self> {
        let quick = RegexBuilder::new()
            .utf(utf)
            .ucp(utf)
            .caseless(caseless)
            .jit_if_available(text.len() - added > 8)
            .build(&text)
            .map_err(|e| {
                let offset = e.offset().unwrap_or(0).saturating_sub(added);
                let text = format!("{} at offset {offset}", message(&e));
                SqlError::new(&ER_REGEXP_ERROR, &[&text])
            })?;
        let unicode = if utf { PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF } else { 0 };
        let options = unicode | if caseless { PCRE2_CASELESS } else { 0 };
        let effort = Effort::of(text.as_bytes());
        Ok(Self { quick, watched: OnceLock::new(), text, options, effort })
    }

    fn watched(&self, length: usize) -> Option<&Watched> {
        if self.effort.is_short(length) {
            return None;
        }
        self.watched.get_or_init(|| Watched::new(&self.text, self.options)).as_ref()
    }

    /// The start and end of the first match, in bytes.
    pub(super) fn find(&self, text: &[u8]) -> Result<Option<(usize, usize)>, Failure> {
        match self.watched(text.len()) {
            Some(watched) => Ok(watched.find_at(text, 0)?.and_then(|groups| groups[0])),
            None => {
                let found = self.quick.find(text).map_err(|e| Failure::Told(message(&e)))?;
                Ok(found.map(|m| (m.start(), m.end())))
            }
        }
    }

    /// Whether there is a match.
    pub(super) fn is_match(&self, text: &[u8]) -> Result<bool, Failure> {
        match self.watched(text.len()) {
            Some(watched) => Ok(watched.find_at(text, 0)?.is_some()),
            None => self.quick.is_match(text).map_err(|e| Failure::Told(message(&e))),
        }
    }

    /// An iterator-like search for one match after the other.
    pub(super) fn matches<'p>(&'p self, text: &'p [u8]) -> Matches<'p> {
        let watched = self.watched(text.len());
        let places = self.quick.capture_locations();
        Matches { pattern: self, watched, places, text }
    }
}

/// Search for the matches of a text.
pub(super) struct Matches<'p> {
    pattern: &'p Pattern,
    watched: Option<&'p Watched>,
    places: pcre2::bytes::CaptureLocations,
    text: &'p [u8],
}

impl Matches<'_> {
    /// The groups of the first match from `start` on: the whole match and up to nine groups.
    pub(super) fn at(&mut self, start: usize) -> Result<Option<Groups>, Failure> {
        if let Some(watched) = self.watched {
            return watched.find_at(self.text, start);
        }
        let found = self.pattern.quick.captures_read_at(&mut self.places, self.text, start);
        let found = found.map_err(|e| Failure::Told(message(&e)))?;
        Ok(found.map(|_| (0..10).map(|at| self.places.get(at)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_last_is_watched() {
        let short = |pattern: &str, length| Effort::of(pattern.as_bytes()).is_short(length);
        assert!(short("abc", 1_000_000));
        assert!(short("^a.*b", 1000));
        assert!(short(r"^[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}$", 50));
        assert!(!short("a*b", 1_000_000));
        assert!(!short(".*.*.*.*=.*b", 1000));
        assert!(!short("^(a+)+$", 40));
        assert!(!short("(?:(?1)|x)", 40));
    }

    #[test]
    fn both_ways_find_the_same() {
        let patterns = ["(a)(b)?", "b+c*", "(?i)É", "x*?y", "^$", "(a|b)*c"];
        for pattern in patterns {
            let pattern = Pattern::new(pattern.to_owned(), 0, true, false).unwrap();
            let watched = Watched::new(&pattern.text, pattern.options).unwrap();
            for text in ["", "aab", "xxbbcéy", "\u{e9}a", "ababac"] {
                let mut quick = pattern.matches(text.as_bytes());
                quick.watched = None;
                for start in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                    let quick = quick.at(start).unwrap_or(None);
                    let found = watched.find_at(text.as_bytes(), start).unwrap_or(None);
                    let of = |groups: &Option<Groups>, at: usize| {
                        groups.as_ref().map(|all| all.get(at).copied().flatten())
                    };
                    (0..4).for_each(|at| assert_eq!(of(&quick, at), of(&found, at)));
                }
            }
        }
    }
}
