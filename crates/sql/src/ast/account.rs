//! Users, roles and privileges: their statements as written.
//! Nothing is checked against accounts that exist; `CURRENT_USER` and `CURRENT_ROLE` stay words.

use super::{Ident, StringLiteral, TableName};

/// A user or a role.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AccountName {
    /// `user[@host]`; a role is a user without a host.
    Named {
        /// The user or role.
        user: Box<str>,
        /// The host; `None` is `%`, or a role.
        host: Option<Box<str>>,
    },
    /// `CURRENT_USER`.
    CurrentUser,
    /// `CURRENT_ROLE`.
    CurrentRole,
    /// `PUBLIC`.
    Public,
}

/// A user with the way it logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserSpec {
    /// The user.
    pub account: AccountName,
    /// Alternatives, tried in order; empty if the statement gives none.
    pub auth: Vec<AuthSpec>,
}

/// One way to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthSpec {
    /// `IDENTIFIED BY 'password'`.
    Password(StringLiteral),
    /// `IDENTIFIED BY PASSWORD 'hash'`.
    Hash(StringLiteral),
    /// `IDENTIFIED VIA plugin [USING 'hash' | AS 'hash' | USING PASSWORD('text')]`.
    Plugin {
        /// The plugin.
        plugin: Ident,
        /// Password or hash for the plugin.
        credential: Option<PluginCredential>,
    },
}

/// Password or hash for an authentication plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginCredential {
    /// The stored form.
    Hash(StringLiteral),
    /// `PASSWORD('text')`.
    Plain(StringLiteral),
}

/// `CREATE USER`, and `ALTER USER`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateUser {
    /// `ALTER USER`.
    pub alter: bool,
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `IF NOT EXISTS`, or `IF EXISTS` of ALTER.
    pub conditional: bool,
    /// The users.
    pub users: Vec<UserSpec>,
    /// `REQUIRE`.
    pub tls: Option<TlsRequirement>,
    /// `WITH limits`.
    pub limits: ResourceLimits,
    /// `ACCOUNT LOCK` is true, `ACCOUNT UNLOCK` false.
    pub locked: Option<bool>,
    /// `PASSWORD EXPIRE ...`.
    pub password_expiry: Option<PasswordExpiry>,
}

/// `REQUIRE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsRequirement {
    /// `NONE`.
    None,
    /// `SSL`.
    Ssl,
    /// `X509`.
    X509,
    /// `SUBJECT`, `ISSUER`, `CIPHER`.
    Specified {
        /// `SUBJECT`.
        subject: Option<Box<str>>,
        /// `ISSUER`.
        issuer: Option<Box<str>>,
        /// `CIPHER`.
        cipher: Option<Box<str>>,
    },
}

/// `WITH` limits of a user; `None` is a limit that is not given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceLimits {
    /// `MAX_QUERIES_PER_HOUR`.
    pub queries_per_hour: Option<u64>,
    /// `MAX_UPDATES_PER_HOUR`.
    pub updates_per_hour: Option<u64>,
    /// `MAX_CONNECTIONS_PER_HOUR`.
    pub connections_per_hour: Option<u64>,
    /// `MAX_USER_CONNECTIONS`.
    pub user_connections: Option<i64>,
    /// `MAX_STATEMENT_TIME`, the number as written.
    pub statement_time: Option<Box<str>>,
}

/// `PASSWORD EXPIRE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PasswordExpiry {
    /// At once.
    Now,
    /// `NEVER`.
    Never,
    /// `DEFAULT`.
    Default,
    /// `INTERVAL n DAY`.
    Days(u64),
}

/// `CREATE ROLE`.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateRole {
    /// `OR REPLACE`.
    pub or_replace: bool,
    /// `IF NOT EXISTS`.
    pub if_not_exists: bool,
    /// The roles.
    pub roles: Vec<AccountName>,
    /// `WITH ADMIN`.
    pub admin: Option<AccountName>,
}

/// `DROP USER` or `DROP ROLE`.
#[derive(Clone, Debug, PartialEq)]
pub struct DropAccounts {
    /// `DROP ROLE`.
    pub roles: bool,
    /// `IF EXISTS`.
    pub if_exists: bool,
    /// The users or roles.
    pub names: Vec<AccountName>,
}

/// `GRANT` or `REVOKE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// `REVOKE`.
    pub revoke: bool,
    /// Privileges, roles or proxy right of the statement.
    pub what: Granted,
    /// Accounts that get or lose it.
    pub accounts: Vec<UserSpec>,
    /// `REQUIRE`.
    pub tls: Option<TlsRequirement>,
    /// `WITH` limits.
    pub limits: ResourceLimits,
    /// `WITH GRANT OPTION`, of roles `WITH ADMIN OPTION`.
    pub grant_option: bool,
}

/// Object of GRANT and REVOKE.
#[derive(Clone, Debug, PartialEq)]
pub enum Granted {
    /// Privileges at a level.
    Privileges {
        /// The privileges; empty for `ALL [PRIVILEGES]`.
        privileges: Vec<Privilege>,
        /// Their level.
        on: PrivilegeLevel,
    },
    /// `PROXY ON account`.
    Proxy(AccountName),
    /// Roles; with `ADMIN OPTION FOR` of REVOKE, `grant_option` is set.
    Roles(Vec<AccountName>),
    /// `REVOKE ALL PRIVILEGES, GRANT OPTION`.
    Everything,
}

/// One privilege.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Privilege {
    /// Its kind.
    pub kind: PrivilegeKind,
    /// Columns it is limited to; empty for all.
    pub columns: Vec<Ident>,
}

/// Privileges; each is the SQL words of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the SQL words
pub enum PrivilegeKind {
    Select,
    Insert,
    Update,
    Delete,
    References,
    Usage,
    Index,
    Alter,
    Create,
    Drop,
    Execute,
    Reload,
    Shutdown,
    Process,
    File,
    GrantOption,
    ShowDatabases,
    Super,
    CreateTemporaryTables,
    LockTables,
    ReplicationSlave,
    ReplicationClient,
    BinlogMonitor,
    BinlogAdmin,
    BinlogReplay,
    ReplicationMasterAdmin,
    ReplicationSlaveAdmin,
    SlaveMonitor,
    ConnectionAdmin,
    FederatedAdmin,
    ReadOnlyAdmin,
    SetUser,
    CreateView,
    ShowView,
    CreateRoutine,
    AlterRoutine,
    CreateUser,
    Event,
    Trigger,
    CreateTablespace,
    DeleteHistory,
}

/// Level of privileges: global, schema, table or routine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrivilegeLevel {
    /// `*.*`.
    Global,
    /// `schema.*`, or `*` for the current one (`None`).
    Schema(Option<Ident>),
    /// `[schema.]table`.
    Table(TableName),
    /// `PROCEDURE name`, `FUNCTION name`, `PACKAGE name`, `PACKAGE BODY name`.
    Routine(super::RoutineKind, TableName),
}
