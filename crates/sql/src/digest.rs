//! Statement digests: the text with its values replaced, and a hash of it.
//!
//! Works on tokens alone, as `performance_schema` does: a statement with a syntax error has a
//! digest too. Two statements have one digest exactly if their digest texts are equal.

use selkie_types::SqlMode;

use crate::lexer::{Kw, Lexer, Modes, T, Token, unescape};

/// A statement's digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The normalised text, as `DIGEST_TEXT` shows it.
    pub text: String,
    /// Hash of the text; `DIGEST` shows it in hexadecimal.
    pub hash: u128,
}

/// The digest of the first statement of a text.
pub fn digest(text: &[u8], sql_mode: SqlMode) -> Digest {
    let mut lexer = Lexer::new(text, Modes::new(sql_mode));
    let mut builder =
        Builder { text, out: String::with_capacity(text.len() + 16), parts: Vec::new() };
    loop {
        let token = lexer.next();
        match token.kind {
            T::Eof | T::Semicolon | T::Bad => break,
            _ => builder.push(token),
        }
    }
    Digest { hash: hash(builder.out.as_bytes()), text: builder.out }
}

/// FNV-1a of 128 bits: digests must not change from one run to the next.
fn hash(bytes: &[u8]) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(BASIS, |hash, &b| (hash ^ u128::from(b)).wrapping_mul(PRIME))
}

/// Kinds of the parts written so far, as far as later tokens depend on them.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// `?`.
    Value,
    /// `?, ...`.
    Values,
    /// `(?)`.
    Row,
    /// `(?) /* , ... */`.
    Rows,
    /// `(...)`.
    WideRow,
    /// `(...) /* , ... */`.
    WideRows,
    /// Any other token.
    Token(T),
}

struct Builder<'a> {
    text: &'a [u8],
    out: String,
    /// The parts, each with the offset of its text, the blank before it included.
    parts: Vec<(Part, usize)>,
}

