//! Reading digits and separators out of temporal texts.
//! Numbers saturate instead of overflowing: ranges are checked by the caller.

use crate::number::skip_spaces;

/// A position in a text.
#[derive(Copy, Clone)]
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

/// The digits after a point.
#[derive(Copy, Clone, Default)]
pub(super) struct Fraction {
    /// The first six digits as microseconds.
    pub(super) micros: u32,
    /// There were more than six digits.
    pub(super) cut: bool,
    /// The seventh digit is five or more.
    pub(super) rounds_up: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: skip_spaces(text, 0) }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    pub(super) fn at_digit(&self) -> bool {
        self.peek().is_some_and(|b| b.is_ascii_digit())
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(super) fn advance(&mut self, n: usize) {
        self.at = (self.at + n).min(self.text.len());
    }

    pub(super) fn skip_spaces(&mut self) {
        self.at = skip_spaces(self.text, self.at);
    }

    /// Skips `byte` if it is next.
    pub(super) fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Skips one punctuation character if it is next.
    pub(super) fn accept_punctuation(&mut self) -> bool {
        let found = self.peek().is_some_and(|b| b.is_ascii_punctuation());
        self.at += usize::from(found);
        found
    }

    /// Length of the run of next bytes for which `test` holds.
    pub(super) fn run(&self, test: impl Fn(u8) -> bool) -> usize {
        self.rest().iter().take_while(|&&b| test(b)).count()
    }

    /// A number of at most `width` digits, and the number of its digits; saturates. `None` without
    /// digits.
    pub(super) fn number(&mut self, width: usize) -> Option<(u32, usize)> {
        let digits = self.rest().iter().take(width);
        let count = digits.take_while(|b| b.is_ascii_digit()).count();
        let digits = &self.rest()[..count];
        let value = digits
            .iter()
            .fold(0u32, |v, b| v.saturating_mul(10).saturating_add(u32::from(b - b'0')));
        self.at += count;
        (count > 0).then_some((value, count))
    }

    /// All following digits as one number; saturates.
    pub(super) fn compact_number(&mut self) -> u64 {
        let count = self.run(|b| b.is_ascii_digit());
        let digits = &self.rest()[..count];
        self.at += count;
        digits.iter().fold(0u64, |v, b| v.saturating_mul(10).saturating_add(u64::from(b - b'0')))
    }

    /// The digits after a point that was already skipped.
    pub(super) fn fraction(&mut self) -> Fraction {
        let count = self.run(|b| b.is_ascii_digit());
        let digits = &self.rest()[..count];
        let six = digits.iter().map(|b| u32::from(b - b'0')).chain(std::iter::repeat(0)).take(6);
        self.at += count;
        Fraction {
            micros: six.fold(0, |v, d| v * 10 + d),
            cut: count > 6,
            rounds_up: digits.get(6).is_some_and(|&b| b >= b'5'),
        }
    }
}
