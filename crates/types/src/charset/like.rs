//! `LIKE`: patterns with `%`, `_` and an escape character, matched character by character.
//!
//! A pattern is split at its `%`. The first part must match at the start, the last at the end; the
//! others are searched from left to right. The leftmost match is always right, because it leaves
//! the longest rest.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use memchr::memchr2;
use smallvec::SmallVec;

use super::collation::Rule;
use super::find::find_bytes;
use super::weights::{Weigher, Weights, match_weigher};
use super::{Charset, Collation, CollationId};
use crate::pace::tick;

/// A pattern, prepared to match many texts.
#[derive(Clone, Debug)]
pub struct LikePattern {
    collation: &'static Collation,
    /// The parts between the `%`; a single part if there is none.
    parts: Vec<Part>,
    /// Whether common ASCII characters match if they are equal but for case, and only then.
    plain: bool,
    /// `plain`, and all parts are literals of such characters: an ASCII text can be searched byte
    /// by byte.
    ascii: bool,
}

#[derive(Clone, Debug, Default)]
struct Part {
    items: Vec<Item>,
    /// The bytes of the part, if it has no `_`.
    literal: Option<Vec<u8>>,
}

#[derive(Clone, Debug)]
enum Item {
    /// `_`.
    AnyChar,
    /// A character with these weights.
    Char(SmallVec<[u32; 2]>),
    /// A character equal to these bytes on all levels.
    Exact(SmallVec<[u8; 4]>),
    /// A character with exactly these bytes.
    Same(SmallVec<[u8; 4]>),
}

impl CollationId {
    /// Whether `text LIKE pattern ESCAPE escape`.
    pub fn like(self, text: &[u8], pattern: &[u8], escape: Option<u32>) -> bool {
        LikePattern::new(self, pattern, escape).matches(text)
    }
}

impl LikePattern {
    /// Prepares a pattern; `escape` is the code of the escape character.
    pub fn new(collation: CollationId, pattern: &[u8], escape: Option<u32>) -> Self {
        let collation = collation.info();
        let parts = split(collation, pattern, escape);
        let plain = is_plain(collation);
        let common = |literal: &Vec<u8>| literal.iter().all(|char| is_common(*char));
        let ascii = plain && parts.iter().all(|p| p.literal.as_ref().is_some_and(common));
        Self { collation, parts, plain, ascii }
    }

    /// The bytes that every match starts with, up to the first wildcard.
    pub fn prefix(&self) -> Option<&[u8]> {
        self.parts[0].literal.as_deref().filter(|l| !l.is_empty())
    }

    /// The only text that matches; `None` if the pattern has wildcards.
    pub fn exact(&self) -> Option<&[u8]> {
        if self.parts.len() == 1 { self.parts[0].literal.as_deref() } else { None }
    }

    /// Whether the pattern is a literal followed by one `%`.
    pub fn is_prefix_only(&self) -> bool {
        self.parts.len() == 2 && self.parts[1].items.is_empty() && self.prefix().is_some()
    }

    /// Whether the text matches.
    pub fn matches(&self, text: &[u8]) -> bool {
        if self.ascii && text.is_ascii() {
            return self.run(text, ascii_at, ascii_find);
        }
        if self.collation.rule == Rule::Code
            && self.collation.charset.is_self_synchronizing()
            && self.parts.iter().all(|p| p.literal.is_some())
        {
            return self.run(text, bytes_at, bytes_find);
        }
        match_weigher!(self.collation.char_weigher(), w => self.run(
            text,
            |part, bytes| match_at(&w, self.collation, part, bytes),
            |part, bytes| self.search(&w, part, bytes),
        ))
    }

    /// The end of the first match of a part.
    fn search<W: Weigher>(&self, w: &W, part: &Part, bytes: &[u8]) -> Option<usize> {
        let charset = self.collation.charset;
        // A part that begins with an ASCII character is only tried where that, or none of ASCII,
        // stands.
        let first = literal(part).first().copied();
        let first =
            first.filter(|f| self.plain && charset.is_self_synchronizing() && is_common(*f));
        let mut at = 0;
        loop {
            tick(8);
            if let Some(first) = first {
                let may_begin = |b: &u8| !b.is_ascii() || b.eq_ignore_ascii_case(&first);
                let skipped = bytes[at..].iter().position(may_begin)?;
                tick(skipped / 4);
                at += skipped;
            }
            let rest = &bytes[at..];
            if let Some(len) = match_at(w, self.collation, part, rest) {
                return Some(at + len);
            }
            match charset.char_len(rest) {
                0 => return None,
                len => at += len,
            }
        }
    }

