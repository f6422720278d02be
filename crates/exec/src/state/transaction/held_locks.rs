//! The locks of names that a transaction and its statements hold.
//!
//! # Invariants
//! - HELD-1 A statement that changes rows of engines without rollback is alone with the tables it
//!   changes, until what it changed can be seen. Locks of rows are not enough: a statement that
//!   reads a table to compute what it puts there would compute it from rows that another one
//!   replaces meanwhile.

use super::Transaction;
use crate::state::metadata::changes;
use crate::state::metadata::{LockMode, LockTicket};

/// Locks that end with the transaction, or with the statement.
#[derive(Default)]
pub(super) struct HeldLocks {
    names: Vec<LockTicket>,
    /// Tables whose rows the running statement keeps others from.
    rows: Vec<LockTicket>,
}

impl HeldLocks {
    /// Locks of names alone.
    pub(super) fn of_names(names: Vec<LockTicket>) -> Self {
        Self { names, rows: Vec::new() }
    }

    /// Takes over the locks of a sub-statement.
    pub(super) fn absorb(&mut self, nested: Self) {
        self.names.extend(nested.names);
        // A trigger may have locked one table again for each row.
        for lock in nested.rows {
            if !self.rows.iter().any(|own| own.includes(&lock)) {
                self.rows.push(lock);
            }
        }
    }
}

impl Transaction {
    /// Holds a metadata lock until the transaction ends.
    pub fn hold(&mut self, lock: LockTicket) {
        self.locks.names.push(lock);
    }

    /// Whether a lock of at least `mode` is held on a table.
    pub fn holds(&self, schema: &str, table: &str, mode: LockMode) -> bool {
        self.locks.names.iter().any(|l| l.covers(schema, table, mode))
    }

    /// Lets no result be kept any longer of tables that the transaction may have changed: for the
    /// end of a statement, and before a commit.
    pub(crate) fn tell_changes(&mut self) {
        if changes::is_watched() && self.has_changes() {
            self.locks.names.iter_mut().for_each(LockTicket::note_change);
        }
    }

    /// Releases the metadata locks, after [`Self::commit`] or [`Self::rollback`].
    pub fn release_locks(&mut self) {
        self.locks.names.clear();
    }

    /// Holds a lock until the statement ends.
    pub(crate) fn hold_rows(&mut self, lock: LockTicket) {
        self.locks.rows.push(lock);
    }

    /// As [`Self::holds`], of locks that end with the statement.
    pub(crate) fn holds_rows(&self, schema: &str, table: &str, mode: LockMode) -> bool {
        self.locks.rows.iter().any(|l| l.covers(schema, table, mode))
    }

    /// Releases the locks of the statement that ends.
    pub(crate) fn release_rows(&mut self) {
        self.locks.rows.clear();
    }
}
