//! Tables of LOCK TABLES. While it is in effect, statements may use no others.
//!
//! Functions and triggers have the list of the statement that runs them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use selkie_catalog::{TableInfo, TableKind};
use selkie_types::error::catalogue::{ER_NO_SUCH_TABLE, ER_TABLE_NOT_LOCKED};
use selkie_types::{SqlError, SqlResult};

use super::Session;

/// A table or view of LOCK TABLES.
#[derive(Clone, Debug)]
pub struct LockedTable {
    /// Schema.
    pub schema: Box<str>,
    /// Table.
    pub table: Box<str>,
    /// The name under which statements may use it.
    pub alias: Box<str>,
    /// Whether it is a view.
    pub is_view: bool,
    /// Whether its rows may be changed.
    pub write: bool,
    /// Whether the statement did not name it: triggers, functions or foreign keys of others need
    /// it. It must not be redefined.
    pub is_implied: bool,
}

impl LockedTable {
    /// Whether it allows all that `other` would.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.is_of(&other.schema, &other.table)
            && self.alias == other.alias
            && self.write >= other.write
    }

    fn is_of(&self, schema: &str, table: &str) -> bool {
        *self.schema == *schema && *self.table == *table
    }
}

/// The tables that one LOCK TABLES locked.
#[derive(Clone, Debug)]
pub struct LockList {
    /// Unique in the server.
    number: u64,
    tables: Vec<LockedTable>,
}

impl LockList {
    pub(crate) fn new(tables: Vec<LockedTable>) -> Self {
        static LISTS: AtomicU64 = AtomicU64::new(1);
        Self { number: LISTS.fetch_add(1, Ordering::Relaxed), tables }
    }

    pub(crate) fn tables(&self) -> &[LockedTable] {
        &self.tables
    }

    /// Removes a table.
    pub(crate) fn remove(&mut self, schema: &str, table: &str) {
        self.tables.retain(|lock| !lock.is_of(schema, table));
    }

    /// The strongest lock on a table.
    fn strongest(&self, schema: &str, table: &str) -> Option<&LockedTable> {
        let locks = self.tables.iter().filter(|lock| lock.is_of(schema, table));
        locks.max_by_key(|lock| (lock.write && !lock.is_implied, lock.write))
    }
}

impl Session {
    /// Tables of LOCK TABLES, if it is in effect.
    pub(crate) fn locked(&self) -> &[LockedTable] {
        self.lock_list.as_ref().map_or(&[], |list| list.tables())
    }

    /// The strongest lock that LOCK TABLES took on a table.
    pub(crate) fn lock_of(&self, schema: &str, table: &str) -> Option<&LockedTable> {
        self.lock_list.as_ref()?.strongest(schema, table)
    }

    /// Number of the active LOCK TABLES, unique among sessions; another one for functions and
    /// triggers, whose statements are checked otherwise.
    #[inline]
    pub(crate) fn lock_list_number(&self) -> Option<u64> {
        let is_nested = self.locked_tables.is_none();
        self.lock_list.as_ref().map(|list| list.number * 2 + u64::from(is_nested))
    }

    /// The error for a table that was not found: under LOCK TABLES it was not locked.
    pub(crate) fn not_found(&self, error: SqlError, name: &str) -> SqlError {
        match self.lock_list.is_some() && error.is(&ER_NO_SUCH_TABLE) {
            true => SqlError::new(&ER_TABLE_NOT_LOCKED, &[&name]),
            false => error,
        }
    }

    /// Fails unless LOCK TABLES allows a statement with this table, under any name.
    pub(crate) fn check_lock_list(&self, table: &TableInfo, written: bool) -> SqlResult<()> {
        if self.lock_list.is_none() || table.kind != TableKind::Base {
            return Ok(());
        }
        match self.lock_of(table.schema(), table.name()) {
            None => Err(SqlError::new(&ER_TABLE_NOT_LOCKED, &[&table.name()])),
            Some(lock) if written && !lock.write => Err(SqlError::read_locked(table.name())),
            Some(_) => Ok(()),
        }
    }

    /// Fails unless LOCK TABLES locked the table under the name that the statement uses.
    pub(crate) fn check_lock_named(
        &self,
        table: &TableInfo,
        name: &str,
        written: bool,
    ) -> SqlResult<()> {
        let is_view = match table.kind {
            TableKind::Base => false,
            // Compat: a view must only be locked, under any name.
            TableKind::View(_) => true,
            _ => return Ok(()),
        };
        let Some(list) = &self.lock_list else { return Ok(()) };
        let same_name = |alias: &str| match self.frame.settings.planning.lower_case_names {
            true => alias.eq_ignore_ascii_case(name),
            false => alias == name,
        };
        let is_of = |lock: &&LockedTable| {
            lock.is_of(table.schema(), table.name()) && (is_view || same_name(&lock.alias))
        };
        let strongest = list.tables.iter().filter(is_of).map(|lock| lock.write).max();
        match strongest {
            None => Err(SqlError::new(&ER_TABLE_NOT_LOCKED, &[&name])),
            Some(false) if written => Err(SqlError::read_locked(name)),
            Some(_) => Ok(()),
        }
    }

    /// Removes a table from the list of LOCK TABLES: it no longer exists under this name.
    pub(crate) fn unlist(&mut self, schema: &str, table: &str) {
        if let Some(list) = &mut self.lock_list {
            Arc::make_mut(list).remove(schema, table);
        }
    }
}
