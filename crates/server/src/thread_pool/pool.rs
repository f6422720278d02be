//! The thread pool: its groups, its limits, its timer.
//!
//! A connection belongs to one group for its whole life. Limits are read from the variables again
//! by the timer.

use std::io;
use std::os::fd::BorrowedFd;
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
    /// Threads of a group that may be at work in addition to the first.
    pub(crate) oversubscribe: usize,
    /// Maximum threads of all groups. Each group may have two in any case.
    pub(crate) max_threads: usize,
    /// Time after which a thread without work ends.
    pub(crate) idle_timeout: Duration,
    /// Time after which a group without progress is stalled.
    pub(crate) stall_limit: Duration,
    /// Time after which a queued connection gets high priority.
    pub(crate) kickup: Duration,
}

/// Returns the present limits; `None` if the server is gone.
pub(crate) type CurrentLimits = Box<dyn Fn() -> Option<Limits> + Send + Sync>;

/// State shared by the pool's threads.
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

    /// Takes over changed limits.
    pub(super) fn refresh_limits(&self) {
        let Some(limits) = (self.current)() else { return };
        if let Err(error) = self.make_groups(limits.size) {
            return tracing::error!("Can't create a thread group: {error}");
        }
        *self.limits.write() = limits;
    }

    /// Adds groups up to `size`. Groups are never removed: those beyond the size keep their
    /// connections.
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

    /// Number of threads of all groups.
    pub(super) fn threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed)
    }

    pub(super) fn thread_started(&self) {
        self.threads.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn thread_ended(&self) {
        self.threads.fetch_sub(1, Ordering::Relaxed);
    }

    /// Sleeps; returns true if the pool stops.
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
    /// Starts a pool. It has no workers yet.
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

    /// Adds a client, whose first bytes must come within `at_most` over `socket`. `id` is its
    /// connection's number, not 0.
    pub(crate) fn add(
        &self,
        id: u64,
        client: Box<dyn Client>,
        socket: BorrowedFd<'_>,
        at_most: Duration,
    ) -> io::Result<()> {
        let group = {
            let groups = self.shared.groups.read();
            let size = self.shared.limits().size.clamp(1, groups.len());
            Arc::clone(&groups[(id % size as u64) as usize])
        };
        let connection = Connection::new(id, client, at_most, group.transactions());
        group.add(&self.shared, Arc::new(connection), socket)
    }

    /// Number of threads, and number of idle ones.
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

    /// Queued connections of each group.
    pub(crate) fn queues(&self) -> Vec<Vec<QueuedConnection>> {
        self.shared.groups().iter().map(|group| group.queued()).collect()
    }

    /// Number of waits of the threads, by reason.
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

    /// Ends the threads. All clients must have left.
    pub(crate) fn stop(&self) {
        *self.shared.stopped.lock() = true;
        self.shared.stop.notify_all();
        self.shared.groups().iter().for_each(|group| group.stop());
        if let Some(timer) = self.timer.lock().take() {
            let _ = timer.join();
        }
    }
}
