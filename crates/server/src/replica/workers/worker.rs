//! A worker: a thread with a session that applies groups one after the other.
//!
//! Must not decide which group comes next, or commit before its turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use selkie_engine::{WaitKind, WaitObserver, observe_waits};
use selkie_exec::{Killed, guarded};
use selkie_replication::codec::{Event, Frame};
use selkie_replication::replica::Entry;
use selkie_types::error::catalogue::ER_PRIOR_COMMIT_FAILED;
use selkie_types::{SqlError, SqlResult};

use super::{IDLE, Job, State, Task, Turn, WAITS, Workers};
use crate::backend::{Failed, ReplicaScope, ReplicaSession};
use crate::replica::applier::{Parcel, relay_error, retry_pause, with_text};
use crate::replica::connection::Connection;
use crate::server::Server;
use crate::sessions::SessionHandle;

/// Command in the process list.
const COMMAND: &str = "Slave_worker";

/// A worker's thread.
struct Worker {
    server: Arc<Server>,
    workers: Arc<Workers>,
    /// Its number.
    at: usize,
    session: Box<dyn ReplicaSession>,
}

/// A group that the worker has, with what it needs of its connection.
struct Work {
    task: Task,
    job: Job,
    entry: Entry,
    connection: Arc<Connection>,
    scope: Arc<ReplicaScope>,
}

/// End of a try.
enum Trouble {
    /// The group is in the way of an earlier one.
    GivesWay,
    /// An earlier group has failed.
    Lost,
    Failed(Failed),
}

impl From<Failed> for Trouble {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

/// Starts worker `at`, whose slot is there. The mutex may be held.
pub(super) fn spawn(server: &Arc<Server>, at: usize) -> SqlResult<Arc<SessionHandle>> {
    let session = server.backend.replica_session(server, Arc::default(), COMMAND)?;
    let handle = Arc::clone(session.handle());
    handle.set_state(IDLE);
    let (server, workers) = (Arc::clone(server), Arc::clone(&server.replica.workers));
    let worker = Worker { server, workers, at, session };
    let thread = std::thread::Builder::new().name("slave_worker".to_owned());
    let spawned = thread.spawn(move || worker.run());
    spawned.map_err(SqlError::internal)?;
    Ok(handle)
}

impl Worker {
    fn run(mut self) {
        let at_gate = Arc::clone(&self.workers.state.lock().slots[self.at].at_gate);
        observe_waits(Some(Arc::new(GateWatch(at_gate))));
        let mut last = None;
        while let Some(work) = self.next(last.take()) {
            last = Some((work.task.crew, work.task.domain));
            let error = match guarded(|| Ok(self.work(&work))) {
                Ok(ended) => ended,
                Err(error) => {
                    self.session.give_up();
                    Err(Some(error))
                }
            };
            self.end(&work, error);
            self.renew();
        }
        let Self { workers, session, .. } = self;
        // The session leaves the process list before the coordinator ends.
        drop(session);
        workers.gone();
    }

    /// The next group, once there is one; none if the worker is dismissed. `last` is the lane of
    /// its last one.
    fn next(&mut self, last: Option<(u64, u32)>) -> Option<Work> {
        let mut state = self.workers.state.lock();
        if let Some(work) = last.and_then(|(crew, domain)| state.take_next(self.at, crew, domain)) {
            self.workers.busy.fetch_add(1, Ordering::Relaxed);
            return Some(work);
        }
        loop {
            if state.slots[self.at].is_dismissed {
                return None;
            }
            if let Some(work) = state.take_any(self.at) {
                self.workers.busy.fetch_add(1, Ordering::Relaxed);
                // There may be more to do.
                state.wake_idle();
                return Some(work);
            }
            self.session.handle().set_state(IDLE);
            if state.is_idle() && !state.unsettled.is_empty() {
                let unsettled = std::mem::take(&mut state.unsettled);
                drop(state);
                for commit in unsettled {
                    if let Err(error) = commit.settle() {
                        tracing::error!("The log of what is applied: {error}");
                    }
                }
                state = self.workers.state.lock();
                continue;
            }
            let bell = Arc::clone(&state.slots[self.at].bell);
            bell.wait(&mut state);
        }
    }

