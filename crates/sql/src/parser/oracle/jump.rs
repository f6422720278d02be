//! Labels and the jumps to them: GOTO, EXIT, CONTINUE, RETURN, RAISE.
//!
//! GOTO leads to a label of the same list of steps or of one around it, before or behind it. A
//! label that is not yet known gets its number when it is first named.

use selkie_meter::tick;
use selkie_types::SqlError;
use selkie_types::SqlResult;
use selkie_types::error::catalogue::{
    ER_SP_BADRETURN, ER_SP_LABEL_REDEFINE, ER_SP_LILABEL_MISMATCH,
};

use crate::ast::{HandlerCondition, Ident, Signal, Statement, Step};
use crate::lexer::{Kw, T};
use crate::parser::program::Kind;
use crate::parser::{PResult, Parser};

/// A name of a place.
struct Place {
    name: Ident,
    number: usize,
}

/// Labels of the lists of steps that are being read.
#[derive(Default)]
pub(in crate::parser) struct Gotos {
    /// Labels of each list, innermost last.
    lists: Vec<Vec<Place>>,
    /// GOTOs to labels that are not known yet, each with the depth of its list.
    pending: Vec<(usize, Place)>,
}

impl Gotos {
    /// A list of steps begins.
    pub(super) fn open(&mut self) {
        self.lists.push(Vec::new());
    }

    /// A list of steps ends; what it did not find may be in a list around it.
    pub(super) fn close(&mut self) {
        self.lists.pop();
        let depth = self.lists.len();
        self.pending.iter_mut().for_each(|(at, _)| *at = (*at).min(depth));
    }

    /// Fails for a GOTO whose label is nowhere.
    pub(in crate::parser) fn finish(&self) -> SqlResult<()> {
        match self.pending.first() {
            Some((_, place)) => {
                Err(SqlError::new(&ER_SP_LILABEL_MISMATCH, &[&"GOTO", &place.name]))
            }
            None => Ok(()),
        }
    }

    fn known(&self, name: &str) -> Option<usize> {
        let places = self.lists.iter().rev().flatten();
        places.into_iter().find(|place| place.name.is(name)).map(|place| place.number)
    }
}

impl Parser<'_> {
    /// `<<label>>`; adds the places that GOTOs lead to.
    pub(super) fn label_declaration(&mut self, steps: &mut Vec<Step>) -> PResult<Ident> {
        self.expect(T::ShiftLeft)?;
        let name = self.new_ident()?;
        self.expect(T::ShiftRight)?;
        let scope = self.scope();
        let depth = scope.gotos.lists.len();
        tick(16 * (scope.gotos.lists.last().map_or(0, Vec::len) + scope.gotos.pending.len()));
        let known = scope.gotos.lists.last();
        if known.is_some_and(|places| places.iter().any(|place| place.name.is(&name.value))) {
            return self.fail(&ER_SP_LABEL_REDEFINE, &[&name]);
        }
        let number = scope.new_label();
        steps.push(Step::Label(number));
        scope.gotos.pending.retain(|(at, place)| {
            let is_it = *at == depth && place.name.is(&name.value);
            if is_it {
                steps.push(Step::Label(place.number));
            }
            !is_it
        });
        if let Some(places) = scope.gotos.lists.last_mut() {
            places.push(Place { name: name.clone(), number });
        }
        Ok(name)
    }

    /// Refuses the label of a block or loop around for one inside.
    pub(super) fn check_new_label(&mut self, name: &Option<Ident>) -> PResult<()> {
        let Some(name) = name else { return Ok(()) };
        match self.scope().labels.iter().any(|label| label.name.is(&name.value)) {
            true => self.fail(&ER_SP_LABEL_REDEFINE, &[name]),
            false => Ok(()),
        }
    }

    pub(super) fn goto_step(&mut self) -> PResult<Step> {
        self.next();
        let name = self.ident()?;
        let scope = self.scope();
        tick(16 * scope.gotos.lists.iter().map(Vec::len).sum::<usize>());
        if let Some(number) = scope.gotos.known(&name.value) {
            return Ok(Step::Goto(number));
        }
        let number = scope.new_label();
        let depth = scope.gotos.lists.len();
        scope.gotos.pending.push((depth, Place { name, number }));
        Ok(Step::Goto(number))
    }

    /// `EXIT [label] [WHEN condition]` and CONTINUE, which mean loops only.
    pub(super) fn exit_step(&mut self) -> PResult<Step> {
        let word = self.expect_any(&[Kw::EXIT, Kw::CONTINUE])?;
        let name = self.ident_opt()?;
        let is_it = |label: &&crate::parser::program::Label| {
            label.is_loop && name.as_ref().is_none_or(|name| label.name.is(&name.value))
        };
        let found = self.scope().labels.iter().rev().find(is_it).map(|label| label.number);
        let Some(number) = found else {
            let name = name.map(|name| name.to_string()).unwrap_or_default();
            return self.fail(&ER_SP_LILABEL_MISMATCH, &[&word.text(), &name]);
        };
        let step = match word {
            Kw::EXIT => Step::Leave(number),
            _ => Step::Iterate(number),
        };
        if !self.eat(Kw::WHEN) {
            return Ok(step);
        }
        let condition = self.term()?;
        Ok(Step::If { branches: vec![(condition, vec![step])], otherwise: Vec::new() })
    }

    pub(super) fn oracle_return(&mut self) -> PResult<Step> {
        if self.scope().kind != Kind::Function && self.peek() == T::Semicolon {
            self.next();
            return match self.scope().kind {
                Kind::Procedure | Kind::Block => Ok(Step::End),
                _ => self.fail(&ER_SP_BADRETURN, &[]),
            };
        }
        self.return_step()
    }

    pub(super) fn raise_step(&mut self) -> PResult<Step> {
        if matches!(self.peek(), T::Semicolon | T::Eof) {
            return self.statement_step();
        }
        self.next();
        self.named_condition().map(Step::Raise)
    }

    /// `RAISE` as a statement: the condition that is handled is raised again.
    pub(in crate::parser) fn raise(&mut self) -> PResult<Statement> {
        self.next();
        if self.at_ident() {
            self.named_condition()?;
        }
        Ok(Statement::Signal(Box::new(Signal { again: true, state: None, items: Vec::new() })))
    }

    /// The condition of an exception that needs no declaration.
    pub(in crate::parser) fn predefined_exception(&self, name: &str) -> Option<HandlerCondition> {
        use selkie_types::error::catalogue as errors;
        let known = [
            ("NO_DATA_FOUND", errors::ER_SP_FETCH_NO_DATA.code),
            ("TOO_MANY_ROWS", errors::ER_TOO_MANY_ROWS.code),
            ("DUP_VAL_ON_INDEX", errors::ER_DUP_ENTRY.code),
            ("INVALID_CURSOR", errors::ER_SP_CURSOR_NOT_OPEN.code),
        ];
        if !self.is_oracle() || self.program.is_none() {
            return None;
        }
        let found = known.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, code)| HandlerCondition::Code(*code))
    }
}
