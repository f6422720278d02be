//! BEGIN, START TRANSACTION, COMMIT, ROLLBACK, savepoints.
//! Inside a program BEGIN opens a block instead (`program/control.rs`).

use super::{PResult, Parser};
use crate::ast::{Statement, Transaction};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn begin(&mut self) -> PResult<Statement> {
        if self.is_oracle() || self.peek() == T::Word(Kw::NOT) {
            return self.compound_statement();
        }
        self.next();
        self.eat(Kw::WORK);
        if !self.at(T::Eof) && !self.at(T::Semicolon) {
            return Err(self.error());
        }
        Ok(Statement::Transaction(Transaction::Begin {
            consistent_snapshot: false,
            read_only: None,
        }))
    }

    pub(super) fn start(&mut self) -> PResult<Statement> {
        self.next();
        if !self.at(Kw::TRANSACTION) {
            return self.start_stop_slave(true);
        }
        self.next();
        let (mut consistent_snapshot, mut read_only) = (false, None);
        let mut first = true;
        while self.at_any(&[Kw::WITH, Kw::READ]) || !first {
            if self.eat(Kw::WITH) {
                self.expect_all(&[Kw::CONSISTENT, Kw::SNAPSHOT])?;
                consistent_snapshot = true;
            } else {
                self.expect(Kw::READ)?;
                let only = self.expect_any(&[Kw::ONLY, Kw::WRITE])? == Kw::ONLY;
                if read_only.is_some_and(|r| r != only) {
                    return Err(self.error());
                }
                read_only = Some(only);
            }
            first = false;
            if !self.eat(T::Comma) {
                break;
            }
        }
        Ok(Statement::Transaction(Transaction::Begin { consistent_snapshot, read_only }))
    }

    pub(super) fn commit(&mut self) -> PResult<Statement> {
        self.next();
        self.eat(Kw::WORK);
        let (chain, release) = self.completion()?;
        Ok(Statement::Transaction(Transaction::Commit { chain, release }))
    }

    pub(super) fn rollback(&mut self) -> PResult<Statement> {
        self.next();
        self.eat(Kw::WORK);
        if self.eat(Kw::TO) {
            if self.at(Kw::SAVEPOINT) && !matches!(self.peek(), T::Eof | T::Semicolon) {
                self.next();
            }
            return Ok(Statement::Transaction(Transaction::RollbackTo(self.ident()?)));
        }
        let (chain, release) = self.completion()?;
        Ok(Statement::Transaction(Transaction::Rollback { chain, release }))
    }

    /// `[AND [NO] CHAIN] [[NO] RELEASE]`.
    fn completion(&mut self) -> PResult<(Option<bool>, Option<bool>)> {
        let (mut chain, mut release) = (None, None);
        if self.eat(Kw::AND) {
            chain = Some(!self.eat(Kw::NO));
            self.expect(Kw::CHAIN)?;
        }
        if self.eat(Kw::NO) {
            self.expect(Kw::RELEASE)?;
            release = Some(false);
        } else if self.at(Kw::RELEASE) && chain != Some(true) {
            self.next();
            release = Some(true);
        }
        Ok((chain, release))
    }

    pub(super) fn savepoint(&mut self) -> PResult<Statement> {
        self.next();
        Ok(Statement::Transaction(Transaction::Savepoint(self.ident()?)))
    }

    pub(super) fn release(&mut self) -> PResult<Statement> {
        self.next();
        self.expect(Kw::SAVEPOINT)?;
        Ok(Statement::Transaction(Transaction::Release(self.ident()?)))
    }
}
