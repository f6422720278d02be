//! Statements of MariaDB that have no tree: recognised by their first words and answered with error
//! 1235.

use super::{PResult, Parser};
use crate::ast::Statement;
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// Consumes the text up to the semicolon as one statement.
    fn swallow_one(&mut self, what: &'static str) -> PResult<Statement> {
        while !self.at(T::Eof) && !self.at(T::Semicolon) {
            if self.at(T::Bad) {
                return Err(self.error());
            }
            self.next();
        }
        Ok(Statement::Unsupported { what })
    }

    /// CREATE of unsupported objects, after CREATE.
    pub(super) fn unsupported_create(&mut self) -> PResult<Statement> {
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        match kw {
            Kw::TABLESPACE => self.swallow_one("CREATE TABLESPACE"),
            Kw::LOGFILE => self.swallow_one("CREATE LOGFILE GROUP"),
            _ => Err(self.error()),
        }
    }

    pub(super) fn unsupported_alter(&mut self) -> PResult<Statement> {
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        match kw {
            Kw::TABLESPACE => self.swallow_one("ALTER TABLESPACE"),
            Kw::LOGFILE => self.swallow_one("ALTER LOGFILE GROUP"),
            _ => Err(self.error()),
        }
    }

    pub(super) fn unsupported_drop(&mut self) -> PResult<Statement> {
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        match kw {
            Kw::TABLESPACE => self.swallow_one("DROP TABLESPACE"),
            Kw::LOGFILE => self.swallow_one("DROP LOGFILE GROUP"),
            _ => Err(self.error()),
        }
    }

    /// The rest of a statement that is recognised as unsupported.
    pub(super) fn unsupported_rest(&mut self, what: &'static str) -> PResult<Statement> {
        self.swallow_one(what)
    }
}
