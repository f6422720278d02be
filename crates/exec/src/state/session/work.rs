//! A session's passage through the gate of all changes, and its backup.
//!
//! Must not know kinds of statements.

use std::time::Duration;

use selkie_types::error::catalogue::{ER_BACKUP_LOCK_IS_ACTIVE, ER_CANT_UPDATE_WITH_READLOCK};
use selkie_types::{SqlError, SqlResult};

use super::Session;
use crate::state::control::Control;
use crate::state::gate::{Closing, Passage, Work};
use crate::state::metadata::LockTicket;

/// A backup run by BACKUP statements.
#[derive(Debug, Default)]
pub(crate) struct Backup {
    /// Number of the stage reached, `None` outside of a backup.
    pub(crate) stage: Option<usize>,
    /// Work that the stage keeps out.
    pub(crate) holds: Vec<Closing>,
    /// Lock that only one session can hold: only one backup runs at a time.
    pub(crate) turn: Option<LockTicket>,
    /// The table of BACKUP LOCK.
    pub(crate) table: Option<LockTicket>,
}

impl Session {
    /// Time limit of waits for metadata locks and for the gate: `lock_wait_timeout`.
    pub(crate) fn lock_wait(&self) -> Duration {
        Duration::from_secs(self.frame.settings.locks.lock_wait_timeout)
    }

    /// Fails (1290) if the server is read-only for the account whose privileges hold. Compat: for a
    /// function or trigger that is the account of the client, not its definer.
    pub(crate) fn check_writable(&self) -> SqlResult<()> {
        let acting_as = match self.transaction.is_nested() {
            true => None,
            false => self.frame.acting_as.as_deref(),
        };
        self.frame.hooks.check_writable(acting_as)
    }

    /// Enters the gate before the statement changes something shared; false if it was inside
    /// already.
    pub(crate) fn enter(&mut self, control: &Control, work: Work) -> SqlResult<bool> {
        self.check_writable()?;
        if self.backup.stage.is_some() {
            return Err(SqlError::new(&ER_BACKUP_LOCK_IS_ACTIVE, &[]));
        }
        if self.backup.table.is_some() {
            return Err(SqlError::new(&ER_CANT_UPDATE_WITH_READLOCK, &[]));
        }
        if self.inside.is_some() || self.locked_inside.is_some() {
            return Ok(false);
        }
        let passage = self.gate.enter(control, self.core.id, work, self.lock_wait())?;
        self.inside = Some(passage);
        Ok(true)
    }

    /// Enters the gate for changes that the statement's functions may make. A statement that locks
    /// tables as a whole must not wait for the gate afterwards: others wait for its tables inside
    /// of it.
    pub(crate) fn enter_early(&mut self, control: &Control) -> SqlResult<()> {
        let is_backup = self.backup.stage.is_some() || self.backup.table.is_some();
        if is_backup || self.check_writable().is_err() {
            return Ok(());
        }
        // Under its own read lock the change itself is refused.
        match self.read_lock.is_empty() {
            true => self.enter(control, Work::Rows).map(drop),
            false => Ok(()),
        }
    }

    /// Releases the locks of LOCK TABLES.
    pub(crate) fn end_lock_tables(&mut self) {
        self.locked_tables = None;
        self.lock_list = None;
        self.locked_inside = None;
    }

    /// Leaves the gate at the end of the statement.
    pub fn leave(&mut self) {
        self.inside = None;
    }

    /// Enters the gate for a commit, if it may publish changes to others.
    pub(crate) fn enter_commit(&self) -> SqlResult<Option<Passage>> {
        if !self.transaction.has_shared_changes() {
            return Ok(None);
        }
        self.check_writable()?;
        let control = Control::new(self);
        let limit = self.lock_wait();
        self.gate.enter(&control, self.core.id, Work::Commit, limit).map(Some)
    }
}
