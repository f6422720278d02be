//! EXPLAIN and DESCRIBE of statements and tables, ANALYZE of statements, SHOW EXPLAIN FOR.
//! The words are shared: the parser decides by the word after them which statement it is.

use selkie_types::error::catalogue::ER_UNKNOWN_EXPLAIN_FORMAT;

use super::{PResult, Parser};
use crate::ast::{Describe, Explain, ShowWhat, Statement};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// EXPLAIN, DESCRIBE or DESC.
    pub(super) fn explain(&mut self) -> PResult<Statement> {
        self.next();
        let extended = self.at(Kw::EXTENDED) && self.peek_begins_statement();
        let partitions = self.at(Kw::PARTITIONS) && self.peek_begins_statement();
        if extended || partitions {
            self.next();
        }
        let json = self.format_json()?;
        if self.at(Kw::FOR) {
            self.next();
            self.expect(Kw::CONNECTION)?;
            let what = ShowWhat::Explain { json, analyze: false, connection: self.expr()? };
            return Ok(Statement::Show(crate::ast::Show { what, filter: None }.into()));
        }
        if extended || partitions || json || self.at_explainable() {
            return self.explained(Explain {
                analyze: false,
                extended,
                partitions,
                json,
                statement: Box::new(Statement::UnlockTables),
            });
        }
        let table = self.table_name()?;
        let pattern = match self.tok.kind {
            T::Str => Some(self.string()?.bytes),
            _ => self.ident_opt()?.map(|i| i.value.as_bytes().into()),
        };
        Ok(Statement::Describe(Describe { table, pattern }.into()))
    }

    /// ANALYZE of a statement, or of a table.
    pub(super) fn analyze(&mut self) -> PResult<Statement> {
        if matches!(
            self.peek(),
            T::Word(Kw::TABLE | Kw::TABLES | Kw::NO_WRITE_TO_BINLOG | Kw::LOCAL)
        ) {
            return self.maintenance();
        }
        self.next();
        let json = self.format_json()?;
        if !self.at_explainable() {
            return Err(self.error());
        }
        self.explained(Explain {
            analyze: true,
            extended: false,
            partitions: false,
            json,
            statement: Box::new(Statement::UnlockTables),
        })
    }

    fn explained(&mut self, mut explain: Explain) -> PResult<Statement> {
        if !self.at_explainable() {
            return Err(self.error());
        }
        *explain.statement = self.nested(Self::statement)?;
        Ok(Statement::Explain(explain.into()))
    }

    /// `FORMAT = JSON
    /// TRADITIONAL`, if present.
    pub(super) fn format_json(&mut self) -> PResult<bool> {
        if !self.at2(Kw::FORMAT, T::Eq) {
            return Ok(false);
        }
        self.next();
        self.next();
        let format = self.ident_or_text()?;
        match format.to_ascii_lowercase().as_str() {
            "json" => Ok(true),
            "traditional" => Ok(false),
            _ => self.fail(&ER_UNKNOWN_EXPLAIN_FORMAT, &[&"EXPLAIN/ANALYZE", &format]),
        }
    }

    fn at_explainable(&mut self) -> bool {
        explainable(self.tok.kind)
    }

    fn peek_begins_statement(&mut self) -> bool {
        explainable(self.peek())
    }
}

fn explainable(kind: T) -> bool {
    matches!(
        kind,
        T::Word(
            Kw::SELECT | Kw::INSERT | Kw::REPLACE | Kw::UPDATE | Kw::DELETE | Kw::WITH | Kw::VALUES
        ) | T::LParen
    )
}