    /// Matches the parts: `at` matches a part at the start of a text, `find` anywhere in it. Both
    /// return the end of the match.
    fn run(
        &self,
        text: &[u8],
        at: impl Fn(&Part, &[u8]) -> Option<usize>,
        find: impl Fn(&Part, &[u8]) -> Option<usize>,
    ) -> bool {
        let [first, rest @ ..] = &self.parts[..] else { return false };
        let Some(end) = at(first, text) else { return false };
        let mut text = &text[end..];
        let [middle @ .., last] = rest else { return text.is_empty() };
        for part in middle {
            tick(64);
            let Some(end) = find(part, text) else { return false };
            text = &text[end..];
        }
        if last.items.is_empty() {
            return true;
        }
        let count = self.collation.charset.char_count(text);
        let Some(skip) = count.checked_sub(last.items.len()) else { return false };
        let tail = &text[self.collation.charset.char_offset(text, skip)..];
        at(last, tail) == Some(tail.len())
    }
}

/// All numbers of collations are below this.
const NUMBERS: usize = 4096;
const UNKNOWN: u8 = 0;
const PLAIN: u8 = 1;
const NOT_PLAIN: u8 = 2;

/// Whether a common ASCII character matches an ASCII character exactly if they are equal but for
/// case. Patterns are matched character by character, so pairs decide. Found out once for each
/// collation: patterns that are not constant are made for each row.
fn is_plain(collation: &'static Collation) -> bool {
    static KNOWN: [AtomicU8; NUMBERS] = [const { AtomicU8::new(UNKNOWN) }; NUMBERS];
    let Some(known) = KNOWN.get(usize::from(collation.id.0)) else { return false };
    match known.load(Relaxed) {
        UNKNOWN => {
            let plain = matches_but_for_case(collation);
            known.store(if plain { PLAIN } else { NOT_PLAIN }, Relaxed);
            plain
        }
        known => known == PLAIN,
    }
}

/// Whether a character may be searched as a byte. Other control characters match each other in many
/// collations.
fn is_common(char: u8) -> bool {
    matches!(char, b' '..=b'~' | b'\t' | b'\n' | b'\r')
}

fn matches_but_for_case(collation: &Collation) -> bool {
    if collation.charset.min_len() > 1 {
        return false;
    }
    match_weigher!(collation.char_weigher(), w => (0..128u8).filter(|own| is_common(*own)).all(|own| {
        let mut part = Part::default();
        part.push_char(collation, &[own]);
        (0..128u8).all(|other| {
            let found = match_at(&w, collation, &part, &[other]).is_some();
            found == own.eq_ignore_ascii_case(&other)
        })
    }))
}

/// The code of an escape character in patterns of a charset: its byte in charsets of one byte per
/// character.
fn unit_of(charset: Charset, code: u32) -> u32 {
    let Some(char) = char::from_u32(code).filter(|c| !c.is_ascii() && charset.max_len() == 1)
    else {
        return code;
    };
    let mut buffer = [0; 4];
    let text = char.encode_utf8(&mut buffer).as_bytes();
    match *Charset::Utf8mb4.convert(text, charset).0 {
        [byte] => byte.into(),
        _ => code,
    }
}

