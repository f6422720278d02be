//! Privileges on databases, tables, columns and routines.
//!
//! Must not hold global privileges: they are part of the account.

use std::collections::BTreeMap;

use selkie_types::Privileges;

use super::account::AccountName;

/// Kind of a stored routine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RoutineKind {
    /// A stored procedure.
    Procedure,
    /// A stored function.
    Function,
    /// The declarations of a package.
    Package,
    /// The bodies of a package.
    PackageBody,
}

impl RoutineKind {
    /// All of them, in the order SHOW GRANTS lists them.
    pub const ALL: [Self; 4] = [Self::Procedure, Self::Function, Self::Package, Self::PackageBody];

    /// The kind as SQL and `mysql.procs_priv` write it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Procedure => "PROCEDURE",
            Self::Function => "FUNCTION",
            Self::Package => "PACKAGE",
            Self::PackageBody => "PACKAGE BODY",
        }
    }

    /// The kind from its words in SQL.
    pub fn from_words(words: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.words().eq_ignore_ascii_case(words))
    }
}

/// Object of a grant below the global level.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GrantTarget {
    /// A database pattern.
    Database(String),
    /// A table or view.
    Table {
        /// Database.
        schema: String,
        /// Table.
        table: String,
    },
    /// A stored routine.
    Routine {
        /// Kind of the routine.
        kind: RoutineKind,
        /// Database.
        schema: String,
        /// Name, lower case.
        name: String,
    },
}

/// Level of a GRANT or REVOKE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantLevel {
    /// `*.*`.
    Global,
    /// Everything else.
    On(GrantTarget),
}

/// Privileges on single columns, in the order they were first granted.
pub type Columns = Vec<(String, Privileges)>;

/// Privileges of one account on one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Privileges on the whole target.
    pub whole: Privileges,
    /// Privileges on single columns of a table.
    pub columns: Columns,
    /// `user@host` of the account that granted last.
    pub grantor: String,
    /// Grows from each grant to the next new one.
    pub number: u64,
}

impl Grant {
    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.columns.is_empty()
    }

    /// Privileges on at least one column.
    pub fn on_any_column(&self) -> Privileges {
        self.columns.iter().fold(Privileges::NONE, |all, (_, p)| all | *p)
    }

    /// Privileges on the column called `name`; `None` if there are none.
    pub fn column_mut(&mut self, name: &str) -> Option<&mut Privileges> {
        let found = self.columns.iter_mut().find(|(n, _)| same_column(n, name));
        found.map(|(_, privileges)| privileges)
    }
}

/// Whether two column names are equal.
pub(super) fn same_column(a: &str, b: &str) -> bool {
    selkie_types::charset::identifier_eq(a, b)
}

/// All grants below the global level.
pub(super) type Grants = BTreeMap<(AccountName, GrantTarget), Grant>;

/// The right of an account to act as another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxy {
    /// Whether the account may grant it to others.
    pub with_grant: bool,
    /// `user@host` of the account that granted it.
    pub grantor: String,
}

/// Proxies by the account that logs in and the account it may act as.
pub(super) type Proxies = BTreeMap<(AccountName, AccountName), Proxy>;
