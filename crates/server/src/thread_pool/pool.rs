//! The pool: its groups, its limits, its clock.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, RwLock};

use super::client::Client;
use super::connection::Connection;
use super::group::Group;
use super::statistics::{GroupCounts, GroupState, QueuedConnection};
use super::timer;
use super::waits::{FlushTime, REASONS, WaitCounts};

/// The `thread_pool_*` variables.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Limits {
    /// Groups for new connections.
    pub(crate) size: usize,
    /// Threads of a group that may be at work beside the first.
    pub(crate) oversubscribe: usize,
    /// Threads of all groups; each may have two all the same.
    pub(crate) max_threads: usize,
    /// When a thread with nothing to do ends.
    pub(crate) idle_timeout: Duration,
    /// How long a group may stand still.
    pub(crate) stall_limit: Duration,
    /// When a queued connection becomes one of high priority.
    pub(crate) kickup: Duration,
}

/// Tells the limits as they are set now; `None` once there is nobody to ask.
pub(crate) type CurrentLimits = Box<dyn Fn() -> Option<Limits> + Send + Sync>;

/// What the threads share.
pub(super) struct Shared {
    pub(super) waits: WaitCounts,
    pub(super) flush_time: FlushTime,
    groups: RwLock<Vec<Arc<Group>>>,
    limits: RwLock<Limits>,
    current: CurrentLimits,
    threads: AtomicUsize,
    stopped: Mutex<bool>,
    stop: Condvar,
}

impl Shared {
    pub(super) fn limits(&self) -> Limits {
        *self.limits.read()
    }

    /// Takes over limits that were changed.
    pub(super) fn refresh_limits(&self) {
        let Some(limits) = (self.current)() else { return };
        if let Err(error) = self.make_groups(limits.size) {
            return tracing::error!("Can't create a thread group: {error}");
        }
        *self.limits.write() = limits;
    }

    /// Groups are added, never removed: those beyond the size keep the connections they have.
    fn make_groups(&self, size: usize) -> io::Result<()> {
        let mut groups = self.groups.write();
        while groups.len() < size {
            groups.push(Arc::new(Group::new()?));
        }
        Ok(())
    }

    pub(super) fn groups(&self) -> Vec<Arc<Group>> {
        self.groups.read().clone()
    }

    /// Threads of all groups.
    pub(super) fn threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed)
    }

    pub(super) fn thread_started(&self) {
        self.threads.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn thread_ended(&self) {
        self.threads.fetch_sub(1, Ordering::Relaxed);
    }

    /// Sleeps; true when the pool stops.
    pub(super) fn sleep(&self, time: Duration) -> bool {
        let mut stopped = self.stopped.lock();
        if !*stopped {
            self.stop.wait_for(&mut stopped, time);
        }
        *stopped
    }
}

/// A pool of threads.
pub(crate) struct ThreadPool {
    shared: Arc<Shared>,
    timer: Mutex<Option<JoinHandle<()>>>,
}

impl std::fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ThreadPool")
            .field("threads", &self.shared.threads())
            .finish_non_exhaustive()
    }
}

impl ThreadPool {
    /// Starts a pool, which has no workers yet.
    pub(crate) fn new(limits: Limits, current: CurrentLimits) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            waits: WaitCounts::default(),
            flush_time: FlushTime::default(),
            groups: RwLock::default(),
            limits: RwLock::new(limits),
            current,
            threads: AtomicUsize::new(0),
            stopped: Mutex::new(false),
            stop: Condvar::new(),
        });
        let pool = Self { shared, timer: Mutex::default() };
        pool.shared.make_groups(limits.size)?;
        *pool.timer.lock() = Some(timer::spawn(&pool.shared)?);
        Ok(pool)
    }

    /// Serves a client from now on, whose first bytes come within `at_most`. `id` is its
    /// connection's number, not 0.
    pub(crate) fn add(
        &self,
        id: u64,
        client: Box<dyn Client>,
        at_most: Duration,
    ) -> io::Result<()> {
        let group = {
            let groups = self.shared.groups.read();
            let size = self.shared.limits().size.clamp(1, groups.len());
            Arc::clone(&groups[(id % size as u64) as usize])
        };
        group
            .add(&self.shared, Arc::new(Connection::new(id, client, at_most, group.transactions())))
    }

    /// Threads, and how many of them have nothing to do.
    pub(crate) fn threads(&self) -> (usize, usize) {
        let states = self.groups();
        let idle = states.iter().map(|(state, _)| state.standby + usize::from(state.has_listener));
        (self.shared.groups().iter().map(|group| group.threads()).sum(), idle.sum())
    }

    /// The groups for new connections, in order.
    pub(crate) fn groups(&self) -> Vec<(GroupState, GroupCounts)> {
        self.shared.refresh_limits();
        let groups = self.shared.groups();
        let shown = groups.iter().take(self.shared.limits().size);
        shown.map(|group| (group.state(), group.counts())).collect()
    }

    /// What is queued in each group.
    pub(crate) fn queues(&self) -> Vec<Vec<QueuedConnection>> {
        self.shared.groups().iter().map(|group| group.queued()).collect()
    }

    /// How often threads waited, by reason.
    pub(crate) fn waits(&self) -> [u64; REASONS.len()] {
        self.shared.waits.read()
    }

    /// FLUSH THREAD_POOL_STATS.
    pub(crate) fn reset_counts(&self) {
        self.shared.groups().iter().for_each(|group| group.reset_counts());
    }

    /// FLUSH THREAD_POOL_WAITS.
    pub(crate) fn reset_waits(&self) {
        self.shared.waits.reset();
    }

    /// Ends the threads. All clients have left.
    pub(crate) fn stop(&self) {
        *self.shared.stopped.lock() = true;
        self.shared.stop.notify_all();
        self.shared.groups().iter().for_each(|group| group.stop());
        if let Some(timer) = self.timer.lock().take() {
            let _ = timer.join();
        }
    }
}
