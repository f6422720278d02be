//! Parsing of JSON paths.
//! Compat: the grammar and the positions of errors are MariaDB's.

use super::parse::{ErrorKind, JsonError, MAX_DEPTH};
use super::path::{Path, Step};

/// An error in a path: [`ErrorKind::End`], [`ErrorKind::Syntax`] or [`ErrorKind::Depth`].
pub(crate) type PathError = JsonError;

type Result<T> = std::result::Result<T, PathError>;

impl Path {
    /// Parses a path.
    pub(crate) fn parse(text: &[u8]) -> Result<Self> {
        let mut p = Parser { text, at: 0 };
        p.start()?;
        let mut steps = Vec::new();
        while p.at < text.len() {
            let step = p.step(steps.last())?;
            let legs = steps.iter().filter(|s| !matches!(s, Step::Descend)).count();
            if legs + 1 >= MAX_DEPTH {
                let position = p.at - usize::from(p.text[p.at - 1] == b']');
                return Err(PathError { kind: ErrorKind::Depth, position });
            }
            steps.push(step);
        }
        match steps.last() {
            Some(Step::Descend) => Err(p.syntax()),
            _ => Ok(Self { steps }),
        }
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn syntax(&self) -> PathError {
        PathError { kind: ErrorKind::Syntax, position: self.at + 1 }
    }

    fn end(&self) -> PathError {
        PathError { kind: ErrorKind::End, position: self.at }
    }

    /// The error for the next byte, or for the end of the text.
    fn unexpected(&self) -> PathError {
        if self.at < self.text.len() { self.syntax() } else { self.end() }
    }

    fn eat(&mut self, b: u8) -> bool {
        let found = self.peek() == Some(b);
        self.at += usize::from(found);
        found
    }

    fn spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Reads `$`, with an optional `lax` before it.
    fn start(&mut self) -> Result<()> {
        self.spaces();
        if self.text[self.at..].starts_with(b"lax") {
            self.at += 3;
            if !matches!(self.peek(), Some(b' ' | b'\t')) {
                return Err(self.unexpected());
            }
            self.spaces();
        }
        if self.eat(b'$') { Ok(()) } else { Err(self.unexpected()) }
    }

    fn step(&mut self, before: Option<&Step>) -> Result<Step> {
        match self.peek() {
            Some(b'.') => {
                self.at += 1;
                self.member()
            }
            Some(b'[') => {
                self.at += 1;
                self.array()
            }
            Some(b'*') if !matches!(before, Some(Step::AnyMember)) => {
                self.at += 1;
                match self.eat(b'*') {
                    true if before != Some(&Step::Descend) => Ok(Step::Descend),
                    _ => Err(self.syntax()),
                }
            }
            _ => Err(self.syntax()),
        }
    }

    fn member(&mut self) -> Result<Step> {
        self.spaces();
        match self.peek() {
            None => Err(self.end()),
            Some(b'*') => {
                self.at += 1;
                Ok(Step::AnyMember)
            }
            Some(b'"') => {
                self.at += 1;
                let start = self.at;
                while self.peek().is_some_and(|b| b != b'"') {
                    self.at += if self.peek() == Some(b'\\') { 2 } else { 1 };
                }
                if self.at >= self.text.len() {
                    return Err(self.end());
                }
                self.at += 1;
                Ok(Step::Member(self.text[start..self.at - 1].to_vec()))
            }
            Some(b'.' | b'[' | b']') => Err(self.syntax()),
            Some(_) => {
                let start = self.at;
                while self.peek().is_some_and(|b| !matches!(b, b'.' | b'[' | b'*')) {
                    let escape = self.peek() == Some(b'\\');
                    self.at = (self.at + if escape { 2 } else { 1 }).min(self.text.len());
                }
                Ok(Step::Member(self.text[start..self.at].to_vec()))
            }
        }
    }

    /// Reads the content of brackets and the closing bracket.
    fn array(&mut self) -> Result<Step> {
        let spaced = self.peek() == Some(b' ');
        self.spaces();
        let step = if self.eat(b'*') {
            self.spaces();
            Step::AnyItem
        } else {
            if spaced && self.peek() == Some(b'-') {
                return Err(self.syntax());
            }
            let from = self.position()?;
            let to = self.range_end()?;
            to.map_or(Step::Item(from), |to| Step::Range(from, to))
        };
        if self.eat(b']') { Ok(step) } else { Err(self.unexpected()) }
    }

    /// Reads ` to position`. Compat: exactly one space around `to`.
    fn range_end(&mut self) -> Result<Option<i64>> {
        if !self.eat(b' ') || self.peek() == Some(b']') {
            return Ok(None);
        }
        for word in [b't', b'o'] {
            if !self.eat(word) {
                return Err(self.unexpected());
            }
        }
        if !self.eat(b' ') {
            return Err(self.syntax());
        }
        let to = self.position()?;
        self.eat(b' ');
        Ok(Some(to))
    }

    /// Reads a position: a number, a number from the end, `last`, or `last` minus a number.
    fn position(&mut self) -> Result<i64> {
        match self.peek() {
            Some(b'-') => {
                self.at += 1;
                Ok(-self.number()?)
            }
            Some(b'l') => {
                for &letter in b"last" {
                    if !self.eat(letter) {
                        return Err(self.syntax());
                    }
                }
                if self.peek() == Some(b' ') && self.text.get(self.at + 1) == Some(&b'-') {
                    self.at += 1;
                }
                match self.peek() {
                    Some(b'-') => {
                        self.at += 1;
                        Ok(-1 - self.number()?)
                    }
                    Some(b']' | b' ') => Ok(-1),
                    _ => Err(self.syntax()),
                }
            }
            _ => self.number(),
        }
    }

    fn number(&mut self) -> Result<i64> {
        let start = self.at;
        let mut value = 0i64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            if self.at > start && self.text[start] == b'0' {
                return Err(self.syntax());
            }
            value = (value * 10 + i64::from(digit - b'0')).min(i64::from(u32::MAX));
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected()) } else { Ok(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(path: &str) -> Option<(ErrorKind, usize)> {
        Path::parse(path.as_bytes()).err().map(|e| (e.kind, e.position))
    }

    #[test]
    fn accepted() {
        for path in ["$", "$.a", " $.a b[0]", "$**.a", "$[*].*", "$[last -1]", "$[-2 to last]"] {
            assert_eq!(error(path), None, "{path}");
        }
    }

    #[test]
    fn places_of_errors() {
        use ErrorKind::{Depth, End, Syntax};
        assert_eq!(error("a"), Some((Syntax, 1)));
        assert_eq!(error("$[- 1]"), Some((Syntax, 4)));
        assert_eq!(error("$[0  to 1]"), Some((Syntax, 5)));
        assert_eq!(error("$[]"), Some((Syntax, 3)));
        assert_eq!(error("$[00]"), Some((Syntax, 4)));
        assert_eq!(error("$**"), Some((Syntax, 4)));
        assert_eq!(error("$*"), Some((Syntax, 3)));
        assert_eq!(error("$[1").map(|e| e.0), Some(End));
        assert_eq!(error("$.").map(|e| e.0), Some(End));
        assert_eq!(error(&format!("${}", ".k".repeat(40))), Some((Depth, 65)));
    }
}
