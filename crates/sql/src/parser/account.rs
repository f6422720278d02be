//! Users and roles: CREATE and ALTER USER, CREATE ROLE, and account names anywhere.
//! GRANT uses the same specifications of users, since it may set a password.

use super::{PResult, Parser};
use crate::ast::{
    AccountName, AuthSpec, CreateRole, CreateUser, DropAccounts, PasswordExpiry, PluginCredential,
    ResourceLimits, Statement, TlsRequirement, UserSpec,
};
use crate::lexer::{Kw, T, unescape};
use selkie_types::error::catalogue::ER_DUP_ARGUMENT;

impl Parser<'_> {
    /// `user[@host]`, CURRENT_USER, CURRENT_ROLE, PUBLIC.
    pub(super) fn account(&mut self) -> PResult<AccountName> {
        if let Some(word) = self.eat_any(&[Kw::CURRENT_USER, Kw::CURRENT_ROLE]) {
            if self.eat(T::LParen) {
                self.expect(T::RParen)?;
            }
            return Ok(match word {
                Kw::CURRENT_USER => AccountName::CurrentUser,
                _ => AccountName::CurrentRole,
            });
        }
        let name = self.alias()?;
        if !self.at(T::UserVar) {
            if !name.quoted && name.is("public") {
                return Ok(AccountName::Public);
            }
            return Ok(AccountName::Named { user: name.value, host: None });
        }
        let token = self.next();
        let raw = &self.raw(token)[1..];
        let host: Box<str> = match raw.first() {
            Some(b'\'' | b'"' | b'`') => {
                let mut bytes = Vec::new();
                unescape(raw, false, &mut bytes);
                self.utf8(&bytes)?.to_ascii_lowercase().into()
            }
            Some(_) => self.utf8(raw)?.to_ascii_lowercase().into(),
            None => Box::default(),
        };
        Ok(AccountName::Named { user: name.value, host: Some(host) })
    }

    /// An account that can log in, so no role.
    fn user(&mut self) -> PResult<AccountName> {
        if self.at(Kw::CURRENT_ROLE) { Err(self.error()) } else { self.account() }
    }

    /// Name of a role: an account without a host, or CURRENT_ROLE.
    pub(super) fn role(&mut self) -> PResult<AccountName> {
        if self.at(Kw::CURRENT_ROLE) {
            return self.account();
        }
        Ok(AccountName::Named { user: self.ident_or_text()?, host: None })
    }

    /// An account with its authentication.
    pub(super) fn user_spec(&mut self) -> PResult<UserSpec> {
        let account = self.account()?;
        let mut auth = Vec::new();
        if self.eat(Kw::IDENTIFIED) {
            if self.eat(Kw::BY) {
                auth.push(match self.eat(Kw::PASSWORD) {
                    true => AuthSpec::Hash(self.string()?),
                    false => AuthSpec::Password(self.string()?),
                });
            } else {
                self.expect_any(&[Kw::VIA, Kw::WITH])?;
                auth.push(self.auth_plugin()?);
                while self.eat(Kw::OR) {
                    auth.push(self.auth_plugin()?);
                }
            }
        }
        Ok(UserSpec { account, auth })
    }

    fn auth_plugin(&mut self) -> PResult<AuthSpec> {
        let plugin = self.alias()?;
        let mut credential = None;
        if self.eat_any(&[Kw::USING, Kw::AS]).is_some() {
            credential = Some(if self.eat2(Kw::PASSWORD, T::LParen) {
                let text = self.string()?;
                self.expect(T::RParen)?;
                PluginCredential::Plain(text)
            } else {
                PluginCredential::Hash(self.string()?)
            });
        }
        Ok(AuthSpec::Plugin { plugin, credential })
    }

    /// `CREATE USER` or `ALTER USER`, the first word consumed.
    pub(super) fn create_user(&mut self, or_replace: bool, alter: bool) -> PResult<Statement> {
        self.next();
        let conditional = if alter { self.if_exists()? } else { self.if_not_exists()? };
        let users = self.list(Self::user_spec)?;
        let tls = self.tls_requirement()?;
        let limits = self.resource_limits()?.0;
        let (locked, password_expiry) = self.account_options()?;
        Ok(Statement::CreateUser(Box::new(CreateUser {
            alter,
            or_replace,
            conditional,
            users,
            tls,
            limits,
            locked,
            password_expiry,
        })))
    }

    /// `REQUIRE ...`, if present.
    pub(super) fn tls_requirement(&mut self) -> PResult<Option<TlsRequirement>> {
        if !self.eat(Kw::REQUIRE) {
            return Ok(None);
        }
        match self.eat_any(&[Kw::NONE, Kw::SSL, Kw::X509]) {
            Some(Kw::NONE) => return Ok(Some(TlsRequirement::None)),
            Some(Kw::SSL) => return Ok(Some(TlsRequirement::Ssl)),
            Some(_) => return Ok(Some(TlsRequirement::X509)),
            None => {}
        }
        let (mut subject, mut issuer, mut cipher) = (None, None, None);
        let mut any = false;
        while let Some(word) = self.eat_any(&[Kw::SUBJECT, Kw::ISSUER, Kw::CIPHER]) {
            let part = match word {
                Kw::SUBJECT => &mut subject,
                Kw::ISSUER => &mut issuer,
                _ => &mut cipher,
            };
            if part.replace(self.text()?).is_some() {
                return self.fail(&ER_DUP_ARGUMENT, &[&word.text()]);
            }
            self.eat(Kw::AND);
            any = true;
        }
        if !any {
            return Err(self.error());
        }
        Ok(Some(TlsRequirement::Specified { subject, issuer, cipher }))
    }

    /// `WITH limits [GRANT OPTION]`, if present; the flag is GRANT OPTION.
    pub(super) fn resource_limits(&mut self) -> PResult<(ResourceLimits, bool)> {
        let mut limits = ResourceLimits::default();
        let mut grant_option = false;
        if !self.eat(Kw::WITH) {
            return Ok((limits, false));
        }
        let mut any = false;
        while let T::Word(kw) = self.tok.kind {
            match kw {
                Kw::MAX_QUERIES_PER_HOUR => limits.queries_per_hour = Some(self.limit_number()?),
                Kw::MAX_UPDATES_PER_HOUR => limits.updates_per_hour = Some(self.limit_number()?),
                Kw::MAX_CONNECTIONS_PER_HOUR => {
                    limits.connections_per_hour = Some(self.limit_number()?)
                }
                Kw::MAX_USER_CONNECTIONS => {
                    self.next();
                    limits.user_connections = Some(self.i64()?);
                }
                Kw::MAX_STATEMENT_TIME => {
                    self.next();
                    if !matches!(self.tok.kind, T::Int | T::Decimal | T::Float) {
                        return Err(self.error());
                    }
                    let token = self.next();
                    limits.statement_time = Some(self.utf8(self.raw(token))?.into());
                }
                Kw::GRANT => {
                    self.next();
                    self.expect(Kw::OPTION)?;
                    grant_option = true;
                }
                _ => break,
            }
            any = true;
        }
        if any { Ok((limits, grant_option)) } else { Err(self.error()) }
    }

    fn limit_number(&mut self) -> PResult<u64> {
        self.next();
        self.u64()
    }

    fn account_options(&mut self) -> PResult<(Option<bool>, Option<PasswordExpiry>)> {
        let (mut locked, mut expiry) = (None, None);
        loop {
            if self.eat(Kw::ACCOUNT) {
                locked = Some(self.expect_any(&[Kw::LOCK, Kw::UNLOCK])? == Kw::LOCK);
            } else if self.eat(Kw::PASSWORD) {
                self.expect(Kw::EXPIRE)?;
                expiry = Some(self.password_expiry()?);
            } else {
                return Ok((locked, expiry));
            }
        }
    }

    fn password_expiry(&mut self) -> PResult<PasswordExpiry> {
        Ok(match self.eat_any(&[Kw::NEVER, Kw::DEFAULT, Kw::INTERVAL]) {
            None => PasswordExpiry::Now,
            Some(Kw::NEVER) => PasswordExpiry::Never,
            Some(Kw::DEFAULT) => PasswordExpiry::Default,
            Some(_) => {
                let days = self.u64()?;
                self.expect(Kw::DAY)?;
                PasswordExpiry::Days(days)
            }
        })
    }

    pub(super) fn create_role(&mut self, or_replace: bool) -> PResult<Statement> {
        self.next();
        let if_not_exists = self.if_not_exists()?;
        let roles = self.list(Self::role)?;
        let mut admin = None;
        if self.eat(Kw::WITH) {
            self.expect(Kw::ADMIN)?;
            admin = Some(self.account()?);
        }
        Ok(Statement::CreateRole(CreateRole { or_replace, if_not_exists, roles, admin }.into()))
    }

    pub(super) fn drop_accounts(&mut self) -> PResult<Statement> {
        let roles = self.next().kind == T::Word(Kw::ROLE);
        let if_exists = self.if_exists()?;
        let names = self.list(if roles { Self::role } else { Self::user })?;
        Ok(Statement::DropAccounts(DropAccounts { roles, if_exists, names }.into()))
    }
}