/// The parts between the `%` of a pattern.
fn split(collation: &Collation, pattern: &[u8], escape: Option<u32>) -> Vec<Part> {
    let charset = collation.charset;
    let escape = escape.map(|code| unit_of(charset, code));
    let mut parts = vec![Part { items: Vec::new(), literal: Some(Vec::new()) }];
    let mut at = 0;
    while at < pattern.len() {
        let mut len = charset.char_len(&pattern[at..]);
        let mut code = match charset.max_len() {
            // Compat: bytes are compared, whatever their meaning.
            1 => Some(u32::from(pattern[at])),
            // The backslash that Shift-JIS has besides that of ASCII does not escape.
            _ => charset
                .decode(&pattern[at..])
                .filter(|(code, len)| *code >= 0x80 || *len == charset.min_len())
                .map(|c| c.0),
        };
        let escaped = code.is_some() && code == escape && at + len < pattern.len();
        if escaped {
            at += len;
            len = charset.char_len(&pattern[at..]);
            code = None;
        }
        if code == Some(u32::from(b'%')) {
            parts.push(Part { items: Vec::new(), literal: Some(Vec::new()) });
        } else if let Some(part) = parts.last_mut() {
            if code == Some(u32::from(b'_')) {
                part.items.push(Item::AnyChar);
                part.literal = None;
            } else {
                part.push_char(collation, &pattern[at..at + len]);
            }
        }
        at += len;
    }
    // Several `%` in a row count as one.
    let last = parts.len() - 1;
    let mut n = 0;
    parts.retain(|p| {
        n += 1;
        !p.items.is_empty() || n == 1 || n == last + 1
    });
    parts
}

impl Part {
    fn push_char(&mut self, collation: &Collation, bytes: &[u8]) {
        if let Some(literal) = &mut self.literal {
            literal.extend_from_slice(bytes);
        }
        if !collation.levels.is_empty() {
            return self.items.push(Item::Exact(bytes.into()));
        }
        match_weigher!(collation.char_weigher(), w => {
            let weights: SmallVec<[u32; 2]> = super::weights::Stream::new(&w, bytes).collect();
            // Compat: in the orders of the Unicode algorithm, characters without a weight compare
            // equal but do not match.
            let unicode = matches!(collation.rule, Rule::Unicode400 | Rule::Tailored(_));
            self.items.push(match weights.as_slice() {
                [0xFFFD] if unicode => Item::Same(bytes.into()),
                _ => Item::Char(weights),
            });
        });
    }
}

impl Item {
    #[inline]
    fn is(&self, weights: &Weights<'_>) -> bool {
        match self {
            Self::AnyChar | Self::Exact(_) | Self::Same(_) => true,
            Self::Char(own) => match (own.as_slice(), weights) {
                (&[a], Weights::One(b)) => a == *b,
                (own, _) => {
                    own.len() == weights.len()
                        && own.iter().enumerate().all(|(i, &x)| weights.get(i) == x)
                }
            },
        }
    }
}

fn match_at<W: Weigher>(w: &W, collation: &Collation, part: &Part, bytes: &[u8]) -> Option<usize> {
    let charset = collation.charset;
    let mut at = 0;
    for (number, item) in part.items.iter().enumerate() {
        if number % 64 == 63 {
            tick(64 * 8);
        }
        let rest = &bytes[at..];
        let len = charset.char_len(rest);
        if len == 0 {
            return None;
        }
        at += match item {
            Item::AnyChar => len,
            Item::Exact(own) => {
                let equal = collation.compare(own, &rest[..len]) == Ordering::Equal;
                equal.then_some(len)?
            }
            Item::Same(own) => (own.as_slice() == &rest[..len]).then_some(len)?,
            Item::Char(own) if W::BYTEWISE && len > 1 => same_bytes(w, own, &rest[..len])?,
            Item::Char(_) => {
                let (weights, len) = w.next(&rest[..len]);
                item.is(&weights).then_some(len)?
            }
        };
    }
    Some(at)
}

/// A character of several bytes whose bytes are its weights.
fn same_bytes<W: Weigher>(w: &W, own: &[u32], bytes: &[u8]) -> Option<usize> {
    super::weights::Stream::new(w, bytes).eq(own.iter().copied()).then_some(bytes.len())
}

fn literal(part: &Part) -> &[u8] {
    part.literal.as_deref().unwrap_or_default()
}

fn bytes_at(part: &Part, bytes: &[u8]) -> Option<usize> {
    bytes.starts_with(literal(part)).then_some(literal(part).len())
}

fn bytes_find(part: &Part, bytes: &[u8]) -> Option<usize> {
    let needle = literal(part);
    find_bytes(bytes, needle).map(|at| at + needle.len())
}

fn ascii_at(part: &Part, bytes: &[u8]) -> Option<usize> {
    let needle = literal(part);
    let candidate = bytes.get(..needle.len())?;
    candidate.eq_ignore_ascii_case(needle).then_some(needle.len())
}

/// A word of ASCII characters, to tell texts that cannot have it.
#[derive(Clone, Debug)]
pub struct AsciiWord(Box<[u8]>);

