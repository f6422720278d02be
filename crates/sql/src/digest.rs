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

/// The digest of a statement.
pub fn digest(text: &[u8], sql_mode: SqlMode) -> Digest {
    digest_within(text, sql_mode, usize::MAX)
}

/// The digest of the beginning of a statement: of the tokens that have room in `limit` bytes, where
/// a word of the grammar takes two bytes and a name two more than its length and those.
pub fn digest_within(text: &[u8], sql_mode: SqlMode, limit: usize) -> Digest {
    let mut lexer = Lexer::new(text, Modes::new(sql_mode));
    let capacity = text.len().min(limit) + 16;
    let mut builder =
        Builder { text, out: String::with_capacity(capacity), parts: Vec::new(), used: 0 };
    loop {
        let token = lexer.next();
        let size = size(token);
        match token.kind {
            T::Eof | T::Bad => break,
            // The one at the end of the text does not belong to the statement.
            T::Semicolon if text[token.end as usize..].trim_ascii().is_empty() => break,
            _ if builder.used + size > limit => break,
            _ => builder.push(token, size),
        }
    }
    // Compat: there is a blank behind every token.
    if !builder.out.is_empty() {
        builder.out.push(' ');
    }
    Digest { hash: hash(builder.out.as_bytes()), text: builder.out }
}

/// Bytes of a token against the limit.
fn size(token: Token) -> usize {
    const WORD: usize = 2;
    match token.kind {
        T::Word(Kw::NotKeyword) | T::Func(Kw::NotKeyword) => {
            WORD + 2 + (token.end - token.start) as usize
        }
        T::Quoted => WORD + 2 + (token.end - token.start).saturating_sub(2) as usize,
        T::UserVar => 2 * WORD,
        _ => WORD,
    }
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
    /// The parts, each with the offset of its text, the blank before it included, and the bytes
    /// that were used before it.
    parts: Vec<(Part, usize, usize)>,
    /// Bytes of the parts.
    used: usize,
}

impl Builder<'_> {
    fn push(&mut self, token: Token, size: usize) {
        self.add(token);
        self.used += size;
    }

    fn add(&mut self, token: Token) {
        match token.kind {
            T::Int | T::Decimal | T::Float | T::HexNumber | T::BitNumber | T::BitString => {
                self.value(true);
            }
            T::Str | T::NationalStr | T::Param | T::NullSign => self.value(false),
            T::Word(Kw::NULL) if !self.null_is_word() => self.value(false),
            T::RParen => self.close(),
            T::UserVar if self.text[token.start as usize..].starts_with(b"@`") => {
                self.begin(Part::Token(T::Quoted));
                let name = &self.text[token.start as usize + 1..token.end as usize];
                self.out.push('@');
                self.quoted(name);
            }
            T::UserVar => {
                // Compat: the name behind `@` is a value, which may begin a list.
                self.part(Part::Token(T::UserVar), "@");
                self.part(Part::Value, "?");
            }
            // Compat: MariaDB has no text for these tokens.
            T::HexString | T::DotDot => self.part(Part::Token(token.kind), "(unknown)"),
            T::Introducer => self.part(Part::Token(T::Introducer), "(_charset)"),
            kind => {
                self.begin(Part::Token(kind));
                self.token_text(token);
            }
        }
    }

    fn begin(&mut self, part: Part) {
        let start = self.out.len();
        let is_variable = self.ends(&[T::AtAt, T::UserVar]);
        self.parts.push((part, start, self.used));
        if start > 0 && !is_variable {
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
            if let Some((_, start, used)) = self.parts.pop() {
                self.out.truncate(start);
                self.used = used;
            }
        }
    }

    /// Whether NULL is not a value here: behind IS and NOT, or as an attribute of a column, behind
    /// its type or another attribute.
    fn null_is_word(&self) -> bool {
        match self.last(0) {
            Some(Part::Row | Part::Rows | Part::WideRow | Part::WideRows) => true,
            Some(Part::Token(T::RParen | T::Quoted)) => true,
            Some(Part::Token(T::Word(kw))) => is_before_null(kw),
            _ => false,
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
                | Word(Kw::EVERY)
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
            T::Ne => self.out.push_str("!="),
            T::Word(kw) | T::Func(kw) if kw != Kw::NotKeyword => self.out.push_str(shown(kw)),
            T::Word(_) if self.last(1) == Some(Part::Token(T::AtAt)) && is_scope(raw) => {
                self.out.push_str(&String::from_utf8_lossy(raw).to_uppercase());
            }
            T::Word(_) | T::Func(_) => self.name(raw),
            T::Quoted => self.quoted(raw),
            _ => self.out.push_str(&String::from_utf8_lossy(raw)),
        }
    }

    fn quoted(&mut self, raw: &[u8]) {
        let mut name = Vec::with_capacity(raw.len());
        unescape(raw, false, &mut name);
        self.name(&name);
    }

    fn name(&mut self, name: &[u8]) {
        self.out.push('`');
        self.out.push_str(&String::from_utf8_lossy(name));
        self.out.push('`');
    }
}

/// Whether a word behind `@@` says whose variable is meant.
fn is_scope(word: &[u8]) -> bool {
    [&b"global"[..], b"session", b"local"].iter().any(|scope| word.eq_ignore_ascii_case(scope))
}

