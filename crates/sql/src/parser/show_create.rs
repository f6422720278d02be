//! SHOW CREATE of every kind of object.
//! Only the name is read; the text comes from the catalog.

use super::{PResult, Parser};
use crate::ast::{RoutineKind, ShowWhat};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    pub(super) fn show_create(&mut self) -> PResult<ShowWhat> {
        self.next();
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        match kw {
            Kw::TABLE | Kw::VIEW | Kw::SEQUENCE | Kw::TRIGGER | Kw::EVENT => {
                self.next();
                let name = self.table_name()?;
                Ok(match kw {
                    Kw::TABLE => ShowWhat::CreateTable(name),
                    Kw::VIEW => ShowWhat::CreateView(name),
                    Kw::SEQUENCE => ShowWhat::CreateSequence(name),
                    Kw::TRIGGER => ShowWhat::CreateTrigger(name),
                    _ => ShowWhat::CreateEvent(name),
                })
            }
            Kw::DATABASE | Kw::SCHEMA => {
                self.next();
                let if_not_exists = self.if_not_exists()?;
                Ok(ShowWhat::CreateDatabase { if_not_exists, name: self.ident()? })
            }
            Kw::PROCEDURE => self.show_create_routine(RoutineKind::Procedure),
            Kw::FUNCTION => self.show_create_routine(RoutineKind::Function),
            Kw::PACKAGE => {
                self.next();
                let kind = if self.eat(Kw::BODY) {
                    RoutineKind::PackageBody
                } else {
                    RoutineKind::Package
                };
                Ok(ShowWhat::CreateRoutine(kind, self.table_name()?))
            }
            Kw::USER => {
                self.next();
                let ends = matches!(self.tok.kind, T::Eof | T::Semicolon);
                Ok(ShowWhat::CreateUser(if ends { None } else { Some(self.account()?) }))
            }
            _ => Err(self.error()),
        }
    }

    fn show_create_routine(&mut self, kind: RoutineKind) -> PResult<ShowWhat> {
        self.next();
        Ok(ShowWhat::CreateRoutine(kind, self.program_name()?))
    }
}
