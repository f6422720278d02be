//! Semi-synchronous replication as the primary does it: an answer waits until a replica has the
//! group of its commit.
//!
//! # Way of a commit
//! When a statement is over, its session tells the end of its last group, and gets a [`Debt`] if it
//! has to wait. Replicas say how far they have the log; the one that is ahead counts. A session
//! that waits too long switches semi-sync off: nobody waits any more, until a replica has the last
//! group again.
//!
//! # Invariants
//! - SEMI-1 While it is on, an answer is not sent before a replica has said that it has the group,
//!   unless the statement was killed.
//! - SEMI-2 Who waits holds no lock of the engine or of the log: the commit is over.
//! - SEMI-3 Places of one life of the log are compared only: RESET MASTER begins another.
//! - SEMI-4 Each waiter is woken once.
//!
//! While it is disabled, a statement costs one load. Must not know sockets, packets or the pool.

mod counts;
mod state;
#[cfg(test)]
mod tests;
mod waits;

use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use selkie_exec::{KillFlag, Killed};
use selkie_replication::log::Place;

use crate::status::Gauges;
use state::{Over, State};

/// State in the process list of a session that waits.
pub(crate) const WAITING: &str = "Waiting for semi-sync ACK from slave";

/// Values of variables.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `rpl_semi_sync_master_timeout`.
    pub(crate) timeout: Duration,
    /// `rpl_semi_sync_master_wait_no_slave`.
    pub(crate) waits_alone: bool,
}

/// An answer that must wait for a replica.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Debt {
    /// Life of the log.
    life: u64,
    /// End of the group.
    end: Place,
}

/// Semi-synchronous replication of a primary.
#[derive(Debug, Default)]
pub(crate) struct SemiSync {
    is_enabled: AtomicBool,
    state: Mutex<State>,
}

impl SemiSync {
    /// Whether it is enabled.
    #[inline]
    pub(crate) fn is_enabled(&self) -> bool {
        self.is_enabled.load(Ordering::Relaxed)
    }

    /// Takes over values of variables.
    pub(crate) fn set(&self, settings: Settings) {
        self.state.lock().settings = settings;
    }

    /// Enables it for what is committed from now on; `end` is the log's end.
    pub(crate) fn enable(&self, end: Place) {
        let mut state = self.state.lock();
        if !self.is_enabled.swap(true, Ordering::Relaxed) {
            (state.is_on, state.since, state.committed) = (true, end, None);
            tracing::info!("Semi-sync replication enabled on the master.");
        }
    }

    /// Disables it; nobody waits any more.
    pub(crate) fn disable(&self) {
        let mut state = self.state.lock();
        if !self.is_enabled.swap(false, Ordering::Relaxed) {
            return;
        }
        let woken = state.switch_off();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        tracing::info!("Semi-sync replication disabled on the master.");
    }

    /// The log begins anew.
    pub(crate) fn begin_anew(&self) {
        let mut state = self.state.lock();
        let woken = state.begin_anew();
        state.is_on = self.is_enabled();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// A session has committed a group that ends at `end`. None if its answer need not wait.
    pub(crate) fn committed(&self, end: Place) -> Option<Debt> {
        self.state.lock().committed(end).filter(|_| self.is_enabled())
    }

    /// Calls the waker when the answer need not wait any more, which may be at once.
    pub(crate) fn wake_after(&self, debt: Debt, kill: KillFlag, waker: Waker) {
        if self.enqueue(debt, kill, waker.clone()).is_none() {
            waker.wake();
        }
    }

    /// Adds a waiter; none if there is nothing to wait for. Otherwise the waiter's place in the
    /// queue.
    fn enqueue(&self, debt: Debt, kill: KillFlag, waker: Waker) -> Option<(Place, u64)> {
        self.state.lock().enqueue(debt, kill, waker)
    }

    /// Ends waits whose time is over, and those of killed sessions. Must be called every few
    /// milliseconds.
    pub(crate) fn look(&self) {
        if !self.is_enabled() {
            return;
        }
        let now = Instant::now();
        let mut state = self.state.lock();
        let mut late = None;
        let mut woken = state.take(|place, waiter| {
            if waiter.kill.get() != Killed::No {
                return Some(Over::GivenUp);
            }
            let is_late = waiter.deadline.is_some_and(|deadline| deadline <= now);
            is_late.then(|| {
                late.get_or_insert(place);
                Over::TimedOut
            })
        });
        if late.is_some() {
            woken.extend(state.switch_off());
        }
        let acked = state.acked;
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        if let Some(late) = late {
            tracing::warn!(
                "Semi-sync replication switched OFF: no replica has acknowledged file number {}, \
                 position {} in time; acknowledged are {}, {}",
                late.file,
                late.offset,
                acked.file,
                acked.offset
            );
        }
    }

    /// Number of the log's life, for [`Self::acknowledge`].
    pub(crate) fn life(&self) -> u64 {
        self.state.lock().life
    }

    /// Counts a reader that acknowledges, until [`Self::leave`].
    pub(crate) fn enter(&self) {
        self.state.lock().clients += 1;
    }

    /// Ends what [`Self::enter`] has begun.
    pub(crate) fn leave(&self) {
        let woken = self.state.lock().leave();
        woken.into_iter().for_each(Waker::wake);
    }

    /// Whether to ask a reader for an acknowledgement of the group that ends at `place`. Notes that
    /// it is asked.
    pub(crate) fn asks(&self, place: Place) -> bool {
        self.is_enabled() && self.state.lock().asks(place)
    }

    /// Notes that a reader has acknowledged something.
    pub(crate) fn note_answer(&self) {
        self.state.lock().counts.answers += 1;
    }

    /// Notes that the replica with number `server` has everything up to `place`, in a life of the
    /// log.
    pub(crate) fn acknowledge(&self, (life, place): (u64, Place), server: u32) {
        let mut state = self.state.lock();
        if life != state.life || !self.is_enabled() {
            return;
        }
        let was_on = state.is_on;
        let woken = state.acknowledge(place);
        let is_back = state.is_on && !was_on;
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        if is_back {
            tracing::info!(
                "Semi-sync replication switched ON with slave (server_id: {server}) at file number \
                 {}, position {}",
                place.file,
                place.offset
            );
        }
    }

    /// FLUSH STATUS. Compat: only these counts begin anew.
    pub(crate) fn flush_status(&self) {
        self.state.lock().counts.flush();
    }

    /// Values of status variables.
    pub(crate) fn status(&self, gauges: &mut Gauges) {
        self.state.lock().status(gauges);
    }
}