impl AsciiWord {
    /// `None` if bytes do not tell whether a text of this collation has the word.
    pub fn new(collation: CollationId, word: &[u8]) -> Option<Self> {
        let tells = is_plain(collation.info()) && word.iter().all(|char| is_common(*char));
        tells.then(|| Self(word.into()))
    }

    /// Whether the word, in any case, is certainly not in the text. Texts with other characters may
    /// always have it.
    pub fn lacks(&self, text: &[u8]) -> bool {
        text.is_ascii() && find_ascii(&self.0, text).is_none()
    }
}

fn ascii_find(part: &Part, bytes: &[u8]) -> Option<usize> {
    find_ascii(literal(part), bytes)
}

/// The end of the first place of `needle` in any case.
fn find_ascii(needle: &[u8], bytes: &[u8]) -> Option<usize> {
    tick(bytes.len() / 8);
    // Searched for is the letter that texts have least often.
    let rank = |at: &usize| RANKS[usize::from(needle[*at])];
    let rare = (0..needle.len()).max_by_key(rank)?;
    let (lower, upper) = (needle[rare].to_ascii_lowercase(), needle[rare].to_ascii_uppercase());
    let mut from = rare;
    loop {
        let at = from + memchr2(lower, upper, bytes.get(from..)?)?;
        let start = at - rare;
        let candidate = bytes.get(start..start + needle.len())?;
        tick(needle.len());
        if candidate.eq_ignore_ascii_case(needle) {
            return Some(start + needle.len());
        }
        from = at + 1;
    }
}

/// Rareness of each byte in texts: the frequent letters of English have the lowest numbers.
const RANKS: [u8; 256] = {
    const FREQUENT: &[u8; 27] = b" etaoinshrdlcumwfgypbvkjxqz";
    let mut ranks = [FREQUENT.len() as u8; 256];
    let mut at = 0;
    while at < FREQUENT.len() {
        ranks[FREQUENT[at] as usize] = at as u8;
        ranks[FREQUENT[at].to_ascii_uppercase() as usize] = at as u8;
        at += 1;
    }
    ranks
};

#[cfg(test)]
mod tests {
    use super::*;

    const ESCAPE: Option<u32> = Some(b'\\' as u32);

    fn like(collation: &str, text: &str, pattern: &str) -> bool {
        CollationId::from_name(collation).unwrap().like(text.as_bytes(), pattern.as_bytes(), ESCAPE)
    }

    #[test]
    fn wildcards() {
        for c in ["utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_unicode_ci", "binary", "latin1_bin"]
        {
            assert!(like(c, "abc", "abc"), "{c}");
            assert!(like(c, "abc", "a%"), "{c}");
            assert!(like(c, "abc", "%c"), "{c}");
            assert!(like(c, "abc", "%b%"), "{c}");
            assert!(like(c, "abc", "a_c"), "{c}");
            assert!(like(c, "abc", "%%_%%"), "{c}");
            assert!(like(c, "", "%"), "{c}");
            assert!(like(c, "", ""), "{c}");
            assert!(!like(c, "", "_"), "{c}");
            assert!(!like(c, "abc", "ab"), "{c}");
            assert!(!like(c, "abc ", "abc"), "{c}");
            assert!(!like(c, "abc", "%abc_"), "{c}");
            assert!(like(c, "a%c", "a\\%c"), "{c}");
            assert!(!like(c, "abc", "a\\%c"), "{c}");
            assert!(like(c, "a\\", "a\\"), "{c}");
            assert!(like(c, "abab", "%ab"), "{c}");
            assert!(like(c, "aab", "%ab%"), "{c}");
            assert!(!like(c, "ab", "ab%ab"), "{c}");
        }
    }

    #[test]
    fn characters_and_case() {
        assert!(like("utf8mb4_general_ci", "xÉtude", "%ETUDE"));
        assert!(like("utf8mb4_general_ci", "ABCabc", "%cA%"));
        assert!(!like("utf8mb4_bin", "ABC", "%b%"));
        assert!(like("utf8mb4_bin", "aéb", "a_b"));
        assert!(!like("utf8mb4_bin", "aéb", "a__b"));
        assert!(like("utf8mb4_bin", "xaéb", "%é_"));
        assert!(!like("binary", "aéb", "a_b"));
        assert!(!like("utf8mb4_unicode_ci", "ß", "ss"));
        assert!(like("utf8mb4_general_ci", "ß", "s"));
    }

