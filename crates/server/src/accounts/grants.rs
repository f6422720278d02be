//! Privileges on databases, tables, columns and routines.
//!
//! Must not hold global privileges; accounts do.

use std::collections::BTreeMap;

use super::account::AccountName;
use super::privileges::Privileges;

/// What a privilege is granted on.
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
    /// A procedure, or a function.
    Routine {
        /// Database.
        schema: String,
        /// Name, lower case.
        name: String,
        /// Whether it is a function.
        is_function: bool,
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

/// What one account has on one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Grant {
    /// Privileges on the whole target.
    pub(super) whole: Privileges,
    /// Privileges on single columns of a table.
    pub(super) columns: BTreeMap<String, Privileges>,
}

impl Grant {
    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.columns.is_empty()
    }
}

/// All grants below the global level.
pub(super) type Grants = BTreeMap<(AccountName, GrantTarget), Grant>;
