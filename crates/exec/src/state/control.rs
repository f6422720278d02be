//! The statement as engines and operators see it: whether it was killed, how long it may wait.

use std::task::Waker;
use std::time::{Duration, Instant};

use selkie_engine::{EngineError, EngineResult, StatementContext, WaitKind, blocking, going_on};
use selkie_types::error::catalogue::{ER_CONNECTION_KILLED, ER_OUTOFMEMORY, ER_STATEMENT_TIMEOUT};
use selkie_types::{SqlError, SqlResult};

use crate::state::kill::{KillFlag, Killed, Wakes};
use crate::state::patience::Patience;

/// Units of work that a check counts as.
const CHECK: usize = 256;

/// Limits of one running statement. Shared by its threads.
#[derive(Debug)]
pub struct Control {
    kill: KillFlag,
    deadline: Option<Instant>,
    row_lock_wait: Duration,
    /// It answers for what its thread's account says.
    metered: bool,
}

impl Control {
    /// Limits taken from a session's settings.
    pub fn new(session: &crate::Session) -> Self {
        Self {
            kill: session.frame.kill.clone(),
            deadline: session.values.deadline.get(),
            row_lock_wait: Duration::from_secs(session.frame.settings.locks.row_lock_wait_timeout),
            metered: true,
        }
    }

    /// Of work that no session asked for: nobody kills it, nothing limits it.
    pub fn unattended() -> Self {
        Self {
            kill: KillFlag::default(),
            deadline: None,
            row_lock_wait: Duration::ZERO,
            metered: false,
        }
    }

    /// Fails if the statement was killed, is out of time or holds too much. Not with a latch held.
    #[inline]
    pub fn check(&self) -> SqlResult<()> {
        going_on();
        match self.kill.get() {
            Killed::No => {}
            Killed::Query => return Err(SqlError::interrupted()),
            Killed::Connection => return Err(SqlError::new(&ER_CONNECTION_KILLED, &[])),
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => {
                Err(SqlError::new(&ER_STATEMENT_TIMEOUT, &[]))
            }
            // The meter is asked as any other work asks it: rarely, and at once if it said so.
            _ if self.metered => selkie_meter::spend(CHECK),
            _ => Ok(()),
        }
    }

    /// 1037: more memory than the machine's address space could hold was asked for.
    pub fn too_much(bytes: usize) -> SqlError {
        SqlError::new(&ER_OUTOFMEMORY, &[&bytes])
    }
}

impl Control {
    /// The time of a wait of this statement that begins now and is over after `limit`.
    pub fn patience(&self, limit: Option<Duration>) -> Patience {
        Patience::new(limit, self.deadline)
    }

    /// Whoever kills the statement calls `waker`, until the result is dropped. To be followed by
    /// [`Self::check`].
    pub fn wakes(&self, waker: Waker) -> Wakes<'_> {
        self.kill.wakes(waker)
    }

    fn sleep(
        &self,
        limit: Option<Duration>,
        waker: Waker,
        park: &mut dyn FnMut(Duration) -> bool,
    ) -> EngineResult<()> {
        let patience = self.patience(limit);
        let _woken = self.wakes(waker);
        loop {
            self.check_killed()?;
            // Once also when there is no time at all: the wait may be over already.
            let left = patience.left();
            if park(left.unwrap_or_default()) {
                return Ok(());
            }
            if left.is_none() {
                return Err(EngineError::LockWaitTimeout);
            }
        }
    }
}

impl StatementContext for Control {
    fn check_killed(&self) -> EngineResult<()> {
        if self.kill.get() != Killed::No {
            return Err(EngineError::Killed);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(EngineError::StatementTimeout),
            _ => Ok(()),
        }
    }

    fn wait(
        &self,
        kind: WaitKind,
        limit: Option<Duration>,
        waker: Waker,
        park: &mut dyn FnMut(Duration) -> bool,
    ) -> EngineResult<()> {
        blocking(kind, || self.sleep(limit, waker, park))
    }

    fn lock_wait_timeout(&self) -> Duration {
        self.row_lock_wait
    }
}
