//! Locks on definitions: a statement that uses a table keeps it from being changed or dropped.
//!
//! # Invariants
//! - MDL-1 A session never waits for itself: modes of one owner are compatible.
//! - MDL-2 While somebody waits for a stronger lock, new weaker ones of others wait too, so that
//!   DDL is not starved; one who holds the name already is let in.
//! - MDL-3 Of those who wait for locks of one strength, who came first is let in first.
//! - MDL-4 A session waiting in a cycle of waits gets error 1213; it looks for one when it begins
//!   to wait, and now and then because of waits for rows, which are part of such cycles.
//! - MDL-5 Whoever leaves a name, or its queue without having got it, wakes those who may go on.

mod state;
mod uses;

use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;

use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex, MutexGuard};
use selkie_engine::{OwnLines, Parts, WaitKind, blocking};
use selkie_types::{SqlError, SqlResult};

use crate::state::control::Control;
use state::State;
use uses::{Interests, Part};

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
    /// `LOCK TABLES ... WRITE`: nobody else reads or changes rows.
    Alone,
    /// The definition changes.
    Exclusive,
}

impl LockMode {
    /// From the weakest to the strongest.
    const ALL: [Self; 6] =
        [Self::Read, Self::Write, Self::NoWrite, Self::Upgradable, Self::Alone, Self::Exclusive];

    /// Whether it allows all that statements do that only use the table: they need not look at each
    /// other.
    fn is_use(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }

    fn allows(self, other: Self) -> bool {
        use LockMode::{Alone, Exclusive, NoWrite, Upgradable, Write};
        !matches!(
            (self, other),
            (Alone | Exclusive, _)
                | (_, Alone | Exclusive)
                | (NoWrite | Upgradable, Write)
                | (Write, NoWrite | Upgradable)
                | (Upgradable, Upgradable)
        )
    }
}

/// Name of what is locked, folded to a number. Two names with one number merely wait for each
/// other.
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

/// Shows for every session that waits for a row whom it waits for.
type RowWaits = Box<dyn Fn(&mut dyn FnMut(u64, u64)) + Send + Sync>;

/// A part that tickets refer to; the count of those lies on lines of its own too.
type SharedPart = Arc<OwnLines<Part>>;

struct Shared {
    /// Stronger locks, and the uses that were in their way.
    state: Mutex<State>,
    interests: Interests,
    parts: Parts<SharedPart>,
    row_waits: Option<RowWaits>,
}

/// How long who waits sleeps at most until it looks at waits for rows: a fourth of the time waited,
/// within these limits. With thousands that wait the looks of all are felt.
const FIRST_LOOK: Duration = Duration::from_millis(20);
const LAST_LOOK: Duration = Duration::from_secs(1);

/// Somebody who waits for a lock.
struct Sleeper {
    shared: Arc<Shared>,
    bell: Arc<Condvar>,
}

impl Wake for Sleeper {
    /// Its statement was killed.
    fn wake(self: Arc<Self>) {
        drop(self.shared.state.lock());
        self.bell.notify_one();
    }
}

impl Shared {
    fn new(row_waits: Option<RowWaits>) -> Arc<Self> {
        Arc::new_cyclic(|shared| Self {
            state: Mutex::default(),
            interests: Interests::default(),
            parts: Parts::new(|| Arc::new(OwnLines::new(Part::new(shared.clone())))),
            row_waits,
        })
    }

    fn release(&self, key: Key, owner: u64, mode: LockMode) {
        self.state.lock().release(key, owner, mode);
        self.give_up(key, mode);
    }

    /// A lock that is more than a use is wanted no more.
    fn give_up(&self, key: Key, mode: LockMode) {
        if !mode.is_use() {
            self.interests.end(key);
        }
    }

    /// Says that a lock that is more than a use is wanted, and looks for all uses in its way
    /// (USE-1).
    fn claim(&self, state: &mut State, key: Key, mode: LockMode) {
        if mode.is_use() {
            return;
        }
        self.interests.begin(key);
        for part in self.parts.iter() {
            part.take(key, |owner, counts| state.take_in(key, owner, counts));
        }
    }
}

/// The locks of an instance.
#[derive(Clone)]
pub struct MetadataLocks {
    shared: Arc<Shared>,
}

impl Default for MetadataLocks {
    fn default() -> Self {
        Self { shared: Shared::new(None) }
    }
}

/// A granted lock; given back when dropped.
pub struct LockTicket {
    /// Where it was noted first; counting who refers to it writes no memory of other threads.
    part: SharedPart,
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
        if self.part.remove(self.key, self.owner, self.mode) {
            return;
        }
        if let Some(shared) = self.part.shared.upgrade() {
            shared.release(self.key, self.owner, self.mode);
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
        Self { shared: Shared::new(Some(row_waits)) }
    }

