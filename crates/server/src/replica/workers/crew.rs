//! The groups of one connection that workers apply, as its coordinator sees them.
//!
//! Must not read relay files.

use std::collections::BTreeMap;
use std::sync::Arc;

use selkie_exec::Unsettled;
use selkie_exec::apply::Sight;
use selkie_replication::Gtid;
use selkie_replication::codec::GtidEvent;
use selkie_replication::replica::{Entry, Facts, Flights, Front, Note, ParallelMode, Place};
use selkie_types::SqlError;

use super::lanes::{Job, Queue};
use super::{LOOK, State, Workers};
use crate::backend::ReplicaScope;
use crate::replica::applier::Parcel;
use crate::replica::connection::{Connection, UsingGtid};
use crate::server::Server;
use crate::variables::ids;

/// Places that a connection has reached.
#[derive(Clone, Debug, Default)]
struct Reached {
    /// In the primary's log.
    applied: Place,
    /// In the relay files.
    relay: Place,
}

/// Work of the workers for one connection.
#[derive(Debug)]
pub(in crate::replica) struct Crew {
    pub(super) connection: Arc<Connection>,
    pub(super) scope: Arc<ReplicaScope>,
    mode: ParallelMode,
    /// Whether groups of several domains are independent.
    has_domains: bool,
    /// Most groups of a domain that run at once.
    pub(super) most: usize,
    pub(super) lanes: BTreeMap<u32, Queue>,
    /// The last group of each domain that was passed over, and its number in `front`.
    passed: BTreeMap<u32, (u64, Gtid)>,
    /// Bytes of all groups that are here, and from how many on there is no room.
    bytes: usize,
    most_bytes: usize,
    flights: Arc<Flights>,
    front: Front<Reached>,
    failure: Option<SqlError>,
}

