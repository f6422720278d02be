//! CREATE SERVER and ALTER SERVER.
//! DROP SERVER is in `stored.rs`, with those of other objects outside of schemas.

use selkie_types::error::catalogue::ER_WRONG_USAGE;

use super::{PResult, Parser};
use crate::ast::{DefineServer, ServerAction, ServerOptions, Statement};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// `SERVER` after CREATE.
    pub(super) fn create_server(&mut self, or_replace: bool) -> PResult<Statement> {
        self.next();
        let if_not_exists = self.if_not_exists()?;
        if or_replace && if_not_exists {
            return self.fail(&ER_WRONG_USAGE, &[&"OR REPLACE", &"IF NOT EXISTS"]);
        }
        let name = self.ident_or_text()?;
        self.expect_all(&[Kw::FOREIGN, Kw::DATA, Kw::WRAPPER])?;
        let wrapper = self.ident_or_text()?;
        let action = ServerAction::Create { or_replace, if_not_exists, wrapper };
        self.server_of(name, action)
    }

    /// `SERVER` after ALTER.
    pub(super) fn alter_server(&mut self) -> PResult<Statement> {
        self.next();
        let name = self.ident_or_text()?;
        self.server_of(name, ServerAction::Alter)
    }

    fn server_of(&mut self, name: Box<str>, action: ServerAction) -> PResult<Statement> {
        self.expect(Kw::OPTIONS)?;
        let mut options = ServerOptions::default();
        self.paren_list(|p| p.server_option(&mut options))?;
        Ok(Statement::DefineServer(Box::new(DefineServer { name, action, options })))
    }

    /// One option, which must not have been given before.
    fn server_option(&mut self, options: &mut ServerOptions) -> PResult<()> {
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        let option = match kw {
            Kw::HOST => &mut options.host,
            Kw::DATABASE => &mut options.database,
            Kw::USER => &mut options.user,
            Kw::PASSWORD => &mut options.password,
            Kw::SOCKET => &mut options.socket,
            Kw::OWNER => &mut options.owner,
            Kw::PORT => {
                self.next();
                if options.port.is_some() {
                    return Err(self.error());
                }
                options.port = Some(self.u64()?);
                return Ok(());
            }
            _ => return Err(self.error()),
        };
        self.next();
        if option.is_some() {
            return Err(self.error());
        }
        let text = self.string()?;
        *option = Some(String::from_utf8_lossy(&text.bytes).into());
        Ok(())
    }
}
