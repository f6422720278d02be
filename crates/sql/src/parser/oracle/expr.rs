//! Words of expressions that only this mode knows: `:NEW.column`, `cursor%FOUND`, `SQL%ROWCOUNT`,
//! SQLCODE and SQLERRM.

use selkie_types::error::catalogue::ER_SP_CURSOR_MISMATCH;

use crate::ast::{CursorState, ExprKind, Ident, Local};
use crate::lexer::{Kw, T};
use crate::parser::program::Kind;
use crate::parser::{PResult, Parser};

impl Parser<'_> {
    /// The colon before NEW or OLD in a trigger.
    pub(in crate::parser) fn trigger_row_sign(&mut self) -> PResult<()> {
        let token = self.peek_token();
        let word = self.raw(token);
        let is_row = word.eq_ignore_ascii_case(b"new") || word.eq_ignore_ascii_case(b"old");
        let scope = self.program.as_deref();
        match is_row && scope.is_some_and(|scope| matches!(scope.kind, Kind::Trigger(..))) {
            true => self.expect(T::Colon),
            false => Err(self.error()),
        }
    }

    /// An operand that begins with a colon: a column of a trigger's row, or a placeholder with a
    /// name or number.
    pub(in crate::parser) fn after_colon(&mut self) -> PResult<ExprKind> {
        if self.program.is_some() {
            self.trigger_row_sign()?;
            return self.column_or_call();
        }
        match self.peek() {
            T::Word(_) | T::Quoted | T::Int => {
                self.next();
                self.param()
            }
            _ => Err(self.error()),
        }
    }

    /// `SQL%ROWCOUNT`.
    pub(in crate::parser) fn sql_state(&mut self) -> PResult<ExprKind> {
        let name = self.keyword_name("row_count");
        self.expect(T::Percent)?;
        self.expect(Kw::ROWCOUNT)?;
        Ok(self.plain_call(name, Vec::new()))
    }

    /// Whether `%FOUND` and the like follows the name of a cursor.
    pub(in crate::parser) fn at_cursor_state(&mut self) -> bool {
        self.is_oracle()
            && self.at(T::Percent)
            && matches!(self.peek(), T::Word(Kw::ISOPEN | Kw::FOUND | Kw::NOTFOUND | Kw::ROWCOUNT))
    }

    /// `%FOUND` and the like behind the name of a cursor.
    pub(in crate::parser) fn cursor_state(&mut self, name: &Ident) -> PResult<ExprKind> {
        self.expect(T::Percent)?;
        let state = match self.expect_any(&[Kw::ISOPEN, Kw::FOUND, Kw::NOTFOUND, Kw::ROWCOUNT])? {
            Kw::ISOPEN => CursorState::IsOpen,
            Kw::FOUND => CursorState::Found,
            Kw::NOTFOUND => CursorState::NotFound,
            _ => CursorState::RowCount,
        };
        let cursor = self.program.as_deref().and_then(|scope| scope.cursor(&name.value));
        match cursor {
            Some(cursor) => Ok(self.placeholder(Local::CursorState(cursor, state))),
            None => self.fail(&ER_SP_CURSOR_MISMATCH, &[name]),
        }
    }

    /// SQLCODE and SQLERRM in a program.
    pub(in crate::parser) fn last_condition(&mut self, name: &Ident) -> Option<ExprKind> {
        if !self.is_oracle() || self.program.is_none() {
            return None;
        }
        let local = match () {
            () if name.is("sqlcode") => Local::SqlCode,
            () if name.is("sqlerrm") => Local::SqlErrm,
            () => return None,
        };
        Some(self.placeholder(local))
    }
}
