//! Numbers, and names that begin with a digit.
//! Finds kind and end only; values are computed by the parser. A leading sign is a token of its
//! own.

use super::{Lexer, T, is_word};

impl Lexer<'_> {
    /// `12`, `1.5`, `1e5`, `0x1F`, `0b01`, or a name such as `1a`.
    pub(super) fn number_or_word(&mut self, start: usize) -> T {
        let radix = match (self.byte(0), self.byte(1)) {
            (b'0', b'x') => Some((T::HexNumber, u8::is_ascii_hexdigit as fn(&u8) -> bool)),
            (b'0', b'b') => Some((T::BitNumber, (|b: &u8| matches!(b, b'0' | b'1')) as _)),
            _ => None,
        };
        if let Some((kind, is_digit)) = radix {
            let digits = self.text[start + 2..].iter().take_while(|b| is_digit(b)).count();
            if digits > 0 && !is_word(self.byte(2 + digits)) {
                self.pos += 2 + digits;
                return kind;
            }
        }
        self.skip_digits();
        match self.byte(0) {
            // `1..9` are the bounds of a FOR loop.
            b'.' if self.byte(1) == b'.' => T::Int,
            b'.' => self.fraction(),
            b'e' | b'E' if self.exponent() => T::Float,
            b if is_word(b) => {
                self.skip_word();
                self.classify(start)
            }
            _ => T::Int,
        }
    }

    fn skip_digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.pos += 1;
        }
    }

    /// Skips the exponent; false if there is none.
    fn exponent(&mut self) -> bool {
        let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
        if !self.byte(1 + sign).is_ascii_digit() {
            return false;
        }
        self.pos += 1 + sign;
        self.skip_digits();
        true
    }

    /// Reads the rest of a number after its point. Compat: an `e` without digits makes it no token.
    pub(super) fn fraction(&mut self) -> T {
        self.pos += 1;
        self.skip_digits();
        match self.byte(0) {
            b'e' | b'E' if self.exponent() => T::Float,
            b'e' | b'E' => T::Bad,
            _ => T::Decimal,
        }
    }
}