    /// Applies a group until it is committed. An error is there if the group itself has failed.
    fn work(&mut self, work: &Work) -> Result<(), Option<SqlError>> {
        self.session.serve(&work.scope);
        let mut tries = 0;
        loop {
            let was_turn = self.begin_try(work);
            let trouble = match self.attempt(work) {
                Ok(()) => return Ok(()),
                Err(trouble) => trouble,
            };
            self.session.give_up();
            match trouble {
                Trouble::Lost => return Err(None),
                Trouble::GivesWay => {}
                Trouble::Failed(failed) => {
                    if self.session.handle().kill.get() == Killed::Connection {
                        return Err(Some(with_text(&failed)));
                    }
                    if was_turn && !(failed.is_transient && self.workers.clear_way(work.task)) {
                        // Nobody of its lane was in the way.
                        let transient = failed.is_transient.then_some(());
                        let pause = transient.and_then(|()| retry_pause(&self.server, &mut tries));
                        let Some(pause) = pause else { return Err(Some(with_text(&failed))) };
                        work.connection.applier.pause(pause);
                    }
                }
            }
            work.connection.progress.lock().retried_transactions += 1;
            loop {
                // Without any locks it is in nobody's way.
                self.begin_try(work);
                match self.wait_for_turn(work) {
                    Turn::Come => break,
                    Turn::GivesWay => {}
                    Turn::Lost => return Err(None),
                }
            }
        }
    }

    /// Begins a try; whether all groups before are committed already.
    fn begin_try(&mut self, work: &Work) -> bool {
        let mut state = self.workers.state.lock();
        state.slots[self.at].gives_way = false;
        state.slots[self.at].is_empty = true;
        // A later raise is for this try (WORK-2).
        self.session.handle().kill.statement_is_over();
        state.is_turn(work.task)
    }

    fn attempt(&mut self, work: &Work) -> Result<(), Trouble> {
        let parcel = &*work.job.parcel;
        let group = &parcel.group;
        self.workers.state.lock().slots[self.at].is_empty = false;
        self.session.begin(group.gtid, group.flags, &parcel.header)?;
        for bytes in &parcel.events {
            let (frame, event) = read(parcel, bytes)?;
            if !matches!(event, Event::Gtid(_)) {
                let applied = self.session.apply(&frame.header, &event);
                applied.map_err(|failed| parcel.at_place(failed, frame.header.end_log_pos))?;
            }
        }
        match self.wait_for_turn(work) {
            Turn::Come => {}
            Turn::GivesWay => return Err(Trouble::GivesWay),
            Turn::Lost => return Err(Trouble::Lost),
        }
        let ended = self.session.end(work.entry.clone());
        ended.map_err(|failed| parcel.at_place(failed, parcel.end.offset as u32))?;
        Ok(())
    }

    /// Waits until all groups before are committed.
    fn wait_for_turn(&self, work: &Work) -> Turn {
        let task = work.task;
        let mut state = self.workers.state.lock();
        if let Some(turn) = state.turn(self.at, task) {
            return turn;
        }
        state.waits(self.at, true);
        let handle = self.session.handle();
        handle.set_state(WAITS);
        let before = state.before(task).unwrap_or(handle.id);
        drop(state);
        let mut turn = Turn::Lost;
        self.session.wait_behind(before, &mut || turn = self.sleep(task));
        handle.set_state("");
        turn
    }

    fn sleep(&self, task: Task) -> Turn {
        let row_waits = |show: &mut dyn FnMut(u64, u64)| self.server.applied().row_waits(show);
        // The wait may close a circle.
        self.workers.resolve(&row_waits);
        let mut state = self.workers.state.lock();
        let bell = Arc::clone(&state.slots[self.at].bell);
        loop {
            if let Some(turn) = state.turn(self.at, task) {
                state.waits(self.at, false);
                return turn;
            }
            bell.wait(&mut state);
        }
    }

    /// Ends a group.
    fn end(&mut self, work: &Work, ended: Result<(), Option<SqlError>>) {
        let unsettled = self.session.take_unsettled();
        match &ended {
            Ok(()) => {}
            Err(Some(error)) => log_error(error),
            Err(None) => log_error(&SqlError::new(&ER_PRIOR_COMMIT_FAILED, &[])),
        }
        let mut state = self.workers.state.lock();
        self.workers.busy.fetch_sub(1, Ordering::Relaxed);
        state.unsettled.extend(unsettled);
        state.end(self.at, work, ended);
        drop(state);
        self.workers.changed.notify_all();
    }

    /// Opens another session if somebody has killed this one.
    fn renew(&mut self) {
        if self.session.handle().kill.get() != Killed::Connection {
            return;
        }
        match self.server.backend.replica_session(&self.server, Arc::default(), COMMAND) {
            Ok(session) => {
                self.workers.state.lock().slots[self.at].handle = Arc::clone(session.handle());
                self.session = session;
            }
            Err(error) => tracing::error!("A worker has no session: {error}"),
        }
    }
}

fn log_error(error: &SqlError) {
    tracing::error!("Slave SQL: {}, Internal MariaDB error code: {}", error, error.code());
}

/// An event of a group.
fn read<'p>(parcel: &'p Parcel, bytes: &'p [u8]) -> Result<(Frame<'p>, Event<'p>), Trouble> {
    let frame = Frame::split(bytes, &parcel.format);
    let read = frame.and_then(|frame| Ok((frame, Event::decode(&frame, &parcel.format)?)));
    read.map_err(|error| {
        let error = relay_error(&std::io::Error::other(error));
        let text = error.message().to_owned();
        Trouble::Failed(Failed { error, text, is_transient: false, shows_place: false })
    })
}