    #[test]
    fn properties() {
        let p = LikePattern::new(CollationId::UTF8MB4_BIN, b"ab\\_%", ESCAPE);
        assert_eq!(p.prefix(), Some(&b"ab_"[..]));
        assert!(p.is_prefix_only() && p.exact().is_none());
        let p = LikePattern::new(CollationId::UTF8MB4_BIN, b"%x", ESCAPE);
        assert!(p.prefix().is_none() && !p.is_prefix_only());
    }

    /// The definition of LIKE, without optimisation.
    fn naive(text: &[u8], pattern: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'%', rest)) => (0..=text.len()).any(|n| naive(&text[n..], rest)),
            Some((b'_', rest)) => !text.is_empty() && naive(&text[1..], rest),
            Some((c, rest)) => {
                text.first().is_some_and(|t| t.eq_ignore_ascii_case(c)) && naive(&text[1..], rest)
            }
        }
    }

    /// Texts that may be searched byte by byte give what they give character by character, in every
    /// collation.
    #[test]
    fn plain_collations() {
        let mut plain = 0;
        for collation in CollationId::all() {
            for (text, pattern) in [
                ("Many Words here", "%words%"),
                ("manyword", "many%WORD"),
                ("a\x01b", "%A\x01%"),
                ("a\x01b", "%A\x02%"),
                ("xi\u{e9}k\u{212a}i", "%ki%"),
                ("IJ ij \u{133}", "%i%j%i%"),
                ("a~b`c", "%~%^%"),
                ("A-b", "a_B"),
            ] {
                let encode = |text: &str| {
                    Charset::Utf8mb4.convert(text.as_bytes(), collation.charset).0.into_owned()
                };
                let (text, pattern) = (encode(text), encode(pattern));
                let fast = LikePattern::new(collation.id, &pattern, ESCAPE);
                plain += usize::from(fast.plain);
                let slow = LikePattern { plain: false, ascii: false, ..fast.clone() };
                assert_eq!(
                    fast.matches(&text),
                    slow.matches(&text),
                    "{} {pattern:?}",
                    collation.name
                );
            }
        }
        assert!(plain > 100 * 8);
        assert!(CollationId::all().all(|collation| usize::from(collation.id.0) < NUMBERS));
        for (name, expected) in [
            ("utf8mb4_general_ci", true),
            ("utf8mb4_unicode_520_ci", true),
            ("utf8mb4_uca1400_ai_ci", true),
            ("latin1_swedish_ci", true),
            ("utf8mb4_turkish_ci", false),
            ("utf8mb4_bin", false),
            ("utf8mb4_uca1400_as_cs", false),
            ("ucs2_general_ci", false),
        ] {
            let id = CollationId::from_name(name).unwrap();
            assert_eq!(is_plain(id.info()), expected, "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn plain_collations_at_random(text in "[abkKiI\u{e9}\u{212a}\u{130}\u{131} -]{0,12}", pattern in "[abKi%_]{0,6}") {
            for collation in CollationId::all().filter(|c| c.charset == Charset::Utf8mb4) {
                let fast = LikePattern::new(collation.id, pattern.as_bytes(), ESCAPE);
                let slow = LikePattern { plain: false, ascii: false, ..fast.clone() };
                let (fast, slow) = (fast.matches(text.as_bytes()), slow.matches(text.as_bytes()));
                proptest::prop_assert_eq!(fast, slow, "{}", collation.name);
            }
        }

        #[test]
        fn agrees_with_the_definition(text in "[abA]{0,8}", pattern in "[abB%_]{0,6}") {
            for c in ["utf8mb4_general_ci", "utf8mb4_unicode_ci", "latin1_swedish_ci"] {
                let expected = naive(text.as_bytes(), pattern.as_bytes());
                proptest::prop_assert_eq!(like(c, &text, &pattern), expected);
            }
            let (text, pattern) = (text.to_lowercase(), pattern.to_lowercase());
            let expected = naive(text.as_bytes(), pattern.as_bytes());
            proptest::prop_assert_eq!(like("utf8mb4_bin", &text, &pattern), expected);
        }
    }
}
