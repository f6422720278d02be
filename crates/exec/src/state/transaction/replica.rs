//! A transaction that applies a group of a primary: it is committed once, also in engines without
//! rollback, and a note of it rides with its commit.
//!
//! Must not be part of a client's transaction: there nothing is deferred and no note waits.

use std::sync::Arc;

use selkie_replication::replica::{Entry, Tracker};
use selkie_types::SqlResult;

use super::Transaction;
use crate::state::binlog::{GroupHeadline, Noted};
use crate::state::error::from_engine_commit;
use crate::state::session::Session;

impl Transaction {
    /// Makes changes in engines without rollback wait for the transaction's end, from now on. A
    /// replica commits all changes of a group together.
    pub fn defer_immediate(&mut self) {
        self.logged.is_deferred = true;
    }

    /// The note that rides with the next commit, if one waits.
    pub(crate) fn note(&self) -> Option<Arc<Noted>> {
        self.logged.note.clone().filter(|noted| !noted.is_taken())
    }

    /// Commits the changes in engines without rollback before the others are rolled back, if they
    /// have waited for the transaction's end. The note rides with them.
    pub fn keep_immediate(&mut self) -> SqlResult<()> {
        match self.logged.is_deferred {
            true => self.commit_immediate(None, self.note()),
            false => Ok(()),
        }
    }

    /// Appends the group of a replica whose commit has changed nothing in an engine that carries
    /// riders, or of texts that no commit has taken.
    pub(super) fn append_rest(&mut self, head: Option<&GroupHeadline>) -> SqlResult<()> {
        if let (true, Some(log), Some(head)) = (self.logged.is_deferred, &self.logged.log, head) {
            let note = self.note();
            // A commit may have the number already.
            let seq = head.seq.filter(|_| note.is_some());
            let head = GroupHeadline { note, seq, ..head.clone() };
            return log.append_rest(&head).map_err(from_engine_commit);
        }
        if let (Some(log), Some(head)) = (&self.logged.log, head) {
            log.append_texts(head).map_err(from_engine_commit)?;
        }
        Ok(())
    }

    /// Another transaction of the session, while this one waits elsewhere for its end.
    pub(crate) fn next(&mut self) -> Self {
        let mut next = Self::of_session(self.session);
        next.answers_wait = self.answers_wait;
        next.unsettled = self.unsettled.take();
        next.logged.log.clone_from(&self.logged.log);
        next.logged.is_deferred = std::mem::take(&mut self.logged.is_deferred);
        next.logged.note = self.logged.note.take();
        next
    }
}

impl Session {
    /// Makes the next commit carry a note, also that of a change of definitions.
    pub fn ride_note(&mut self, tracker: Arc<Tracker>, entry: Entry) {
        self.transaction.logged.note = Some(Arc::new(Noted::new(tracker, entry)));
    }

    /// Ends what [`Self::ride_note`] has begun: true if a commit has the note. Others see it from
    /// now on.
    pub fn end_note(&mut self) -> bool {
        let noted = self.transaction.logged.note.take().filter(|noted| noted.is_taken());
        noted.iter().for_each(|noted| noted.publish());
        noted.is_some()
    }
}
