//! CREATE VIEW and ALTER VIEW, and the DEFINER clause that routines share.
//! DEFINER comes before the word that tells a view from a routine, so both are dispatched here.

use super::{PResult, Parser};
use crate::ast::{AccountName, CheckOption, CreateView, SqlSecurity, Statement, ViewAlgorithm};
use crate::lexer::{Kw, T};

/// Clauses between CREATE and VIEW.
struct ViewPrefix {
    algorithm: ViewAlgorithm,
    definer: Option<AccountName>,
    security: Option<SqlSecurity>,
}

impl Parser<'_> {
    /// `CREATE` from ALGORITHM, DEFINER, SQL SECURITY or VIEW on.
    pub(super) fn create_view_or_routine(&mut self, or_replace: bool) -> PResult<Statement> {
        let prefix = self.view_prefix()?;
        match self.tok.kind {
            T::Word(Kw::VIEW) => {}
            T::Word(Kw::PROCEDURE | Kw::FUNCTION | Kw::AGGREGATE) => {
                return self.create_routine(or_replace, prefix.definer);
            }
            T::Word(Kw::TRIGGER) => return self.create_trigger(or_replace, prefix.definer),
            T::Word(Kw::PACKAGE) if self.is_oracle() => {
                return self.create_package(or_replace, prefix.definer);
            }
            T::Word(Kw::EVENT) => return self.create_event(or_replace, prefix.definer),
            _ => return self.unsupported_create(),
        }
        self.view(prefix, or_replace, false)
    }

    /// `ALTER [clauses] VIEW ...`; ALTER is consumed.
    pub(super) fn alter_view(&mut self) -> PResult<Statement> {
        let prefix = self.view_prefix()?;
        match self.tok.kind {
            T::Word(Kw::VIEW) => {}
            T::Word(Kw::EVENT) => return self.alter_event(prefix.definer),
            _ => return self.unsupported_alter(),
        }
        self.view(prefix, false, true)
    }

    fn view_prefix(&mut self) -> PResult<ViewPrefix> {
        let mut prefix =
            ViewPrefix { algorithm: ViewAlgorithm::Undefined, definer: None, security: None };
        if self.eat(Kw::ALGORITHM) {
            self.expect(T::Eq)?;
            prefix.algorithm = match self.expect_any(&[Kw::UNDEFINED, Kw::MERGE, Kw::TEMPTABLE])? {
                Kw::UNDEFINED => ViewAlgorithm::Undefined,
                Kw::MERGE => ViewAlgorithm::Merge,
                _ => ViewAlgorithm::TempTable,
            };
        }
        if self.eat(Kw::DEFINER) {
            self.expect(T::Eq)?;
            prefix.definer = Some(self.account()?);
        }
        if self.eat(Kw::SQL) {
            self.expect(Kw::SECURITY)?;
            prefix.security = Some(match self.expect_any(&[Kw::DEFINER, Kw::INVOKER])? {
                Kw::DEFINER => SqlSecurity::Definer,
                _ => SqlSecurity::Invoker,
            });
        }
        Ok(prefix)
    }

    fn view(&mut self, prefix: ViewPrefix, or_replace: bool, alter: bool) -> PResult<Statement> {
        self.expect(Kw::VIEW)?;
        let if_not_exists = !alter && self.if_not_exists()?;
        let name = self.new_table_name()?;
        let columns = self.ident_list_opt()?;
        self.expect(Kw::AS)?;
        let query = self.leading_query()?;
        if !alter {
            self.refuse_variables_of_view(&query)?;
        }
        let mut check_option = None;
        if self.eat(Kw::WITH) {
            check_option = Some(match self.eat_any(&[Kw::CASCADED, Kw::LOCAL]) {
                Some(Kw::LOCAL) => CheckOption::Local,
                _ => CheckOption::Cascaded,
            });
            self.expect_all(&[Kw::CHECK, Kw::OPTION])?;
        }
        let ViewPrefix { algorithm, definer, security } = prefix;
        Ok(Statement::CreateView(Box::new(CreateView {
            alter,
            or_replace,
            if_not_exists,
            algorithm,
            definer,
            security,
            name,
            columns,
            query,
            check_option,
        })))
    }
}
