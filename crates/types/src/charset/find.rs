//! Finding a text in another one under a collation (`LOCATE`, `INSTR`, `REPLACE` of equal text).

use super::collation::Rule;
use super::weights::{Stream, Weigher, with_weigher};
use super::{Collation, CollationId};

impl CollationId {
    /// Where `needle` first occurs; see [`Collation::find`].
    pub fn find(self, haystack: &[u8], needle: &[u8]) -> Option<usize> {
        self.info().find(haystack, needle)
    }
}

impl Collation {
    /// The byte at which `needle` first occurs in `haystack`, at the start of a character.
    pub fn find(&self, haystack: &[u8], needle: &[u8]) -> Option<usize> {
        if needle.is_empty() {
            return Some(0);
        }
        if self.rule == Rule::Code && self.charset.is_ascii_compatible() {
            return find_bytes(haystack, needle);
        }
        with_weigher!(self, w => find_weights(&w, haystack, needle))
    }
}

/// The first occurrence of bytes.
pub(super) fn find_bytes(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let (&first, rest) = needle.split_first()?;
    let mut from = 0;
    while let Some(at) = find_byte(haystack.get(from..)?, first) {
        let start = from + at;
        let candidate = haystack.get(start + 1..start + needle.len())?;
        if candidate == rest {
            return Some(start);
        }
        from = start + 1;
    }
    None
}

/// The first occurrence of a byte, eight bytes at a time.
#[inline]
pub(super) fn find_byte(haystack: &[u8], byte: u8) -> Option<usize> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let pattern = u64::from(byte) * LOW;
    let (chunks, rest) = haystack.as_chunks::<8>();
    for (i, chunk) in chunks.iter().enumerate() {
        let x = u64::from_le_bytes(*chunk) ^ pattern;
        let zero = x.wrapping_sub(LOW) & !x & HIGH;
        if zero != 0 {
            return Some(i * 8 + (zero.trailing_zeros() / 8) as usize);
        }
    }
    let tail = haystack.len() - rest.len();
    rest.iter().position(|&b| b == byte).map(|at| tail + at)
}

fn find_weights<W: Weigher>(w: &W, haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let wanted: smallvec::SmallVec<[u32; 32]> = Stream::new(w, needle).collect();
    let mut at = 0;
    loop {
        let rest = &haystack[at..];
        let (first, len) = w.next(rest);
        if len == 0 {
            return None;
        }
        let possible = wanted.first().is_none_or(|&x| first.len() == 0 || first.get(0) == x);
        if possible && starts_with(w, rest, &wanted) {
            return Some(at);
        }
        at += len;
    }
}

fn starts_with<W: Weigher>(w: &W, bytes: &[u8], wanted: &[u32]) -> bool {
    let mut stream = Stream::new(w, bytes);
    wanted.iter().all(|&x| stream.next() == Some(x))
}

#[cfg(test)]
mod tests {
    use super::super::CollationId;

    #[test]
    fn places() {
        let ci = CollationId::UTF8MB4_GENERAL_CI;
        assert_eq!(ci.find("xÉtude".as_bytes(), b"ETU"), Some(1));
        assert_eq!(ci.find(b"abc", b""), Some(0));
        assert_eq!(ci.find(b"abc", b"abcd"), None);
        assert_eq!(CollationId::UTF8MB4_BIN.find(b"aaab", b"aab"), Some(1));
        assert_eq!(CollationId::BINARY.find(b"0123456789abcdef", b"ef"), Some(14));
        assert_eq!(CollationId::UTF8MB4_UNICODE_CI.find("straße".as_bytes(), b"SSE"), Some(4));
    }
}
