//! Blocks: `[DECLARE ...] BEGIN ... [EXCEPTION WHEN ...] END`, and lists of steps.
//! A handler is a list of its own: GOTO leaves it, but leads to no step that it guards.

use selkie_meter::tick;
use selkie_types::error::catalogue::ER_SP_DUP_HANDLER;

use crate::ast::{Block, ConditionHandler, HandlerCondition, Ident, Step};
use crate::lexer::{Kw, T};
use crate::parser::{PResult, Parser};

impl Parser<'_> {
    /// `[DECLARE ...] BEGIN [NOT ATOMIC] ... END [label]`.
    pub(in crate::parser) fn oracle_block(&mut self, label: Option<Ident>) -> PResult<Step> {
        let block = self.block_of(label, |p| match p.eat(Kw::DECLARE) {
            true => p.oracle_declarations(),
            false => Ok(Default::default()),
        })?;
        Ok(Step::Block(Box::new(block)))
    }

    /// The body of a routine behind AS or IS: declarations without DECLARE and a block.
    pub(in crate::parser) fn body_block(&mut self) -> PResult<Step> {
        let block = self.block_of(None, Self::oracle_declarations)?;
        Ok(Step::Block(Box::new(block)))
    }

    fn block_of(
        &mut self,
        name: Option<Ident>,
        declarations: impl FnOnce(&mut Self) -> PResult<(Vec<Step>, Vec<ConditionHandler>)>,
    ) -> PResult<Block> {
        self.check_new_label(&name)?;
        let label = self.enter_label(&name, false);
        let outer = self.scope().enter();
        let first_cursor = self.scope().cursors.len();
        let (mut steps, mut handlers) = declarations(self)?;
        self.expect(Kw::BEGIN)?;
        if self.eat(Kw::NOT) {
            self.expect(Kw::ATOMIC)?;
        }
        steps.extend(self.sequence(&[Kw::END, Kw::EXCEPTION])?);
        if self.eat(Kw::EXCEPTION) {
            self.exceptions(&mut handlers)?;
        }
        self.expect(Kw::END)?;
        let cursors = first_cursor..self.scope().cursors.len();
        self.scope().leave(outer);
        if name.is_some() {
            self.scope().labels.pop();
        }
        self.end_label(&name)?;
        Ok(Block { label, handlers, cursors, steps })
    }

    /// `WHEN condition THEN ...` up to END.
    fn exceptions(&mut self, handlers: &mut Vec<ConditionHandler>) -> PResult<()> {
        if !self.at(Kw::WHEN) {
            return Err(self.error());
        }
        while self.eat(Kw::WHEN) {
            let condition = match self.eat(Kw::OTHERS) {
                true => HandlerCondition::Others,
                false => self.handler_condition()?,
            };
            tick(16 * handlers.len());
            if handlers.iter().any(|h| h.conditions.contains(&condition)) {
                return self.fail(&ER_SP_DUP_HANDLER, &[]);
            }
            self.expect(Kw::THEN)?;
            // It must not jump to labels outside of itself, except by GOTO.
            let labels = std::mem::take(&mut self.scope().labels);
            let outer = self.scope().enter();
            let steps = self.sequence_of_some(&[Kw::WHEN, Kw::END]);
            self.scope().leave(outer);
            self.scope().labels = labels;
            handlers.push(ConditionHandler {
                exit: true,
                conditions: vec![condition],
                steps: steps?,
            });
        }
        Ok(())
    }

    /// Steps with their labels up to one of the words `ends`, which GOTO reaches from inside.
    fn sequence(&mut self, ends: &[Kw]) -> PResult<Vec<Step>> {
        self.scope().gotos.open();
        let mut steps = Vec::new();
        while !self.at_any(ends) {
            self.labeled_step(&mut steps)?;
        }
        self.scope().gotos.close();
        Ok(steps)
    }

    /// As [`Self::sequence`], with one step at least.
    pub(in crate::parser) fn sequence_of_some(&mut self, ends: &[Kw]) -> PResult<Vec<Step>> {
        match self.at_any(ends) {
            true => Err(self.error()),
            false => self.sequence(ends),
        }
    }

    fn labeled_step(&mut self, steps: &mut Vec<Step>) -> PResult<()> {
        let mut label = None;
        while self.at(T::ShiftLeft) {
            label = Some(self.label_declaration(steps)?);
        }
        let step = self.measured(|p| p.nested(|p| p.oracle_step(label)))?.0;
        steps.push(step);
        self.expect(T::Semicolon)
    }
}
