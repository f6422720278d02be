//! Finding a text in another one under a collation (`LOCATE`, `INSTR`, `REPLACE` of equal text).
//! Compat: matches are of the needle's length in bytes, unlike those of `LIKE`.

use std::cmp::Ordering;

use super::collation::Rule;
use super::weights::{Stream, match_weigher};
use super::{Charset, Collation, CollationId};

impl CollationId {
    /// Offset of the first occurrence of `needle`; see [`Collation::find`].
    pub fn find(self, haystack: &[u8], needle: &[u8]) -> Option<usize> {
        self.info().find(haystack, needle)
    }
}

impl Collation {
    /// Offset of the first occurrence of `needle` in `haystack`, at the start of a character.
    pub fn find(&self, haystack: &[u8], needle: &[u8]) -> Option<usize> {
        self.find_telling(haystack, needle, |_| ())
    }

    /// Like [`Collation::find`]; `tell` gets the number of characters that are compared next. In
    /// the worst case their sum is the product of both lengths.
    pub fn find_telling(
        &self,
        haystack: &[u8],
        needle: &[u8],
        tell: impl Fn(usize),
    ) -> Option<usize> {
        if needle.is_empty() {
            return Some(0);
        }
        if self.rule == Rule::Code && self.charset.is_self_synchronizing() {
            return find_bytes(haystack, needle);
        }
        if !self.levels.is_empty() {
            return windows(self.charset, haystack, needle.len(), |text| {
                tell(text.len());
                self.compare(text, needle) == Ordering::Equal
            });
        }
        match_weigher!(self.char_weigher(), w => {
            let wanted: smallvec::SmallVec<[u32; 32]> = Stream::new(&w, needle).collect();
            windows(self.charset, haystack, needle.len(), |text| {
                let mut found = Stream::new(&w, text);
                let alike = wanted.iter().take_while(|&&w| found.next() == Some(w)).count();
                tell(alike + 1);
                alike == wanted.len() && found.next().is_none()
            })
        })
    }
}

/// Offset of the first occurrence of `needle`, byte by byte.
pub(super) fn find_bytes(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    // Compat: an empty needle is not found.
    if needle.is_empty() { None } else { memchr::memmem::find(haystack, needle) }
}

/// Compat: only parts of the needle's length in bytes are compared with it. So a search for
/// `\u{e9}` does not find `e`, although they are equal.
fn windows(
    charset: Charset,
    haystack: &[u8],
    len: usize,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> Option<usize> {
    let mut at = 0;
    while let Some(window) = haystack.get(at..at + len) {
        if is_wanted(window) {
            return Some(at);
        }
        at += charset.char_len(&haystack[at..]).max(1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::CollationId;

    #[test]
    fn places() {
        let ci = CollationId::UTF8MB4_GENERAL_CI;
        assert_eq!(ci.find("xÉtude".as_bytes(), "éTU".as_bytes()), Some(1));
        assert_eq!(ci.find("xÉtude".as_bytes(), b"ETU"), None);
        assert_eq!(ci.find(b"abc", b""), Some(0));
        assert_eq!(ci.find(b"abc", b"abcd"), None);
        assert_eq!(CollationId::UTF8MB4_BIN.find(b"aaab", b"aab"), Some(1));
        assert_eq!(CollationId::BINARY.find(b"0123456789abcdef", b"ef"), Some(14));
        assert_eq!(CollationId::UTF8MB4_UNICODE_CI.find("straße".as_bytes(), b"SSE"), Some(4));
    }
}
