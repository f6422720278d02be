//! The grammar of strict queries. Returns for every input; nesting is limited, because trees are
//! dropped recursively.

use selkie_types::stack;

use super::lexer::{Lexeme, Lexer};
use crate::{Mode, SyntaxError};

/// Greatest depth of parentheses.
const DEEPEST: usize = 1_000;

/// The operator before an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// The expression is optional.
    Optional,
    /// `+`
    Required,
    /// `-`
    Forbidden,
    /// `>`
    Raises,
    /// `<`
    Lowers,
    /// `~`
    Negates,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node<'q> {
    /// Words in a row without separators of the query language.
    Term {
        /// Their text.
        text: &'q [u8],
        /// Any word that begins with it.
        prefix: bool,
    },
    /// A quoted text.
    Phrase {
        /// Its text.
        text: &'q [u8],
        /// All words are within a stretch of this number of tokens.
        within: Option<u64>,
    },
    /// Parentheses.
    Group(Vec<(Sign, Node<'q>)>),
}

/// Expressions with their operators.
pub(super) type List<'q> = Vec<(Sign, Node<'q>)>;

/// The expressions of a query.
pub(super) fn parse(query: &[u8], mode: Mode) -> Result<List<'_>, SyntaxError> {
    let mut lexer = Lexer::new(query, mode);
    let next = lexer.next();
    let mut parser = Parser { lexer, next, depth: 0 };
    parser.list()
}

struct Parser<'q> {
    lexer: Lexer<'q>,
    next: Lexeme<'q>,
    depth: usize,
}

impl<'q> Parser<'q> {
    fn advance(&mut self) -> Lexeme<'q> {
        std::mem::replace(&mut self.next, self.lexer.next())
    }

    fn unexpected<T>(&self, expected: &str) -> Result<T, SyntaxError> {
        let expected = match expected {
            "" => String::new(),
            expected => format!(", expecting {expected}"),
        };
        Err(SyntaxError(format!("syntax error, unexpected {}{expected}", self.next.name())))
    }

    /// Expressions up to the end, or up to the closing parenthesis.
    fn list(&mut self) -> Result<List<'q>, SyntaxError> {
        stack::ensure();
        let mut out = Vec::new();
        loop {
            match self.next {
                Lexeme::End if self.depth == 0 => return Ok(out),
                Lexeme::Sign(b')') if self.depth > 0 => {
                    self.advance();
                    return Ok(out);
                }
                Lexeme::End | Lexeme::Sign(b')' | b'@') => {
                    return self.unexpected(if self.depth == 0 { "$end" } else { "" });
                }
                _ => {}
            }
            let sign = self.sign();
            out.push((sign, self.node()?));
        }
    }

    fn sign(&mut self) -> Sign {
        let sign = match self.next {
            Lexeme::Sign(b'+') => Sign::Required,
            Lexeme::Sign(b'-') => Sign::Forbidden,
            Lexeme::Sign(b'>') => Sign::Raises,
            Lexeme::Sign(b'<') => Sign::Lowers,
            Lexeme::Sign(b'~') => Sign::Negates,
            _ => return Sign::Optional,
        };
        self.advance();
        sign
    }

    fn node(&mut self) -> Result<Node<'q>, SyntaxError> {
        match self.next {
            Lexeme::Term(text) | Lexeme::Number(text) => {
                self.advance();
                let prefix = self.next == Lexeme::Sign(b'*');
                if prefix {
                    self.advance();
                }
                Ok(Node::Term { text, prefix })
            }
            Lexeme::Text(text) => {
                self.advance();
                let within = self.within()?;
                Ok(Node::Phrase { text, within })
            }
            Lexeme::Sign(b'*') => self.starred(),
            Lexeme::Sign(b'(') => {
                self.advance();
                if self.depth == DEEPEST {
                    return Err(SyntaxError("memory exhausted".to_owned()));
                }
                self.depth += 1;
                let list = self.list();
                self.depth -= 1;
                Ok(Node::Group(list?))
            }
            _ => self.unexpected(""),
        }
    }

    /// A term after stars, which mean nothing there.
    fn starred(&mut self) -> Result<Node<'q>, SyntaxError> {
        while self.next == Lexeme::Sign(b'*') {
            self.advance();
        }
        match self.next {
            Lexeme::Term(_) | Lexeme::Number(_) => self.node(),
            _ => self.unexpected("FTS_TERM or FTS_NUMB or '*'"),
        }
    }

    /// The distance after a phrase.
    fn within(&mut self) -> Result<Option<u64>, SyntaxError> {
        if self.next != Lexeme::Sign(b'@') {
            return Ok(None);
        }
        self.advance();
        let Lexeme::Number(digits) = self.next else { return self.unexpected("FTS_NUMB") };
        self.advance();
        let add = |value: u64, digit: &u8| {
            value.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        };
        Ok(Some(digits.iter().fold(0, add)))
    }
}
