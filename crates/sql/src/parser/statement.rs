//! The first word of a statement and the family it leads to.
//! The one place that sees the end of a statement: a semicolon or the end of the text.

use selkie_types::SqlError;
use selkie_types::error::catalogue::{ER_EMPTY_QUERY, ER_PARTITION_ENTRY_ERROR};

use super::{PResult, Parser};
use crate::ast::Statement;
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// A whole statement with its semicolon, if present; also returns the start of the next
    /// statement.
    pub(crate) fn whole_statement(&mut self) -> PResult<(Statement, u32)> {
        if self.at(T::Eof) || self.at(T::Semicolon) {
            return self.fail(&ER_EMPTY_QUERY, &[]);
        }
        let statement = self.statement()?;
        let kind = self.tok.kind;
        match kind {
            T::Eof => Ok((statement, self.text.len() as u32)),
            T::Semicolon if self.peek() == T::Eof => Ok((statement, self.text.len() as u32)),
            T::Semicolon => Ok((statement, self.tok.end)),
            _ => Err(self.error()),
        }
    }

    /// A whole expression up to the end of the text.
    pub(crate) fn whole_expr(&mut self) -> PResult<crate::ast::Expr> {
        let expr = self.expr()?;
        if self.at(T::Eof) { Ok(expr) } else { Err(self.error()) }
    }

    /// Start of the statement's text.
    pub(crate) fn statement_start(&self) -> u32 {
        self.tok.start
    }

    /// End of the statement's text.
    pub(crate) fn statement_end(&self) -> u32 {
        self.prev_end
    }

    pub(crate) fn param_count(&self) -> u32 {
        self.params
    }

    pub(super) fn statement(&mut self) -> PResult<Statement> {
        if self.is_oracle() && self.at_assignment() {
            return self.assignment();
        }
        match self.tok.kind {
            T::LParen => self.query_statement(),
            T::Word(Kw::DECLARE) if self.is_oracle() => self.compound_statement(),
            T::Word(Kw::RAISE) if self.is_oracle() => self.raise(),

            T::Word(kw) => self.statement_of(kw),
            // Compat: in this mode a name may begin an assignment or a call.
            T::Quoted if self.is_oracle() => {
                self.next();
                Err(self.error())
            }
            _ => Err(self.error()),
        }
    }

    fn statement_of(&mut self, kw: Kw) -> PResult<Statement> {
        match kw {
            Kw::SELECT | Kw::WITH | Kw::VALUES => self.query_statement(),
            Kw::INSERT | Kw::REPLACE => self.insert(),
            Kw::UPDATE => self.update(),
            Kw::DELETE => self.delete(),
            Kw::SET => self.set_statement(),
            Kw::BEGIN => self.begin(),
            Kw::START => self.start(),
            Kw::COMMIT => self.commit(),
            Kw::ROLLBACK => self.rollback(),
            Kw::SAVEPOINT => self.savepoint(),
            Kw::RELEASE => self.release(),
            Kw::XA => self.xa(),
            Kw::EXECUTE => self.execute(),
            Kw::PREPARE => self.prepare(),
            Kw::DEALLOCATE => self.deallocate(),
            Kw::USE => self.use_statement(),
            Kw::SHOW => self.show(),
            Kw::CALL => self.call(),
            Kw::DO => self.do_statement(),
            Kw::LOAD => self.load_or_index(),
            Kw::HANDLER => self.handler(),
            Kw::CREATE => self.create(),
            Kw::ALTER => self.alter(),
            Kw::DROP => self.drop_statement(),
            Kw::RENAME => self.rename(),
            Kw::TRUNCATE => self.truncate(),
            _ => self.admin_statement(kw),
        }
    }

    fn admin_statement(&mut self, kw: Kw) -> PResult<Statement> {
        match kw {
            // Compat: MariaDB's dumps of definitions began with it.
            Kw::PARTITION => Err(self.error_named(&ER_PARTITION_ENTRY_ERROR)),
            Kw::EXPLAIN | Kw::DESCRIBE | Kw::DESC => self.explain(),
            Kw::ANALYZE => self.analyze(),
            Kw::CHECK | Kw::OPTIMIZE | Kw::REPAIR | Kw::CHECKSUM => self.maintenance(),
            Kw::LOCK => self.lock_tables(),
            Kw::UNLOCK => self.unlock_tables(),
            Kw::KILL => self.kill(),
            Kw::GRANT | Kw::REVOKE => self.grant(),
            Kw::FLUSH => self.flush(),
            Kw::BACKUP => self.backup(),
            Kw::RESET => self.reset(),
            Kw::PURGE => self.purge(),
            Kw::CHANGE => self.change_master(),
            Kw::STOP => {
                self.next();
                self.start_stop_slave(false)
            }
            Kw::INSTALL => self.install(),
            Kw::UNINSTALL => self.uninstall(),
            Kw::SHUTDOWN => self.shutdown(),
            Kw::HELP => self.help(),
            Kw::BINLOG => self.binlog(),
            Kw::SIGNAL | Kw::RESIGNAL => self.signal(),
            Kw::GET => self.get_diagnostics(),
            Kw::IF | Kw::CASE | Kw::LOOP | Kw::WHILE | Kw::REPEAT | Kw::FOR => {
                self.compound_statement()
            }
            Kw::CACHE => self.cache_index(),
            _ => Err(self.unknown_statement()),
        }
    }

    /// LOAD DATA, or LOAD INDEX INTO CACHE.
    fn load_or_index(&mut self) -> PResult<Statement> {
        match self.peek() == T::Word(Kw::INDEX) {
            true => self.load_index(),
            false => self.load(),
        }
    }

    /// The error for a text that begins no statement.
    fn unknown_statement(&mut self) -> SqlError {
        // Compat: in the mode of Oracle a name may begin an assignment or a call.
        if self.is_oracle() && self.at_target() {
            self.next();
        }
        self.error()
    }
}
