//! Blocks, IF, CASE, loops, jumps, and statements about cursors.
//! Labels become numbers here, so the executor compares no names.

use selkie_types::error::catalogue::{
    ER_NOT_AGGREGATE_FUNCTION, ER_SP_CURSOR_MISMATCH, ER_SP_LABEL_MISMATCH, ER_SP_LABEL_REDEFINE,
    ER_SP_LILABEL_MISMATCH, ER_SP_UNDECLARED_VAR, ER_WRONG_PARAMCOUNT_TO_CURSOR,
};

use super::declare::Stage;
use super::scope::{GroupRows, Label};
use super::{PResult, Parser};
use crate::ast::{AtEnd, Block, Cursor, Ident, Loop, LoopKind, Step, Term, TypeName, VariableType};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// `label: ...`.
    pub(super) fn labeled(&mut self) -> PResult<Step> {
        let label = self.new_ident()?;
        self.expect(T::Colon)?;
        if self.scope().labels.iter().any(|l| l.name.is(&label.value)) {
            return self.fail(&ER_SP_LABEL_REDEFINE, &[&label]);
        }
        match self.tok.kind {
            T::Word(Kw::BEGIN) => self.block(Some(label)),
            T::Word(Kw::LOOP | Kw::WHILE | Kw::REPEAT | Kw::FOR) => self.loop_step(Some(label)),
            _ => Err(self.error()),
        }
    }

    /// Gives a block or loop its number and brings its label into scope.
    pub(in crate::parser) fn enter_label(&mut self, name: &Option<Ident>, is_loop: bool) -> usize {
        let scope = self.scope();
        let number = scope.new_label();
        if let Some(name) = name {
            scope.labels.push(Label { name: name.clone(), number, is_loop });
        }
        number
    }

    /// The label after END, if present, which must match.
    fn leave_label(&mut self, name: &Option<Ident>) -> PResult<()> {
        if name.is_some() {
            self.scope().labels.pop();
        }
        let Some(end) = self.ident_opt()? else { return Ok(()) };
        match name {
            Some(name) if name.is(&end.value) => Ok(()),
            _ => self.fail(&ER_SP_LABEL_MISMATCH, &[&end]),
        }
    }

    /// The label after END of a block or loop with this label, which must match.
    pub(in crate::parser) fn end_label(&mut self, name: &Option<Ident>) -> PResult<()> {
        let Some(name) = name else { return Ok(()) };
        match self.ident_opt()? {
            Some(end) if !name.is(&end.value) => self.fail(&ER_SP_LABEL_MISMATCH, &[&end]),
            _ => Ok(()),
        }
    }

    /// `BEGIN [NOT ATOMIC] ... END`.
    pub(super) fn block(&mut self, name: Option<Ident>) -> PResult<Step> {
        self.next();
        if self.eat(Kw::NOT) {
            self.expect(Kw::ATOMIC)?;
        }
        let label = self.enter_label(&name, false);
        let outer = self.scope().enter();
        let first_cursor = self.scope().cursors.len();
        let (mut stage, mut handlers, mut steps) = (Stage::default(), Vec::new(), Vec::new());
        while self.at(Kw::DECLARE) {
            steps.extend(self.declare(&mut stage, &mut handlers)?);
            self.expect(T::Semicolon)?;
        }
        while !self.at(Kw::END) {
            steps.push(self.nested_step()?);
            self.expect(T::Semicolon)?;
        }
        self.next();
        let cursors = first_cursor..self.scope().cursors.len();
        self.scope().leave(outer);
        self.leave_label(&name)?;
        Ok(Step::Block(Box::new(Block { label, handlers, cursors, steps })))
    }

    pub(in crate::parser) fn if_step(&mut self) -> PResult<Step> {
        self.next();
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        let or_else = if self.is_oracle() { Kw::ELSIF } else { Kw::ELSEIF };
        loop {
            let condition = self.term()?;
            self.expect(Kw::THEN)?;
            branches.push((condition, self.steps(&[or_else, Kw::ELSE, Kw::END])?));
            if self.eat(or_else) {
                continue;
            }
            if self.eat(Kw::ELSE) {
                otherwise = self.steps(&[Kw::END])?;
            }
            self.expect_all(&[Kw::END, Kw::IF])?;
            return Ok(Step::If { branches, otherwise });
        }
    }

    pub(in crate::parser) fn case_step(&mut self) -> PResult<Step> {
        self.next();
        let mut operand = None;
        if !self.at(Kw::WHEN) {
            let term = self.term()?;
            let scope = self.scope();
            operand = Some((scope.operands, term));
            scope.operands += 1;
        }
        let mut branches = Vec::new();
        let mut otherwise = None;
        if !self.at(Kw::WHEN) {
            return Err(self.error());
        }
        while self.eat(Kw::WHEN) {
            let condition = match &operand {
                Some((number, _)) => self.operand_is(*number)?,
                None => self.term()?,
            };
            self.expect(Kw::THEN)?;
            branches.push((condition, self.steps(&[Kw::WHEN, Kw::ELSE, Kw::END])?));
        }
        if self.eat(Kw::ELSE) {
            otherwise = Some(self.steps(&[Kw::END])?);
        }
        self.expect_all(&[Kw::END, Kw::CASE])?;
        Ok(Step::Case { operand, branches, otherwise })
    }

    pub(super) fn loop_step(&mut self, name: Option<Ident>) -> PResult<Step> {
        let word = self.expect_any(&[Kw::LOOP, Kw::WHILE, Kw::REPEAT, Kw::FOR])?;
        let label = self.enter_label(&name, true);
        let outer = self.scope().enter();
        let (kind, steps) = match word {
            Kw::LOOP => (LoopKind::Forever, self.steps(&[Kw::END])?),
            Kw::WHILE => {
                let condition = self.term()?;
                self.expect(Kw::DO)?;
                (LoopKind::While(condition), self.steps(&[Kw::END])?)
            }
            Kw::REPEAT => {
                let steps = self.steps(&[Kw::UNTIL])?;
                self.expect(Kw::UNTIL)?;
                (LoopKind::Until(self.term()?), steps)
            }
            _ => {
                let kind = self.for_range(Kw::DO)?;
                self.expect(Kw::DO)?;
                (kind, self.steps(&[Kw::END])?)
            }
        };
        self.expect_all(&[Kw::END, word])?;
        self.scope().leave(outer);
        self.leave_label(&name)?;
        Ok(Step::Loop(Box::new(Loop { label, kind, steps })))
    }

    /// The range or cursor of a FOR loop, up to the word `end`.
    pub(in crate::parser) fn for_range(&mut self, end: Kw) -> PResult<LoopKind> {
        let name = self.new_ident()?;
        self.expect(Kw::IN)?;
        if self.at_query_in_parens() {
            let query = self.parens(Self::cursor_query)?;
            let cursor =
                Cursor { name: Ident::new("[implicit_cursor]"), parameters: Vec::new(), query };
            let cursor = self.scope().declare_cursor(cursor);
            let variable = self.scope().declare(name, VariableType::RowOfCursor(cursor));
            return Ok(LoopKind::Rows { variable, cursor, arguments: Vec::new() });
        }
        if let Some(cursor) = self.cursor_to_loop_over(end) {
            self.next();
            let arguments = self.cursor_arguments(cursor)?;
            let variable = self.scope().declare(name, VariableType::RowOfCursor(cursor));
            return Ok(LoopKind::Rows { variable, cursor, arguments });
        }
        let reverse = self.at(Kw::REVERSE) && self.peek() != T::LParen;
        if reverse {
            self.next();
        }
        let first = self.term()?;
        self.expect(T::DotDot)?;
        let last = self.term()?;
        let number = VariableType::Scalar(bigint(first.expr.span));
        let variable = self.scope().declare(name, number.clone());
        let bound = self.scope().declare(Ident::new("[target_bound]"), number);
        Ok(LoopKind::Range { variable, bound, reverse, first, last })
    }

    /// The cursor that a FOR loop runs over, if the next name is one.
    fn cursor_to_loop_over(&mut self, end: Kw) -> Option<usize> {
        if !self.at_ident() || !(self.peek() == T::LParen || self.peek() == T::Word(end)) {
            return None;
        }
        let name = self.ident_from(self.tok).ok()?;
        self.scope().cursor(&name.value)
    }

    pub(in crate::parser) fn jump(&mut self) -> PResult<Step> {
        let word = self.expect_any(&[Kw::LEAVE, Kw::ITERATE])?;
        let name = self.ident()?;
        let found = self.scope().labels.iter().rev().find(|l| l.name.is(&name.value));
        match found {
            Some(label) if word == Kw::LEAVE => Ok(Step::Leave(label.number)),
            Some(label) if label.is_loop => Ok(Step::Iterate(label.number)),
            _ => self.fail(&ER_SP_LILABEL_MISMATCH, &[&word.text(), &name]),
        }
    }

    /// The cursor of the next name, which must exist.
    pub(in crate::parser) fn cursor_name(&mut self) -> PResult<usize> {
        let name = self.ident()?;
        match self.scope().cursor(&name.value) {
            Some(cursor) => Ok(cursor),
            None => self.fail(&ER_SP_CURSOR_MISMATCH, &[&name]),
        }
    }

    fn cursor_arguments(&mut self, cursor: usize) -> PResult<Vec<Term>> {
        let mut arguments = Vec::new();
        if self.at(T::LParen) {
            arguments = self.paren_list(Self::term)?;
        }
        let cursor = &self.scope().cursors[cursor];
        if arguments.len() != cursor.parameters.len() {
            let name = cursor.name.clone();
            return self.fail(&ER_WRONG_PARAMCOUNT_TO_CURSOR, &[&name]);
        }
        Ok(arguments)
    }

    pub(in crate::parser) fn open_step(&mut self) -> PResult<Step> {
        self.next();
        let cursor = self.cursor_name()?;
        let arguments = self.cursor_arguments(cursor)?;
        Ok(Step::Open { cursor, arguments })
    }

    pub(in crate::parser) fn fetch_step(&mut self) -> PResult<Step> {
        self.next();
        if self.at(Kw::GROUP) {
            self.expect_all(&[Kw::GROUP, Kw::NEXT, Kw::ROW])?;
            if self.scope().group_rows == GroupRows::Absent {
                return self.fail(&ER_NOT_AGGREGATE_FUNCTION, &[]);
            }
            self.scope().group_rows = GroupRows::Fetched;
            return Ok(Step::FetchGroup);
        }
        if self.at(Kw::NEXT) && self.peek() == T::Word(Kw::FROM) {
            self.next();
        }
        self.eat(Kw::FROM);
        let cursor = self.cursor_name()?;
        self.expect(Kw::INTO)?;
        let into = self.list(|p| {
            let name = p.ident()?;
            match p.local_variable(&name.value) {
                Some(local) => Ok(local),
                None => p.fail(&ER_SP_UNDECLARED_VAR, &[&name]),
            }
        })?;
        let at_end = if self.is_oracle() { AtEnd::Note } else { AtEnd::Raise };
        Ok(Step::Fetch { cursor, into, at_end })
    }
}

/// Type of the variable of a FOR loop over numbers.
fn bigint(span: crate::ast::Span) -> crate::ast::DataType {
    crate::ast::DataType {
        name: TypeName::BigInt,
        length: None,
        decimals: None,
        unsigned: false,
        zerofill: false,
        charset: None,
        binary: false,
        collations: Vec::new(),
        members: Vec::new(),
        span,
    }
}
