//! JSON_TABLE, a table function of FROM.
//! Paths stay strings: the parser does not check them.

use super::{PResult, Parser};
use crate::ast::{JsonColumn, JsonFallback, JsonTable, Literal, StringLiteral, TableRef};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn json_table(&mut self) -> PResult<TableRef> {
        self.next();
        self.expect(T::LParen)?;
        let document = self.expr()?;
        self.expect(T::Comma)?;
        let path = self.file_name()?;
        let columns = self.json_columns()?;
        self.expect(T::RParen)?;
        self.eat(Kw::AS);
        let alias = self.table_alias()?;
        Ok(TableRef::JsonTable(JsonTable { document, path, columns, alias }.into()))
    }

    fn json_columns(&mut self) -> PResult<Vec<JsonColumn>> {
        self.expect(Kw::COLUMNS)?;
        self.nested(|p| p.paren_list(Self::json_column))
    }

    fn json_column(&mut self) -> PResult<JsonColumn> {
        if self.at(Kw::NESTED) && matches!(self.peek(), T::Str | T::Word(Kw::PATH)) {
            self.next();
            self.eat(Kw::PATH);
            let path = self.file_name()?;
            return Ok(JsonColumn::Nested { path, columns: self.json_columns()? });
        }
        let name = self.ident()?;
        if self.eat(Kw::FOR) {
            self.expect(Kw::ORDINALITY)?;
            return Ok(JsonColumn::Ordinality(name));
        }
        let data_type = self.data_type()?.into();
        let exists = self.eat(Kw::EXISTS);
        self.expect(Kw::PATH)?;
        let path: StringLiteral = self.file_name()?;
        let (mut on_empty, mut on_error) = (None, None);
        while self.at_any(&[Kw::NULL, Kw::ERROR, Kw::DEFAULT]) {
            if on_empty.is_some() && on_error.is_some() {
                return Err(self.error());
            }
            let fallback = self.json_fallback()?;
            self.expect(Kw::ON)?;
            let wanted = match (&on_empty, &on_error) {
                (None, None) => &[Kw::EMPTY, Kw::ERROR][..],
                (None, _) => &[Kw::EMPTY],
                _ => &[Kw::ERROR],
            };
            match self.expect_any(wanted)? {
                Kw::EMPTY => on_empty = Some(fallback),
                _ => on_error = Some(fallback),
            }
        }
        let or_null = |fallback: Option<_>| fallback.unwrap_or(JsonFallback::Null);
        let (on_empty, on_error) = (or_null(on_empty), or_null(on_error));
        Ok(JsonColumn::Path { name, data_type, exists, path, on_empty, on_error })
    }

    fn json_fallback(&mut self) -> PResult<JsonFallback> {
        match self.next().kind {
            T::Word(Kw::NULL) => Ok(JsonFallback::Null),
            T::Word(Kw::ERROR) => Ok(JsonFallback::Error),
            _ => {
                let literal = match self.tok.kind {
                    T::Int | T::Decimal | T::Float => self.number()?,
                    _ => Literal::String(self.string()?),
                };
                Ok(JsonFallback::Default(literal))
            }
        }
    }
}
