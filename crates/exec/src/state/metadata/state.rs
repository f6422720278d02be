//! Exact table of granted locks and waiters, used once a stronger lock is wanted for a name.
//!
//! Hundreds of sessions may wait for one name behind one waiting DDL. So an operation must take
//! constant time per waiter; only a release looks at all waiters. The caller holds the mutex of
//! [`Shared`](super::Shared).

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use parking_lot::Condvar;

use super::uses::Counts;
use super::{Key, LockMode, LockTicket};

const MODES: usize = LockMode::ALL.len();

#[derive(Debug)]
struct Waiting {
    owner: u64,
    bell: Arc<Condvar>,
}

/// The grants of an owner.
#[derive(Debug, Default)]
struct Grants {
    /// Number of grants of each mode.
    counts: [u32; MODES],
    /// Time of the oldest of them (USE-3).
    since: u64,
}

#[derive(Debug, Default)]
struct Entry {
    granted: HashMap<u64, Grants>,
    /// Number of owners that hold each mode.
    owners: [usize; MODES],
    /// Waiters for each mode, in order of arrival.
    waiting: [VecDeque<Waiting>; MODES],
}

impl Entry {
    fn is_unused(&self) -> bool {
        self.granted.is_empty() && !self.is_awaited()
    }

    fn is_awaited(&self) -> bool {
        self.waiting.iter().any(|queue| !queue.is_empty())
    }

    fn is_free(&self, owner: u64, mode: LockMode) -> bool {
        let own = self.granted.get(&owner);
        in_the_way_of(mode).all(|other| {
            let by_owner = own.is_some_and(|own| own.counts[other as usize] > 0);
            self.owners[other as usize] == usize::from(by_owner)
                && (own.is_some() || !self.is_queued(other, (owner, mode)))
        })
    }

    /// Whether another owner waits for `other` and comes before `owner`'s request for `mode`.
    fn is_queued(&self, other: LockMode, (owner, mode): (u64, LockMode)) -> bool {
        let queue = &self.waiting[other as usize];
        let is_other = |waiting: &Waiting| waiting.owner != owner;
        match other == mode {
            true => queue.front().is_some_and(is_other),
            false => other > mode && queue.iter().any(is_other),
        }
    }

    /// Owners that block `owner`'s request for `mode`. Waiters in one queue have equal blockers, so
    /// the first of each queue is enough to find every deadlock; the queue of `mode` itself adds
    /// none.
    fn blockers(&self, owner: u64, mode: LockMode) -> impl Iterator<Item = u64> + '_ {
        let is_in_the_way = move |grants: &Grants| {
            in_the_way_of(mode).any(|other| grants.counts[other as usize] > 0)
        };
        let granted = self.granted.iter();
        let granted = granted.filter(move |(by, grants)| **by != owner && is_in_the_way(grants));
        let holds = self.granted.contains_key(&owner);
        let stronger = in_the_way_of(mode).filter(move |other| *other > mode && !holds);
        let queued = stronger.filter_map(|other| self.waiting[other as usize].front());
        granted.map(|(by, _)| *by).chain(queued.map(|waiting| waiting.owner))
    }

    fn wake_free(&self) {
        for (mode, queue) in LockMode::ALL.into_iter().zip(&self.waiting) {
            let free = queue.iter().filter(|waiting| self.is_free(waiting.owner, mode));
            free.for_each(|waiting| _ = waiting.bell.notify_one());
        }
    }

    fn grant(&mut self, owner: u64, mode: LockMode, since: u64) {
        let new = || Grants { since, ..Grants::default() };
        let grants = self.granted.entry(owner).or_insert_with(new);
        grants.since = grants.since.min(since);
        let count = &mut grants.counts[mode as usize];
        self.owners[mode as usize] += usize::from(*count == 0);
        *count += 1;
    }

    fn take_back(&mut self, owner: u64, mode: LockMode) {
        let Some(grants) = self.granted.get_mut(&owner) else { return };
        let count = &mut grants.counts[mode as usize];
        self.owners[mode as usize] -= usize::from(*count == 1);
        *count = count.saturating_sub(1);
        if grants.counts == [0; MODES] {
            self.granted.remove(&owner);
        }
    }
}

