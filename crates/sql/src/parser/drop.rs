//! DROP, RENAME TABLE, TRUNCATE.
//! DROP of stored objects is in `stored.rs`, of accounts in `account.rs`.

use super::{PResult, Parser};
use crate::ast::{DropIndex, DropTables, RenameTables, Statement, TableKind};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn drop_statement(&mut self) -> PResult<Statement> {
        self.next();
        let temporary = self.eat(Kw::TEMPORARY);
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        match kw {
            Kw::TABLE | Kw::TABLES => self.drop_tables(TableKind::Table, temporary),
            Kw::SEQUENCE => self.drop_tables(TableKind::Sequence, temporary),
            _ if temporary => Err(self.error()),
            Kw::VIEW => self.drop_tables(TableKind::View, false),
            Kw::INDEX => self.drop_index(),
            Kw::DATABASE | Kw::SCHEMA => {
                self.next();
                let if_exists = self.if_exists()?;
                Ok(Statement::DropDatabase { if_exists, name: self.ident()? })
            }
            Kw::USER | Kw::ROLE => self.drop_accounts(),
            Kw::PREPARE => {
                self.next();
                Ok(Statement::Deallocate(self.ident()?))
            }
            _ => self.drop_stored(),
        }
    }

    fn drop_tables(&mut self, kind: TableKind, temporary: bool) -> PResult<Statement> {
        self.next();
        let if_exists = self.if_exists()?;
        let names = self.list(Self::table_name)?;
        let wait = self.lock_wait_opt()?;
        self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
        Ok(Statement::DropTables(DropTables { kind, temporary, if_exists, names, wait }.into()))
    }

    fn drop_index(&mut self) -> PResult<Statement> {
        self.next();
        let if_exists = self.if_exists()?;
        let name = self.index_name()?;
        self.expect(Kw::ON)?;
        let table = self.table_name()?;
        let wait = self.lock_wait_opt()?;
        let (algorithm, lock) = self.algorithm_and_lock()?;
        Ok(Statement::DropIndex(DropIndex { if_exists, name, table, wait, algorithm, lock }.into()))
    }

    /// `RENAME TABLE` or `RENAME USER`.
    pub(super) fn rename(&mut self) -> PResult<Statement> {
        self.next();
        if self.eat(Kw::USER) {
            return Ok(Statement::RenameUsers(self.list(|p| {
                let from = p.account()?;
                p.expect(Kw::TO)?;
                Ok((from, p.account()?))
            })?));
        }
        self.expect_any(&[Kw::TABLE, Kw::TABLES])?;
        let if_exists = self.if_exists()?;
        let mut wait = None;
        let pairs = self.list(|p| {
            let from = p.table_name()?;
            wait = wait.or(p.lock_wait_opt()?);
            p.expect(Kw::TO)?;
            Ok((from, p.new_table_name()?))
        })?;
        Ok(Statement::RenameTables(RenameTables { if_exists, pairs, wait }.into()))
    }

    pub(super) fn truncate(&mut self) -> PResult<Statement> {
        self.next();
        self.eat(Kw::TABLE);
        let table = self.table_name()?;
        let wait = self.lock_wait_opt()?;
        self.eat_any(&[Kw::RESTRICT, Kw::CASCADE]);
        if self.is_oracle() && self.eat_any(&[Kw::DROP, Kw::REUSE]).is_some() {
            self.expect(Kw::STORAGE)?;
        }
        Ok(Statement::Truncate { table, wait })
    }
}
