//! HANDLER: OPEN, READ and CLOSE of a table.
//! READ by key takes one comparison operator and a list of values.

use super::{PResult, Parser};
use crate::ast::{BinaryOp, Handler, HandlerAction, HandlerPosition, Statement};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn handler(&mut self) -> PResult<Statement> {
        self.next();
        let table = self.table_name()?;
        if table.schema.is_some() && !self.at(Kw::OPEN) {
            return Err(self.error());
        }
        let action = match self.expect_any(&[Kw::OPEN, Kw::CLOSE, Kw::READ])? {
            Kw::OPEN => HandlerAction::Open { alias: self.table_alias_opt()? },
            Kw::CLOSE => HandlerAction::Close,
            _ => self.handler_read()?,
        };
        Ok(Statement::Handler(Handler { table, action }.into()))
    }

    fn handler_read(&mut self) -> PResult<HandlerAction> {
        let scan = match self.tok.kind {
            T::Word(Kw::FIRST) => Some(HandlerPosition::First),
            T::Word(Kw::NEXT) => Some(HandlerPosition::Next),
            _ => None,
        };
        let (index, position) = match scan {
            Some(position) => {
                self.next();
                (None, position)
            }
            None => (Some(self.ident()?), self.handler_position()?),
        };
        let where_clause = self.where_opt()?.map(Box::new);
        let limit = self.limit_opt()?;
        Ok(HandlerAction::Read { index, position, where_clause, limit })
    }

    fn handler_position(&mut self) -> PResult<HandlerPosition> {
        let op = match self.tok.kind {
            T::Eq => BinaryOp::Eq,
            T::Ge => BinaryOp::Ge,
            T::Le => BinaryOp::Le,
            T::Gt => BinaryOp::Gt,
            T::Lt => BinaryOp::Lt,
            _ => {
                return Ok(match self.expect_any(&[Kw::FIRST, Kw::NEXT, Kw::PREV, Kw::LAST])? {
                    Kw::FIRST => HandlerPosition::First,
                    Kw::NEXT => HandlerPosition::Next,
                    Kw::PREV => HandlerPosition::Prev,
                    _ => HandlerPosition::Last,
                });
            }
        };
        self.next();
        Ok(HandlerPosition::Key(op, self.paren_list(Self::expr_or_default)?))
    }
}
