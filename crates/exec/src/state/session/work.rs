//! Where a session stands at the gate of all changes, and the backup it runs.
//!
//! Must not know statements.

use std::time::Duration;

use selkie_types::error::catalogue::{ER_BACKUP_LOCK_IS_ACTIVE, ER_CANT_UPDATE_WITH_READLOCK};
use selkie_types::{SqlError, SqlResult};

use super::Session;
use crate::state::control::Control;
use crate::state::gate::{Closing, Passage, Work};
use crate::state::metadata::LockTicket;

/// A backup that somebody takes with statements.
#[derive(Debug, Default)]
pub(crate) struct Backup {
    /// Number of the stage reached, `None` outside of a backup.
    pub(crate) stage: Option<usize>,
    /// Keeps others from backups of their own, and what the stage keeps out.
    pub(crate) holds: Vec<Closing>,
    /// No two sessions take a backup.
    pub(crate) turn: Option<LockTicket>,
    /// The table of BACKUP LOCK.
    pub(crate) table: Option<LockTicket>,
}

impl Session {
    /// How long it waits for a lock on a definition, and for the gate: `lock_wait_timeout`.
    pub(crate) fn lock_wait(&self) -> Duration {
        Duration::from_secs(self.frame.settings.locks.lock_wait_timeout)
    }

    /// The statement begins to change something shared; whether it was not inside already.
    pub(crate) fn enter(&mut self, control: &Control, work: Work) -> SqlResult<bool> {
        self.frame.hooks.check_writable()?;
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

    /// Gives up the locks of LOCK TABLES.
    pub(crate) fn end_lock_tables(&mut self) {
        self.locked_tables = None;
        self.lock_list.clear();
        self.locked_inside = None;
    }

    /// The statement that has entered ends.
    pub fn leave(&mut self) {
        self.inside = None;
    }

    /// A commit may publish changes that others see.
    pub(crate) fn enter_commit(&self) -> SqlResult<Option<Passage>> {
        if !self.transaction.has_shared_changes() {
            return Ok(None);
        }
        self.frame.hooks.check_writable()?;
        let control = Control::new(self);
        let limit = self.lock_wait();
        self.gate.enter(&control, self.core.id, Work::Commit, limit).map(Some)
    }
}
