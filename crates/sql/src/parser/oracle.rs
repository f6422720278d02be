//! Stored programs in the language of `sql_mode=ORACLE`, and the words of expressions that only
//! this mode knows.
//!
//! The steps are those of the other language (`program.rs`), so programs of both run on one
//! machine. Must not be entered in another mode, except by [`Parser::is_oracle`].

mod assign;
mod block;
mod control;
mod declare;
mod expr;
mod function;
mod jump;
mod package;
mod routine;
mod types;

pub(crate) use function::has_own_meaning;
pub use function::written_name;
pub(super) use jump::Gotos;

use selkie_types::SqlMode;

use super::{PResult, Parser};
use crate::ast::{Ident, Step};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// Whether programs are in this language.
    pub(super) fn is_oracle(&self) -> bool {
        self.mode.contains(SqlMode::ORACLE)
    }

    /// One step; `label` is the last label before it.
    pub(super) fn oracle_step(&mut self, label: Option<Ident>) -> PResult<Step> {
        let kw = match self.tok.kind {
            T::Word(kw) => kw,
            T::Colon => return self.assignment_step(),
            _ => Kw::NotKeyword,
        };
        match kw {
            Kw::BEGIN | Kw::DECLARE => self.oracle_block(label),
            Kw::LOOP | Kw::WHILE | Kw::REPEAT | Kw::FOR => self.oracle_loop(label),
            Kw::IF => self.if_step(),
            Kw::CASE => self.case_step(),
            Kw::LEAVE | Kw::ITERATE => self.jump(),
            Kw::EXIT | Kw::CONTINUE => self.exit_step(),
            Kw::GOTO => self.goto_step(),
            Kw::RETURN => self.oracle_return(),
            Kw::RAISE => self.raise_step(),
            Kw::OPEN => self.open_step(),
            Kw::FETCH => self.fetch_step(),
            Kw::CLOSE => {
                self.next();
                self.cursor_name().map(Step::Close)
            }
            Kw::NULL => {
                self.next();
                Ok(Step::Nothing)
            }
            _ if self.at_assignment() => self.assignment_step(),
            _ if self.at_bare_call() => self.bare_call_step(),
            _ => self.statement_step(),
        }
    }
}
