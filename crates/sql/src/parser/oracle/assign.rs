//! Assignments `name := value` and calls of procedures without CALL.
//! Looks ahead over the name only; what it means is known when the whole step is read.

use crate::ast::{Operation, Statement, Step};
use crate::lexer::{Kw, T, Token};
use crate::parser::{PResult, Parser};

/// Words that may be names, but begin no assignment and no call.
const NO_TARGETS: &[Kw] = &[
    Kw::BODY,
    Kw::ELSIF,
    Kw::EXCEPTION,
    Kw::GOTO,
    Kw::OTHERS,
    Kw::PACKAGE,
    Kw::RAISE,
    Kw::ROWTYPE,
];

impl Parser<'_> {
    /// The first token after `name[.name[.name]]`, if one follows that may be a target or a call.
    fn behind_name(&mut self) -> Option<Token> {
        if !self.at_target() {
            return None;
        }
        let mut token = self.peek_token();
        let mut lexer = self.look_further();
        while token.kind == T::Dot {
            if !matches!(lexer.next().kind, T::Word(_) | T::Quoted) {
                return None;
            }
            token = lexer.next();
        }
        Some(token)
    }

    /// Whether a name follows that may begin an assignment or a call.
    pub(in crate::parser) fn at_target(&self) -> bool {
        self.at_label() && !self.at_any(NO_TARGETS)
    }

    pub(in crate::parser) fn at_assignment(&mut self) -> bool {
        self.behind_name().is_some_and(|token| token.kind == T::Assign)
    }

    pub(super) fn at_bare_call(&mut self) -> bool {
        let ends = |token: Token| matches!(token.kind, T::LParen | T::Semicolon);
        self.behind_name().is_some_and(ends)
    }

    /// `[:]name := value`.
    pub(super) fn assignment_step(&mut self) -> PResult<Step> {
        let start = self.tok.start;
        let (statement, locals) = self.with_locals(Self::assignment)?;
        let span = self.span_from(start);
        Ok(Step::Statement(Box::new(Operation { statement, locals, span })))
    }

    pub(in crate::parser) fn assignment(&mut self) -> PResult<Statement> {
        if let Some(item) = self.local_item()? {
            return Ok(Statement::Set(vec![item]));
        }
        Ok(Statement::Set(vec![self.assigned_variable(None)?]))
    }

    /// `name[(arguments)]`: a call.
    pub(super) fn bare_call_step(&mut self) -> PResult<Step> {
        let start = self.tok.start;
        let (call, locals) = self.with_locals(Self::called)?;
        let statement = Statement::Call(Box::new(call));
        let span = self.span_from(start);
        Ok(Step::Statement(Box::new(Operation { statement, locals, span })))
    }
}
