//! An account or a role: its name, how it logs in and its global privileges.
//!
//! Must not hold privileges on databases or tables; those are in the `Acl` that owns the account.

use std::fmt;

use selkie_types::Privileges;

use super::auth_method::AuthMethod;
use super::host::HostPattern;
use super::stored::Document;

/// Name of the role that everybody has.
pub const PUBLIC: &str = "PUBLIC";

/// Name of an account, or of a role when there is no host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccountName {
    /// User name; case-sensitive.
    pub user: String,
    /// Host pattern; `None` for a role.
    pub host: Option<HostPattern>,
}

impl AccountName {
    /// The account `user`@`host`.
    pub fn new(user: &str, host: &str) -> Self {
        let host = HostPattern::new(&host.to_ascii_lowercase());
        Self { user: user.to_owned(), host: Some(host) }
    }

    /// The role that everybody has.
    pub fn public() -> Self {
        Self::role(PUBLIC)
    }

    /// Whether this is [`Self::public`].
    pub fn is_public(&self) -> bool {
        self.host.is_none() && self.user == PUBLIC
    }

    /// The role `name`.
    pub fn role(name: &str) -> Self {
        Self { user: name.to_owned(), host: None }
    }

    /// The host as text; empty for a role.
    pub fn host_text(&self) -> &str {
        self.host.as_ref().map_or("", HostPattern::as_str)
    }

    /// The name as error messages quote it.
    pub fn quoted(&self) -> String {
        match &self.host {
            Some(host) => format!("'{}'@'{}'", self.user, host.as_str()),
            None => format!("'{}'", self.user),
        }
    }

    /// The name as SHOW statements quote it.
    pub fn backquoted(&self) -> String {
        let quote = |s: &str| format!("`{}`", s.replace('`', "``"));
        match &self.host {
            Some(host) => format!("{}@{}", quote(&self.user), quote(host.as_str())),
            None if self.is_public() => self.user.clone(),
            None => quote(&self.user),
        }
    }
}

impl fmt::Display for AccountName {
    /// The name as `CURRENT_USER()` shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Some(host) => write!(f, "{}@{}", self.user, host.as_str()),
            None => f.write_str(&self.user),
        }
    }
}

/// Transport security an account demands of its connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TlsRequirement {
    /// No demand.
    #[default]
    None,
    /// TLS.
    Any,
    /// TLS with a valid client certificate.
    X509,
    /// TLS with a certificate that has these properties; an empty one is not checked.
    Specified {
        /// Cipher.
        cipher: String,
        /// Issuer.
        issuer: String,
        /// Subject.
        subject: String,
    },
}

/// Resource limits of an account; 0 is no limit.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Statements an hour.
    pub queries: u64,
    /// Statements an hour that change data.
    pub updates: u64,
    /// Logins an hour.
    pub connections: u64,
    /// Connections at the same time.
    pub user_connections: i64,
    /// Seconds a statement may take.
    pub statement_time: f64,
}

/// An account or a role.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Name.
    pub name: AccountName,
    /// Ways to log in, tried in order; none for a role.
    pub auth: Vec<AuthMethod>,
    /// Privileges on everything.
    pub global: Privileges,
    /// Whether logins are refused.
    pub locked: bool,
    /// Whether the password must be changed first.
    pub expired: bool,
    /// Days a password is valid: `Some(0)` is for ever, `None` is the server's default.
    pub lifetime: Option<u32>,
    /// Transport security its connections must have.
    pub tls: TlsRequirement,
    /// Resource limits.
    pub limits: Limits,
    /// Role that is active after login.
    pub default_role: Option<String>,
    /// Time of the last change of the password, in seconds since 1970; -1 if it is not known.
    pub password_changed: i64,
    /// The row the account was read from; its unknown members are kept.
    pub document: Document,
}

impl Account {
    /// An account without password and privileges.
    pub fn new(name: AccountName) -> Self {
        let auth =
            if name.host.is_some() { vec![AuthMethod::Native(String::new())] } else { vec![] };
        Self {
            name,
            auth,
            global: Privileges::NONE,
            locked: false,
            expired: false,
            lifetime: None,
            tls: TlsRequirement::None,
            limits: Limits::default(),
            default_role: None,
            password_changed: -1,
            document: Document::default(),
        }
    }

    /// Whether this is a role.
    pub fn is_role(&self) -> bool {
        self.name.host.is_none()
    }

    /// Whether the password has to be changed at `now`, in seconds since 1970. `days` is how long
    /// the server's passwords are valid, 0 is for ever.
    pub fn is_expired(&self, now: i64, days: u32) -> bool {
        let days = i64::from(self.lifetime.unwrap_or(days));
        self.expired
            || days > 0 && self.password_changed > 0 && now - self.password_changed > days * 86_400
    }

    /// Remembers the JSON text the account is written as.
    pub(super) fn settle(&mut self) {
        self.document = Document::of(self);
    }

    /// Whether anybody can log in as this account without knowing a secret.
    pub fn is_open(&self) -> bool {
        !self.is_role() && !self.locked && self.auth.iter().any(AuthMethod::is_open)
    }
}
