//! Privileges as a bit set, with MariaDB's bits and names.
//!
//! Must not know which account has them.

use std::ops::{BitAnd, BitOr};

/// A set of privileges; the bits are those of `mysql.global_priv`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Privileges(pub u64);

macro_rules! privileges {
    ($($name:ident = $bit:literal $text:literal;)*) => {
        impl Privileges {
            $(#[doc = $text] pub const $name: Self = Self(1 << $bit);)*
        }
        /// Names in bit order.
        const NAMES: &[(Privileges, &str)] = &[$((Privileges::$name, $text)),*];
    };
}

privileges! {
    SELECT = 0 "SELECT";
    INSERT = 1 "INSERT";
    UPDATE = 2 "UPDATE";
    DELETE = 3 "DELETE";
    CREATE = 4 "CREATE";
    DROP = 5 "DROP";
    RELOAD = 6 "RELOAD";
    SHUTDOWN = 7 "SHUTDOWN";
    PROCESS = 8 "PROCESS";
    FILE = 9 "FILE";
    GRANT_OPTION = 10 "GRANT OPTION";
    REFERENCES = 11 "REFERENCES";
    INDEX = 12 "INDEX";
    ALTER = 13 "ALTER";
    SHOW_DATABASES = 14 "SHOW DATABASES";
    SUPER = 15 "SUPER";
    CREATE_TEMPORARY_TABLES = 16 "CREATE TEMPORARY TABLES";
    LOCK_TABLES = 17 "LOCK TABLES";
    EXECUTE = 18 "EXECUTE";
    REPLICATION_SLAVE = 19 "REPLICATION SLAVE";
    BINLOG_MONITOR = 20 "BINLOG MONITOR";
    CREATE_VIEW = 21 "CREATE VIEW";
    SHOW_VIEW = 22 "SHOW VIEW";
    CREATE_ROUTINE = 23 "CREATE ROUTINE";
    ALTER_ROUTINE = 24 "ALTER ROUTINE";
    CREATE_USER = 25 "CREATE USER";
    EVENT = 26 "EVENT";
    TRIGGER = 27 "TRIGGER";
    CREATE_TABLESPACE = 28 "CREATE TABLESPACE";
    DELETE_HISTORY = 29 "DELETE HISTORY";
    SET_USER = 30 "SET USER";
    FEDERATED_ADMIN = 31 "FEDERATED ADMIN";
    CONNECTION_ADMIN = 32 "CONNECTION ADMIN";
    READ_ONLY_ADMIN = 33 "READ_ONLY ADMIN";
    REPLICATION_SLAVE_ADMIN = 34 "REPLICATION SLAVE ADMIN";
    REPLICATION_MASTER_ADMIN = 35 "REPLICATION MASTER ADMIN";
    BINLOG_ADMIN = 36 "BINLOG ADMIN";
    BINLOG_REPLAY = 37 "BINLOG REPLAY";
    SLAVE_MONITOR = 38 "SLAVE MONITOR";
}

impl Privileges {
    /// No privilege, as `USAGE`.
    pub const NONE: Self = Self(0);
    /// Every privilege, the right to grant included.
    pub const ALL: Self = Self((1 << 39) - 1);
    /// Privileges that SUPER included before it was split.
    pub const SPLIT_FROM_SUPER: Self = Self(
        Self::SET_USER.0
            | Self::FEDERATED_ADMIN.0
            | Self::CONNECTION_ADMIN.0
            | Self::READ_ONLY_ADMIN.0
            | Self::REPLICATION_SLAVE_ADMIN.0
            | Self::BINLOG_ADMIN.0
            | Self::BINLOG_REPLAY.0
            | Self::SLAVE_MONITOR.0,
    );
    /// Privileges that can be granted on a database.
    pub const DATABASE: Self = Self(
        Self::TABLE.0
            | Self::CREATE_TEMPORARY_TABLES.0
            | Self::LOCK_TABLES.0
            | Self::EXECUTE.0
            | Self::CREATE_ROUTINE.0
            | Self::ALTER_ROUTINE.0
            | Self::EVENT.0,
    );
    /// Privileges that can be granted on a table.
    pub const TABLE: Self = Self(
        Self::COLUMN.0
            | Self::DELETE.0
            | Self::CREATE.0
            | Self::DROP.0
            | Self::GRANT_OPTION.0
            | Self::INDEX.0
            | Self::ALTER.0
            | Self::CREATE_VIEW.0
            | Self::SHOW_VIEW.0
            | Self::TRIGGER.0
            | Self::DELETE_HISTORY.0,
    );
    /// Privileges that can be granted on a column.
    pub const COLUMN: Self =
        Self(Self::SELECT.0 | Self::INSERT.0 | Self::UPDATE.0 | Self::REFERENCES.0);
    /// Privileges that can be granted on a routine.
    pub const ROUTINE: Self = Self(Self::EXECUTE.0 | Self::ALTER_ROUTINE.0 | Self::GRANT_OPTION.0);

    /// Whether the set has all of `other`.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the set has any of `other`.
    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// This set without `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The privilege with this name, which may be a name of older versions.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = match name.to_ascii_uppercase().as_str() {
            "REPLICATION CLIENT" => "BINLOG MONITOR".to_owned(),
            "REPLICA MONITOR" => "SLAVE MONITOR".to_owned(),
            "REPLICATION REPLICA" => "REPLICATION SLAVE".to_owned(),
            "REPLICATION REPLICA ADMIN" => "REPLICATION SLAVE ADMIN".to_owned(),
            "DELETE VERSIONING ROWS" => "DELETE HISTORY".to_owned(),
            other => other.to_owned(),
        };
        NAMES.iter().find(|(_, n)| *n == name).map(|(bit, _)| *bit)
    }

    /// The names as error messages list them: `SELECT, GRANT`.
    pub fn refused(self) -> String {
        let word = |name| if name == "GRANT OPTION" { "GRANT" } else { name };
        self.names().map(word).collect::<Vec<_>>().join(", ")
    }

    /// Name of each privilege in the set, in bit order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().filter(move |(bit, _)| self.has(*bit)).map(|(_, name)| *name)
    }

    /// The single privileges of the set with their names.
    pub fn each(self) -> impl Iterator<Item = (Self, &'static str)> {
        NAMES.iter().filter(move |(bit, _)| self.has(*bit)).copied()
    }
}

impl BitOr for Privileges {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Privileges {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets() {
        assert_eq!(Privileges::ALL.names().count(), 39);
        assert_eq!(Privileges::from_name("replication client"), Some(Privileges::BINLOG_MONITOR));
        assert!(Privileges::DATABASE.has(Privileges::TABLE));
        assert_eq!(Privileges::from_name("FLY"), None);
    }
}