/// Notes whether a worker waits because somebody keeps all changes out.
struct GateWatch(Arc<AtomicBool>);

impl WaitObserver for GateWatch {
    fn begin(&self, kind: WaitKind) {
        self.0.store(kind == WaitKind::GlobalLock, Ordering::Relaxed);
    }

    fn end(&self, _: WaitKind) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Workers {
    /// All later groups of the lane give way, but those that wait for their next try; whether there
    /// are any.
    fn clear_way(&self, task: Task) -> bool {
        let mut state = self.state.lock();
        let crew = state.crew(task.crew).and_then(|crew| crew.lanes.get(&task.domain));
        let later = crew.into_iter().flat_map(|queue| queue.running.range(task.number + 1..));
        let later: Vec<usize> = later.map(|(_, worker)| *worker).collect();
        let mut is_any = false;
        for at in later {
            if !state.slots[at].is_empty {
                state.slots[at].give_way();
                is_any = true;
            }
        }
        is_any
    }

    /// A dismissed worker has ended.
    fn gone(&self) {
        let mut state = self.state.lock();
        state.gone += 1;
        if state.gone == state.slots.len() {
            state.slots.clear();
            state.gone = 0;
        }
        drop(state);
        self.changed.notify_all();
    }
}

impl State {
    fn work(&mut self, at: usize, crew_id: u64, domain: u32, job: Job) -> Option<Work> {
        let crew = self.crew(crew_id)?;
        let (entry, connection, scope) =
            (crew.entry(&job), Arc::clone(&crew.connection), Arc::clone(&crew.scope));
        let task = Task { crew: crew_id, domain, number: job.ticket.number, waits: false };
        self.slots[at].task = Some(task);
        Some(Work { task, job, entry, connection, scope })
    }

    /// Takes the group of a lane whose turn it is.
    fn take_next(&mut self, at: usize, crew: u64, domain: u32) -> Option<Work> {
        let job = self.crew(crew)?.lanes.get_mut(&domain)?.take_next(at)?;
        self.work(at, crew, domain, job)
    }

    /// Takes a group that may begin.
    fn take_any(&mut self, at: usize) -> Option<Work> {
        let count = self.crews.len();
        self.first = self.first.wrapping_add(1);
        let mut found = None;
        for step in 0..count {
            let (id, crew) = &mut self.crews[(self.first + step) % count];
            let most = crew.most;
            let lanes = crew.lanes.iter_mut();
            let taken =
                lanes.filter_map(|(domain, queue)| Some((*domain, queue.take_any(at, most)?)));
            found = taken.map(|(domain, job)| (*id, domain, job)).next();
            if found.is_some() {
                break;
            }
        }
        let (crew, domain, job) = found?;
        self.work(at, crew, domain, job)
    }

    fn is_turn(&mut self, task: Task) -> bool {
        let queue = self.crew(task.crew).and_then(|crew| crew.lanes.get(&task.domain));
        queue.is_some_and(|queue| queue.lane.is_next(task.number))
    }

    /// Outcome of a group's wait, if there is one.
    fn turn(&mut self, at: usize, task: Task) -> Option<Turn> {
        let gives_way = self.slots[at].gives_way;
        let Some(queue) = self.crew(task.crew).and_then(|crew| crew.lanes.get(&task.domain)) else {
            return Some(Turn::Lost);
        };
        match queue.failed {
            Some(failed) if failed < task.number => Some(Turn::Lost),
            _ if gives_way => Some(Turn::GivesWay),
            _ if queue.lane.is_next(task.number) => Some(Turn::Come),
            _ => None,
        }
    }

    fn waits(&mut self, at: usize, waits: bool) {
        self.slots[at].task.iter_mut().for_each(|task| task.waits = waits);
    }

    /// A worker has ended its group.
    fn end(&mut self, at: usize, work: &Work, ended: Result<(), Option<SqlError>>) {
        self.slots[at].task = None;
        let Task { crew, domain, number, .. } = work.task;
        let Some(crew) = self.crew(crew) else { return };
        match ended {
            Ok(()) => crew.committed(domain, &work.job),
            Err(error) => crew.lost(domain, &work.job, error),
        }
        let Some(queue) = crew.lanes.get(&domain) else { return };
        let waiting: Vec<usize> = match queue.failed {
            // All later ones are lost.
            Some(_) => queue.running.values().copied().collect(),
            None => queue.running.get(&(number + 1)).copied().into_iter().collect(),
        };
        for at in waiting {
            self.slots[at].bell.notify_one();
        }
        self.wake_idle();
    }
}
