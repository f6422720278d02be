//! Locks on definitions: a statement that uses a table keeps it from being changed or dropped.
//!
//! # Invariants
//! - MDL-1 A session never waits for itself: modes of one owner are compatible.
//! - MDL-2 While somebody waits for a stronger lock, new weaker ones of others wait too, so that
//!   DDL is not starved; one who holds the name already is let in.
//! - MDL-3 A session waiting in a cycle of waits gets error 1213; it looks for one at every slice.
//!   Waits for rows are part of such cycles once a slice has passed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex};
use selkie_engine::{WaitKind, blocking};
use selkie_types::{SqlError, SqlResult};

use crate::control::Control;

/// How a definition is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockMode {
    /// A statement reads rows.
    Read,
    /// A statement changes rows.
    Write,
    /// `LOCK TABLES ... READ`: nobody else changes rows.
    NoWrite,
    /// The definition is about to change: rows may be read until then, not changed.
    Upgradable,
    /// The definition changes, or `LOCK TABLES ... WRITE`.
    Exclusive,
}

impl LockMode {
    fn allows(self, other: Self) -> bool {
        use LockMode::{Exclusive, NoWrite, Upgradable, Write};
        !matches!(
            (self, other),
            (Exclusive, _)
                | (_, Exclusive)
                | (NoWrite | Upgradable, Write)
                | (Write, NoWrite | Upgradable)
                | (Upgradable, Upgradable)
        )
    }
}

/// Name of what is locked, folded to a number. Two names with one number merely wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key(u64);

impl Key {
    fn of(schema: &str, table: &str) -> Self {
        use std::hash::{BuildHasher, Hash, Hasher};
        let mut hasher = foldhash::fast::FixedState::with_seed(7).build_hasher();
        schema.hash(&mut hasher);
        table.hash(&mut hasher);
        Self(hasher.finish())
    }
}

#[derive(Debug, Default)]
struct Entry {
    /// Owner, mode, how often.
    granted: Vec<(u64, LockMode, u32)>,
    /// Owner and mode of those who wait.
    waiting: Vec<(u64, LockMode)>,
}

impl Entry {
    fn blockers(&self, owner: u64, mode: LockMode) -> impl Iterator<Item = u64> + '_ {
        let others = self.granted.iter().filter(move |g| g.0 != owner && !g.1.allows(mode));
        let holds = self.granted.iter().any(|g| g.0 == owner);
        let queued = self
            .waiting
            .iter()
            .filter(move |w| w.0 != owner && w.1 > mode && !w.1.allows(mode) && !holds);
        others.map(|g| g.0).chain(queued.map(|w| w.0))
    }
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<Key, Entry>,
    /// What each waiting owner waits for.
    waits: HashMap<u64, (Key, LockMode)>,
    /// Whom an owner waits for that waits for something else, such as a user lock.
    elsewhere: HashMap<u64, u64>,
}

impl State {
    /// `rows`: who waits for whose rows.
    fn is_deadlocked(&self, owner: u64, rows: &[(u64, u64)]) -> bool {
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

    fn grant(&mut self, key: Key, owner: u64, mode: LockMode) {
        let granted = &mut self.entries.entry(key).or_default().granted;
        match granted.iter_mut().find(|g| g.0 == owner && g.1 == mode) {
            Some(g) => g.2 += 1,
            None => granted.push((owner, mode, 1)),
        }
    }

    fn release(&mut self, key: Key, owner: u64, mode: LockMode) -> bool {
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
    fn is_awaited(&self, lock: &LockTicket) -> bool {
        let waiting = self.entries.get(&lock.key).map_or(&[][..], |entry| &entry.waiting);
        waiting.iter().any(|(owner, mode)| *owner != lock.owner && !lock.mode.allows(*mode))
    }

    fn is_free(&self, key: Key, owner: u64, mode: LockMode) -> bool {
        self.entries.get(&key).is_none_or(|e| e.blockers(owner, mode).next().is_none())
    }
}

/// Shows for every session that waits for a row whom it waits for.
type RowWaits = Box<dyn Fn(&mut dyn FnMut(u64, u64)) + Send + Sync>;

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    row_waits: Option<RowWaits>,
}

/// The locks of an instance.
#[derive(Clone, Default)]
pub struct MetadataLocks {
    shared: Arc<Shared>,
}

/// A granted lock; given back when dropped.
pub struct LockTicket {
    shared: Arc<Shared>,
    key: Key,
    owner: u64,
    mode: LockMode,
}

impl LockTicket {
    /// Whether this is a lock on `schema`.`table` that is at least `mode`.
    pub fn covers(&self, schema: &str, table: &str, mode: LockMode) -> bool {
        self.key == Key::of(schema, table) && self.mode >= mode
    }
}

impl Drop for LockTicket {
    fn drop(&mut self) {
        let waited_for = self.shared.state.lock().release(self.key, self.owner, self.mode);
        if waited_for {
            self.shared.changed.notify_all();
        }
    }
}

impl std::fmt::Debug for LockTicket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {}", self.mode, self.owner)
    }
}

