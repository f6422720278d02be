//! CREATE and ALTER of events.
//! Bodies are in `program.rs`. Keeps the span of the body, which is stored as it was written.

use selkie_types::error::catalogue::ER_EVENT_RECURSION_FORBIDDEN;

use super::program::{Kind, Scope};
use super::{PResult, Parser};
use crate::ast::{
    AccountName, AlterEvent, CreateEvent, EventBody, EventOptions, EventStatus, Schedule, Span,
    Statement,
};
use crate::lexer::Kw;

impl Parser<'_> {
    /// `EVENT ...`; the words before are consumed.
    pub(super) fn create_event(
        &mut self,
        or_replace: bool,
        definer: Option<AccountName>,
    ) -> PResult<Statement> {
        let start = self.tok.start;
        self.expect(Kw::EVENT)?;
        let if_not_exists = self.if_not_exists()?;
        self.check_or_replace(or_replace, if_not_exists)?;
        let name = self.program_name()?;
        self.expect_all(&[Kw::ON, Kw::SCHEDULE])?;
        let schedule = self.schedule()?;
        let preserve = match self.eat(Kw::ON) {
            true => Some(self.event_completion()?),
            false => None,
        };
        let options = EventOptions { preserve, ..self.event_options()? };
        let body = self.event_body()?;
        Ok(Statement::CreateEvent(Box::new(CreateEvent {
            or_replace,
            if_not_exists,
            definer,
            name,
            schedule,
            options,
            body,
            start,
        })))
    }

    /// `EVENT ...` of ALTER; the words before are consumed.
    pub(super) fn alter_event(&mut self, definer: Option<AccountName>) -> PResult<Statement> {
        self.expect(Kw::EVENT)?;
        let name = self.program_name()?;
        let clauses = self.tok.start;
        let (mut schedule, mut preserve, mut rename) = (None, None, None);
        if self.at2(Kw::ON, Kw::SCHEDULE) {
            self.next();
            self.next();
            schedule = Some(self.schedule()?);
        }
        if self.eat(Kw::ON) {
            preserve = Some(self.event_completion()?);
        }
        if self.eat(Kw::RENAME) {
            self.expect(Kw::TO)?;
            rename = Some(self.program_name()?);
        }
        let options = EventOptions { preserve, ..self.event_options()? };
        let body = match self.at(Kw::DO) {
            true => Some(self.event_body()?),
            false => None,
        };
        if self.tok.start == clauses {
            return Err(self.error());
        }
        let alter = AlterEvent { definer, name, schedule, rename, options, body };
        Ok(Statement::AlterEvent(Box::new(alter)))
    }

    /// The times; ON SCHEDULE is consumed.
    fn schedule(&mut self) -> PResult<Schedule> {
        if self.eat(Kw::AT) {
            return self.expr().map(Schedule::At);
        }
        self.expect(Kw::EVERY)?;
        let amount = self.expr()?;
        let unit = self.unit()?;
        let starts = if self.eat(Kw::STARTS) { Some(self.expr()?) } else { None };
        let ends = if self.eat(Kw::ENDS) { Some(self.expr()?) } else { None };
        Ok(Schedule::Every { amount, unit, starts, ends })
    }

    /// `COMPLETION [NOT] PRESERVE`: whether the event is kept.
    fn event_completion(&mut self) -> PResult<bool> {
        self.expect(Kw::COMPLETION)?;
        let drops = self.eat(Kw::NOT);
        self.expect(Kw::PRESERVE)?;
        Ok(!drops)
    }

    /// Status and comment.
    fn event_options(&mut self) -> PResult<EventOptions> {
        let status = match self.eat_any(&[Kw::ENABLE, Kw::DISABLE]) {
            Some(Kw::ENABLE) => Some(EventStatus::Enabled),
            Some(_) if self.eat(Kw::ON) => {
                self.expect_any(&[Kw::SLAVE, Kw::REPLICA])?;
                Some(EventStatus::DisabledOnSlave)
            }
            Some(_) => Some(EventStatus::Disabled),
            None => None,
        };
        let comment = if self.eat(Kw::COMMENT) { Some(self.text()?) } else { None };
        Ok(EventOptions { status, comment, preserve: None })
    }

    /// `DO` and the statement. Compat: no program may contain a statement that gives an event one.
    fn event_body(&mut self) -> PResult<EventBody> {
        self.expect(Kw::DO)?;
        if self.program.is_some() {
            return self.fail(&ER_EVENT_RECURSION_FORBIDDEN, &[]);
        }
        let start = self.prev_end;
        let (program, _) =
            self.program(Scope::new(Kind::Procedure), |p| Ok(vec![p.nested_step()?]))?;
        // Compat: comments around it are part of it, but not the end of one that is code.
        let behind = &self.text[self.prev_end as usize..self.tok.start as usize];
        let end = match behind.trim_ascii().starts_with(b"*/") {
            true => self.prev_end,
            false => self.tok.start,
        };
        let text = &self.text[start as usize..end as usize];
        let before = text.len() - text.trim_ascii_start().len();
        let start = start + before as u32;
        let span = Span::new(start, start + text.trim_ascii().len() as u32);
        Ok(EventBody { program, span })
    }
}
