//! Bytes to tokens, one at a time. Knows `sql_mode` and versioned comments.
//! Must not know the grammar: the parser and the digest share it.

mod comment;
mod keyword;
mod number;
mod string;
mod token;

use selkie_types::SqlMode;

pub(crate) use comment::strip_versions;
pub(crate) use keyword::Kw;
pub use keyword::is_keyword;
pub(crate) use string::{unescape, unescape_in};
pub(crate) use token::{T, Token};

/// The modes that change how text is cut into tokens.
#[derive(Clone, Copy)]
pub(crate) struct Modes {
    pub(crate) ansi_quotes: bool,
    pub(crate) no_backslash_escapes: bool,
    pub(crate) ignore_space: bool,
    /// MINUS is EXCEPT.
    pub(crate) oracle: bool,
    /// Names may be in brackets.
    pub(crate) mssql: bool,
}

impl Modes {
    pub(crate) fn new(mode: SqlMode) -> Self {
        Self {
            ansi_quotes: mode.contains(SqlMode::ANSI_QUOTES),
            no_backslash_escapes: mode.contains(SqlMode::NO_BACKSLASH_ESCAPES),
            ignore_space: mode.contains(SqlMode::IGNORE_SPACE),
            oracle: mode.contains(SqlMode::ORACLE),
            mssql: mode.contains(SqlMode::MSSQL),
        }
    }
}

/// A position in a text with the lexer's state. Copy it to come back to that position.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'a> {
    text: &'a [u8],
    pos: usize,
    modes: Modes,
    /// The position is inside an executed `/*! ... */`.
    in_version_comment: bool,
    /// The last token was a dot with a name behind it. That name is no keyword and may begin with a
    /// digit.
    after_dot: bool,
    /// The last token was a word with `.name` behind it: the dot begins no number.
    before_dot: bool,
}

