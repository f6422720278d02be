//! Commits whose durability is waited for later (TRX-2).
//!
//! Must not commit.

use std::sync::Arc;

use selkie_engine::{Engine, Lsn, WaitKind, blocking};
use selkie_types::SqlResult;

use super::Transaction;
use crate::state::error::from_engine_commit;

/// A commit that may not be durable yet.
pub struct Unsettled {
    pub(super) engine: Arc<dyn Engine>,
    pub(super) lsn: Lsn,
}

impl Unsettled {
    /// Whether the commit is durable, as far as the server's setting requires.
    pub fn is_settled(&self) -> bool {
        self.engine.is_durable(self.lsn)
    }

    /// Waits until it is durable.
    pub fn settle(&self) -> SqlResult<()> {
        let wait = || self.engine.wait_durable(self.lsn);
        blocking(WaitKind::LogFlush, wait).map_err(from_engine_commit)
    }
}

impl std::fmt::Debug for Unsettled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unsettled").field("lsn", &self.lsn).finish_non_exhaustive()
    }
}

impl Transaction {
    pub(super) fn settle(&mut self, commit: Unsettled) -> SqlResult<()> {
        if commit.is_settled() {
            return Ok(());
        }
        // The last commit of an engine becomes durable last, so only it is kept.
        let same = self.unsettled.as_ref().is_none_or(|u| Arc::ptr_eq(&u.engine, &commit.engine));
        if !self.answers_wait || !same {
            return commit.settle();
        }
        self.unsettled = Some(commit);
        Ok(())
    }

    /// Lets later commits return without waiting. The caller must delay its answer until the result
    /// of [`Self::take_unsettled`] is settled.
    pub fn hold_answers(&mut self) {
        self.answers_wait = true;
    }

    /// Makes later commits wait again.
    pub(crate) fn wait_for_commits(&mut self) {
        self.answers_wait = false;
    }

    /// The last commit that was not waited for.
    pub fn take_unsettled(&mut self) -> Option<Unsettled> {
        self.unsettled.take()
    }
}