impl MetadataLocks {
    /// Locks of sessions that wait for each other's rows too.
    pub fn with_row_waits(row_waits: RowWaits) -> Self {
        Self { shared: Arc::new(Shared { row_waits: Some(row_waits), ..Shared::default() }) }
    }

    fn row_waits(&self) -> Vec<(u64, u64)> {
        let mut out = Vec::new();
        if let Some(row_waits) = &self.shared.row_waits {
            row_waits(&mut |waiter, holder| out.push((waiter, holder)));
        }
        out
    }

    /// Whether others wait for a lock that this one keeps from them.
    pub fn is_awaited(&self, lock: &LockTicket) -> bool {
        self.shared.state.lock().is_awaited(lock)
    }

    /// Runs `wait`, in which a session waits for another for some other reason than a definition.
    pub fn waiting_for<T>(&self, owner: u64, other: u64, wait: impl FnOnce() -> T) -> T {
        self.shared.state.lock().elsewhere.insert(owner, other);
        let done = wait();
        self.shared.state.lock().elsewhere.remove(&owner);
        done
    }

    /// Locks a table's name for `owner`, waiting up to `limit`. A schema is a name without table.
    pub fn lock(
        &self,
        control: &Control,
        owner: u64,
        (schema, table): (&str, &str),
        mode: LockMode,
        limit: Duration,
    ) -> SqlResult<LockTicket> {
        let key = Key::of(schema, table);
        let mut state = self.shared.state.lock();
        if !state.is_free(key, owner, mode) {
            state.entries.entry(key).or_default().waiting.push((owner, mode));
            state.waits.insert(owner, (key, mode));
            let result = blocking(WaitKind::MetadataLock, || {
                self.wait(control, &mut state, key, owner, mode, limit)
            });
            state.waits.remove(&owner);
            if let Some(entry) = state.entries.get_mut(&key)
                && let Some(at) = entry.waiting.iter().position(|w| *w == (owner, mode))
            {
                entry.waiting.swap_remove(at);
            }
            if result.is_err() {
                // Those who queued behind this request may go on.
                self.shared.changed.notify_all();
            }
            result?;
        }
        state.grant(key, owner, mode);
        Ok(LockTicket { shared: self.shared.clone(), key, owner, mode })
    }

    fn wait(
        &self,
        control: &Control,
        state: &mut parking_lot::MutexGuard<'_, State>,
        key: Key,
        owner: u64,
        mode: LockMode,
        limit: Duration,
    ) -> SqlResult<()> {
        const SLICE: Duration = Duration::from_millis(50);
        let end = Instant::now().checked_add(limit);
        let mut rows = Vec::new();
        while !state.is_free(key, owner, mode) {
            if state.is_deadlocked(owner, &rows) {
                return Err(SqlError::deadlock());
            }
            let left = end.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Err(SqlError::lock_wait_timeout());
            }
            self.shared.changed.wait_for(state, left.min(SLICE));
            rows = self.row_waits();
            control.check()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_rows_close_cycles() {
        let (key, other) = (Key::of("s", "t"), Key::of("s", "u"));
        let mut state = State::default();
        state.grant(key, 2, LockMode::Read);
        let wait = |state: &mut State, owner, key, mode| {
            state.entries.entry(key).or_default().waiting.push((owner, mode));
            state.waits.insert(owner, (key, mode));
        };
        wait(&mut state, 3, key, LockMode::Exclusive);
        wait(&mut state, 1, key, LockMode::Read);
        assert!(!state.is_deadlocked(1, &[]));
        assert!(!state.is_deadlocked(1, &[(2, 4)]));
        assert!(state.is_deadlocked(1, &[(2, 4), (4, 1)]));
        assert!(state.is_deadlocked(3, &[(2, 3)]));
        state.grant(other, 1, LockMode::Exclusive);
        wait(&mut state, 2, other, LockMode::Read);
        assert!(state.is_deadlocked(1, &[]));
    }
}
