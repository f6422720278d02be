//! Blanks and comments, versioned comments among them.
//! An executed versioned comment is no comment: its text is lexed like the rest of the statement.

use std::borrow::Cow;

use super::{Lexer, is_space};

/// The version that `/*!NNNNNN` is compared with.
const VERSION: u32 = 101_119;
/// Compat: `/*!50700` to `/*!99999` are for MySQL only; `/*M!` is for MariaDB only.
const MYSQL_ONLY: std::ops::RangeInclusive<u32> = 50_700..=99_999;

impl Lexer<'_> {
    /// Skips blanks and comments; `Err` is the start of a comment that is not closed.
    pub(super) fn skip_blanks(&mut self) -> Result<(), usize> {
        loop {
            match self.byte(0) {
                b if is_space(b) => self.pos += 1,
                b'#' => self.skip_line(),
                b'-' if self.byte(1) == b'-' && self.line_comment_follows() => self.skip_line(),
                b'/' if self.byte(1) == b'*' => self.comment()?,
                b'*' if self.in_version_comment && self.byte(1) == b'/' => {
                    self.in_version_comment = false;
                    self.pos += 2;
                }
                0 if self.text.get(self.pos + 1).is_none() && !self.at_end() => self.pos += 1,
                _ => return Ok(()),
            }
        }
    }

    /// Whether `--` begins a comment: only before a blank, a control character or the end of the
    /// text.
    fn line_comment_follows(&self) -> bool {
        self.text.get(self.pos + 2).is_none_or(|&b| is_space(b) || b.is_ascii_control())
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.pos..];
        self.pos += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
    }

    fn comment(&mut self) -> Result<(), usize> {
        let start = self.pos;
        let mariadb = self.byte(2) == b'M' && self.byte(3) == b'!';
        if !(mariadb || self.byte(2) == b'!') {
            self.pos += 2;
            return self.skip_comment(start, false);
        }
        let at = self.pos + if mariadb { 4 } else { 3 };
        let digits = self.text[at..].iter().take(6).take_while(|b| b.is_ascii_digit()).count();
        if digits < 5 {
            self.pos = at;
            self.in_version_comment = true;
            return Ok(());
        }
        self.pos = at + digits;
        let version = self.text[at..self.pos].iter().fold(0, |v, b| v * 10 + u32::from(b - b'0'));
        if version <= VERSION && (mariadb || !MYSQL_ONLY.contains(&version)) {
            self.in_version_comment = true;
            return Ok(());
        }
        self.skip_comment(start, true)
    }

    /// Skips to the end of a comment. With `nested`, comments inside are counted: this is so in a
    /// versioned comment that is not executed.
    fn skip_comment(&mut self, start: usize, nested: bool) -> Result<(), usize> {
        let mut depth = 1;
        while !self.at_end() {
            match (self.byte(0), self.byte(1)) {
                (b'*', b'/') => {
                    self.pos += 2;
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                (b'/', b'*') if nested => {
                    self.pos += 2;
                    depth += 1;
                }
                _ => self.pos += 1,
            }
        }
        Err(start)
    }
}

/// A part of a statement without the marks of versioned comments and without versioned comments
/// that are not executed. Plain comments stay.
pub(crate) fn strip_versions(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.windows(2).any(|w| matches!(w, b"/*" | b"*/")) {
        return Cow::Borrowed(text);
    }
    let mut lexer = Lexer::new(text, super::Modes::new(selkie_types::SqlMode::EMPTY));
    // The part may begin inside a versioned comment.
    lexer.in_version_comment = true;
    let mut out = Vec::with_capacity(text.len());
    loop {
        let gap = lexer.pos;
        let token = lexer.next();
        let start = token.start as usize;
        put_gap(&text[gap..start.max(gap)], &mut out);
        if start >= text.len() {
            return Cow::Owned(out);
        }
        out.extend_from_slice(&text[start..token.end as usize]);
    }
}

/// Appends the blanks and plain comments of a gap between two tokens.
fn put_gap(mut gap: &[u8], out: &mut Vec<u8>) {
    let end_of = |gap: &[u8]| gap.windows(2).skip(2).position(|w| w == b"*/").map(|p| p + 4);
    while let Some(&b) = gap.first() {
        let plain = match gap {
            [b'/', b'*', b'!', ..] | [b'/', b'*', b'M', b'!', ..] | [b'*', b'/', ..] => 0,
            [b'/', b'*', ..] => end_of(gap).unwrap_or(gap.len()),
            [b'#', ..] | [b'-', b'-', ..] => {
                gap.iter().position(|&b| b == b'\n').unwrap_or(gap.len())
            }
            _ => usize::from(is_space(b)),
        };
        out.extend_from_slice(&gap[..plain]);
        let skipped = match gap {
            _ if plain > 0 => plain,
            // A versioned comment that ends in the same gap was not executed.
            [b'/', b'*', ..] if end_of(gap).is_some() => end_of(gap).unwrap_or(gap.len()),
            [b'/', b'*', b'M', b'!', ..] => 4 + version_digits(&gap[4..]),
            [b'/', b'*', b'!', ..] => 3 + version_digits(&gap[3..]),
            [b'*', b'/', ..] => 2,
            _ => 1,
        };
        gap = &gap[skipped.min(gap.len())..];
    }
}

fn version_digits(text: &[u8]) -> usize {
    text.iter().take(6).take_while(|b| b.is_ascii_digit()).count()
}
