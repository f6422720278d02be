//! CREATE SEQUENCE and ALTER SEQUENCE.
//! Options may come in any order; their values are checked against each other later.

use super::{PResult, Parser};
use crate::ast::{AlterSequence, CreateSequence, SequenceOptions, Statement};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn create_sequence(
        &mut self,
        or_replace: bool,
        temporary: bool,
    ) -> PResult<Statement> {
        self.expect(Kw::SEQUENCE)?;
        let if_not_exists = self.if_not_exists()?;
        self.check_or_replace(or_replace, if_not_exists)?;
        let name = self.new_table_name()?;
        let options = self.sequence_options(false)?;
        let table_options = self.table_options()?;
        let create =
            CreateSequence { or_replace, temporary, if_not_exists, name, options, table_options };
        Ok(Statement::CreateSequence(create.into()))
    }

    /// `ALTER SEQUENCE ...`; ALTER is consumed.
    pub(super) fn alter_sequence(&mut self) -> PResult<Statement> {
        self.expect(Kw::SEQUENCE)?;
        let if_exists = self.if_exists()?;
        let name = self.table_name()?;
        let options = self.sequence_options(true)?;
        if options == SequenceOptions::default() {
            return Err(self.error());
        }
        Ok(Statement::AlterSequence(AlterSequence { if_exists, name, options }.into()))
    }

    fn sequence_options(&mut self, alter: bool) -> PResult<SequenceOptions> {
        let mut o = SequenceOptions::default();
        loop {
            let T::Word(kw) = self.tok.kind else { return Ok(o) };
            match kw {
                Kw::NO => {
                    self.next();
                    match self.expect_any(&[Kw::MINVALUE, Kw::MAXVALUE, Kw::CACHE, Kw::CYCLE])? {
                        Kw::MINVALUE => o.min_value = Some(None),
                        Kw::MAXVALUE => o.max_value = Some(None),
                        Kw::CACHE => o.cache = Some(0),
                        _ => o.cycle = Some(false),
                    }
                    continue;
                }
                Kw::NOMINVALUE => o.min_value = Some(None),
                Kw::NOMAXVALUE => o.max_value = Some(None),
                Kw::NOCACHE => o.cache = Some(0),
                Kw::NOCYCLE => o.cycle = Some(false),
                Kw::CYCLE => o.cycle = Some(true),
                Kw::START => {
                    o.start = Some(self.option_number(&[Kw::WITH])?);
                    continue;
                }
                Kw::INCREMENT => {
                    o.increment = Some(self.option_number(&[Kw::BY])?);
                    continue;
                }
                Kw::MINVALUE => {
                    o.min_value = Some(Some(self.option_number(&[])?));
                    continue;
                }
                Kw::MAXVALUE => {
                    o.max_value = Some(Some(self.option_number(&[])?));
                    continue;
                }
                Kw::CACHE => {
                    o.cache = Some(self.option_number(&[])?);
                    continue;
                }
                Kw::RESTART if alter => {
                    o.restart = Some(self.restart()?);
                    continue;
                }
                _ => return Ok(o),
            }
            self.next();
        }
    }

    /// The option's word, a word of `fill` or `=` if present, and the number.
    fn option_number(&mut self, fill: &[Kw]) -> PResult<i64> {
        self.next();
        if self.eat_any(fill).is_none() {
            self.eat(T::Eq);
        }
        self.sequence_number()
    }

    /// A signed number. Compat: the smallest 64-bit number is refused.
    fn sequence_number(&mut self) -> PResult<i64> {
        let negative = self.eat(T::Minus);
        if !negative {
            self.eat(T::Plus);
        }
        let token = self.tok;
        let value = i64::try_from(self.u64()?).map_err(|_| self.error_at(token))?;
        Ok(if negative { -value } else { value })
    }

    fn restart(&mut self) -> PResult<Option<i64>> {
        self.next();
        if self.eat(Kw::WITH) || self.eat(T::Eq) || matches!(self.tok.kind, T::Int | T::Minus) {
            return self.sequence_number().map(Some);
        }
        Ok(None)
    }
}
