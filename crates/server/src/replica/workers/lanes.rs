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

#[cfg(test)]
mod tests {
    use selkie_replication::codec::{Checksum, Event, EventKind, Format, GtidEvent, Header};
    use selkie_replication::replica::{Place, Touch};

    use super::*;
    use crate::replica::applier::Group;

    fn parcel(seq: u64) -> Arc<Parcel> {
        let header = Header::new(EventKind::GTID, 0, 1);
        let event = Event::Gtid(GtidEvent::new(seq, 0, GtidEvent::TRANSACTIONAL));
        Arc::new(Parcel {
            group: Group::begin(&header, &event, Place::default()),
            header,
            commit_id: 0,
            events: Vec::new(),
            bytes: 1,
            format: Arc::new(Format::new("", 0, Checksum::None)),
            end: Place::default(),
            relay_end: Place::default(),
        })
    }

    /// A queue whose groups touch one key each; 0 stands for a group that is alone.
    fn queue(keys: &[u64]) -> Queue {
        let mut queue = Queue::default();
        for (at, key) in keys.iter().enumerate() {
            let touches = [Touch::Key { space: 1, key: *key }];
            let (is_alone, touches) = (*key == 0, Some(&touches[..]));
            let facts = Facts { commit_id: None, is_alone, has_waited: false, touches };
            queue.add(ParallelMode::Optimistic, facts, (parcel(at as u64 + 1), at as u64));
        }
        queue
    }

    fn commit(queue: &mut Queue) {
        let (first, _) = queue.running.pop_first().expect("a group runs");
        assert!(queue.lane.is_next(first));
        queue.lane.commit();
    }

    #[test]
    fn some_turn_always_comes() {
        let mut draw = 7_u64;
        for workers in 1..5 {
            let keys: Vec<u64> = (0..300).map(|at| at * 7919 % 11 % 5).collect();
            let mut queue = queue(&keys);
            while !queue.is_idle() {
                draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let has_room = queue.running.len() < workers;
                if has_room && draw >> 40 & 1 == 0 && queue.take_any(0, usize::MAX).is_some() {
                    continue;
                }
                if queue.running.is_empty() {
                    continue;
                }
                commit(&mut queue);
                // The worker that has committed goes on with the lane.
                queue.take_next(0);
            }
            assert_eq!(queue.lane.committed(), keys.len() as u64);
        }
    }

    #[test]
    fn groups_before_one_that_has_begun_are_kept() {
        let mut queue = queue(&[1, 1, 2, 3, 3]);
        let numbers = |queue: &mut Queue| {
            std::iter::from_fn(|| queue.take_any(0, 3)).map(|job| job.ticket.number).collect()
        };
        let begun: Vec<u64> = numbers(&mut queue);
        assert_eq!(begun, [1, 3, 4]);
        assert_eq!(queue.close(), 1);
        assert!((queue.before(3), queue.before(1)) == (Some(0), None));
        commit(&mut queue);
        assert_eq!(queue.take_next(0).map(|job| job.ticket.number), Some(2));
        (0..3).for_each(|_| commit(&mut queue));
        assert!(queue.is_idle());
    }

    #[test]
    fn nothing_begins_behind_a_group_that_has_failed() {
        let mut queue = queue(&[1, 2, 3, 4]);
        assert!(queue.take_any(0, 2).is_some() && queue.take_any(1, 2).is_some());
        assert!(queue.take_any(2, 2).is_none());
        queue.failed = Some(1);
        queue.running.clear();
        assert!(queue.take_any(0, 2).is_none() && queue.take_next(0).is_none());
        assert_eq!(queue.close(), 2);
        assert!(queue.is_idle());
    }
}
