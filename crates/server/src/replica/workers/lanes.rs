//! The groups of a crew by domain: those that wait, and those that workers have.
//!
//! Must not know workers beyond their numbers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use selkie_replication::Gtid;
use selkie_replication::replica::{Facts, Lane, ParallelMode, Ticket};

use crate::replica::applier::Parcel;

/// Groups behind the first waiting one that a worker looks at.
const AHEAD: usize = 64;

/// A group with its place in its lane.
#[derive(Clone, Debug)]
pub(in crate::replica) struct Job {
    pub(in crate::replica) parcel: Arc<Parcel>,
    pub(super) ticket: Ticket,
    /// Number of the group among all of the connection.
    pub(super) order: u64,
}

/// A lane with its groups.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) lane: Lane,
    /// Groups that no worker has, in order.
    waiting: VecDeque<Job>,
    /// Groups that workers have, with the worker's number.
    pub(super) running: BTreeMap<u64, usize>,
    /// The last group that a worker has got.
    begun: u64,
    /// The last group that may change what is known of keys.
    definition: u64,
    /// The group that has failed for good.
    pub(super) failed: Option<u64>,
    /// The last committed group, with its number among all of the connection.
    pub(super) last: Option<(u64, Gtid)>,
}

impl Queue {
    /// Adds a group.
    pub(super) fn add(
        &mut self,
        mode: ParallelMode,
        facts: Facts<'_>,
        (parcel, order): (Arc<Parcel>, u64),
    ) {
        let ticket = self.lane.add(mode, facts);
        if facts.is_alone {
            self.definition = ticket.number;
        }
        self.waiting.push_back(Job { parcel, ticket, order });
    }

    /// Whether a group that may change definitions is not committed yet.
    pub(super) fn defines(&self) -> bool {
        self.definition > self.lane.committed()
    }

    /// Takes the group whose turn it is, if nobody has it.
    pub(super) fn take_next(&mut self, worker: usize) -> Option<Job> {
        let next = self.waiting.front()?;
        let is_free = self.failed.is_none() && self.lane.is_next(next.ticket.number);
        if is_free { self.take(0, worker) } else { None }
    }

    /// Takes a group that may begin, if at most `most` groups of the lane run then (WORK-1).
    pub(super) fn take_any(&mut self, worker: usize, most: usize) -> Option<Job> {
        if self.failed.is_some() || self.running.len() >= most {
            return None;
        }
        let mut ahead = self.waiting.iter().take(AHEAD);
        let at = match self.running.is_empty() {
            true => 0,
            false => ahead.position(|job| self.lane.may_begin(job.ticket))?,
        };
        self.take(at, worker)
    }

    fn take(&mut self, at: usize, worker: usize) -> Option<Job> {
        let job = self.waiting.remove(at)?;
        self.begun = self.begun.max(job.ticket.number);
        self.running.insert(job.ticket.number, worker);
        Some(job)
    }

    /// Forgets groups that no worker has, except those before one that has begun. Returns the bytes
    /// of the forgotten ones.
    pub(super) fn close(&mut self) -> usize {
        let keep = |job: &Job| self.failed.is_none() && job.ticket.number <= self.begun;
        let kept = self.waiting.iter().take_while(|job| keep(job)).count();
        self.waiting.drain(kept..).map(|job| job.parcel.bytes).sum()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

    /// The worker that has the group for which `number` waits.
    pub(super) fn before(&self, number: u64) -> Option<usize> {
        let direct = number.checked_sub(1).and_then(|before| self.running.get(&before));
        let first = || self.running.first_key_value().filter(|(first, _)| **first < number);
        direct.copied().or_else(|| first().map(|(_, worker)| *worker))
    }
}
