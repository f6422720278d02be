//! The running statement as engines and operators see it: whether it was killed, and how long it
//! may wait. Waits for locks must go through [`Control`], so that KILL and the time limit end them.

use std::task::Waker;
use std::time::{Duration, Instant};

use selkie_engine::{
    BuildStage, EngineError, EngineResult, StatementContext, WaitKind, blocking, going_on,
};
use selkie_types::error::catalogue::{ER_CONNECTION_KILLED, ER_OUTOFMEMORY, ER_STATEMENT_TIMEOUT};
use selkie_types::{SqlError, SqlResult};

use crate::state::kill::{KillFlag, Killed, Wakes};
use crate::state::patience::Patience;

/// Units of work that one check counts as.
const CHECK: usize = 256;

/// Limits of one running statement, shared by its threads.
#[derive(Debug)]
pub struct Control {
    kill: KillFlag,
    deadline: Option<Instant>,
    row_lock_wait: Duration,
    /// Whether its thread's memory account limits it.
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

    /// Limits of work without a session: it cannot be killed and has no limits.
    pub fn unattended() -> Self {
        Self {
            kill: KillFlag::default(),
            deadline: None,
            row_lock_wait: Duration::ZERO,
            metered: false,
        }
    }

    /// Whether its time is limited.
    pub fn has_deadline(&self) -> bool {
        self.deadline.is_some()
    }

    /// Fails if the statement was killed, is out of time or uses too much memory. Must not be
    /// called with a latch held.
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
            // The meter is charged as for any other work: it checks rarely, and at once if a limit
            // was reached.
            _ if self.metered => selkie_meter::spend(CHECK),
            _ => Ok(()),
        }
    }

    /// Error 1037: a request for more memory than the address space holds.
    pub fn too_much(bytes: usize) -> SqlError {
        SqlError::new(&ER_OUTOFMEMORY, &[&bytes])
    }
}

impl Control {
    /// Time limit of a wait that begins now and ends after `limit`, or when the statement is out of
    /// time.
    pub fn patience(&self, limit: Option<Duration>) -> Patience {
        Patience::new(limit, self.deadline)
    }

    /// Registers `waker` to be called by a kill, until the result is dropped. The caller must call
    /// [`Self::check`] afterwards.
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
            // Park once even if no time is left: the wait may be over already.
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

    fn building(&self, stage: BuildStage, done: u64, all: u64) {
        let stage = match stage {
            BuildStage::Read => 1,
            BuildStage::Fill => 2,
            BuildStage::Check => 3,
        };
        self.kill.progress().report(stage, 3, (done, all));
    }
}
