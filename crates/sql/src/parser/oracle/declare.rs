//! Declarations: variables, cursors, conditions and exceptions in any order, handlers behind them.
//! Only variables give steps: they may have values.

use selkie_types::SqlError;
use selkie_types::error::catalogue::{
    ER_SP_DUP_COND, ER_SP_DUP_CURS, ER_SP_DUP_HANDLER, ER_SP_DUP_VAR,
};

use crate::ast::{ConditionHandler, Cursor, HandlerCondition, Ident, Step};
use crate::lexer::{Kw, T};
use crate::parser::{PResult, Parser};

/// Words that may be names, but not of variables.
const NO_VARIABLES: &[Kw] = &[Kw::DATE, Kw::TIME, Kw::TIMESTAMP];

impl Parser<'_> {
    /// Declarations up to BEGIN.
    pub(super) fn oracle_declarations(&mut self) -> PResult<(Vec<Step>, Vec<ConditionHandler>)> {
        let (mut steps, mut handlers) = (Vec::new(), Vec::new());
        while !self.at(Kw::BEGIN) {
            if self.at_any(&[Kw::CONTINUE, Kw::EXIT]) {
                self.declared_handler(&mut handlers)?;
            } else if !handlers.is_empty() {
                return Err(self.error());
            } else {
                steps.extend(self.declaration()?);
            }
            self.expect(T::Semicolon)?;
        }
        Ok((steps, handlers))
    }

    fn declared_handler(&mut self, handlers: &mut Vec<ConditionHandler>) -> PResult<()> {
        let exit = self.expect_any(&[Kw::CONTINUE, Kw::EXIT])? == Kw::EXIT;
        let handler = self.handler_declaration(exit)?;
        let mut known = handlers.iter().flat_map(|h| &h.conditions);
        if known.any(|c| handler.conditions.contains(c)) {
            return self.fail(&ER_SP_DUP_HANDLER, &[]);
        }
        handlers.push(handler);
        Ok(())
    }

    /// A cursor, a condition, an exception or variables. Only variables give a step.
    pub(super) fn declaration(&mut self) -> PResult<Option<Step>> {
        if self.eat(Kw::CURSOR) {
            return self.oracle_cursor().map(|()| None);
        }
        if self.at_any(NO_VARIABLES) {
            self.next();
            return Err(self.error());
        }
        match self.peek() {
            T::Word(Kw::CONDITION) => self.condition_declaration().map(|()| None),
            T::Word(Kw::EXCEPTION) => self.exception_declaration().map(|()| None),
            _ => self.variable_declaration().map(Some),
        }
    }

    /// `name EXCEPTION`.
    fn exception_declaration(&mut self) -> PResult<()> {
        let name = self.new_ident()?;
        self.expect(Kw::EXCEPTION)?;
        if self.scope().has_own_condition(&name.value) {
            return self.fail(&ER_SP_DUP_COND, &[&name]);
        }
        let scope = self.scope();
        let number = scope.new_label();
        scope.declare_condition(name, HandlerCondition::Declared(number));
        Ok(())
    }

    /// `CURSOR name [(parameters)] IS query`; CURSOR is consumed.
    fn oracle_cursor(&mut self) -> PResult<()> {
        let name = self.new_ident()?;
        if self.scope().has_own_cursor(&name.value) {
            return self.fail(&ER_SP_DUP_CURS, &[&name]);
        }
        let outer = self.scope().enter();
        let mut parameters = Vec::new();
        if self.at(T::LParen) {
            self.paren_list(|p| {
                let name = p.new_ident()?;
                parameters.push(p.cursor_parameter(name)?);
                Ok(())
            })?;
        }
        self.expect(Kw::IS)?;
        let query = self.cursor_query()?;
        self.scope().leave(outer);
        self.scope().declare_cursor(Cursor { name, parameters, query });
        Ok(())
    }

    fn cursor_parameter(&mut self, name: Ident) -> PResult<usize> {
        self.eat(Kw::IN);
        if self.eat_any(&[Kw::OUT, Kw::INOUT]).is_some() {
            return Err(SqlError::not_supported("OUT/INOUT cursor parameter"));
        }
        if self.scope().has_own_variable(&name.value) {
            return self.fail(&ER_SP_DUP_VAR, &[&name]);
        }
        let ty = self.parameter_type()?;
        Ok(self.scope().declare(name, ty))
    }
}
