//! Tokens of a text: maximal runs of letters, marks, digits and `_`; everything else separates.
//! Total: damaged bytes separate too.

use selkie_types::Charset;

use crate::letters::is_letter;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    /// Its bytes in the text's character set.
    pub text: &'t [u8],
    /// Number of its characters.
    pub characters: usize,
}

/// The tokens of a text in order.
pub(crate) struct Tokens<'t> {
    charset: Charset,
    /// A byte of ASCII at the start of a character is that character.
    has_ascii: bool,
    text: &'t [u8],
    at: usize,
}

impl<'t> Tokens<'t> {
    /// The tokens of `text`.
    pub(crate) fn new(charset: Charset, text: &'t [u8]) -> Self {
        Self { charset, has_ascii: charset.is_ascii_superset(), text, at: 0 }
    }

    /// The tokens of a text in a strict index. Compat: a single letter before an apostrophe and
    /// another letter is no token.
    pub(crate) fn without_elisions(mut self) -> impl Iterator<Item = Token<'t>> {
        std::iter::from_fn(move || {
            loop {
                let token = self.next()?;
                let next = self.text.get(self.at..).filter(|rest| rest.len() > 1);
                let is_elided = token.characters == 1
                    && next.is_some_and(|rest| {
                        rest[0] == b'\'' && letter(self.charset, &rest[1..]).is_ok()
                    });
                if !is_elided {
                    return Some(token);
                }
            }
        })
    }

    /// Length of the letter at the current position; `Err` with the length of what else is there.
    fn letter(&self) -> Result<usize, usize> {
        let byte = self.text[self.at];
        if self.has_ascii && byte.is_ascii() {
            return match is_letter(u32::from(byte)) {
                true => Ok(1),
                false => Err(1),
            };
        }
        letter(self.charset, &self.text[self.at..])
    }
}

/// Length of the letter at the start of a text that is not empty; `Err` with the length of what
/// else is there. Bytes that are no character count as one separator each.
pub(crate) fn letter(charset: Charset, text: &[u8]) -> Result<usize, usize> {
    match charset.decode(text) {
        Some((code, length)) if is_letter(code) => Ok(length),
        Some((_, length)) => Err(length.max(1)),
        None => Err(1),
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        while self.at < self.text.len()
            && let Err(length) = self.letter()
        {
            self.at += length;
        }
        let (start, mut characters) = (self.at, 0);
        while self.at < self.text.len()
            && let Ok(length) = self.letter()
        {
            self.at += length;
            characters += 1;
        }
        (characters > 0).then(|| Token { text: &self.text[start..self.at], characters })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let tokens = Tokens::new(Charset::Utf8mb4, text.as_bytes());
        tokens.map(|t| String::from_utf8_lossy(t.text).into_owned()).collect()
    }

    #[test]
    fn apostrophes_and_other_signs_separate() {
        assert_eq!(
            tokens("don't o'neil's x_y-z 12.5 Größe 漢字"),
            ["don", "t", "o", "neil", "s", "x_y", "z", "12", "5", "Größe", "漢字"]
        );
        assert!(tokens(" .,'\u{1F600}").is_empty());
    }

    #[test]
    fn lengths_are_in_characters() {
        let lengths: Vec<usize> =
            Tokens::new(Charset::Utf8mb4, "äöü ß".as_bytes()).map(|t| t.characters).collect();
        assert_eq!(lengths, [3, 1]);
    }

    #[test]
    fn damaged_text_ends() {
        let text = [b'a', 0xFF, b'b', 0xC3];
        assert_eq!(Tokens::new(Charset::Utf8mb4, &text).count(), 2);
    }
}
