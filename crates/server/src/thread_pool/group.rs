//! A group: some of the pool's connections, and the threads that serve them.
//!
//! A thread must not hold the group's lock while it waits for the sockets or serves a client. One
//! thread at a time waits for the sockets, and one settles commits.

use hashbrown::HashMap;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use selkie_exec::Unsettled;

use super::answers;
use super::background;
use super::client::Priority;
use super::connection::{Connection, recent_millis};
use super::held::Held;
use super::poller::{AT_ONCE, Poller};
use super::pool::Shared;
use super::queue::Queue;
use super::statistics::{Counts, GroupCounts, GroupState, QueuedConnection, bump};
use super::transactions::Transactions;
use super::worker;

/// A group.
pub(super) struct Group {
    pub(super) poller: Poller,
    state: Mutex<State>,
    counts: Counts,
    transactions: Arc<Transactions>,
}

#[derive(Default)]
struct State {
    connections: HashMap<u64, Arc<Connection>>,
    queue: Queue,
    held: Held,
    /// Whether a thread waits for the log to send held answers. One thread at a time: answers held
    /// meanwhile need the next flush, so a second thread would only wait for the first.
    settling: bool,
    threads: usize,
    /// Threads that serve a connection and do not wait.
    active: usize,
    /// Threads that wait until they are needed. The last one is taken first: its caches are warm.
    standby: Vec<Arc<Condvar>>,
    polling: bool,
    /// Time in which the group could only have begun one more transaction.
    idle: Duration,
    /// Connections of the low queue that may be taken before the next check of the sockets.
    next: usize,
    /// Connections taken since the timer's last check.
    taken: u64,
    stalled: bool,
    last_created: Option<Instant>,
    stopped: bool,
}

impl State {
    fn has_work(&self) -> bool {
        !self.queue.is_empty() || self.may_settle()
    }

    fn has_looked(&self) -> bool {
        self.next > 0 || self.polling
    }

    fn pop_low(&mut self) -> Option<Arc<Connection>> {
        if !self.has_looked() {
            return None;
        }
        self.next = self.next.saturating_sub(1);
        self.queue.pop_low()
    }

    fn is_crowd(&self) -> bool {
        self.connections.len() >= CROWD
    }

    fn enqueue(&mut self, connection: Arc<Connection>, since: Instant) {
        let crowd = self.is_crowd();
        self.queue.push(connection, since, crowd);
    }

    fn may_settle(&self) -> bool {
        !self.settling && !self.held.is_empty()
    }

    fn settle(&mut self) -> Work {
        self.settling = true;
        self.taken += 1;
        self.active += 1;
        Work::Settle(self.held.take())
    }
}

/// Next work of a thread.
pub(super) enum Work {
    /// Serve a connection.
    Serve(Arc<Connection>),
    /// Send the answers that the thread has kept.
    Answer,
    /// Wait for the commits of held answers, then send them.
    Settle(Held),
}

/// Reason to wake or create a thread.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Why {
    Work,
    Stall,
}

/// Number of connections whose memory does not stay in the processor's caches between their
/// statements.
const CROWD: usize = 200;
/// Number of transactions that keep a core at work. A connection that may begin another one waits:
/// with more transactions each holds its locks for longer, and all wait for each other's rows.
/// Read-write with 1,024 connections, us of CPU per statement: 15.6 with 16, 14.8 with 32, 16.0
/// with 64, 17.9 with 256 (`selkie bench oltp --mix read-write --connections 1024`).
const ENOUGH: usize = 32;
/// Sum of idle times after which one more transaction is admitted anyway: the others wait for their
/// clients or for rows.
const IDLE: Duration = Duration::from_micros(200);

/// State that a thread keeps between its calls of [`Group::next`].
#[derive(Default)]
pub(super) struct Thread {
    settles: bool,
    keys: Vec<u64>,
    needed: Arc<Condvar>,
}

