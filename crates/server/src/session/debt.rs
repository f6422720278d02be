//! Answers that wait for a replica.
//!
//! Must not wait for what the session has not committed, and must not be asked while a statement
//! runs.

use selkie_exec::Killed;

use super::dispatch::Session;
use crate::backend::BackendSession;
use crate::semi_sync::{Debt, WAITING};

/// State of a session's answer.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Answer {
    /// It may be sent.
    #[default]
    Free,
    /// It has to wait.
    Owed(Debt),
    /// It waits, or has waited.
    Waited,
}

impl<S: BackendSession> Session<S> {
    /// After a command: notes whether its answer has to wait.
    pub(super) fn note_debt(&mut self) {
        let Some(binlog) = self.shared.server.binlog() else { return };
        if !binlog.semi.is_enabled() {
            return;
        }
        // An end from before RESET MASTER is owed to nobody.
        let end = self.backend.take_group_end().filter(|end| *end <= binlog.log().end());
        let debt = end.and_then(|end| binlog.semi.committed(end));
        self.owed = debt.map_or(Answer::Free, Answer::Owed);
    }

    /// The wait that now begins, if the answer has to wait.
    pub(super) fn begin_wait(&mut self) -> Option<Debt> {
        let Answer::Owed(debt) = self.owed else { return None };
        self.owed = Answer::Waited;
        self.shared.handle.set_state(WAITING);
        Some(debt)
    }

    /// Whether the answer has waited, for the first caller.
    pub(super) fn has_waited(&mut self) -> bool {
        let has_waited = self.owed == Answer::Waited;
        if has_waited {
            self.owed = Answer::Free;
        }
        has_waited
    }

    /// Whether the client must not get the answer that has waited: perhaps no replica has the
    /// commit, and the connection ends anyway. Compat: after KILL QUERY it gets the answer.
    pub(super) fn is_answerless(&mut self) -> bool {
        let is_killed = self.shared.handle.kill.get() == Killed::Connection;
        let is_answerless = is_killed || self.shared.server.is_stopping();
        if is_answerless {
            self.out.clear();
            self.ended = true;
        }
        is_answerless
    }

    /// Waits with this thread, if the answer has to wait. Returns false if there is to be no
    /// answer.
    pub(super) fn wait_for_replica(&mut self) -> bool {
        self.note_debt();
        let Some(debt) = self.begin_wait() else { return true };
        if let Some(binlog) = self.shared.server.binlog() {
            binlog.semi.wait(debt, &self.shared.handle.kill);
        }
        !(self.has_waited() && self.is_answerless())
    }
}