impl Crew {
    pub(super) fn new(
        server: &Server,
        connection: &Arc<Connection>,
        scope: &Arc<ReplicaScope>,
    ) -> Self {
        let number = |id| server.globals.get(id).as_u64() as usize;
        let progress = connection.progress.lock();
        let reached = Reached { applied: progress.applied.clone(), relay: progress.relay.clone() };
        drop(progress);
        let noted = server.applied().state().place(&connection.name).cloned();
        let most = number(ids().slave_domain_parallel_threads);
        let mode = connection.parallel_mode();
        let is_by_gtid = connection.config.lock().using_gtid != UsingGtid::No;
        let threads = number(ids().slave_parallel_threads);
        Self {
            connection: Arc::clone(connection),
            scope: Arc::clone(scope),
            mode,
            // Compat: by file and position, and one after the other, there is one order.
            has_domains: is_by_gtid && mode > ParallelMode::Minimal,
            most: if most == 0 { usize::MAX } else { most },
            lanes: BTreeMap::new(),
            bytes: 0,
            most_bytes: number(ids().slave_parallel_max_queued).saturating_mul(threads),
            flights: Arc::new(Flights::new(noted.unwrap_or_else(|| reached.applied.clone()))),
            front: Front::new(reached),
            passed: BTreeMap::new(),
            failure: None,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.lanes.values().all(Queue::is_idle)
    }

    /// The lane of a group.
    fn domain(&self, gtid: Option<Gtid>) -> u32 {
        gtid.filter(|_| self.has_domains).map_or(0, |gtid| gtid.domain)
    }

    fn begin(&mut self) -> u64 {
        self.front.begin();
        self.flights.begin()
    }

    /// A group is behind: it is applied, or needs not be.
    fn reach(&mut self, order: u64, applied: Place, relay: Place) {
        self.front.end(order, Reached { applied, relay });
        let mut progress = self.connection.progress.lock();
        progress.applied.clone_from(&self.front.reached().applied);
        progress.relay.clone_from(&self.front.reached().relay);
    }

    /// The group `job` of a lane is committed.
    pub(super) fn committed(&mut self, domain: u32, job: &Job) {
        let parcel = &job.parcel;
        self.bytes -= parcel.bytes;
        self.reach(job.order, parcel.end.clone(), parcel.relay_end.clone());
        if let Some(queue) = self.lanes.get_mut(&domain) {
            queue.running.remove(&job.ticket.number);
            queue.lane.commit();
            queue.last = parcel.group.gtid.map(|gtid| (job.order, gtid));
        }
        let mut progress = self.connection.progress.lock();
        parcel.group.count(&mut progress);
        progress.executed_entries += parcel.events.len() as u64;
        progress.applying_since = parcel.group.timestamp;
    }

    /// The group `job` is not committed and will not be. `error` is there if it has failed itself.
    pub(super) fn lost(&mut self, domain: u32, job: &Job, error: Option<SqlError>) {
        self.bytes -= job.parcel.bytes;
        if let Some(queue) = self.lanes.get_mut(&domain) {
            queue.running.remove(&job.ticket.number);
            if error.is_some() {
                queue.failed.get_or_insert(job.ticket.number);
            }
        }
        if self.failure.is_none() {
            self.failure = error;
        }
        self.close();
    }

    /// Forgets what has not begun.
    fn close(&mut self) {
        let forgotten: usize = self.lanes.values_mut().map(Queue::close).sum();
        self.bytes -= forgotten;
    }

    /// The note of a group.
    pub(super) fn entry(&self, job: &Job) -> Entry {
        let (gtid, end) = (job.parcel.group.gtid, job.parcel.end.clone());
        let note = Note::Group { connection: self.connection.name.clone(), gtid, end };
        Entry::beside(note, &self.flights, job.order)
    }

    /// The last group of each domain that is committed though one before it, of another domain, is
    /// not.
    fn ahead(&self) -> BTreeMap<u32, Gtid> {
        // Groups of a domain that are passed over come before those that are applied.
        let last = self.lanes.values().filter_map(|queue| queue.last);
        let last = self.passed.values().copied().chain(last);
        let ahead = last.filter(|(order, _)| !self.front.is_behind(*order));
        ahead.map(|(_, gtid)| (gtid.domain, gtid)).collect()
    }
}

/// A connection's part in the workers; dropping it ends the part.
#[derive(Debug)]
pub(in crate::replica) struct Membership {
    workers: Arc<Workers>,
    id: u64,
}

impl Membership {
    pub(super) fn new(workers: &Arc<Workers>, id: u64) -> Self {
        Self { workers: Arc::clone(workers), id }
    }

    fn with<R>(&self, act: impl FnOnce(&mut State, &mut Crew) -> R) -> Option<R> {
        let mut state = self.workers.state.lock();
        let at = state.crews.iter().position(|(id, _)| *id == self.id)?;
        let (id, mut crew) = state.crews.swap_remove(at);
        let result = act(&mut state, &mut crew);
        state.crews.push((id, crew));
        Some(result)
    }

    /// Begins a group that the coordinator applies itself, or passes over.
    pub(in crate::replica) fn begin(&self) -> Option<(u64, Arc<Flights>)> {
        self.with(|_, crew| (crew.begin(), Arc::clone(&crew.flights)))
    }

    /// Ends such a group.
    pub(in crate::replica) fn end(&self, order: u64, applied: &Place, relay: &Place) {
        self.with(|_, crew| {
            crew.flights.pass(order, applied);
            crew.reach(order, applied.clone(), relay.clone());
        });
    }

    /// Ends such a group, which was applied before. If one before it is not applied, it will come
    /// again, and so do all of its domain up to it.
    pub(in crate::replica) fn pass(&self, order: u64, gtid: Gtid, applied: &Place, relay: &Place) {
        self.with(|_, crew| crew.passed.insert(gtid.domain, (order, gtid)));
        self.end(order, applied, relay);
    }

