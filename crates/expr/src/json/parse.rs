//! Parsing of JSON documents.
//! Compat: accepts and refuses what MariaDB's scanner does, with its error positions. Depth is
//! limited.

use selkie_meter::tick;
use selkie_types::stack;

use super::Json;

/// Nesting of arrays and objects must be less than this.
pub(crate) const MAX_DEPTH: usize = 32;

/// Kinds of errors in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// Bytes that form no character.
    BadCharacter,
    /// A control character in a string.
    NotAllowed,
    /// The text ends too early.
    End,
    /// Anything else.
    Syntax,
    /// Nested too deep.
    Depth,
}

/// The first error of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JsonError {
    /// Kind of the error.
    pub(crate) kind: ErrorKind,
    /// The position in messages.
    pub(crate) position: usize,
}

/// Parses a text that is one document.
pub(crate) fn parse(text: &[u8]) -> Result<Json<'_>, JsonError> {
    match parse_partly(text) {
        (Some(json), None) => Ok(json),
        (_, Some(error)) => Err(error),
        (None, None) => Err(JsonError { kind: ErrorKind::End, position: text.len() }),
    }
}

/// Parses the document at the start of a text; the rest is ignored.
pub(crate) fn parse_first(text: &[u8]) -> Result<Json<'_>, JsonError> {
    let mut p = Parser { text, at: 0, error: None };
    let end = JsonError { kind: ErrorKind::End, position: text.len() };
    match (p.value(0), p.error) {
        (_, Some(error)) => Err(error),
        (value, None) => value.ok_or(end),
    }
}

/// Parses a document up to the first error.
///
/// With an error, the last value of every level may be incomplete.
pub(crate) fn parse_partly(text: &[u8]) -> (Option<Json<'_>>, Option<JsonError>) {
    let mut p = Parser { text, at: 0, error: None };
    let value = p.value(0);
    if p.error.is_none() {
        p.spaces();
        if p.at < text.len() {
            p.unexpected();
        }
    }
    (value, p.error)
}

