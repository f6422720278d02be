//! Loops: `LOOP`, `WHILE .. LOOP`, `FOR .. LOOP`, `REPEAT`.
//! Every loop has a label, so EXIT needs no rule of its own for loops without one.

use crate::ast::{Ident, Loop, LoopKind, Step};
use crate::lexer::Kw;
use crate::parser::{PResult, Parser};

impl Parser<'_> {
    pub(super) fn oracle_loop(&mut self, name: Option<Ident>) -> PResult<Step> {
        let word = self.expect_any(&[Kw::LOOP, Kw::WHILE, Kw::REPEAT, Kw::FOR])?;
        self.check_new_label(&name)?;
        let label = self.enter_loop(&name);
        let outer = self.scope().enter();
        let (kind, steps) = match word {
            Kw::LOOP => (LoopKind::Forever, self.sequence_of_some(&[Kw::END])?),
            Kw::WHILE => {
                let condition = self.term()?;
                self.expect(Kw::LOOP)?;
                (LoopKind::While(condition), self.sequence_of_some(&[Kw::END])?)
            }
            Kw::REPEAT => {
                let steps = self.sequence_of_some(&[Kw::UNTIL])?;
                self.expect(Kw::UNTIL)?;
                (LoopKind::Until(self.term()?), steps)
            }
            _ => {
                let kind = self.for_range(Kw::LOOP)?;
                self.expect(Kw::LOOP)?;
                (kind, self.sequence_of_some(&[Kw::END])?)
            }
        };
        let end = if word == Kw::REPEAT { Kw::REPEAT } else { Kw::LOOP };
        self.expect_all(&[Kw::END, end])?;
        self.scope().leave(outer);
        self.scope().labels.pop();
        self.end_label(&name)?;
        Ok(Step::Loop(Box::new(Loop { label, kind, steps })))
    }

    /// A loop without a label has one nobody can name, which EXIT without a label finds.
    fn enter_loop(&mut self, name: &Option<Ident>) -> usize {
        let name = name.clone().unwrap_or_else(|| Ident::new(""));
        self.enter_label(&Some(name), true)
    }
}
