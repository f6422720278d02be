//! The shape of a statement's text: the part shared by all texts that differ only in their values.
//!
//! Read in one pass over the bytes, without tokens: it must cost less than the parsing it saves. It
//! is stricter than a digest: blanks and letter case count, because result columns are named by the
//! text. Must never give one shape to two texts that differ in more than literals of one kind; a
//! doubtful text has no shape.

use selkie_types::SqlMode;

use crate::ast::Span;
use crate::lexer::unescape;

/// Kind of a literal that a shape leaves out. All values of a kind are checked and converted as one
/// type. Texts with literals of different kinds have different shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralKind {
    /// Up to 9 digits.
    Int,
    /// Up to 18 digits.
    BigInt,
    /// An ASCII string in quotes of up to 255 letters.
    String,
    /// A longer ASCII string.
    LongString,
}

/// A shape, and the literals it leaves out.
#[derive(Debug, Default)]
pub struct Shape {
    /// The caller's prefix, then the text with a mark for each literal.
    pub bytes: Vec<u8>,
    /// Positions and kinds of the literals.
    pub literals: Vec<(Span, LiteralKind)>,
}

/// Most digits of a number that always fits an `i64`.
const DIGITS: usize = 18;
/// Most digits of a number that always fits an INT.
const INT_DIGITS: usize = 9;
/// Most letters of a [`LiteralKind::String`].
pub const SHORT_STRING: usize = 255;

impl Shape {
    /// Appends the shape of `text`; false if the text has none.
    pub fn read(&mut self, text: &[u8], sql_mode: SqlMode) -> bool {
        let escapes = !sql_mode.contains(SqlMode::NO_BACKSLASH_ESCAPES);
        let strings = !sql_mode.contains(SqlMode::ANSI_QUOTES);
        let mut scan = Scan { text, at: 0, copied: 0, escapes, strings, shape: self };
        scan.run().is_some()
    }
}

/// The bytes that a string literal stands for; `raw` includes the quotes.
pub fn string_value(raw: &[u8], sql_mode: SqlMode) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    unescape(raw, !sql_mode.contains(SqlMode::NO_BACKSLASH_ESCAPES), &mut out);
    out
}

struct Scan<'t, 's> {
    text: &'t [u8],
    at: usize,
    /// The text up to here is copied to the shape.
    copied: usize,
    escapes: bool,
    /// Double quotes enclose strings.
    strings: bool,
    shape: &'s mut Shape,
}

/// Bytes that form words.
static WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut at = 0;
    while at < 256 {
        let b = at as u8;
        word[at] = b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80;
        at += 1;
    }
    word
};

fn is_word(b: u8) -> bool {
    WORD[usize::from(b)]
}

impl Scan<'_, '_> {
    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    /// Reads the text. `None` if anything may be more than words, operators and plain literals.
    fn run(&mut self) -> Option<()> {
        while let Some(&b) = self.text.get(self.at) {
            match b {
                b'0'..=b'9' => self.number(),
                b'\'' => self.string(b)?,
                b'"' if self.strings => self.string(b)?,
                b'"' | b'`' => self.at = self.end_of_quoted(b, false)?,
                b'.' => self.after_dot(),
                _ if is_word(b) => self.word()?,
                b'-' if self.byte(self.at + 1) == b'-' => self.after_minus()?,
                b'/' if self.byte(self.at + 1) == b'*' => self.at = self.end_of_comment()?,
                b'#' => self.at = self.end_of_line()?,
                b';' | b'?' | b'@' | b'\\' | b'{' | b'}' | ..=8 => return None,
                _ => self.at += 1,
            }
        }
        self.copy_to(self.text.len());
        Some(())
    }

    fn copy_to(&mut self, end: usize) {
        self.shape.bytes.extend_from_slice(&self.text[self.copied..end]);
        self.copied = end;
    }

    /// Leaves out the text up to `end` and writes a mark, which is a byte that no shape has
    /// otherwise.
    fn literal(&mut self, end: usize, kind: LiteralKind) {
        self.copy_to(self.at);
        self.shape.bytes.push(match kind {
            LiteralKind::Int => 1,
            LiteralKind::String => 2,
            LiteralKind::BigInt => 3,
            LiteralKind::LongString => 4,
        });
        self.shape.literals.push((Span::new(self.at as u32, end as u32), kind));
        (self.at, self.copied) = (end, end);
    }

    fn skip_word(&self, from: usize) -> usize {
        from + self.text[from..].iter().take_while(|b| is_word(**b)).count()
    }

    fn word(&mut self) -> Option<()> {
        self.at = self.skip_word(self.at);
        // `x'41'`, `n'text'`, `_latin1'text'`.
        (!matches!(self.byte(self.at), b'\'' | b'"')).then_some(())
    }

    /// Skips the rest of a name, or of a number without digits before its point.
    fn after_dot(&mut self) {
        self.at = self.skip_word(self.at + 1);
    }

    /// Skips two minus signs, and the comment that they begin before a blank.
    fn after_minus(&mut self) -> Option<()> {
        let begins = |b: &u8| b.is_ascii_whitespace() || b.is_ascii_control();
        match self.text.get(self.at + 2).is_none_or(begins) {
            true => self.at = self.end_of_line()?,
            false => self.at += 2,
        }
        Some(())
    }

    /// End of a comment that a line ends.
    fn end_of_line(&self) -> Option<usize> {
        let rest = &self.text[self.at..];
        self.unmarked(self.at + memchr::memchr(b'\n', rest).unwrap_or(rest.len()))
    }

