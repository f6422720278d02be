//! Locks of statements that only use a table, recorded by each thread in its own part. They do not
//! conflict unless a stronger lock is wanted.
//!
//! # Invariants
//! - USE-1 A request for a stronger lock first announces itself in [`Interests`], then collects the
//!   uses from every part. A use checks the interests under its part's lock and is recorded there:
//!   either the request finds the use, or the use sees the interest.
//! - USE-2 A part's lock is taken inside the lock of the exact table, never around it.
//! - USE-3 A use has the time at which its owner began to use the name. It is read under the lock
//!   under which the use is recorded: so one that a search does not find is not older than it.

use std::sync::Weak;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use parking_lot::Mutex;

use super::{Key, LockMode, Shared};

const SLOTS: usize = 256;

/// Number of stronger locks held or wanted, by a part of the name's hash; and the time.
pub(super) struct Interests {
    wanted: [AtomicU32; SLOTS],
    time: AtomicU64,
}

impl Default for Interests {
    fn default() -> Self {
        Self { wanted: [const { AtomicU32::new(0) }; SLOTS], time: AtomicU64::new(0) }
    }
}

impl Interests {
    fn slot(&self, key: Key) -> &AtomicU32 {
        &self.wanted[key.0 as usize % SLOTS]
    }

    /// Ends a time and returns the next one, to which uses belong that begin from now on.
    pub(super) fn next_time(&self) -> u64 {
        self.time.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(super) fn time(&self) -> u64 {
        self.time.load(Ordering::SeqCst)
    }

    pub(super) fn begin(&self, key: Key) {
        self.slot(key).fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn end(&self, key: Key) {
        self.slot(key).fetch_sub(1, Ordering::SeqCst);
    }

    fn is_none(&self, key: Key) -> bool {
        self.slot(key).load(Ordering::SeqCst) == 0
    }
}

/// Number of uses of a table by an owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    read: u32,
    write: u32,
    /// Time of the oldest of them.
    pub(super) since: u64,
}

impl Counts {
    fn of(&mut self, mode: LockMode) -> Option<&mut u32> {
        match mode {
            LockMode::Read => Some(&mut self.read),
            LockMode::Write => Some(&mut self.write),
            _ => None,
        }
    }

    fn is_unused(self) -> bool {
        self.read == 0 && self.write == 0
    }

    pub(super) fn by_mode(self) -> [(LockMode, u32); 2] {
        [(LockMode::Read, self.read), (LockMode::Write, self.write)]
    }
}

/// Uses recorded by some of the threads.
pub(super) struct Part {
    uses: Mutex<HashMap<(Key, u64), Counts>>,
    pub(super) shared: Weak<Shared>,
}

impl Part {
    pub(super) fn new(shared: Weak<Shared>) -> Self {
        Self { uses: Mutex::default(), shared }
    }

    /// Records a use; false if the exact table must decide.
    pub(super) fn add(&self, interests: &Interests, key: Key, owner: u64, mode: LockMode) -> bool {
        let mut uses = self.uses.lock();
        if !interests.is_none(key) {
            return false;
        }
        let new = || Counts { since: interests.time(), ..Counts::default() };
        let mut counts = uses.get(&(key, owner)).copied().unwrap_or_else(new);
        let Some(count) = counts.of(mode) else { return false };
        *count += 1;
        uses.insert((key, owner), counts);
        true
    }

    /// Removes a use; false if it is no longer recorded here.
    pub(super) fn remove(&self, key: Key, owner: u64, mode: LockMode) -> bool {
        let mut uses = self.uses.lock();
        let Entry::Occupied(mut entry) = uses.entry((key, owner)) else { return false };
        let Some(count) = entry.get_mut().of(mode).filter(|count| **count > 0) else {
            return false;
        };
        *count -= 1;
        if entry.get().is_unused() {
            entry.remove();
        }
        true
    }

    /// Adds the owners, other than `owner`, that have changed rows of a table and have used it
    /// without a break since before `time`.
    pub(super) fn add_writers_since_before(
        &self,
        time: u64,
        key: Key,
        owner: u64,
        out: &mut Vec<u64>,
    ) {
        let uses = self.uses.lock();
        let is_writer = |((name, by), counts): &(&(Key, u64), &Counts)| {
            *name == key && *by != owner && counts.write > 0 && counts.since < time
        };
        out.extend(uses.iter().filter(is_writer).map(|((_, by), _)| *by));
    }

    /// Shows each use: name, owner, mode, and that it is granted.
    pub(super) fn each(&self, show: &mut dyn FnMut(Key, u64, LockMode, bool)) {
        for ((key, owner), counts) in &*self.uses.lock() {
            let used = counts.by_mode().into_iter().filter(|(_, count)| *count > 0);
            used.for_each(|(mode, _)| show(*key, *owner, mode, true));
        }
    }

    /// Removes all uses of a name and passes them to `give`.
    pub(super) fn take(&self, key: Key, mut give: impl FnMut(u64, Counts)) {
        self.uses.lock().retain(|(name, owner), counts| {
            let is_taken = *name == key;
            if is_taken {
                give(*owner, *counts);
            }
            !is_taken
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_noted_until_somebody_wants_more() {
        let (part, interests) = (Part::new(Weak::new()), Interests::default());
        let (key, other) = (Key::of("s", "t"), Key::of("s", "u"));
        assert!(part.add(&interests, key, 1, LockMode::Read));
        assert!(part.add(&interests, key, 1, LockMode::Read));
        assert!(part.add(&interests, key, 2, LockMode::Write));
        assert!(part.add(&interests, other, 2, LockMode::Read));
        assert!(!part.add(&interests, key, 2, LockMode::Exclusive));
        assert!(part.remove(key, 1, LockMode::Read));
        assert!(!part.remove(key, 1, LockMode::Write));
        interests.begin(key);
        assert!(!part.add(&interests, key, 3, LockMode::Read));
        let mut found = Vec::new();
        part.take(key, |owner, counts| found.push((owner, counts.by_mode().map(|(_, n)| n))));
        found.sort_unstable();
        assert_eq!(found, [(1, [1, 0]), (2, [0, 1])]);
        assert!(!part.remove(key, 2, LockMode::Write));
        interests.end(key);
        assert!(part.add(&interests, key, 3, LockMode::Read));
    }
}
