//! Quoted texts: their ends and their escapes.
//! The lexer only finds the end of a text; its bytes are computed when the parser needs them.

use selkie_types::Charset;

use super::{Lexer, T};

impl Lexer<'_> {
    /// Reads a quoted text up to its end; a doubled quote does not end it.
    pub(super) fn quoted(&mut self, quote: u8, escapes: bool, kind: T) -> T {
        let mut at = self.pos + 1;
        while let Some(&b) = self.text.get(at) {
            at += 1;
            if b == b'\\' && escapes {
                at += 1;
            } else if b == quote {
                if self.text.get(at) != Some(&quote) {
                    self.pos = at;
                    return kind;
                }
                at += 1;
            }
        }
        self.pos = self.text.len();
        T::Bad
    }

    /// Reads a string after its prefix letter.
    pub(super) fn prefixed_string(&mut self, kind: T) -> T {
        self.pos += 1;
        self.quoted(b'\'', !self.modes.no_backslash_escapes, kind)
    }

    /// `x'..'` or `b'..'`: only digits, for `x` an even number of them.
    pub(super) fn digit_string(&mut self, kind: T) -> T {
        let start = self.pos + 2;
        let is_digit = match kind {
            T::HexString => u8::is_ascii_hexdigit,
            _ => |b: &u8| matches!(b, b'0' | b'1'),
        };
        let digits = self.text[start..].iter().take_while(|b| is_digit(b)).count();
        self.pos = start + digits;
        let good = self.byte(0) == b'\'' && (kind == T::BitString || digits % 2 == 0);
        self.pos += usize::from(good);
        if good { kind } else { T::Bad }
    }
}

/// Appends the bytes that a quoted text stands for; `raw` includes the quotes.
pub(crate) fn unescape(raw: &[u8], escapes: bool, out: &mut Vec<u8>) {
    let Some((&first, rest)) = raw.split_first() else { return };
    let quote = if first == b'[' { b']' } else { first };
    let mut rest = rest.strip_suffix(&[quote]).unwrap_or(rest);
    let other = if escapes { b'\\' } else { quote };
    while let Some(at) = memchr::memchr2(quote, other, rest) {
        out.extend_from_slice(&rest[..at]);
        let next = rest.get(at + 1).copied().unwrap_or(quote);
        match rest[at] {
            b'\\' if escapes => escape(next, out),
            _ => out.push(quote),
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// Like [`unescape`], for a character set in which quote and backslash bytes may be parts of
/// characters.
pub(crate) fn unescape_in(charset: Charset, raw: &[u8], escapes: bool, out: &mut Vec<u8>) {
    if charset.is_ascii_compatible() || charset.max_len() == 1 {
        return unescape(raw, escapes, out);
    }
    let Some((&quote, rest)) = raw.split_first() else { return };
    let mut rest = rest.strip_suffix(&[quote]).unwrap_or(rest);
    while let Some(&first) = rest.first() {
        let len = charset.char_len(rest).max(1);
        let skipped = match rest.get(1) {
            Some(&next) if first == b'\\' && escapes => {
                match next {
                    0x80.. => {
                        let len = charset.char_len(&rest[1..]).max(1);
                        out.extend_from_slice(&rest[1..1 + len]);
                        rest = &rest[1 + len..];
                        continue;
                    }
                    next => escape(next, out),
                }
                2
            }
            Some(_) if first == quote => {
                out.push(quote);
                2
            }
            _ => {
                out.extend_from_slice(&rest[..len]);
                len
            }
        };
        rest = &rest[skipped..];
    }
}

/// Appends the meaning of an escape. Compat: `\%` and `\_` keep their backslash, for patterns.
fn escape(next: u8, out: &mut Vec<u8>) {
    match next {
        b'n' => out.push(b'\n'),
        b't' => out.push(b'\t'),
        b'r' => out.push(b'\r'),
        b'b' => out.push(8),
        b'0' => out.push(0),
        b'Z' => out.push(26),
        b'%' | b'_' => out.extend_from_slice(&[b'\\', next]),
        _ => out.push(next),
    }
}