impl Builder<'_> {
    fn push(&mut self, token: Token) {
        match token.kind {
            T::Int
            | T::Decimal
            | T::Float
            | T::HexNumber
            | T::HexString
            | T::BitNumber
            | T::BitString => {
                self.value(true);
            }
            T::Str | T::NationalStr | T::Param | T::NullSign => self.value(false),
            T::Word(Kw::NULL) if !self.ends(&[T::Word(Kw::IS), T::Word(Kw::NOT)]) => {
                self.value(false)
            }
            T::RParen => self.close(),
            T::UserVar => self.part(Part::Token(T::UserVar), "@?"),
            T::Introducer => self.part(Part::Token(T::Introducer), "(_charset)"),
            kind => {
                self.begin(Part::Token(kind));
                self.token_text(token);
            }
        }
    }

    fn begin(&mut self, part: Part) {
        let start = self.out.len();
        self.parts.push((part, start));
        if start > 0 {
            self.out.push(' ');
        }
    }

    fn part(&mut self, part: Part, text: &str) {
        self.begin(part);
        self.out.push_str(text);
    }

    /// The part `back` places before the last.
    fn last(&self, back: usize) -> Option<Part> {
        let at = self.parts.len().checked_sub(back + 1)?;
        self.parts.get(at).map(|p| p.0)
    }

    fn ends(&self, kinds: &[T]) -> bool {
        matches!(self.last(0), Some(Part::Token(kind)) if kinds.contains(&kind))
    }

    /// Removes the last `count` parts and their text.
    fn drop_parts(&mut self, count: usize) {
        for _ in 0..count {
            if let Some((_, start)) = self.parts.pop() {
                self.out.truncate(start);
            }
        }
    }

    /// Writes a value. A sign before a number, and a list of values before it, merge into the part.
    fn value(&mut self, number: bool) {
        while number && self.ends(&[T::Minus, T::Plus]) && self.sign_is_unary() {
            self.drop_parts(1);
        }
        let list = matches!(self.last(1), Some(Part::Value | Part::Values));
        if list && self.ends(&[T::Comma]) {
            self.drop_parts(2);
            return self.part(Part::Values, "?, ...");
        }
        self.part(Part::Value, "?");
    }

    /// Whether a sign belongs to the number after it. Compat: in MariaDB it does after these
    /// tokens, but not after comparison operators.
    fn sign_is_unary(&self) -> bool {
        use T::*;
        let Some(Part::Token(kind)) = self.last(1) else { return false };
        let word = matches!(
            kind,
            Word(
                Kw::SELECT
                    | Kw::OR
                    | Kw::XOR
                    | Kw::AND
                    | Kw::NOT
                    | Kw::BETWEEN
                    | Kw::LIKE
                    | Kw::REGEXP
            ) | Word(Kw::INTERVAL | Kw::DIV | Kw::MOD | Kw::CASE | Kw::WHEN | Kw::DEFAULT | Kw::IF)
        );
        let sign =
            matches!(kind, LParen | Comma | Pipe | Amp | ShiftLeft | ShiftRight | Plus | Minus);
        word || sign || matches!(kind, Star | Slash | Percent | Caret | AndAnd | PipePipe)
    }

    /// Writes a closing parenthesis. A row of values becomes one part, a list of rows another.
    fn close(&mut self) {
        let opened = matches!(self.last(1), Some(Part::Token(T::LParen)));
        let (row, rows, text) = match self.last(0) {
            Some(Part::Value) if opened => (Part::Row, Part::Rows, "(?)"),
            Some(Part::Values) if opened => (Part::WideRow, Part::WideRows, "(...)"),
            _ => return self.part(Part::Token(T::RParen), ")"),
        };
        self.drop_parts(2);
        let list = self.last(1).is_some_and(|p| p == row || p == rows);
        if list && self.ends(&[T::Comma]) {
            self.drop_parts(2);
            self.part(rows, text);
            return self.out.push_str(" /* , ... */");
        }
        self.part(row, text);
    }

    fn token_text(&mut self, token: Token) {
        let raw = &self.text[token.start as usize..token.end as usize];
        match token.kind {
            // Compat: MariaDB prints the last word of its list for a token.
            T::Word(Kw::DISTINCT) => self.out.push_str("DISTINCTROW"),
            T::Ne => self.out.push_str("!="),
            T::Word(kw) | T::Func(kw) if kw != Kw::NotKeyword => self.out.push_str(kw.text()),
            T::Word(_) | T::Func(_) => self.name(raw),
            T::Quoted => {
                let mut name = Vec::with_capacity(raw.len());
                unescape(raw, false, &mut name);
                self.name(&name);
            }
            _ => self.out.push_str(&String::from_utf8_lossy(raw)),
        }
    }

    fn name(&mut self, name: &[u8]) {
        self.out.push('`');
        self.out.push_str(&String::from_utf8_lossy(name));
        self.out.push('`');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let cases = [
            ("select 1", "SELECT ?"),
            ("select 1, 'x' , 3;", "SELECT ?, ..."),
            (
                "select a,1,'x' from t where a in (1,2) and c=-1",
                "SELECT `a` , ?, ... FROM `t` WHERE `a` IN (...) AND `c` = - ?",
            ),
            ("insert into t values (1,2),(3,4)", "INSERT INTO `t` VALUES (...) /* , ... */"),
            ("insert into t values (1),(2),(3)", "INSERT INTO `t` VALUES (?) /* , ... */"),
            (
                "insert into t values (1,2),(3,4),(5,a)",
                "INSERT INTO `t` VALUES (...) /* , ... */ , ( ? , `a` )",
            ),
            (
                "select t.a from s.`t` where x is null",
                "SELECT `t` . `a` FROM `s` . `t` WHERE `x` IS NULL",
            ),
            ("select count(*), count (1)", "SELECT COUNT ( * ) , `count` (?)"),
            ("select -1, - 1, +1, 1-1, 1 - -1", "SELECT ?, ... - ?, ... - ?"),
            ("select ((1))", "SELECT ( (?) )"),
            ("call p(1,2,@a)", "CALL `p` ( ?, ... , @? )"),
            ("select /* c */ 1 -- x", "SELECT ?"),
        ];
        for (sql, text) in cases {
            assert_eq!(digest(sql.as_bytes(), SqlMode::DEFAULT).text, text, "{sql}");
        }
    }

    #[test]
    fn equal_texts_equal_hashes() {
        let a = digest(b"SELECT a FROM t WHERE b = 1", SqlMode::DEFAULT);
        let b = digest(b"select  a from t where b='x' -- c", SqlMode::DEFAULT);
        assert_eq!(a, b);
        assert_ne!(a.hash, digest(b"select a from t", SqlMode::DEFAULT).hash);
    }
}
