//! The sessions that apply groups beside each other for all connections, and the groups that wait
//! for them.
//!
//! # Words
//! *Crew*: what the workers do for one connection. *Lane*: groups of one domain of a crew, see
//! `selkie_replication::replica::Lane`. *Turn*: all groups of the lane before are committed.
//!
//! # Invariants
//! - WORK-1 If a worker has a group of a lane, a worker has the first one that is not committed:
//!   whoever commits a group takes the next one if nobody has it. So some turn always comes.
//! - WORK-2 A group gives way only while an earlier one of its lane is not committed, and its
//!   session is told so under the mutex: a later try is never told.
//!
//! Must not read relay files or run events. The mutex is held for moments only.

mod conflict;
mod crew;
mod lanes;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use selkie_exec::{Killed, Unsettled};
use selkie_types::error::catalogue::ER_SLAVE_THREAD;
use selkie_types::{SqlError, SqlResult};

use super::connection::Connection;
use crate::backend::ReplicaScope;
use crate::server::Server;
use crate::sessions::SessionHandle;
use crate::variables::ids;

pub(super) use crew::{Crew, Membership};
pub(super) use lanes::Job;

/// The workers of a server.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    state: Mutex<State>,
    /// Rung for coordinators, which wait for room or for the end of groups.
    changed: Condvar,
    /// Workers that have a group.
    busy: AtomicUsize,
}

/// Workers and crews.
#[derive(Debug, Default)]
struct State {
    slots: Vec<Slot>,
    /// Dismissed workers that have ended.
    gone: usize,
    crews: Vec<(u64, Crew)>,
    next_crew: u64,
    /// Position of the crew that is looked at first.
    first: usize,
    /// Commits that are not durable yet.
    unsettled: Vec<Unsettled>,
}

/// A worker.
#[derive(Debug)]
struct Slot {
    bell: Arc<Condvar>,
    handle: Arc<SessionHandle>,
    task: Option<Task>,
    /// Its group is in the way of an earlier one.
    gives_way: bool,
    /// Nothing of its group is applied, so it has no locks.
    is_empty: bool,
    /// It waits for a change of all tables to be allowed again.
    at_gate: Arc<AtomicBool>,
    /// It has no crew any more and should end.
    is_dismissed: bool,
}

/// The group that a worker has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Task {
    crew: u64,
    domain: u32,
    number: u64,
    /// Whether it waits for its turn.
    waits: bool,
}

/// Outcome of the wait for a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// It is there.
    Come,
    /// The group is in the way of an earlier one.
    GivesWay,
    /// An earlier group has failed.
    Lost,
}

/// Longest wait of a coordinator before it looks around.
const LOOK: Duration = Duration::from_millis(100);
const IDLE: &str = "Waiting for work from SQL thread";
const WAITS: &str = "Waiting for prior transaction to commit";

impl Workers {
    /// Takes a connection's groups from now on; starts the workers if none are there.
    pub(super) fn enlist(
        server: &Arc<Server>,
        connection: &Arc<Connection>,
        scope: &Arc<ReplicaScope>,
    ) -> SqlResult<Membership> {
        let workers = &server.replica.workers;
        let crew = Crew::new(server, connection, scope);
        let mut state = workers.state.lock();
        while state.slots.iter().any(|slot| slot.is_dismissed) {
            workers.changed.wait(&mut state);
        }
        let id = state.next_crew;
        state.next_crew += 1;
        state.crews.push((id, crew));
        let wanted = server.globals.get(ids().slave_parallel_threads).as_u64() as usize;
        let membership = Membership::new(workers, id);
        while state.slots.len() < wanted {
            match worker::spawn(server, state.slots.len()) {
                Ok(handle) => state.slots.push(Slot::new(handle)),
                Err(error) => {
                    tracing::error!("The thread of a worker could not be created: {error}");
                    drop(state);
                    drop(membership);
                    return Err(SqlError::new(&ER_SLAVE_THREAD, &[]));
                }
            }
        }
        Ok(membership)
    }

    /// Makes groups give way that are in the way of earlier ones.
    pub(crate) fn resolve(&self, row_waits: &RowWaits<'_>) {
        if self.busy.load(Ordering::Relaxed) < 2 {
            return;
        }
        let mut waits = Vec::new();
        let mut state = self.state.lock();
        row_waits(&mut |waiter, holder| waits.push((waiter, holder)));
        state.resolve(&waits);
    }
}

/// Tells all waits for rows as pairs of waiter and holder.
pub(crate) type RowWaits<'w> = dyn Fn(&mut dyn FnMut(u64, u64)) + 'w;

impl Slot {
    fn new(handle: Arc<SessionHandle>) -> Self {
        let (bell, at_gate) = (Arc::default(), Arc::default());
        Self {
            bell,
            handle,
            task: None,
            gives_way: false,
            is_empty: true,
            at_gate,
            is_dismissed: false,
        }
    }

    fn session(&self) -> u64 {
        self.handle.id
    }

    /// Tells the worker that its group is in the way.
    fn give_way(&mut self) {
        self.gives_way = true;
        self.handle.kill.raise(Killed::Query);
        self.bell.notify_one();
    }
}

impl State {
    fn crew(&mut self, id: u64) -> Option<&mut Crew> {
        self.crews.iter_mut().find(|(of, _)| *of == id).map(|(_, crew)| crew)
    }

    /// Wakes a worker that has nothing to do.
    fn wake_idle(&self) {
        if let Some(slot) = self.slots.iter().find(|slot| slot.task.is_none()) {
            slot.bell.notify_one();
        }
    }

    /// Whether no group is applied or waits.
    fn is_idle(&self) -> bool {
        self.crews.iter().all(|(_, crew)| crew.is_idle())
    }
}
