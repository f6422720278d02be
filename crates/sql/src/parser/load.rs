//! LOAD DATA and LOAD XML.
//! FIELDS and LINES are in `into.rs`, since SELECT .. INTO OUTFILE has them too.

use super::{PResult, Parser};
use crate::ast::{LoadColumn, LoadData, LoadPriority, OnDuplicate, Statement};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn load(&mut self) -> PResult<Statement> {
        self.next();
        let xml = self.expect_any(&[Kw::DATA, Kw::XML])? == Kw::XML;
        let priority = match self.eat_any(&[Kw::LOW_PRIORITY, Kw::CONCURRENT]) {
            Some(Kw::LOW_PRIORITY) => Some(LoadPriority::Low),
            Some(_) => Some(LoadPriority::Concurrent),
            None => None,
        };
        let local = self.eat(Kw::LOCAL);
        self.expect(Kw::INFILE)?;
        let file = self.file_name()?;
        let duplicates = self.duplicates();
        self.expect_all(&[Kw::INTO, Kw::TABLE])?;
        let table = self.table_name()?;
        let partitions = self.partitions_opt()?;
        let charset = if self.eat_charset() { self.charset_or_default()? } else { None };
        let rows_identified_by = match xml && self.eat(Kw::ROWS) {
            true => {
                self.expect_all(&[Kw::IDENTIFIED, Kw::BY])?;
                Some(self.string()?)
            }
            false => None,
        };
        let format = self.file_format()?;
        let ignore_lines = self.ignored_lines()?;
        let columns = self.load_columns()?;
        let assignments = if self.eat(Kw::SET) { self.assignments()? } else { Vec::new() };
        Ok(Statement::LoadData(Box::new(LoadData {
            xml,
            priority,
            local,
            file,
            duplicates,
            table,
            partitions,
            charset,
            rows_identified_by,
            format,
            ignore_lines,
            columns,
            assignments,
        })))
    }

    /// `REPLACE` or `IGNORE`, if present.
    pub(super) fn duplicates(&mut self) -> OnDuplicate {
        match self.eat_any(&[Kw::REPLACE, Kw::IGNORE]) {
            Some(Kw::REPLACE) => OnDuplicate::Replace,
            Some(_) => OnDuplicate::Ignore,
            None => OnDuplicate::Error,
        }
    }

    fn ignored_lines(&mut self) -> PResult<u64> {
        if !self.eat(Kw::IGNORE) {
            return Ok(0);
        }
        let lines = self.u64()?;
        self.expect_any(&[Kw::LINES, Kw::ROWS])?;
        Ok(lines)
    }

    fn load_columns(&mut self) -> PResult<Vec<LoadColumn>> {
        if !self.at(T::LParen) {
            return Ok(Vec::new());
        }
        self.parens(|p| {
            if p.at(T::RParen) {
                return Ok(Vec::new());
            }
            p.list(|p| match p.tok.kind {
                T::UserVar => p.user_var().map(LoadColumn::UserVar),
                _ => p.column_ref().map(LoadColumn::Column),
            })
        })
    }
}
