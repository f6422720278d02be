//! Definitions of servers whose tables another engine would reach. Options are kept apart from each
//! other: ALTER must leave those that it does not name.

/// `CREATE SERVER`, `ALTER SERVER`.
#[derive(Clone, Debug, PartialEq)]
pub struct DefineServer {
    /// Name of the server.
    pub name: Box<str>,
    /// The kind of statement, with its own words.
    pub action: ServerAction,
    /// `OPTIONS (...)`.
    pub options: ServerOptions,
}

/// A kind of statement about the definition of a server.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerAction {
    /// `CREATE SERVER`.
    Create {
        /// `OR REPLACE`.
        or_replace: bool,
        /// `IF NOT EXISTS`.
        if_not_exists: bool,
        /// `FOREIGN DATA WRAPPER`.
        wrapper: Box<str>,
    },
    /// `ALTER SERVER`.
    Alter,
}

/// Options of a server; `None` where the statement does not give one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerOptions {
    /// `HOST`.
    pub host: Option<Box<str>>,
    /// `DATABASE`.
    pub database: Option<Box<str>>,
    /// `USER`.
    pub user: Option<Box<str>>,
    /// `PASSWORD`.
    pub password: Option<Box<str>>,
    /// `PORT`.
    pub port: Option<u64>,
    /// `SOCKET`.
    pub socket: Option<Box<str>>,
    /// `OWNER`.
    pub owner: Option<Box<str>>,
}