    /// Gives a group to the workers.
    pub(in crate::replica) fn hand_over(&self, parcel: Parcel, sight: &Sight, hides_errors: bool) {
        self.with(|state, crew| {
            let mode = match hides_errors {
                // An error that nobody sees cannot be made good.
                true => crew.mode.min(ParallelMode::Conservative),
                false => crew.mode,
            };
            let is_new = crew.lanes.values().any(Queue::defines);
            let facts = facts(&parcel, sight, is_new);
            let order = crew.begin();
            crew.bytes += parcel.bytes;
            let domain = crew.domain(parcel.group.gtid);
            let queue = crew.lanes.entry(domain).or_default();
            queue.add(mode, facts, (Arc::new(parcel), order));
            state.wake_idle();
        });
    }

    /// Waits until there is room for a group, no longer than [`LOOK`]; whether there is.
    pub(in crate::replica) fn wait_for_room(&self) -> bool {
        let has_room = |crew: &Crew| crew.bytes < crew.most_bytes || crew.is_idle();
        self.wait(|crew| has_room(crew) || crew.failure.is_some())
    }

    /// Waits until all groups are applied, or have failed, no longer than [`LOOK`]; whether they
    /// are.
    pub(in crate::replica) fn wait_idle(&self) -> bool {
        self.wait(Crew::is_idle)
    }

    fn wait(&self, is_over: impl Fn(&Crew) -> bool) -> bool {
        let mut state = self.workers.state.lock();
        let check = |state: &mut State| state.crew(self.id).is_none_or(|crew| is_over(crew));
        check(&mut state) || {
            self.workers.changed.wait_for(&mut state, LOOK);
            check(&mut state)
        }
    }

    /// Whether all groups are applied.
    pub(in crate::replica) fn is_idle(&self) -> bool {
        self.with(|_, crew| crew.is_idle()).unwrap_or(true)
    }

    /// The error of the group that has failed for good.
    pub(in crate::replica) fn failure(&self) -> Option<SqlError> {
        self.with(|_, crew| crew.failure.clone()).flatten()
    }

    /// Lets the groups end that have begun, and forgets the others. Returns the groups of other
    /// domains that are ahead of one that is not applied. `meanwhile` is called again and again.
    pub(in crate::replica) fn stop(&self, meanwhile: &dyn Fn()) -> BTreeMap<u32, Gtid> {
        self.with(|_, crew| crew.close());
        while !self.wait_idle() {
            meanwhile();
        }
        self.with(|_, crew| crew.ahead()).unwrap_or_default()
    }

    /// Commits that are not durable yet.
    pub(in crate::replica) fn take_unsettled(&self) -> Vec<Unsettled> {
        std::mem::take(&mut self.workers.state.lock().unsettled)
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let mut state = self.workers.state.lock();
        state.crews.retain(|(id, _)| *id != self.id);
        if !state.crews.is_empty() {
            return;
        }
        for slot in &mut state.slots {
            slot.is_dismissed = true;
            slot.bell.notify_one();
        }
        // Another start of workers finds none of the old ones.
        while state.slots.iter().any(|slot| slot.is_dismissed) {
            self.workers.changed.wait(&mut state);
        }
    }
}

/// Facts of a group. `is_new`: a definition may change before it is applied.
fn facts<'s>(parcel: &Parcel, sight: &'s Sight, is_new: bool) -> Facts<'s> {
    const XA: u8 = GtidEvent::PREPARED_XA | GtidEvent::COMPLETED_XA;
    let has = |flags: u8| parcel.group.flags & flags != 0;
    let is_alone = parcel.group.gtid.is_none()
        || !has(GtidEvent::TRANSACTIONAL)
        || has(GtidEvent::STANDALONE | GtidEvent::DDL | XA)
        || is_new
        || *sight == Sight::Alone;
    let touches = match sight {
        Sight::Keys(touches) => Some(&**touches),
        Sight::Opaque | Sight::Alone => None,
    };
    let commit_id = Some(parcel.commit_id).filter(|_| has(GtidEvent::GROUP_COMMIT_ID));
    let has_waited = has(GtidEvent::WAITED) || !has(GtidEvent::ALLOW_PARALLEL);
    Facts { commit_id, is_alone, has_waited, touches }
}
