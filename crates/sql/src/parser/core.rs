//! The parser's state: tokens, errors, limits.
//! Must not know any statement: the files of the statement families are built on it.

use selkie_meter::tick;
use selkie_types::error::catalogue::{ER_STACK_OVERRUN_NEED_MORE, ErrorDef};
use selkie_types::{SqlError, SqlMode, stack};

use super::PResult;
use crate::ClientText;
use crate::ast::Span;
use crate::lexer::{Kw, Lexer, Modes, T, Token};

/// Greatest height of any expression. MariaDB's stack overflows at about half of it.
const MAX_HEIGHT: u32 = 1000;
/// Deepest nesting of SELECTs, as in MariaDB.
pub(super) const MAX_SELECT_NESTING: u32 = 64;

/// A place in a statement.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// `VALUES(column)` is a function: the parser is after ON DUPLICATE KEY UPDATE.
    pub(super) values_function: bool,
    /// A string type needs no length.
    pub(super) any_length: bool,
    /// Number of derived tables without a name so far.
    pub(super) unnamed: u32,
}

/// State of a parser inside a statement.
pub(crate) struct Parser<'a> {
    pub(super) text: &'a [u8],
    pub(super) mode: SqlMode,
    lexer: Lexer<'a>,
    /// The client's text that `text` is a part of, with the offset of that part; `None` for a
    /// client that uses UTF-8.
    pub(crate) origin: Option<(&'a ClientText, usize)>,
    /// The next token, not yet consumed.
    pub(super) tok: Token,
    ahead: Option<Token>,
    /// End of the last consumed token.
    pub(super) prev_end: u32,
    /// Number of parameters so far.
    pub(super) params: u32,
    pub(super) selects: u32,
    /// Number of joins so far in the current FROM.
    pub(super) joins: usize,
    /// The place in the statement, as far as it changes the meaning of words.
    pub(super) place: Place,
    /// An `INTO` that stood before FROM, kept for its query.
    pub(super) early_into: Option<Box<crate::ast::IntoTarget>>,
    /// The current query may have INTO.
    pub(super) into_allowed: bool,
    /// The next query may have INTO.
    pub(super) into_next: bool,
    /// The next SELECT is the first of a statement or of a statement's stored query: it may have
    /// options about the handling of its rows.
    pub(super) leading: bool,
    /// The enclosing stored program with the names it knows.
    pub(super) program: Option<Box<super::program::Scope>>,
    /// Greatest height of the expressions completed since the innermost [`Parser::measured`] began.
    height: u32,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a [u8], mode: SqlMode) -> Self {
        let mut lexer = Lexer::new(text, Modes::new(mode));
        let tok = lexer.next();
        Self {
            text,
            mode,
            lexer,
            origin: None,
            tok,
            ahead: None,
            prev_end: 0,
            params: 0,
            selects: 0,
            joins: 0,
            place: Place::default(),
            early_into: None,
            into_allowed: false,
            into_next: false,
            leading: false,
            program: None,
            height: 0,
        }
    }

    /// Consumes the next token and returns it.
    pub(super) fn next(&mut self) -> Token {
        tick(16);
        let next = match self.ahead.take() {
            Some(token) => token,
            None => self.lexer.next(),
        };
        self.prev_end = self.tok.end;
        std::mem::replace(&mut self.tok, next)
    }

    /// Kind of the token after the next.
    pub(super) fn peek(&mut self) -> T {
        self.peek_token().kind
    }

    pub(super) fn peek_token(&mut self) -> Token {
        match self.ahead {
            Some(token) => token,
            None => *self.ahead.insert(self.lexer.next()),
        }
    }

    /// A lexer that continues after [`Parser::peek`], for a longer lookahead.
    pub(super) fn look_further(&mut self) -> Lexer<'a> {
        self.peek();
        self.lexer
    }

    pub(super) fn at(&self, kind: impl Into<T>) -> bool {
        self.tok.kind == kind.into()
    }

    pub(super) fn at_any(&self, words: &[Kw]) -> bool {
        matches!(self.tok.kind, T::Word(kw) if words.contains(&kw))
    }

    /// Whether the next two tokens are these.
    pub(super) fn at2(&mut self, first: impl Into<T>, second: impl Into<T>) -> bool {
        self.at(first) && self.peek() == second.into()
    }

    pub(super) fn eat(&mut self, kind: impl Into<T>) -> bool {
        let found = self.at(kind);
        if found {
            self.next();
        }
        found
    }

    /// Consumes both tokens if they are these.
    pub(super) fn eat2(&mut self, first: impl Into<T>, second: impl Into<T>) -> bool {
        let found = self.at2(first, second);
        if found {
            self.next();
            self.next();
        }
        found
    }

    /// Consumes the next word if it is one of these.
    pub(super) fn eat_any(&mut self, words: &[Kw]) -> Option<Kw> {
        match self.tok.kind {
            T::Word(kw) if words.contains(&kw) => {
                self.next();
                Some(kw)
            }
            _ => None,
        }
    }

    pub(super) fn expect(&mut self, kind: impl Into<T>) -> PResult<()> {
        if self.eat(kind) { Ok(()) } else { Err(self.error()) }
    }

    pub(super) fn expect_all(&mut self, words: &[Kw]) -> PResult<()> {
        words.iter().try_for_each(|&kw| self.expect(kw))
    }

    /// Consumes the next word, which must be one of these.
    pub(super) fn expect_any(&mut self, words: &[Kw]) -> PResult<Kw> {
        self.eat_any(words).ok_or_else(|| self.error())
    }

    /// `IF EXISTS`, if present.
    pub(super) fn if_exists(&mut self) -> PResult<bool> {
        let found = self.eat(Kw::IF);
        if found {
            self.expect(Kw::EXISTS)?;
        }
        Ok(found)
    }

    /// `IF NOT EXISTS`, if present.
    pub(super) fn if_not_exists(&mut self) -> PResult<bool> {
        let found = self.eat(Kw::IF);
        if found {
            self.expect_all(&[Kw::NOT, Kw::EXISTS])?;
        }
        Ok(found)
    }

    /// One or more items separated by commas.
    pub(super) fn list<R>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> PResult<R>,
    ) -> PResult<Vec<R>> {
        let mut items = vec![item(self)?];
        while self.eat(T::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// A list in parentheses.
    pub(super) fn paren_list<R>(
        &mut self,
        item: impl FnMut(&mut Self) -> PResult<R>,
    ) -> PResult<Vec<R>> {
        self.parens(|p| p.list(item))
    }

    /// `inner` in parentheses.
    pub(super) fn parens<R>(&mut self, inner: impl FnOnce(&mut Self) -> PResult<R>) -> PResult<R> {
        self.expect(T::LParen)?;
        let inner = inner(self)?;
        self.expect(T::RParen)?;
        Ok(inner)
    }

    pub(super) fn raw(&self, token: Token) -> &'a [u8] {
        &self.text[token.start as usize..token.end as usize]
    }

    /// The span from `start` to the end of the last consumed token.
    pub(super) fn span_from(&self, start: u32) -> Span {
        Span::new(start, self.prev_end.max(start))
    }

    /// The syntax error at the next token.
    #[cold]
    pub(super) fn error(&self) -> SqlError {
        self.error_at(self.tok)
    }

    /// The syntax error at a token.
    #[cold]
    pub(super) fn error_at(&self, token: Token) -> SqlError {
        crate::error::syntax_error(self.text, self.mode, token)
    }

    /// The syntax error at a token after which the parser has looked ahead. Compat: it names the
    /// line of the token that comes next.
    #[cold]
    pub(super) fn error_before(&self, token: Token) -> SqlError {
        crate::error::error_before(self.text, self.mode, (token, self.tok))
    }

    /// An error of the catalogue that also quotes the place in the text.
    #[cold]
    pub(super) fn error_named(&self, def: &ErrorDef) -> SqlError {
        crate::error::error_at(def, self.text, self.mode, self.tok)
    }

    /// A catalogue error.
    #[cold]
    pub(super) fn fail<R>(&self, def: &ErrorDef, args: &[&dyn std::fmt::Display]) -> PResult<R> {
        Err(SqlError::new(def, args))
    }

    /// Runs one level of the grammar's recursion.
    pub(super) fn nested<R>(&mut self, inner: impl FnOnce(&mut Self) -> PResult<R>) -> PResult<R> {
        stack::check()?;
        inner(self)
    }

    /// Runs `inner` and returns the height of the expressions it made.
    pub(super) fn measured<R>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> PResult<R>,
    ) -> PResult<(R, u32)> {
        let outer = std::mem::replace(&mut self.height, 0);
        let result = inner(self)?;
        let height = self.height + 1;
        if height > MAX_HEIGHT {
            return Err(too_deep(height));
        }
        self.height = outer.max(height);
        Ok((result, height))
    }

    /// Runs `inner` and returns the height of the expression it made, which is not yet part of
    /// another expression.
    pub(super) fn weighed<R>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> PResult<R>,
    ) -> PResult<(R, u32)> {
        let outer = std::mem::replace(&mut self.height, 0);
        let result = inner(self)?;
        Ok((result, std::mem::replace(&mut self.height, outer)))
    }

    /// Undoes the count of a level for parentheses, which make no node.
    pub(super) fn leave_parentheses(&mut self) {
        self.height = self.height.saturating_sub(1);
    }

    /// Height of a node whose children have the given heights.
    pub(super) fn grow(&mut self, a: u32, b: u32) -> PResult<u32> {
        let height = a.max(b) + 1;
        if height > MAX_HEIGHT {
            return Err(too_deep(height));
        }
        self.height = self.height.max(height);
        Ok(height)
    }
}

/// The error for too much nesting. Compat: MariaDB measures its stack; the numbers imitate its
/// message.
#[cold]
fn too_deep(levels: u32) -> SqlError {
    let used = u64::from(levels) * 1024;
    SqlError::new(&ER_STACK_OVERRUN_NEED_MORE, &[&used, &299_008, &32_000])
}