/// Whether a byte can be part of an unquoted name.
fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r')
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a [u8], modes: Modes) -> Self {
        Self { text, pos: 0, modes, in_version_comment: false, after_dot: false, before_dot: false }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn at_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    fn token(&self, kind: T, start: usize) -> Token {
        Token { kind, start: start as u32, end: self.pos as u32 }
    }

    /// The next token. At the end of the text every call gives `Eof`, or `Bad` while a versioned
    /// comment is open.
    pub(crate) fn next(&mut self) -> Token {
        if std::mem::take(&mut self.after_dot) {
            return self.word_after_dot();
        }
        if let Err(start) = self.skip_blanks() {
            self.pos = self.text.len();
            return self.token(T::Bad, start);
        }
        let start = self.pos;
        if self.at_end() {
            let kind = if self.in_version_comment { T::Bad } else { T::Eof };
            return self.token(kind, start);
        }
        let kind = match self.byte(0) {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => self.word(start),
            b'0'..=b'9' => self.number_or_word(start),
            b'\'' => self.quoted(b'\'', !self.modes.no_backslash_escapes, T::Str),
            b'"' if self.modes.ansi_quotes => self.quoted(b'"', false, T::Quoted),
            b'"' => self.quoted(b'"', !self.modes.no_backslash_escapes, T::Str),
            b'`' => self.quoted(b'`', false, T::Quoted),
            b'[' if self.modes.mssql => self.quoted(b']', false, T::Quoted),
            b'@' => self.at_sign(),
            b'.' if self.byte(1) == b'.' => {
                self.pos += 2;
                T::DotDot
            }
            b'.' => self.dot(),
            _ => self.symbol(),
        };
        self.token(kind, start)
    }

    /// A name directly after a dot: any word is a name there.
    fn word_after_dot(&mut self) -> Token {
        let start = self.pos;
        self.skip_word();
        self.before_dot = self.dot_and_name_follow();
        self.token(T::Word(Kw::NotKeyword), start)
    }

    /// Skips the characters of a name. Invalid UTF-8 ends the name.
    fn skip_word(&mut self) {
        let start = self.pos;
        let mut bits = 0;
        while let Some(&b) = self.text.get(self.pos)
            && is_word(b)
        {
            bits |= b;
            self.pos += 1;
        }
        if bits >= 0x80
            && let Err(e) = std::str::from_utf8(&self.text[start..self.pos])
        {
            self.pos = start + e.valid_up_to();
        }
    }

    fn dot_and_name_follow(&self) -> bool {
        self.byte(0) == b'.' && is_word(self.byte(1))
    }

    fn word(&mut self, start: usize) -> T {
        if self.byte(1) == b'\'' {
            match self.byte(0) {
                b'n' | b'N' => return self.prefixed_string(T::NationalStr),
                b'x' | b'X' => return self.digit_string(T::HexString),
                b'b' | b'B' => return self.digit_string(T::BitString),
                _ => {}
            }
        }
        self.skip_word();
        if self.pos == start {
            self.pos += 1;
            return T::Bad;
        }
        self.classify(start)
    }

    /// Kind of the word from `start` to the position: keyword, introducer or name.
    fn classify(&mut self, start: usize) -> T {
        if self.dot_and_name_follow() {
            self.before_dot = true;
            return T::Word(Kw::NotKeyword);
        }
        let word = &self.text[start..self.pos];
        if word[0] == b'_' && is_charset(&word[1..]) {
            return T::Introducer;
        }
        let kw = match Kw::lookup(word) {
            Kw::MINUS if self.modes.oracle => Kw::EXCEPT,
            kw => kw,
        };
        if !kw.is_function() {
            return T::Word(kw);
        }
        if self.parenthesis_follows() { T::Func(kw) } else { T::Word(Kw::NotKeyword) }
    }

    fn parenthesis_follows(&self) -> bool {
        let mut rest = self.text[self.pos..].iter();
        match self.modes.ignore_space {
            true => rest.find(|&&b| !is_space(b)) == Some(&b'('),
            false => rest.next() == Some(&b'('),
        }
    }

    /// `@name`, `@'name'`, `@@`; a lone `@` is a variable without a name.
    fn at_sign(&mut self) -> T {
        self.pos += 1;
        match self.byte(0) {
            b'@' => {
                self.pos += 1;
                T::AtAt
            }
            quote @ (b'\'' | b'"' | b'`') => {
                let escapes = quote != b'`' && !self.modes.no_backslash_escapes;
                self.quoted(quote, escapes, T::UserVar)
            }
            _ => {
                while self.text.get(self.pos).is_some_and(|&b| is_word(b) || b == b'.') {
                    self.pos += 1;
                }
                T::UserVar
            }
        }
    }

    fn dot(&mut self) -> T {
        if self.byte(1).is_ascii_digit() && !self.before_dot {
            return self.fraction();
        }
        self.before_dot = false;
        self.pos += 1;
        self.after_dot = is_word(self.byte(0));
        T::Dot
    }

    fn symbol(&mut self) -> T {
        let (kind, len) = match (self.byte(0), self.byte(1), self.byte(2)) {
            (b'<', b'=', b'>') => (T::NullSafeEq, 3),
            (b'<', b'=', _) => (T::Le, 2),
            (b'<', b'>', _) | (b'!', b'=', _) => (T::Ne, 2),
            (b'<', b'<', _) => (T::ShiftLeft, 2),
            (b'>', b'=', _) => (T::Ge, 2),
            (b'>', b'>', _) => (T::ShiftRight, 2),
            (b'&', b'&', _) => (T::AndAnd, 2),
            (b'|', b'|', _) => (T::PipePipe, 2),
            (b':', b'=', _) => (T::Assign, 2),
            (b'\\', b'N', _) => (T::NullSign, 2),
            (b, _, _) => (single(b), 1),
        };
        self.pos += len;
        kind
    }
}

fn single(b: u8) -> T {
    match b {
        b'(' => T::LParen,
        b')' => T::RParen,
        b',' => T::Comma,
        b';' => T::Semicolon,
        b':' => T::Colon,
        b'{' => T::LBrace,
        b'}' => T::RBrace,
        b'+' => T::Plus,
        b'-' => T::Minus,
        b'*' => T::Star,
        b'/' => T::Slash,
        b'%' => T::Percent,
        b'^' => T::Caret,
        b'~' => T::Tilde,
        b'!' => T::Bang,
        b'&' => T::Amp,
        b'|' => T::Pipe,
        b'=' => T::Eq,
        b'<' => T::Lt,
        b'>' => T::Gt,
        b'?' => T::Param,
        _ => T::Bad,
    }
}

/// Character sets of MariaDB. `_name` is an introducer even if Selkie does not support the set.
const CHARSETS: &[&str] = &[
    "utf8mb4", "utf8mb3", "utf8", "latin1", "binary", "ascii", "ucs2", "utf16", "utf16le", "utf32",
    "latin2", "latin5", "latin7", "big5", "dec8", "cp850", "hp8", "koi8r", "swe7", "ujis", "sjis",
    "hebrew", "tis620", "euckr", "koi8u", "gb2312", "greek", "cp1250", "gbk", "armscii8", "cp866",
    "keybcs2", "macce", "macroman", "cp852", "cp1251", "cp1256", "cp1257", "geostd8", "cp932",
    "eucjpms", "filename",
];

fn is_charset(name: &[u8]) -> bool {
    CHARSETS.iter().any(|c| c.as_bytes().eq_ignore_ascii_case(name))
}
