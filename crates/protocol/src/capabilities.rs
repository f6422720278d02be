//! Capability flags of the handshake: the standard 32 bits, and MariaDB's extension above them.
//!
//! Must not decide which capabilities the server offers.

use std::ops::{BitAnd, BitOr, Not};

/// A set of capability flags. Bits 32 and up are MariaDB's extended capabilities.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(pub u64);

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $bit:literal;)*) => {
        impl Capabilities { $($(#[$doc])* pub const $name: Self = Self(1 << $bit);)* }
    };
}

flags! {
    /// Set by MySQL's servers and clients. Compat: a server that clears it is MariaDB. Then the
    /// reserved bytes of the handshake contain the extended capabilities.
    CLIENT_MYSQL = 0;
    /// Affected rows count matched rows, not changed rows.
    FOUND_ROWS = 1;
    /// Column flags are two bytes.
    LONG_FLAG = 2;
    /// The login carries a database.
    CONNECT_WITH_DB = 3;
    /// `db.table.column` is refused.
    NO_SCHEMA = 4;
    /// zlib compression.
    COMPRESS = 5;
    /// ODBC client, no meaning.
    ODBC = 6;
    /// `LOAD DATA LOCAL` is allowed.
    LOCAL_FILES = 7;
    /// The parser ignores spaces before `(`.
    IGNORE_SPACE = 8;
    /// The 4.1 protocol.
    PROTOCOL_41 = 9;
    /// `interactive_timeout` applies in place of `wait_timeout`.
    INTERACTIVE = 10;
    /// TLS.
    SSL = 11;
    /// The client ignores SIGPIPE, no meaning.
    IGNORE_SIGPIPE = 12;
    /// Status flags contain the state of the transaction.
    TRANSACTIONS = 13;
    /// Old name of the 4.1 protocol, no meaning.
    RESERVED = 14;
    /// 4.1 authentication.
    SECURE_CONNECTION = 15;
    /// Several statements in one `COM_QUERY`.
    MULTI_STATEMENTS = 16;
    /// Several results from a text statement.
    MULTI_RESULTS = 17;
    /// Several results from a prepared statement.
    PS_MULTI_RESULTS = 18;
    /// Pluggable authentication.
    PLUGIN_AUTH = 19;
    /// Connection attributes in the login.
    CONNECT_ATTRS = 20;
    /// The authentication data is a length-encoded string.
    PLUGIN_AUTH_LENENC = 21;
    /// The client understands the sandbox of an expired password.
    CAN_HANDLE_EXPIRED_PASSWORDS = 22;
    /// Session state changes in OK packets.
    SESSION_TRACK = 23;
    /// OK packets replace EOF packets.
    DEPRECATE_EOF = 24;
    /// Progress reports.
    PROGRESS = 32;
    /// `COM_STMT_BULK_EXECUTE`.
    STMT_BULK_OPERATIONS = 34;
    /// Extended type information in column definitions.
    EXTENDED_METADATA = 35;
    /// Column definitions are not sent again when they have not changed.
    CACHE_METADATA = 36;
    /// One OK packet for each unit of a bulk execution.
    BULK_UNIT_RESULTS = 37;
}

impl Capabilities {
    /// No capability.
    pub const NONE: Self = Self(0);

    /// Whether all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags of both sets.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set without the flags of `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The standard 32 bits.
    pub const fn standard(self) -> u32 {
        self.0 as u32
    }

    /// MariaDB's extended 32 bits.
    pub const fn extended(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl BitOr for Capabilities {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Capabilities {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Not for Capabilities {
    type Output = Self;
    fn not(self) -> Self {
        Self(!self.0)
    }
}
