//! Kill requests: they ask a session to end its statement or itself, and wake it if it sleeps.
//!
//! # Invariants
//! - KILL-1 A sleeper registers its waker before it checks the flag; a killer sets the flag before
//!   it calls the wakers: one of them sees the other.
//!
//! Wakers must not be called with this module's mutex held: they lock the mutex of the sleeper's
//! condition variable, and sleepers come here with that mutex locked.

use std::sync::Arc;
use std::task::Waker;

use parking_lot::Mutex;
use selkie_meter::{Account, Asked};

use crate::state::progress::Progress;

/// Kill request of a session.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Killed {
    /// No request.
    No,
    /// `KILL QUERY`: the statement that runs ends.
    Query,
    /// `KILL`: the statement and the connection end.
    Connection,
}

/// A session's kill flag; the executor checks it between batches and before each wait.
#[derive(Clone, Debug, Default)]
pub struct KillFlag(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Holds the kill request and the session's memory, so that every thread working for the
    /// session sees both.
    account: Arc<Account>,
    /// Wakers of the statement's threads that sleep now.
    asleep: Mutex<Vec<Waker>>,
    progress: Progress,
}

impl KillFlag {
    /// The current request.
    #[inline]
    pub fn get(&self) -> Killed {
        match self.0.account.asked() {
            Asked::Nothing => Killed::No,
            Asked::EndStatement => Killed::Query,
            Asked::EndConnection => Killed::Connection,
        }
    }

    /// Requests `what` and wakes the statement if it sleeps. A request to end the connection is
    /// never replaced.
    pub fn raise(&self, what: Killed) {
        self.0.account.ask(match what {
            Killed::No => Asked::Nothing,
            Killed::Query => Asked::EndStatement,
            Killed::Connection => Asked::EndConnection,
        });
        let asleep = self.0.asleep.lock().clone();
        asleep.iter().for_each(Waker::wake_by_ref);
    }

    /// Forgets a request to end the statement, because the statement is over.
    pub fn statement_is_over(&self) {
        self.0.account.statement_is_over();
    }

    /// The memory account of the session.
    pub fn account(&self) -> &Arc<Account> {
        &self.0.account
    }

    /// The progress of the session's statement.
    pub fn progress(&self) -> &Progress {
        &self.0.progress
    }

    /// Registers `waker` to be called when the flag is raised, until the result is dropped. The
    /// caller must check the flag afterwards.
    pub fn wakes(&self, waker: Waker) -> Wakes<'_> {
        self.0.asleep.lock().push(waker.clone());
        Wakes { flag: self, waker }
    }
}

/// Registration of a sleeper that a kill wakes.
#[derive(Debug)]
#[must_use]
pub struct Wakes<'a> {
    flag: &'a KillFlag,
    waker: Waker,
}

impl Drop for Wakes<'_> {
    fn drop(&mut self) {
        let mut asleep = self.flag.0.asleep.lock();
        if let Some(at) = asleep.iter().position(|waker| waker.will_wake(&self.waker)) {
            asleep.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn only_a_request_for_the_statement_is_forgotten() {
        let flag = KillFlag::default();
        flag.raise(Killed::Query);
        assert_eq!(flag.get(), Killed::Query);
        flag.statement_is_over();
        assert_eq!(flag.get(), Killed::No);
        flag.raise(Killed::Connection);
        flag.raise(Killed::Query);
        flag.statement_is_over();
        assert_eq!(flag.get(), Killed::Connection);
    }

    #[test]
    fn who_sleeps_is_woken() {
        let (flag, sleeper, other) = (KillFlag::default(), Arc::<Count>::default(), Arc::default());
        let first = flag.wakes(sleeper.clone().into());
        let second = flag.wakes(Arc::<Count>::clone(&other).into());
        flag.raise(Killed::Query);
        drop(first);
        flag.raise(Killed::Query);
        drop(second);
        flag.raise(Killed::Query);
        let woken = |count: &Count| count.0.load(Ordering::Relaxed);
        assert_eq!((woken(&sleeper), woken(&other)), (1, 2));
    }
}