/// Modes that conflict with `mode`.
fn in_the_way_of(mode: LockMode) -> impl Iterator<Item = LockMode> {
    LockMode::ALL.into_iter().filter(move |other| !other.allows(mode))
}

#[derive(Debug, Default)]
pub(super) struct State {
    entries: HashMap<Key, Entry>,
    /// The request of each waiting owner.
    waits: HashMap<u64, (Key, LockMode)>,
    /// Owner that blocks a waiter for something else, such as a user lock.
    pub(super) elsewhere: HashMap<u64, u64>,
    /// Owners of transactions whose end another owner waits for.
    pub(super) drained: HashMap<u64, Vec<u64>>,
}

impl State {
    /// Shows each lock: name, owner, mode, and whether it is granted.
    pub(super) fn each(&self, show: &mut dyn FnMut(Key, u64, LockMode, bool)) {
        for (key, entry) in &self.entries {
            for (owner, grants) in &entry.granted {
                let held = LockMode::ALL.into_iter().zip(grants.counts);
                held.filter(|(_, count)| *count > 0)
                    .for_each(|(mode, _)| show(*key, *owner, mode, true));
            }
        }
        self.waits.iter().for_each(|(owner, (key, mode))| show(*key, *owner, *mode, false));
    }

    /// Whether `owner` is in a cycle of waits. `rows` maps a waiter for row locks to the holders.
    pub(super) fn is_deadlocked(&self, owner: u64, rows: &HashMap<u64, Vec<u64>>) -> bool {
        let mut seen = HashSet::new();
        let mut next = vec![owner];
        while let Some(at) = next.pop() {
            let of_rows = rows.get(&at).into_iter().flatten().copied();
            let elsewhere = self.elsewhere.get(&at).copied();
            let drained = self.drained.get(&at).into_iter().flatten().copied();
            for blocker in self.blockers(at).chain(of_rows).chain(elsewhere).chain(drained) {
                if blocker == owner {
                    return true;
                }
                if seen.insert(blocker) {
                    next.push(blocker);
                }
            }
        }
        false
    }