    fn row_waits(&self) -> HashMap<u64, Vec<u64>> {
        let mut out = HashMap::<_, Vec<_>>::new();
        if let Some(row_waits) = &self.shared.row_waits {
            row_waits(&mut |waiter, holder| out.entry(waiter).or_default().push(holder));
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
        let part = self.shared.parts.own();
        if !part.add(&self.shared.interests, key, owner, mode) {
            self.lock_exactly(control, key, owner, mode, limit)?;
        }
        Ok(LockTicket { part: part.clone(), key, owner, mode })
    }

    fn lock_exactly(
        &self,
        control: &Control,
        key: Key,
        owner: u64,
        mode: LockMode,
        limit: Duration,
    ) -> SqlResult<()> {
        let mut state = self.shared.state.lock();
        self.shared.claim(&mut state, key, mode);
        if !state.is_free(key, owner, mode) {
            let bell = Arc::<Condvar>::default();
            state.queue(key, owner, mode, bell.clone());
            let result = blocking(WaitKind::MetadataLock, || {
                self.wait(control, &mut state, (key, owner, mode), limit, bell)
            });
            state.leave_queue(key, owner, mode);
            if let Err(error) = result {
                state.wake_free(key);
                drop(state);
                self.shared.give_up(key, mode);
                return Err(error);
            }
        }
        state.grant(key, owner, mode);
        Ok(())
    }

    fn wait(
        &self,
        control: &Control,
        state: &mut MutexGuard<'_, State>,
        (key, owner, mode): (Key, u64, LockMode),
        limit: Duration,
        bell: Arc<Condvar>,
    ) -> SqlResult<()> {
        let patience = control.patience(Some(limit));
        let sleeper = Sleeper { shared: Arc::clone(&self.shared), bell };
        let bell = Arc::clone(&sleeper.bell);
        let _woken = control.wakes(Arc::new(sleeper).into());
        while !state.is_free(key, owner, mode) {
            control.check()?;
            if state.is_deadlocked(owner, &self.row_waits()) {
                return Err(SqlError::deadlock());
            }
            let left = patience.left().ok_or_else(SqlError::lock_wait_timeout)?;
            let until_look = (patience.waited() / 4).clamp(FIRST_LOOK, LAST_LOOK);
            bell.wait_for(state, left.min(until_look));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::thread;

    const LONG: Duration = Duration::from_secs(60);

    fn lock(locks: &MetadataLocks, owner: u64, table: &str, mode: LockMode) -> LockTicket {
        let control = Control::unattended();
        locks.lock(&control, owner, ("s", table), mode, LONG).expect("a lock")
    }

    #[test]
    fn who_came_first_is_let_in_first() {
        let locks = MetadataLocks::default();
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let held = lock(&locks, 1, "t", LockMode::Read);
            for owner in 2..6 {
                let (locks, order) = (&locks, &order);
                scope.spawn(move || {
                    let _lock = lock(locks, owner, "t", LockMode::Exclusive);
                    order.lock().push(owner);
                });
                let waiting = || locks.shared.state.lock().waiting() as u64;
                while waiting() < owner - 1 {
                    thread::yield_now();
                }
            }
            drop(held);
        });
        assert_eq!(*order.lock(), [2, 3, 4, 5]);
        assert!(locks.shared.state.lock().is_unused());
    }

    /// One thread's share of a crowd: uses count up, who wants a table alone finds nobody.
    fn crowd(locks: &MetadataLocks, users: &[AtomicI64], owner: u64) {
        let mut draw = owner;
        for _ in 0..2000 {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (at, alone) = ((draw >> 40) as usize % users.len(), (draw >> 50).is_multiple_of(5));
            let mode = if alone { LockMode::Exclusive } else { LockMode::Write };
            let _lock = lock(locks, owner, ["t", "u"][at], mode);
            match alone {
                true => assert_eq!(users[at].swap(-1000, Ordering::SeqCst), 0),
                false => assert!(users[at].fetch_add(1, Ordering::SeqCst) >= 0),
            }
            thread::yield_now();
            match alone {
                true => assert_eq!(users[at].swap(0, Ordering::SeqCst), -1000),
                false => assert!(users[at].fetch_sub(1, Ordering::SeqCst) > 0),
            }
        }
    }

    #[test]
    fn who_changes_a_definition_is_alone() {
        let locks = MetadataLocks::default();
        let users = [AtomicI64::new(0), AtomicI64::new(0)];
        thread::scope(|scope| {
            for owner in 1..5 {
                let (locks, users) = (&locks, &users);
                scope.spawn(move || crowd(locks, users, owner));
            }
        });
        assert!(locks.shared.state.lock().is_unused());
    }
}
