//! Prepared statements, KILL, LOCK TABLES, CALL, DO, USE, HELP, BINLOG.
//! The text of a prepared statement is not parsed here: it is a value.

use super::{PResult, Parser};
use crate::ast::{
    BinlogText, Call, Do, Execute, ExecuteImmediate, Kill, KillTarget, KillWhat, LockMode,
    LockTable, LockTables, Prepare, Statement, TableName,
};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn prepare(&mut self) -> PResult<Statement> {
        self.next();
        let name = self.ident()?;
        self.expect(Kw::FROM)?;
        Ok(Statement::Prepare(Prepare { name, source: self.variables_only(Self::expr)? }.into()))
    }

    pub(super) fn execute(&mut self) -> PResult<Statement> {
        self.next();
        if self.eat(Kw::IMMEDIATE) {
            let source = self.variables_only(Self::expr)?;
            let using = self.using()?;
            return Ok(Statement::ExecuteImmediate(ExecuteImmediate { source, using }.into()));
        }
        let name = self.ident()?;
        Ok(Statement::Execute(Execute { name, using: self.using()? }.into()))
    }

    fn using(&mut self) -> PResult<Vec<crate::ast::Expr>> {
        match self.eat(Kw::USING) {
            true => self.variables_only(|p| p.list(Self::expr_or_default)),
            false => Ok(Vec::new()),
        }
    }

    pub(super) fn deallocate(&mut self) -> PResult<Statement> {
        self.next();
        self.expect(Kw::PREPARE)?;
        Ok(Statement::Deallocate(self.ident()?))
    }

    pub(super) fn kill(&mut self) -> PResult<Statement> {
        self.next();
        let soft = self.eat_any(&[Kw::HARD, Kw::SOFT]) == Some(Kw::SOFT);
        let mut what = KillWhat::Connection;
        let mut by_id = false;
        if self.eat_any(&[Kw::CONNECTION, Kw::QUERY]) == Some(Kw::QUERY) {
            what = KillWhat::Query;
            by_id = self.at(Kw::ID) && self.peek() != T::Dot;
            if by_id {
                self.next();
            }
        }
        let target = if by_id {
            KillTarget::QueryId(self.variables_only(Self::expr)?)
        } else if self.at(Kw::USER) && self.peek() != T::LParen {
            self.next();
            KillTarget::User(self.account()?)
        } else {
            KillTarget::Connection(self.variables_only(Self::expr)?)
        };
        Ok(Statement::Kill(Kill { soft, what, target }.into()))
    }

    pub(super) fn lock_tables(&mut self) -> PResult<Statement> {
        self.next();
        self.expect_any(&[Kw::TABLE, Kw::TABLES])?;
        let tables = self.list(|p| {
            let table = p.table_name()?;
            let alias = p.table_alias_opt()?;
            Ok(LockTable { table, alias, mode: p.lock_mode()? })
        })?;
        let wait = self.lock_wait_opt()?;
        Ok(Statement::LockTables(LockTables { tables, wait }.into()))
    }

    fn lock_mode(&mut self) -> PResult<LockMode> {
        Ok(match self.expect_any(&[Kw::READ, Kw::WRITE, Kw::LOW_PRIORITY])? {
            Kw::READ if self.eat(Kw::LOCAL) => LockMode::ReadLocal,
            Kw::READ => LockMode::Read,
            Kw::WRITE if self.eat(Kw::CONCURRENT) => LockMode::WriteConcurrent,
            Kw::WRITE => LockMode::Write,
            _ => self.expect(Kw::WRITE).map(|()| LockMode::Write)?,
        })
    }

    pub(super) fn unlock_tables(&mut self) -> PResult<Statement> {
        self.next();
        self.expect_any(&[Kw::TABLE, Kw::TABLES])?;
        Ok(Statement::UnlockTables)
    }

    pub(super) fn call(&mut self) -> PResult<Statement> {
        self.next();
        self.called().map(|call| Statement::Call(call.into()))
    }

    /// The procedure of a call, with its arguments.
    pub(super) fn called(&mut self) -> PResult<Call> {
        let mut name = self.program_name()?;
        if let Some(package) = name.schema.as_ref().filter(|_| self.at(T::Dot)) {
            let schema = Some(package.clone());
            self.next();
            name = TableName { schema, name: self.member_name(&name.name)? };
        }
        let mut args = Vec::new();
        if self.eat(T::LParen) {
            if !self.at(T::RParen) {
                args = self.variables_only(|p| p.list(Self::expr))?;
            }
            self.expect(T::RParen)?;
        }
        Ok(Call { name, args })
    }

    pub(super) fn do_statement(&mut self) -> PResult<Statement> {
        self.next();
        let exprs = self.list(|p| {
            let expr = p.variables_only(Self::expr)?;
            if p.at(Kw::AS) || p.at_ident() || p.at(T::Str) {
                p.eat(Kw::AS);
                p.alias()?;
            }
            Ok(expr)
        })?;
        Ok(Statement::Do(Do { exprs }))
    }

    pub(super) fn use_statement(&mut self) -> PResult<Statement> {
        self.next();
        Ok(Statement::Use(self.ident()?))
    }

    pub(super) fn help(&mut self) -> PResult<Statement> {
        self.next();
        Ok(Statement::Help(self.ident_or_text()?))
    }

    pub(super) fn binlog(&mut self) -> PResult<Statement> {
        self.next();
        if !self.at(T::UserVar) {
            return Ok(Statement::Binlog(BinlogText::Text(self.text()?)));
        }
        let first = self.user_var()?;
        self.expect(T::Comma)?;
        let second = self.user_var()?;
        Ok(Statement::Binlog(BinlogText::Variables(first, second)))
    }
}