/// The inside of the string that begins at `start`; the text after it is ignored.
pub(crate) fn string_at(text: &[u8], start: usize) -> Result<&[u8], JsonError> {
    let mut p = Parser { text, at: start, error: None };
    let end = JsonError { kind: ErrorKind::End, position: text.len() };
    p.string().ok_or_else(|| p.error.unwrap_or(end))
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    error: Option<JsonError>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn fail(&mut self, kind: ErrorKind, position: usize) {
        self.error.get_or_insert(JsonError { kind, position });
    }

    /// Records an error: the next byte is not allowed here.
    fn unexpected(&mut self) {
        match self.peek() {
            None => self.fail(ErrorKind::End, self.at),
            Some(b) if b >= 0x80 && !self.starts_character() => {
                self.fail(ErrorKind::BadCharacter, self.at);
            }
            Some(_) => self.fail(ErrorKind::Syntax, self.at + 1),
        }
    }

    fn starts_character(&self) -> bool {
        selkie_types::Charset::Utf8mb4.decode(&self.text[self.at..]).is_some()
    }

    fn spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Option<Json<'a>> {
        tick(32);
        stack::ensure();
        self.spaces();
        match self.peek() {
            Some(b'n') => self.word(b"null", Json::Null),
            Some(b't') => self.word(b"true", Json::Bool(true)),
            Some(b'f') => self.word(b"false", Json::Bool(false)),
            Some(b'"') => self.string().map(Json::String),
            Some(b'[' | b'{') if depth + 1 >= MAX_DEPTH => {
                self.fail(ErrorKind::Depth, self.at + 1);
                None
            }
            Some(b'[') => Some(self.array(depth)),
            Some(b'{') => Some(self.object(depth)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                self.unexpected();
                None
            }
        }
    }

    fn word(&mut self, word: &[u8], value: Json<'a>) -> Option<Json<'a>> {
        for &letter in word {
            if self.peek() != Some(letter) {
                match self.peek() {
                    // Compat: the position is that of the last letter that was right.
                    Some(b) if b.is_ascii() || self.starts_character() => {
                        self.fail(ErrorKind::Syntax, self.at);
                    }
                    _ => self.unexpected(),
                }
                return None;
            }
            self.at += 1;
        }
        Some(value)
    }

    /// Reads a comma or the end of the container; true for a comma.
    fn goes_on(&mut self, close: u8) -> bool {
        self.spaces();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                true
            }
            Some(b) if b == close => {
                self.at += 1;
                false
            }
            _ => {
                self.unexpected();
                false
            }
        }
    }

    fn array(&mut self, depth: usize) -> Json<'a> {
        let start = self.at;
        self.at += 1;
        let mut items = Vec::new();
        self.spaces();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Json::Array(items, &self.text[start..self.at]);
        }
        loop {
            items.extend(self.value(depth + 1));
            if self.error.is_some() || !self.goes_on(b']') {
                return Json::Array(items, &self.text[start..self.at]);
            }
        }
    }

    fn object(&mut self, depth: usize) -> Json<'a> {
        let start = self.at;
        self.at += 1;
        let mut members = Vec::new();
        self.spaces();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Json::Object(members, &self.text[start..self.at]);
        }
        while let Some(name) = self.name() {
            if let Some(value) = self.value(depth + 1) {
                members.push((name, value));
            }
            if self.error.is_some() || !self.goes_on(b'}') {
                break;
            }
        }
        Json::Object(members, &self.text[start..self.at])
    }

    /// Reads `"name":`.
    fn name(&mut self) -> Option<&'a [u8]> {
        self.spaces();
        if self.peek() != Some(b'"') {
            self.unexpected();
            return None;
        }
        let name = self.string()?;
        self.spaces();
        match self.peek() {
            Some(b':') => {
                self.at += 1;
                Some(name)
            }
            _ => self.refuse_here(),
        }
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        self.at > start
    }

    /// Reads a number. Compat: a point needs no digits after it.
    fn number(&mut self) -> Option<Json<'a>> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let first = self.at;
        if !self.digits() {
            return self.no_number();
        }
        if self.text[first] == b'0' && self.at > first + 1 {
            self.at = first + 1;
            return Some(Json::Number(&self.text[start..self.at]));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'-' | b'+')) {
                self.at += 1;
            }
            if !self.digits() {
                return self.no_number();
            }
        }
        Some(Json::Number(&self.text[start..self.at]))
    }

    /// Records a malformed number. Compat: a number that is cut short is a syntax error at its end.
    fn no_number(&mut self) -> Option<Json<'a>> {
        let position = if self.at < self.text.len() { self.at + 1 } else { self.at };
        self.fail(ErrorKind::Syntax, position);
        None
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek() {
                None => {
                    self.fail(ErrorKind::End, self.at);
                    return None;
                }
                Some(b'"') => {
                    self.at += 1;
                    tick(self.at - start);
                    return Some(&self.text[start..self.at - 1]);
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape()?;
                }
                Some(0..0x20) => {
                    self.fail(ErrorKind::NotAllowed, self.at + 1);
                    return None;
                }
                Some(b) if b < 0x80 => self.at += 1,
                Some(_) => {
                    let rest = &self.text[self.at..];
                    let Some((_, len)) = selkie_types::Charset::Utf8mb4.decode(rest) else {
                        self.fail(ErrorKind::BadCharacter, self.at);
                        return None;
                    };
                    self.at += len;
                }
            }
        }
    }

    /// Reads the character after a backslash. Compat: any character is allowed.
    fn escape(&mut self) -> Option<()> {
        if self.peek() != Some(b'u') {
            self.at += usize::from(self.peek().is_some_and(|b| b < 0x80));
            return Some(());
        }
        self.at += 1;
        match self.code()? {
            0xD800..0xDC00 => self.second_surrogate(),
            0xDC00..0xE000 => self.no_character(),
            _ => Some(()),
        }
    }

    /// Reads the second half of a character that two escapes make.
    fn second_surrogate(&mut self) -> Option<()> {
        for expected in [b'\\', b'u'] {
            if self.peek() != Some(expected) {
                return self.refuse_here();
            }
            self.at += 1;
        }
        match self.code()? {
            0xDC00..0xE000 => Some(()),
            _ => self.no_character(),
        }
    }

    /// Records an error before the next byte, which is not allowed, or at the end.
    fn refuse_here<T>(&mut self) -> Option<T> {
        let kind = if self.peek().is_none() { ErrorKind::End } else { ErrorKind::Syntax };
        self.fail(kind, self.at);
        None
    }

    fn no_character(&mut self) -> Option<()> {
        self.fail(ErrorKind::BadCharacter, self.at);
        None
    }

    /// Reads the four digits of an escape.
    fn code(&mut self) -> Option<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|b| (b as char).to_digit(16)) else {
                return self.refuse_here();
            };
            code = code << 4 | digit;
            self.at += 1;
        }
        Some(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> Option<(ErrorKind, usize)> {
        parse(text.as_bytes()).err().map(|e| (e.kind, e.position))
    }

    #[test]
    fn places_of_errors() {
        assert_eq!(error("{\"a\": [1, 2.5e-3, null, {}]} "), None);
        assert_eq!(error("\"string\"}"), Some((ErrorKind::Syntax, 9)));
        assert_eq!(error("{\"a\":1]"), Some((ErrorKind::Syntax, 7)));
        assert_eq!(error("{\"a\"}"), Some((ErrorKind::Syntax, 4)));
        assert_eq!(error("2019-01-01"), Some((ErrorKind::Syntax, 5)));
        assert_eq!(error("[1,]"), Some((ErrorKind::Syntax, 4)));
        assert_eq!(error("1e"), Some((ErrorKind::Syntax, 2)));
        assert_eq!(error("nul").map(|e| e.0), Some(ErrorKind::End));
        assert_eq!(error("[1, {\"a\": \"b").map(|e| e.0), Some(ErrorKind::End));
        assert_eq!(error("{\"a\":\"b\tc\"}"), Some((ErrorKind::NotAllowed, 8)));
        assert_eq!(error(r#""\ud83d\ude0a\ud800\udc00""#), None);
        assert_eq!(error(r#""\ud800""#), Some((ErrorKind::Syntax, 7)));
        assert_eq!(error(r#""\ud800\n""#), Some((ErrorKind::Syntax, 8)));
        assert_eq!(error(r#""\ud800\u0041""#), Some((ErrorKind::BadCharacter, 13)));
        assert_eq!(error(r#""ab\udc00""#), Some((ErrorKind::BadCharacter, 9)));
        assert_eq!(error(&"[".repeat(100)), Some((ErrorKind::Depth, 32)));
    }

    #[test]
    fn parts_before_an_error() {
        let (json, error) = parse_partly(b"{\"a\": 1, \"b\": [2, x");
        assert!(error.is_some());
        assert!(matches!(json.as_ref().and_then(|j| j.member(b"a")), Some(Json::Number(b"1"))));
    }
}
