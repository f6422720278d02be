//! A statement in the client's character set, together with its UTF-8 form.
//!
//! The grammar works on UTF-8. String literals, however, are the bytes the client sent: an
//! introducer gives them another character set, and some of them may have no form in Unicode. This
//! file maps positions in the UTF-8 back to the client's bytes. Must not know the grammar.

use selkie_types::Charset;

/// Replacement in the UTF-8 for bytes that are no character of the client's character set.
const UNKNOWN: char = '\u{FFFD}';

/// A text of a client whose character set is not UTF-8.
#[derive(Debug)]
pub struct ClientText {
    charset: Charset,
    bytes: Box<[u8]>,
    utf8: Box<[u8]>,
    /// For each non-ASCII character: its end in the UTF-8 and its end in the client's bytes.
    places: Vec<(usize, usize)>,
}

impl ClientText {
    /// The text, `None` if its bytes are UTF-8 already.
    pub fn new(bytes: &[u8], charset: Charset) -> Option<Self> {
        let plain = match charset {
            Charset::Utf8mb4 => true,
            Charset::Utf8mb3 => bytes.iter().all(|b| *b < 0xF0),
            _ => charset.is_ascii_superset() && bytes.is_ascii(),
        };
        if plain {
            return None;
        }
        let mut text =
            Self { charset, bytes: bytes.into(), utf8: bytes.into(), places: Vec::new() };
        if !matches!(charset, Charset::Binary | Charset::Utf8mb3) {
            text.convert();
        }
        Some(text)
    }

    fn convert(&mut self) {
        let mut utf8 = Vec::with_capacity(self.bytes.len() * 2);
        let mut at = 0;
        while at < self.bytes.len() {
            let rest = &self.bytes[at..];
            let before = utf8.len();
            let known = self.charset.decode(rest).is_some_and(|(code, len)| {
                at += len;
                Charset::Utf8mb4.encode(code, &mut utf8)
            });
            if !known {
                at += if utf8.len() == before { self.charset.char_len(rest) } else { 0 };
                utf8.extend_from_slice(UNKNOWN.encode_utf8(&mut [0; 4]).as_bytes());
            }
            if utf8.len() - before > 1 {
                self.places.push((utf8.len(), at));
            }
        }
        self.utf8 = utf8.into();
    }

    /// The character set of the client.
    pub fn charset(&self) -> Charset {
        self.charset
    }

    /// The text in UTF-8.
    pub fn utf8(&self) -> &[u8] {
        &self.utf8
    }

    /// Byte offset of `part` in the UTF-8; `None` if `part` is no slice of it.
    pub(crate) fn offset_of(&self, part: &[u8]) -> Option<usize> {
        let at = (part.as_ptr() as usize).checked_sub(self.utf8.as_ptr() as usize)?;
        (at + part.len() <= self.utf8.len()).then_some(at)
    }

    /// The client's bytes for a range of the UTF-8; both ends are character boundaries.
    pub(crate) fn original(&self, from: usize, to: usize) -> &[u8] {
        self.bytes.get(self.place(from)..self.place(to)).unwrap_or_default()
    }

    fn place(&self, at: usize) -> usize {
        match self.places.partition_point(|(utf8, _)| *utf8 <= at).checked_sub(1) {
            Some(n) => self.places[n].1 + at - self.places[n].0,
            None => at,
        }
    }

    /// The first bytes of a part that form no valid character; `None` if all do.
    pub(crate) fn unknown<'a>(&self, mut bytes: &'a [u8]) -> Option<&'a [u8]> {
        if self.charset == Charset::Binary {
            return None;
        }
        while !bytes.is_empty() {
            let Some((_, len)) = self.charset.decode(bytes) else { return Some(bytes) };
            bytes = &bytes[len..];
        }
        None
    }

    /// A string as UTF-8; `None` if converting it back would not give the same bytes.
    pub(crate) fn as_utf8(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        if matches!(self.charset, Charset::Binary | Charset::Utf8mb3) {
            return None;
        }
        let (utf8, lost) = self.charset.convert(bytes, Charset::Utf8mb4);
        let (back, lost_back) = Charset::Utf8mb4.convert(&utf8, self.charset);
        (lost + lost_back == 0 && *back == *bytes).then(|| utf8.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lead_back() {
        let text = ClientText::new(b"a\x83\x5C'b'\x81\xADc", Charset::Sjis).unwrap();
        assert_eq!(text.utf8(), "aソ'b'\u{FFFD}c".as_bytes());
        assert_eq!(text.original(1, 4), b"\x83\x5C");
        assert_eq!(text.original(4, 7), b"'b'");
        assert_eq!(text.original(7, 10), b"\x81\xAD");
        assert_eq!(text.original(10, 11), b"c");
        assert!(text.as_utf8(b"\x81\xAD").is_none());
        assert_eq!(text.as_utf8(b"\x83\x5C").unwrap(), "ソ".as_bytes());
    }
}
