//! The heads of routines: parameters with their mode behind the name, RETURN, AS.
//! A parameter with a mode that cannot give its value back is refused here.

use selkie_types::error::catalogue::ER_SP_DUP_PARAM;

use crate::ast::{Parameter, ParameterMode, Span, TableName};
use crate::lexer::{Kw, T};
use crate::parser::program::Scope;
use crate::parser::{PResult, Parser};

impl Parser<'_> {
    /// `[(name [IN | OUT | IN OUT | INOUT] type, ...)]`.
    pub(in crate::parser) fn oracle_parameters(
        &mut self,
        scope: &mut Scope,
    ) -> PResult<(Vec<Parameter>, Span)> {
        if !self.at(T::LParen) {
            return Ok((Vec::new(), Span::new(self.prev_end, self.prev_end)));
        }
        let start = self.tok.end;
        self.expect(T::LParen)?;
        let mut parameters = Vec::new();
        if !self.at(T::RParen) {
            parameters = self.list(|p| {
                let name = p.new_ident()?;
                let mode = p.parameter_mode();
                if scope.has_own_variable(&name.value) {
                    return p.fail(&ER_SP_DUP_PARAM, &[&name]);
                }
                let ty = p.parameter_type()?;
                scope.declare(name.clone(), ty);
                Ok(Parameter { mode, name })
            })?;
        }
        let span = Span::new(start, self.tok.start.max(start));
        self.expect(T::RParen)?;
        Ok((parameters, span))
    }

    fn parameter_mode(&mut self) -> ParameterMode {
        match self.eat_any(&[Kw::IN, Kw::OUT, Kw::INOUT]) {
            Some(Kw::IN) if self.eat(Kw::OUT) => ParameterMode::InOut,
            Some(Kw::OUT) => ParameterMode::Out,
            Some(Kw::INOUT) => ParameterMode::InOut,
            _ => ParameterMode::In,
        }
    }

    /// The name behind the END of a routine, if there is one.
    pub(in crate::parser) fn end_name(&mut self) -> PResult<Option<TableName>> {
        match self.at_ident() {
            true => self.program_name().map(Some),
            false => Ok(None),
        }
    }
}