/// The word shown for one of the grammar. Compat: of several words for the same token, MariaDB
/// prints the last one of its list.
fn shown(kw: Kw) -> &'static str {
    match kw {
        Kw::ANY => "SOME",
        Kw::BIGINT => "INT8",
        Kw::CHAR => "CHARACTER",
        Kw::COLUMNS => "FIELDS",
        Kw::CURRENT_DATE => "CURDATE",
        Kw::CURRENT_TIME => "CURTIME",
        Kw::CURRENT_TIMESTAMP | Kw::LOCALTIME | Kw::LOCALTIMESTAMP => "NOW",
        Kw::DATABASE => "SCHEMA",
        Kw::DATABASES => "SCHEMAS",
        Kw::DAY => "SQL_TSI_DAY",
        Kw::DEC => "DECIMAL",
        Kw::DESCRIBE => "EXPLAIN",
        Kw::DISTINCT => "DISTINCTROW",
        Kw::DOUBLE => "FLOAT8",
        Kw::FLOAT => "FLOAT4",
        Kw::HOUR => "SQL_TSI_HOUR",
        Kw::INT | Kw::INT4 => "INTEGER",
        Kw::INT1 => "TINYINT",
        Kw::INT2 => "SMALLINT",
        Kw::INT3 | Kw::MEDIUMINT => "MIDDLEINT",
        Kw::MID | Kw::SUBSTR => "SUBSTRING",
        Kw::MINUTE => "SQL_TSI_MINUTE",
        Kw::MONTH => "SQL_TSI_MONTH",
        Kw::QUARTER => "SQL_TSI_QUARTER",
        Kw::REGEXP => "RLIKE",
        Kw::SECOND => "SQL_TSI_SECOND",
        Kw::SESSION_USER | Kw::USER => "SYSTEM_USER",
        Kw::SQL_TSI_WEEK => "WEEK",
        Kw::SQL_TSI_YEAR => "YEAR",
        Kw::STD | Kw::STDDEV => "STDDEV_POP",
        Kw::VARCHAR => "VARCHARACTER",
        Kw::VARIANCE => "VAR_POP",
        other => other.text(),
    }
}

/// Whether a word that stands before NULL makes it a word too.
fn is_before_null(kw: Kw) -> bool {
    let decides = matches!(kw, Kw::IS | Kw::NOT | Kw::SET | Kw::AUTO_INCREMENT)
        || matches!(kw, Kw::NotKeyword | Kw::UNSIGNED | Kw::ZEROFILL);
    let is_number = matches!(
        kw,
        Kw::TINYINT
            | Kw::SMALLINT
            | Kw::MEDIUMINT
            | Kw::INT
            | Kw::INTEGER
            | Kw::BIGINT
            | Kw::INT1
            | Kw::INT2
            | Kw::INT3
            | Kw::INT4
            | Kw::INT8
            | Kw::MIDDLEINT
            | Kw::DECIMAL
            | Kw::DEC
            | Kw::NUMERIC
            | Kw::FIXED
            | Kw::FLOAT
            | Kw::FLOAT4
            | Kw::FLOAT8
            | Kw::REAL
            | Kw::DOUBLE
            | Kw::PRECISION
            | Kw::BOOL
            | Kw::BOOLEAN
            | Kw::BIT
    );
    let is_text = matches!(
        kw,
        Kw::CHAR
            | Kw::CHARACTER
            | Kw::VARCHAR
            | Kw::VARCHARACTER
            | Kw::BINARY
            | Kw::VARBINARY
            | Kw::NCHAR
            | Kw::TEXT
            | Kw::TINYTEXT
            | Kw::MEDIUMTEXT
            | Kw::LONGTEXT
            | Kw::LONG
            | Kw::BLOB
            | Kw::TINYBLOB
            | Kw::MEDIUMBLOB
            | Kw::LONGBLOB
            | Kw::JSON
    );
    let is_time = matches!(kw, Kw::DATE | Kw::TIME | Kw::DATETIME | Kw::TIMESTAMP | Kw::YEAR);
    decides || is_number || is_text || is_time
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
            ("select f(@a, 1), @b", "SELECT `f` ( @?, ... ) , @?"),
            ("select /* c */ 1 -- x", "SELECT ?"),
            ("select x'41', 0x41, @@port, @`a`", "SELECT (unknown) , ? , @@PORT , @`a`"),
            (
                "create table t(a int null default null, b char(3) null)",
                "CREATE TABLE `t` ( `a` INTEGER NULL DEFAULT ? , `b` CHARACTER (?) NULL )",
            ),
            ("begin not atomic do 1; end;", "BEGIN NOT ATOMIC DO ? ; END"),
            (
                "select std(a), now() + interval 1 day",
                "SELECT STDDEV_POP ( `a` ) , NOW ( ) + INTERVAL ? SQL_TSI_DAY",
            ),
        ];
        for (sql, text) in cases {
            assert_eq!(digest(sql.as_bytes(), SqlMode::DEFAULT).text, format!("{text} "), "{sql}");
        }
    }

    #[test]
    fn a_limit() {
        let list = vec!["a"; 600].join(",");
        let text = format!("select {list} from t");
        let digest = |text: &str| digest_within(text.as_bytes(), SqlMode::DEFAULT, 1024).text;
        assert_eq!(digest(&text).len(), 883);
        let values = vec!["1"; 6000].join(",");
        assert_eq!(digest(&format!("select {values} from t")), "SELECT ?, ... FROM `t` ");
    }

    #[test]
    fn equal_texts_equal_hashes() {
        let a = digest(b"SELECT a FROM t WHERE b = 1", SqlMode::DEFAULT);
        let b = digest(b"select  a from t where b='x' -- c", SqlMode::DEFAULT);
        assert_eq!(a, b);
        assert_ne!(a.hash, digest(b"select a from t", SqlMode::DEFAULT).hash);
    }
}