    /// `end`, unless bytes that are used as marks come before it.
    fn unmarked(&self, end: usize) -> Option<usize> {
        // The loop has no early exit, so that several bytes are compared at once.
        let marked = self.text[self.at..end].iter().fold(false, |marked, b| marked | (*b <= 8));
        (!marked).then_some(end)
    }

    /// End of a comment, which is part of the shape. `None` if it is open, or may be executed.
    fn end_of_comment(&self) -> Option<usize> {
        let inside = &self.text[self.at + 2..];
        if inside.starts_with(b"!") || inside.starts_with(b"M!") {
            return None;
        }
        self.unmarked(self.at + 2 + memchr::memmem::find(inside, b"*/")? + 2)
    }

    fn number(&mut self) {
        let end = self.skip_word(self.at);
        let digits = self.text[self.at..end].iter().all(u8::is_ascii_digit);
        let is_int = digits && end - self.at <= DIGITS && self.byte(end) != b'.';
        match is_int {
            true if end - self.at > INT_DIGITS => self.literal(end, LiteralKind::BigInt),
            true => self.literal(end, LiteralKind::Int),
            false => self.at = end,
        }
    }

    /// End of a quoted text; `None` if it is not closed, or contains bytes that are used as marks.
    fn end_of_quoted(&self, quote: u8, escapes: bool) -> Option<usize> {
        let other = if escapes { b'\\' } else { quote };
        let mut at = self.at + 1;
        loop {
            at += memchr::memchr2(quote, other, self.text.get(at..)?)? + 1;
            match self.text[at - 1] {
                b if b != quote => at += 1,
                _ if self.byte(at) == quote => at += 1,
                _ => break,
            }
        }
        self.unmarked(at)
    }

    fn string(&mut self, quote: u8) -> Option<()> {
        let end = self.end_of_quoted(quote, self.escapes)?;
        match self.text.get(self.at..end)?.is_ascii() {
            true if end - self.at > SHORT_STRING + 2 => {
                self.literal(end, LiteralKind::LongString);
            }
            true => self.literal(end, LiteralKind::String),
            false => self.at = end,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Option<(String, Vec<&str>)> {
        let mut shape = Shape::default();
        let found = shape.read(text.as_bytes(), SqlMode::DEFAULT);
        let literals = shape
            .literals
            .iter()
            .map(|(span, _)| &text[span.start as usize..][..(span.end - span.start) as usize]);
        let marked =
            String::from_utf8_lossy(&shape.bytes).replace('\u{1}', "<i>").replace('\u{2}', "<s>");
        found.then(|| (marked, literals.collect()))
    }

    #[test]
    fn numbers_and_strings_are_left_out() {
        let (text, literals) =
            shape("SELECT c1 FROM t2 WHERE a=5 AND b IN ('x','it''s', \"y\\\"\")").unwrap();
        assert_eq!(text, "SELECT c1 FROM t2 WHERE a=<i> AND b IN (<s>,<s>, <s>)");
        assert_eq!(literals, ["5", "'x'", "'it''s'", "\"y\\\"\""]);
    }

    #[test]
    fn longer_literals_are_of_kinds_of_their_own() {
        let kinds = |text: String| {
            let mut shape = Shape::default();
            shape.read(text.as_bytes(), SqlMode::DEFAULT).then(|| {
                (shape.bytes, shape.literals.into_iter().map(|(_, kind)| kind).collect::<Vec<_>>())
            })
        };
        let of = |length: usize, number: &str| {
            kinds(format!("SELECT '{}',{number}", "x".repeat(length))).unwrap()
        };
        let (short, long) = (of(255, "999999999"), of(256, "1000000000"));
        assert_eq!(short.1, [LiteralKind::String, LiteralKind::Int]);
        assert_eq!(long.1, [LiteralKind::LongString, LiteralKind::BigInt]);
        assert_ne!(short.0, long.0);
        assert_eq!(short.0, of(0, "5").0);
    }

    #[test]
    fn what_only_looks_like_a_literal_stays() {
        let (text, literals) =
            shape("SELECT t.1, .5, 1.5, 1e5, 0x41, 1234567890123456789, `3`, 'é'").unwrap();
        assert_eq!(text, "SELECT t.1, .5, 1.5, 1e5, 0x41, 1234567890123456789, `3`, 'é'");
        assert!(literals.is_empty());
    }

    #[test]
    fn comments_are_part_of_the_shape() {
        let (text, literals) = shape("SELECT /* Page::load '5' */ a--5 -- it's\n, 7# 8").unwrap();
        assert_eq!(text, "SELECT /* Page::load '5' */ a--<i> -- it's\n, <i># 8");
        assert_eq!(literals, ["5", "7"]);
        assert_eq!(shape("SELECT 1 --").unwrap().0, "SELECT <i> --");
        assert_eq!(shape("SELECT 1 /**/ + 2").unwrap().0, "SELECT <i> /**/ + <i>");
        assert_eq!(shape("SELECT 1 /*/ + 2 */").unwrap().0, "SELECT <i> /*/ + 2 */");
    }

    #[test]
    fn anything_unusual_has_no_shape() {
        for text in [
            "SELECT 1;",
            "SELECT /*! 1 */",
            "SELECT /*M! 1 */",
            "SELECT 1 /*",
            "SELECT 1 /* x \u{1} */ , 2",
            "SELECT 1 -- x \u{2}",
            "SELECT 1 -- x\n;",
            "SELECT @a",
            "SELECT ?",
            "SELECT x'41'",
            "SELECT _latin1'a'",
            "SELECT 'a",
            "SELECT \\N",
            "SELECT \u{1}",
            "SELECT {d '1'}",
        ] {
            assert_eq!(shape(text), None, "{text}");
        }
    }
}
