//! CREATE and its dispatch, CREATE TABLE, CREATE and ALTER DATABASE.
//! The other objects have files of their own: view, index, sequence, account, routine.

use super::{PResult, Parser};
use crate::ast::{
    AlterDatabase, CreateDatabase, CreateSelect, CreateSource, CreateTable, SchemaOption,
    Statement, TableElement,
};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn create(&mut self) -> PResult<Statement> {
        self.next();
        let or_replace = self.eat(Kw::OR);
        if or_replace {
            self.expect(Kw::REPLACE)?;
        }
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        match kw {
            Kw::TABLE => self.create_table(or_replace, false),
            Kw::TEMPORARY => {
                self.next();
                match self.at(Kw::SEQUENCE) {
                    true => self.create_sequence(or_replace, true),
                    false => self.create_table(or_replace, true),
                }
            }
            Kw::SEQUENCE => self.create_sequence(or_replace, false),
            Kw::DATABASE | Kw::SCHEMA => self.create_database(or_replace),
            Kw::INDEX | Kw::UNIQUE | Kw::FULLTEXT | Kw::SPATIAL => self.create_index(or_replace),
            Kw::USER => self.create_user(or_replace, false),
            Kw::ROLE => self.create_role(or_replace),
            Kw::VIEW | Kw::ALGORITHM | Kw::SQL | Kw::DEFINER => {
                self.create_view_or_routine(or_replace)
            }
            Kw::PROCEDURE | Kw::FUNCTION | Kw::AGGREGATE => self.create_routine(or_replace, None),
            Kw::TRIGGER => self.create_trigger(or_replace, None),
            Kw::PACKAGE if self.is_oracle() => self.create_package(or_replace, None),
            Kw::EVENT => self.create_event(or_replace, None),
            Kw::SERVER => self.create_server(or_replace),
            _ => self.unsupported_create(),
        }
    }

    fn create_table(&mut self, or_replace: bool, temporary: bool) -> PResult<Statement> {
        self.expect(Kw::TABLE)?;
        let if_not_exists = self.if_not_exists()?;
        self.check_or_replace(or_replace, if_not_exists)?;
        let name = self.new_table_name()?;
        let mut create = CreateTable {
            or_replace,
            temporary,
            if_not_exists,
            name,
            source: CreateSource::Elements(Vec::new()),
            options: Vec::new(),
            partition_by: None,
            select: None,
        };
        if self.eat(Kw::LIKE) {
            create.source = CreateSource::Like(self.table_name()?);
        } else if self.at2(T::LParen, Kw::LIKE) {
            self.next();
            self.next();
            create.source = CreateSource::Like(self.table_name()?);
            self.expect(T::RParen)?;
        } else {
            self.table_definition(&mut create)?;
        }
        Ok(Statement::CreateTable(create.into()))
    }

    fn table_definition(&mut self, create: &mut CreateTable) -> PResult<()> {
        if self.at(T::LParen) && !self.at_query_in_parens() {
            create.source = CreateSource::Elements(self.paren_list(Self::table_element)?);
        }
        create.options = self.table_options()?;
        create.partition_by = self.partition_by_opt()?;
        let duplicates = self.duplicates();
        let as_select = self.eat(Kw::AS);
        if self.at_query_in_parens() {
            let query = self.leading_query()?;
            create.select = Some(CreateSelect { duplicates, query }.into());
        } else if as_select || duplicates != crate::ast::OnDuplicate::Error {
            return Err(self.error());
        }
        Ok(())
    }

    fn table_element(&mut self) -> PResult<TableElement> {
        match self.at_constraint() {
            true => self.constraint(),
            false => Ok(TableElement::Column(self.column_def()?.into())),
        }
    }

    fn create_database(&mut self, or_replace: bool) -> PResult<Statement> {
        self.next();
        let if_not_exists = self.if_not_exists()?;
        self.check_or_replace(or_replace, if_not_exists)?;
        let name = self.ident()?;
        let options = self.schema_options()?;
        Ok(Statement::CreateDatabase(
            CreateDatabase { or_replace, if_not_exists, name, options }.into(),
        ))
    }

    /// `ALTER DATABASE ...`; ALTER is consumed.
    pub(super) fn alter_database(&mut self) -> PResult<Statement> {
        self.next();
        let word = self.tok.kind;
        let option = match word {
            T::Word(Kw::COMMENT) => matches!(self.peek(), T::Eq | T::Str),
            T::Word(Kw::CHARSET) => match self.peek() {
                T::Eq | T::Str => true,
                T::Word(kw) => {
                    !matches!(kw, Kw::CHARSET | Kw::CHARACTER | Kw::COLLATE | Kw::COMMENT)
                }
                _ => false,
            },
            _ => false,
        };
        let named = self.at_ident() && !option;
        let name = if named { Some(self.ident()?) } else { None };
        let mut alter = AlterDatabase { name, upgrade_data_directory: false, options: Vec::new() };
        if alter.name.is_some() && self.eat(Kw::UPGRADE) {
            self.expect_all(&[Kw::DATA, Kw::DIRECTORY, Kw::NAME])?;
            alter.upgrade_data_directory = true;
        } else {
            alter.options = self.schema_options()?;
            if alter.options.is_empty() {
                return Err(self.error());
            }
        }
        Ok(Statement::AlterDatabase(alter.into()))
    }

    fn schema_options(&mut self) -> PResult<Vec<SchemaOption>> {
        let mut options = Vec::new();
        loop {
            if self.eat(Kw::COMMENT) {
                self.eat(T::Eq);
                options.push(SchemaOption::Comment(self.text()?));
                continue;
            }
            let default = self.eat(Kw::DEFAULT);
            if self.eat_charset() {
                self.eat(T::Eq);
                options.push(SchemaOption::Charset(self.type_charset_name()?));
            } else if self.eat(Kw::COLLATE) {
                self.eat(T::Eq);
                let name = self.collation_name()?;
                options.push(SchemaOption::Collate(name));
            } else if default {
                return Err(self.error());
            } else {
                return Ok(options);
            }
        }
    }
}
