//! DROP of procedures, functions, triggers, events and servers.
//! Tables and views are in `drop.rs`: they share one name space, these do not.

use super::{PResult, Parser};
use crate::ast::{DropStored, Statement, StoredKind, TableName};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// `DROP PROCEDURE` and the like; DROP is consumed.
    pub(super) fn drop_stored(&mut self) -> PResult<Statement> {
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        let kind = match kw {
            Kw::PROCEDURE => StoredKind::Procedure,
            Kw::FUNCTION => StoredKind::Function,
            Kw::TRIGGER => StoredKind::Trigger,
            Kw::EVENT => StoredKind::Event,
            Kw::SERVER => StoredKind::Server,
            Kw::PACKAGE if self.is_oracle() => match self.peek() {
                T::Word(Kw::BODY) => StoredKind::PackageBody,
                _ => StoredKind::Package,
            },
            _ => return self.unsupported_drop(),
        };
        self.next();
        if kind == StoredKind::PackageBody {
            self.next();
        }
        let if_exists = self.if_exists()?;
        let name = match kind {
            StoredKind::Server => TableName { schema: None, name: self.alias()? },
            _ => self.program_name()?,
        };
        Ok(Statement::DropStored(Box::new(DropStored { kind, if_exists, name })))
    }
}
