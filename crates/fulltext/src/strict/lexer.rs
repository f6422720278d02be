//! Tokens of strict queries. Bytes that belong to no token are skipped. Only the grammar has
//! errors.

use crate::Mode;

/// A token of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lexeme<'q> {
    /// Digits.
    Number(&'q [u8]),
    /// Anything else between separators.
    Term(&'q [u8]),
    /// A quoted text, without quotes.
    Text(&'q [u8]),
    /// One of the signs.
    Sign(u8),
    End,
}

impl Lexeme<'_> {
    /// Its name in messages.
    pub(super) fn name(self) -> String {
        match self {
            Self::Number(_) => "FTS_NUMB".to_owned(),
            Self::Term(_) => "FTS_TERM".to_owned(),
            Self::Text(_) => "FTS_TEXT".to_owned(),
            Self::Sign(sign) => format!("'{}'", char::from(sign)),
            Self::End => "$end".to_owned(),
        }
    }
}

/// Reads a query from left to right.
#[derive(Debug)]
pub(super) struct Lexer<'q> {
    query: &'q [u8],
    signs: &'static [u8],
}

impl<'q> Lexer<'q> {
    pub(super) fn new(query: &'q [u8], mode: Mode) -> Self {
        // Compat: a zero byte ends the query.
        let end = query.iter().position(|b| *b == 0).unwrap_or(query.len());
        let signs: &[u8] = if mode == Mode::Boolean { b"*()+-<>~@" } else { b"*" };
        Self { query: &query[..end], signs }
    }

    fn take(&mut self, length: usize) -> &'q [u8] {
        let (token, rest) = self.query.split_at(length);
        self.query = rest;
        token
    }

    pub(super) fn next(&mut self) -> Lexeme<'q> {
        while let Some(first) = self.query.first().copied() {
            if self.signs.contains(&first) {
                self.take(1);
                return Lexeme::Sign(first);
            }
            if first == b'"' {
                if let Some(text) = quoted(self.query) {
                    self.take(text.len() + 2);
                    return Lexeme::Text(text);
                }
                self.take(1);
                continue;
            }
            if self.separates(first) || first == b'\t' {
                self.take(1);
                continue;
            }
            let length = self.query.iter().position(|b| self.separates(*b));
            let word = self.take(length.unwrap_or(self.query.len()));
            return match word.iter().all(u8::is_ascii_digit) {
                true => Lexeme::Number(word),
                false => Lexeme::Term(word),
            };
        }
        Lexeme::End
    }

    fn separates(&self, byte: u8) -> bool {
        self.signs.contains(&byte) || matches!(byte, b'"' | b' ' | b'\n' | b'%')
    }
}

/// The text between a quote at the start and the next one on the same line.
fn quoted(query: &[u8]) -> Option<&[u8]> {
    let rest = query.get(1..)?;
    let end = rest.iter().position(|b| matches!(b, b'"' | b'\n'))?;
    (rest[end] == b'"').then(|| &rest[..end])
}
