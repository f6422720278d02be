//! Who has locked which name and who waits, exactly: what is looked at when locks are in each other's way.

use hashbrown::HashMap;

use super::uses::Counts;
use super::{Key, LockMode, LockTicket};

#[derive(Debug, Default)]
pub(super) struct Entry {
    /// Owner, mode, how often.
    granted: Vec<(u64, LockMode, u32)>,
    /// Owner and mode of those who wait, in the order they came.
    pub(super) waiting: Vec<(u64, LockMode)>,
}

impl Entry {
    fn blockers(&self, owner: u64, mode: LockMode) -> impl Iterator<Item = u64> + '_ {
        let others = self.granted.iter().filter(move |g| g.0 != owner && !g.1.allows(mode));
        let holds = self.granted.iter().any(|g| g.0 == owner);
        let place = self.waiting.iter().position(|w| *w == (owner, mode));
        let place = place.unwrap_or(self.waiting.len());
        let queued = self.waiting.iter().enumerate().filter(move |(at, w)| {
            let is_before = w.1 > mode || w.1 == mode && *at < place;
            is_before && w.0 != owner && !w.1.allows(mode) && !holds
        });
        others.map(|g| g.0).chain(queued.map(|(_, w)| w.0))
    }
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) entries: HashMap<Key, Entry>,
    /// What each waiting owner waits for.
    pub(super) waits: HashMap<u64, (Key, LockMode)>,
    /// Whom an owner waits for that waits for something else, such as a user lock.
    pub(super) elsewhere: HashMap<u64, u64>,
}

impl State {
    /// `rows`: who waits for whose rows.
    pub(super) fn is_deadlocked(&self, owner: u64, rows: &[(u64, u64)]) -> bool {
        let mut seen = vec![owner];
        let mut next = vec![owner];
        while let Some(at) = next.pop() {
            let of_rows =
                rows.iter().filter(|(waiter, _)| *waiter == at).map(|(_, holder)| *holder);
            let elsewhere = self.elsewhere.get(&at).copied();
            for blocker in self.blockers(at).chain(of_rows).chain(elsewhere) {
                if blocker == owner {
                    return true;
                }
                if !seen.contains(&blocker) {
                    seen.push(blocker);
                    next.push(blocker);
                }
            }
        }
        false
    }

    /// Whom a waiting owner waits for.
    fn blockers(&self, owner: u64) -> impl Iterator<Item = u64> + '_ {
        let wait = self.waits.get(&owner).copied();
        let entry = wait.and_then(|(key, mode)| Some((self.entries.get(&key)?, mode)));
        entry.into_iter().flat_map(move |(entry, mode)| entry.blockers(owner, mode))
    }

    /// An owner begins to wait.
    pub(super) fn queue(&mut self, key: Key, owner: u64, mode: LockMode) {
        self.entries.entry(key).or_default().waiting.push((owner, mode));
        self.waits.insert(owner, (key, mode));
    }

    /// It waits no more.
    pub(super) fn leave_queue(&mut self, key: Key, owner: u64, mode: LockMode) {
        self.waits.remove(&owner);
        let Some(entry) = self.entries.get_mut(&key) else { return };
        if let Some(at) = entry.waiting.iter().position(|w| *w == (owner, mode)) {
            entry.waiting.remove(at);
        }
        if entry.granted.is_empty() && entry.waiting.is_empty() {
            self.entries.remove(&key);
        }
    }

    pub(super) fn grant(&mut self, key: Key, owner: u64, mode: LockMode) {
        let granted = &mut self.entries.entry(key).or_default().granted;
        match granted.iter_mut().find(|g| g.0 == owner && g.1 == mode) {
            Some(g) => g.2 += 1,
            None => granted.push((owner, mode, 1)),
        }
    }

    /// Takes in what an owner uses that was noted elsewhere.
    pub(super) fn take_in(&mut self, key: Key, owner: u64, counts: Counts) {
        for (mode, count) in counts.by_mode() {
            (0..count).for_each(|_| self.grant(key, owner, mode));
        }
    }

    /// Whether somebody waits for the name.
    pub(super) fn release(&mut self, key: Key, owner: u64, mode: LockMode) -> bool {
        let Some(entry) = self.entries.get_mut(&key) else { return false };
        if let Some(at) = entry.granted.iter().position(|g| g.0 == owner && g.1 == mode) {
            entry.granted[at].2 -= 1;
            if entry.granted[at].2 == 0 {
                entry.granted.swap_remove(at);
            }
        }
        let waited_for = !entry.waiting.is_empty();
        if entry.granted.is_empty() && !waited_for {
            self.entries.remove(&key);
        }
        waited_for
    }

    /// Whether others wait for a lock that this one keeps from them.
    pub(super) fn is_awaited(&self, lock: &LockTicket) -> bool {
        let waiting = self.entries.get(&lock.key).map_or(&[][..], |entry| &entry.waiting);
        waiting.iter().any(|(owner, mode)| *owner != lock.owner && !lock.mode.allows(*mode))
    }

    pub(super) fn is_free(&self, key: Key, owner: u64, mode: LockMode) -> bool {
        self.entries.get(&key).is_none_or(|e| e.blockers(owner, mode).next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::LockMode::{Alone, Exclusive, Read, Write};
    use super::*;

    #[test]
    fn equals_are_served_in_the_order_they_came() {
        let mut entry = Entry { granted: vec![(1, Read, 1)], ..Entry::default() };
        entry.waiting = vec![(2, Write), (3, Alone), (4, Exclusive), (5, Exclusive)];
        let blockers = |entry: &Entry, owner, mode| entry.blockers(owner, mode).collect::<Vec<_>>();
        assert_eq!(blockers(&entry, 4, Exclusive), [1]);
        assert_eq!(blockers(&entry, 5, Exclusive), [1, 4]);
        assert_eq!(blockers(&entry, 6, Exclusive), [1, 4, 5], "who is new comes last");
        assert_eq!(blockers(&entry, 3, Alone), [1, 4, 5], "weaker ones wait for stronger ones");
        assert_eq!(blockers(&entry, 2, Write), [3, 4, 5]);
        entry.granted.push((6, Write, 1));
        assert_eq!(blockers(&entry, 6, Exclusive), [1], "who holds the name is let in");
    }
}