    /// Owners that block a waiting owner.
    fn blockers(&self, owner: u64) -> impl Iterator<Item = u64> + '_ {
        let wait = self.waits.get(&owner).copied();
        let entry = wait.and_then(|(key, mode)| Some((self.entries.get(&key)?, mode)));
        entry.into_iter().flat_map(move |(entry, mode)| entry.blockers(owner, mode))
    }

    /// Adds a waiter; `bell` is signalled when it can go on.
    pub(super) fn queue(&mut self, key: Key, owner: u64, mode: LockMode, bell: Arc<Condvar>) {
        let entry = self.entries.entry(key).or_default();
        entry.waiting[mode as usize].push_back(Waiting { owner, bell });
        self.waits.insert(owner, (key, mode));
    }

    /// Removes a waiter.
    pub(super) fn leave_queue(&mut self, key: Key, owner: u64, mode: LockMode) {
        self.waits.remove(&owner);
        let Some(entry) = self.entries.get_mut(&key) else { return };
        let queue = &mut entry.waiting[mode as usize];
        if let Some(at) = queue.iter().position(|waiting| waiting.owner == owner) {
            queue.remove(at);
        }
        if entry.is_unused() {
            self.entries.remove(&key);
        }
    }

    /// Wakes the waiters for the name that can go on.
    pub(super) fn wake_free(&self, key: Key) {
        self.entries.get(&key).into_iter().for_each(Entry::wake_free);
    }

    /// Grants a lock to an owner who began to use the name at the time `since`.
    pub(super) fn grant(&mut self, key: Key, owner: u64, mode: LockMode, since: u64) {
        self.entries.entry(key).or_default().grant(owner, mode, since);
    }

    /// Other owners than `owner` that have changed rows of a table and have used it without a break
    /// since before `time`.
    pub(super) fn writers_since_before(&self, time: u64, key: Key, owner: u64) -> Vec<u64> {
        let is_writer = |(by, grants): &(&u64, &Grants)| {
            **by != owner && grants.counts[LockMode::Write as usize] > 0 && grants.since < time
        };
        let granted = self.entries.get(&key).into_iter().flat_map(|entry| &entry.granted);
        granted.filter(is_writer).map(|(by, _)| *by).collect()
    }

    /// Takes over an owner's uses that were recorded in a part.
    pub(super) fn take_in(&mut self, key: Key, owner: u64, counts: Counts) {
        for (mode, count) in counts.by_mode() {
            (0..count).for_each(|_| self.grant(key, owner, mode, counts.since));
        }
    }

    pub(super) fn release(&mut self, key: Key, owner: u64, mode: LockMode) {
        let Some(entry) = self.entries.get_mut(&key) else { return };
        entry.take_back(owner, mode);
        entry.wake_free();
        if entry.is_unused() {
            self.entries.remove(&key);
        }
    }

    /// Whether an owner has a lock on a name.
    pub(super) fn has(&self, key: Key, owner: u64) -> bool {
        self.entries.get(&key).is_some_and(|entry| entry.granted.contains_key(&owner))
    }

    /// Whether other owners wait for a lock that `lock` blocks.
    pub(super) fn is_awaited(&self, lock: &LockTicket) -> bool {
        let Some(entry) = self.entries.get(&lock.key) else { return false };
        let mut kept = LockMode::ALL.into_iter().filter(|mode| !lock.mode.allows(*mode));
        kept.any(|mode| entry.waiting[mode as usize].iter().any(|by| by.owner != lock.owner))
    }

    pub(super) fn is_free(&self, key: Key, owner: u64, mode: LockMode) -> bool {
        self.entries.get(&key).is_none_or(|entry| entry.is_free(owner, mode))
    }

    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.waits.len()
    }

    #[cfg(test)]
    pub(super) fn is_unused(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::LockMode::{Alone, Exclusive, Read, Write};
    use super::*;

    fn state(granted: &[(u64, LockMode)], waiting: &[(u64, LockMode)]) -> (State, Key) {
        let (mut state, key) = (State::default(), Key::of("s", "t"));
        granted.iter().for_each(|(owner, mode)| state.grant(key, *owner, *mode, 0));
        waiting.iter().for_each(|(owner, mode)| state.queue(key, *owner, *mode, Arc::default()));
        (state, key)
    }

    #[test]
    fn equals_are_served_in_the_order_they_came() {
        let waiting = [(2, Write), (3, Alone), (4, Exclusive), (5, Exclusive)];
        let (mut state, key) = state(&[(1, Read)], &waiting);
        let free = |state: &State| -> Vec<u64> {
            let waiting = waiting.iter().filter(|(owner, _)| state.waits.contains_key(owner));
            let free = waiting.filter(|(owner, mode)| state.is_free(key, *owner, *mode));
            free.map(|(owner, _)| *owner).collect()
        };
        assert!(free(&state).is_empty());
        state.release(key, 1, Read);
        assert_eq!(free(&state), [4]);
        assert!(!state.is_free(key, 6, Exclusive), "who is new comes last");
        state.leave_queue(key, 4, Exclusive);
        assert_eq!(free(&state), [5]);
        state.leave_queue(key, 5, Exclusive);
        assert_eq!(free(&state), [3], "weaker ones wait for stronger ones");
        state.grant(key, 2, Read, 0);
        assert_eq!(free(&state), [2], "who holds the name is let in");
        state.grant(key, 1, Read, 0);
        assert_eq!(free(&state), [2], "no other use is in its way");
    }

    #[test]
    fn cycles_go_through_those_who_wait() {
        let (mut state, key) = state(&[(1, Read)], &[(2, Exclusive), (3, Exclusive), (4, Read)]);
        let other = Key::of("s", "u");
        let none = HashMap::new();
        state.grant(other, 4, Write, 0);
        assert!([2, 3, 4].iter().all(|owner| !state.is_deadlocked(*owner, &none)));
        state.queue(other, 1, Exclusive, Arc::default());
        assert!(state.is_deadlocked(1, &none), "1 for 4, which is behind 2, which waits for 1");
        assert!(state.is_deadlocked(2, &none) && state.is_deadlocked(4, &none));
        state.leave_queue(other, 1, Exclusive);
        let rows = HashMap::from([(1, vec![7, 3])]);
        assert!(state.is_deadlocked(3, &rows));
        assert!(!state.is_deadlocked(3, &none));
        state.release(key, 1, Read);
        assert!(!state.is_deadlocked(3, &rows));
    }
}