impl Group {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            poller: Poller::new()?,
            state: Mutex::default(),
            counts: Counts::default(),
            transactions: Arc::default(),
        })
    }

    /// Count of the group's connections in a transaction.
    pub(super) fn transactions(&self) -> Arc<Transactions> {
        Arc::clone(&self.transactions)
    }

    /// Adds a connection and watches its socket.
    pub(super) fn add(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        connection: Arc<Connection>,
        socket: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let id = connection.id;
        let mut state = self.state.lock();
        state.connections.insert(id, connection);
        if state.threads == 0 {
            self.wake_or_create(shared, &mut state, Why::Work);
        }
        drop(state);
        // Without a lock of the group or the client: the thread at the sockets is woken at once if
        // the client has been quick.
        let watched = self.poller.add(socket, id);
        if watched.is_err() {
            self.state.lock().connections.remove(&id);
        }
        watched
    }

    /// Removes a connection that has ended.
    pub(super) fn remove(&self, connection: &Connection) {
        connection.set_priority(Priority::Low);
        if let Some(socket) = connection.client.lock().socket() {
            self.poller.remove(socket);
        }
        self.state.lock().connections.remove(&connection.id);
    }

    /// Queues a connection that the caller owns (POOL-1).
    pub(super) fn enqueue(self: &Arc<Self>, shared: &Arc<Shared>, connection: Arc<Connection>) {
        let mut state = self.state.lock();
        state.enqueue(connection, Instant::now());
        if state.active == 0 {
            self.wake_or_create(shared, &mut state, Why::Work);
        }
    }

    /// Holds back the answer of a connection until its commit is durable.
    pub(super) fn hold(&self, connection: Arc<Connection>, commit: Unsettled) {
        self.state.lock().held.push(connection, commit);
    }

    /// Ends a thread's present work and returns its next; `None` if the thread must end.
    pub(super) fn next(&self, shared: &Shared, thread: &mut Thread) -> Option<Work> {
        let mut state = self.state.lock();
        state.active -= 1;
        if std::mem::take(&mut thread.settles) {
            state.settling = false;
        }
        loop {
            let may_work = state.active <= shared.limits().oversubscribe && !state.stopped;
            if answers::are_due(!may_work || !self.has_ready(&state)) {
                state.active += 1;
                return Some(Work::Answer);
            }
            if state.stopped {
                state.threads -= 1;
                return None;
            }
            if may_work {
                if let Some(work) = self.take(&mut state) {
                    thread.settles = matches!(work, Work::Settle(_));
                    return Some(work);
                }
                if !state.polling {
                    let pause = self.pause(&state);
                    state = self.poll(state, &mut thread.keys, pause);
                    if pause.is_some() && !self.has_ready(&state) && state.may_settle() {
                        thread.settles = true;
                        return Some(state.settle());
                    }
                    continue;
                }
            }
            let is_needed = stand_by(&mut state, &thread.needed, shared.limits().idle_timeout);
            if !is_needed && state.queue.is_empty() && (state.polling || state.active > 0) {
                state.threads -= 1;
                return None;
            }
        }
    }

    /// Called when a thread ends that the group does not wait for.
    pub(super) fn release(&self) {
        self.state.lock().threads -= 1;
    }

    /// Takes work that does not need a check of the sockets.
    fn take(&self, state: &mut State) -> Option<Work> {
        let unattended = state.polling && state.queue.is_empty();
        if state.may_settle() && (state.held.is_due() || unattended) {
            return Some(state.settle());
        }
        let connection = self.pop(state)?;
        if state.is_crowd() {
            connection.turn.count();
        }
        bump(&self.counts.dequeues);
        state.taken += 1;
        state.active += 1;
        Some(Work::Serve(connection))
    }

    fn pop(&self, state: &mut State) -> Option<Arc<Connection>> {
        if let Some(connection) = state.queue.pop_high() {
            return Some(connection);
        }
        if !self.admits(state) {
            return None;
        }
        let connection = state.queue.pop_turn().or_else(|| state.pop_low())?;
        state.idle = Duration::ZERO;
        Some(connection)
    }

    /// Whether a connection that may begin a transaction can be taken.
    fn admits(&self, state: &State) -> bool {
        state.idle >= IDLE || self.transactions.at_work() < ENOUGH
    }

    /// Whether a connection can be taken.
    fn has_ready(&self, state: &State) -> bool {
        let others = state.queue.has_turn() || !state.queue.is_empty() && state.has_looked();
        state.queue.has_high() || others && self.admits(state)
    }

    /// Longest wait for the sockets.
    fn pause(&self, state: &State) -> Option<Duration> {
        match state.queue.is_empty() {
            _ if state.may_settle() => Some(Duration::ZERO),
            false if self.admits(state) => Some(Duration::ZERO),
            false => Some(IDLE.saturating_sub(state.idle)),
            true => None,
        }
    }

    fn poll<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        keys: &mut Vec<u64>,
        at_most: Option<Duration>,
    ) -> MutexGuard<'s, State> {
        state.polling = true;
        let may_begin = state.active == 0 && !state.queue.is_empty();
        drop(state);
        let begun = may_begin.then(Instant::now);
        bump(&self.counts.polls);
        keys.clear();
        self.poller.wait(keys, at_most);
        let mut state = self.state.lock();
        state.polling = false;
        if keys.len() < AT_ONCE {
            state.next = ENOUGH;
        }
        let (now, millis) = (Instant::now(), recent_millis());
        state.idle += begun.map_or(Duration::ZERO, |begun| now.duration_since(begun));
        for key in keys.iter() {
            let arrived = state.connections.get(key).filter(|c| c.arrived()).cloned();
            if let Some(connection) = arrived {
                connection.turn.comes_back(millis);
                state.enqueue(connection, now);
            }
        }
        state
    }

    /// Called when a thread at work starts to wait. Another one takes over, unless the wait is
    /// short and there is no work.
    pub(super) fn wait_begins(self: &Arc<Self>, shared: &Arc<Shared>, short: bool) {
        let mut state = self.state.lock();
        state.active -= 1;
        let unattended = state.active == 0 && !state.polling;
        if unattended && (state.has_work() || !short) {
            self.wake_or_create(shared, &mut state, Why::Work);
        }
    }

    /// Called when the thread goes on after its wait.
    pub(super) fn wait_ends(&self) {
        self.state.lock().active += 1;
    }

    /// Makes sure that a thread comes for the queue or for the sockets.
    fn wake_or_create(self: &Arc<Self>, shared: &Arc<Shared>, state: &mut State, why: Why) {
        if state.polling && !state.has_work() {
            return;
        }
        if let Some(thread) = state.standby.pop() {
            bump(&self.counts.wakes);
            if why == Why::Stall {
                bump(&self.counts.wakes_due_to_stall);
            }
            thread.notify_one();
        } else if state.polling {
            // The thread at the sockets would not notice a connection that another thread has
            // queued.
            self.poller.ring();
        } else if self.may_create(shared, state) {
            self.create(shared, state, why);
        } else {
            bump(&self.counts.throttles);
        }
    }

    /// Compat: the more threads a group has, the longer it waits for another one. If all threads
    /// wait there is no delay: they may wait for something that only a new thread can do.
    fn may_create(&self, shared: &Shared, state: &State) -> bool {
        let limits = shared.limits();
        if background::is_entered() {
            // The timer creates it.
            return false;
        }
        if shared.threads() >= limits.max_threads && state.threads >= 2 {
            return false;
        }
        if state.active == 0 || state.threads <= 1 + limits.oversubscribe {
            return true;
        }
        let pause = match state.threads {
            0..=7 => 50,
            8..=15 => 100,
            _ => 200,
        };
        let last = state.last_created;
        last.is_none_or(|at| at.elapsed().as_millis() >= pause)
    }

    fn create(self: &Arc<Self>, shared: &Arc<Shared>, state: &mut State, why: Why) {
        if let Err(error) = worker::spawn(shared, self) {
            tracing::error!("Can't create a thread: {error}");
            return;
        }
        state.threads += 1;
        // It enters `next` as if it had just served a connection.
        state.active += 1;
        state.last_created = Some(Instant::now());
        bump(&self.counts.thread_creations);
        if why == Why::Stall {
            bump(&self.counts.thread_creations_due_to_stall);
        }
    }

    /// The timer's check. A group is stalled if there is work, or if no thread watches its sockets,
    /// and nothing was taken since the last check.
    pub(super) fn look(self: &Arc<Self>, shared: &Arc<Shared>) {
        let mut state = self.state.lock();
        self.transactions.tick();
        let room = ENOUGH.saturating_sub(self.transactions.at_work());
        state.queue.promote(shared.limits().kickup, room.max(1));
        let waits = state.has_work() || !state.polling && !state.connections.is_empty();
        state.stalled = waits && state.taken == 0;
        state.taken = 0;
        if state.stalled {
            bump(&self.counts.stalls);
            self.wake_or_create(shared, &mut state, Why::Stall);
        }
    }

    /// Queues connections that have been idle for too long.
    pub(super) fn time_out(self: &Arc<Self>, shared: &Arc<Shared>) {
        let overdue: Vec<_> = {
            let state = self.state.lock();
            state.connections.values().filter(|c| c.time_out()).cloned().collect()
        };
        overdue.into_iter().for_each(|connection| self.enqueue(shared, connection));
    }

    /// Makes the threads end after their present work.
    pub(super) fn stop(&self) {
        let mut state = self.state.lock();
        state.stopped = true;
        state.standby.drain(..).for_each(|thread| _ = thread.notify_one());
        drop(state);
        self.poller.ring();
    }

    pub(super) fn threads(&self) -> usize {
        self.state.lock().threads
    }

    pub(super) fn counts(&self) -> GroupCounts {
        self.counts.read()
    }

    pub(super) fn reset_counts(&self) {
        self.counts.reset();
    }

    pub(super) fn state(&self) -> GroupState {
        let state = self.state.lock();
        GroupState {
            connections: state.connections.len(),
            threads: state.threads,
            active: state.active,
            standby: state.standby.len(),
            queued: state.queue.len(),
            has_listener: state.polling,
            is_stalled: state.stalled,
        }
    }

    pub(super) fn queued(&self) -> Vec<QueuedConnection> {
        let state = self.state.lock();
        let list = state.queue.list().map(|(queued, priority)| QueuedConnection {
            connection: queued.connection.id,
            high_priority: priority == Priority::High,
            waited: queued.since.elapsed(),
        });
        list.collect()
    }
}

/// Waits until the thread is needed: then another thread has removed it from the list. Returns
/// false after `at_most`.
fn stand_by(state: &mut MutexGuard<'_, State>, needed: &Arc<Condvar>, at_most: Duration) -> bool {
    let until = Instant::now() + at_most;
    state.standby.push(Arc::clone(needed));
    loop {
        let waited = needed.wait_until(state, until);
        let place = state.standby.iter().position(|thread| Arc::ptr_eq(thread, needed));
        match place {
            None => return true,
            Some(place) if waited.timed_out() => {
                state.standby.remove(place);
                return false;
            }
            Some(_) => {}
        }
    }
}
