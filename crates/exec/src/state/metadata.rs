//! Metadata locks: a statement that uses a table keeps it from being changed or dropped.
//!
//! # Invariants
//! - MDL-1 A session never waits for itself: modes of one owner are compatible.
//! - MDL-2 While an owner waits for a stronger lock, new weaker requests of others wait too, so
//!   that DDL is not starved. An owner that already holds the name is let in.
//! - MDL-3 Waiters for locks of one strength are served in the order they came.
//! - MDL-4 A session in a cycle of waits gets error 1213. It looks for a cycle when it begins to
//!   wait, and again from time to time, because waits for row locks can close a cycle later.
//! - MDL-5 An owner that releases a name, or leaves its queue without the lock, wakes the waiters
//!   that can go on.

pub(crate) mod changes;
mod state;
mod uses;

use std::sync::Arc;
use std::task::Wake;
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex, MutexGuard};
use selkie_engine::{OwnLines, Parts, WaitKind, blocking};
use selkie_types::{SqlError, SqlResult};

use crate::state::control::Control;
use changes::Watch;
use state::State;
use uses::{Interests, Part};

/// Lock mode: the use of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockMode {
    /// A statement reads rows.
    Read,
    /// A statement changes rows.
    Write,
    /// `LOCK TABLES ... READ`: nobody else changes rows.
    NoWrite,
    /// The definition is about to change: rows may be read and changed until then.
    Online,
    /// The definition is about to change: rows may be read until then, not changed.
    Upgradable,
    /// `LOCK TABLES ... WRITE`: nobody else reads or changes rows.
    Alone,
    /// The definition changes.
    Exclusive,
}

impl LockMode {
    /// All modes, from the weakest to the strongest.
    const ALL: [Self; 7] = [
        Self::Read,
        Self::Write,
        Self::NoWrite,
        Self::Online,
        Self::Upgradable,
        Self::Alone,
        Self::Exclusive,
    ];

    /// Whether it is a mode of statements that only use the table; these modes never conflict with
    /// each other.
    fn is_use(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }

    /// Whether it lets others change rows, as `Online` and all uses do.
    fn allows_uses(self) -> bool {
        self.is_use() || self == Self::Online
    }

    fn allows(self, other: Self) -> bool {
        use LockMode::{Alone, Exclusive, NoWrite, Online, Upgradable, Write};
        !matches!(
            (self, other),
            (Alone | Exclusive, _)
                | (_, Alone | Exclusive)
                | (NoWrite | Upgradable, Write)
                | (Write, NoWrite | Upgradable)
                | (Upgradable | Online, Upgradable | Online)
                | (NoWrite, Online)
                | (Online, NoWrite)
        )
    }
}

/// Hash of the locked name. Two names with equal hashes merely wait for each other.
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

/// Reports every wait for a row lock as a pair of waiter and holder.
type RowWaits = Box<dyn Fn(&mut dyn FnMut(u64, u64)) + Send + Sync>;

/// A part that tickets refer to; its reference count has cache lines of its own too.
type SharedPart = Arc<OwnLines<Part>>;

struct Shared {
    /// Stronger locks, and uses that conflicted with them.
    state: Mutex<State>,
    interests: Interests,
    parts: Parts<SharedPart>,
    row_waits: Option<RowWaits>,
}

/// Bounds of a waiter's sleep before it looks for waits for row locks again: a fourth of the time
/// waited so far. With thousands of waiters, more frequent checks would cost noticeable time.
const FIRST_LOOK: Duration = Duration::from_millis(20);
const LAST_LOOK: Duration = Duration::from_secs(1);

/// Bounds of a pause before the transactions that a change of a definition waits for are looked
/// for again.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LAST_PAUSE: Duration = Duration::from_millis(20);

/// Waker of a waiter for a lock.
struct Sleeper {
    shared: Arc<Shared>,
    bell: Arc<Condvar>,
}

impl Wake for Sleeper {
    /// Called when the waiter's statement was killed.
    fn wake(self: Arc<Self>) {
        drop(self.shared.state.lock());
        self.bell.notify_one();
    }
}

impl Shared {
    fn new(row_waits: Option<RowWaits>, parts: usize) -> Arc<Self> {
        Arc::new_cyclic(|shared| Self {
            state: Mutex::default(),
            interests: Interests::default(),
            parts: Parts::so_many(parts, || Arc::new(OwnLines::new(Part::new(shared.clone())))),
            row_waits,
        })
    }

    fn release(&self, key: Key, owner: u64, mode: LockMode) {
        self.state.lock().release(key, owner, mode);
        self.give_up(key, mode);
    }

    /// Other owners than `owner` that have changed rows of a table and have used it without a break
    /// since before `time`. They are noted as those that `owner` waits for (MDL-4).
    fn note_writers_since_before(
        &self,
        time: u64,
        key: Key,
        owner: u64,
    ) -> Option<MutexGuard<'_, State>> {
        // Held while the parts are searched: a use may move from one of them into the exact table.
        let mut state = self.state.lock();
        let mut writers = state.writers_since_before(time, key, owner);
        self.parts.iter().for_each(|part| {
            part.add_writers_since_before(time, key, owner, &mut writers);
        });
        if writers.is_empty() {
            return None;
        }
        state.drained.insert(owner, writers);
        Some(state)
    }

    /// Withdraws the announcement of a stronger lock.
    fn give_up(&self, key: Key, mode: LockMode) {
        if !mode.allows_uses() {
            self.interests.end(key);
        }
    }

    /// Announces a stronger lock, and collects all uses that conflict with it (USE-1).
    fn claim(&self, state: &mut State, key: Key, mode: LockMode) {
        if mode.allows_uses() {
            return;
        }
        self.interests.begin(key);
        for part in self.parts.iter() {
            part.take(key, |owner, counts| state.take_in(key, owner, counts));
        }
    }
}

/// Owner of locks on which no session depends: it releases them when somebody waits.
pub(crate) const NOBODY: u64 = u64::MAX;

/// Time in which [`NOBODY`] gives way, also to statements that would not wait at all.
const GIVEN_WAY: Duration = Duration::from_secs(5);

/// The locks of an instance.
#[derive(Clone)]
pub struct MetadataLocks {
    shared: Arc<Shared>,
}

/// Parts of the locks of an instance, whose sessions run on many threads.
const MANY: usize = 64;

impl Default for MetadataLocks {
    fn default() -> Self {
        Self { shared: Shared::new(None, MANY) }
    }
}

/// A granted lock; dropping it releases the lock.
pub struct LockTicket {
    /// Part in which it was recorded first; its reference count writes no memory of other threads.
    part: SharedPart,
    key: Key,
    owner: u64,
    mode: LockMode,
    watch: Watch,
}

impl LockTicket {
    /// Whether this is a lock on the same name, and at least as strong.
    pub(crate) fn includes(&self, other: &LockTicket) -> bool {
        self.key == other.key && self.mode >= other.mode
    }

    /// Whether this is a lock on `schema`.`table` of at least `mode`.
    pub fn covers(&self, schema: &str, table: &str, mode: LockMode) -> bool {
        self.key == Key::of(schema, table) && self.mode >= mode
    }

    /// Times a change of the rows of the table, which others are about to see.
    pub(crate) fn note_change(&mut self) {
        if self.mode >= LockMode::Write {
            self.watch.note(self.key);
        }
    }
}

impl Drop for LockTicket {
    fn drop(&mut self) {
        self.watch.end(self.key, self.mode);
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

/// A lock as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownLock {
    /// Schema.
    pub schema: String,
    /// Table; empty for the schema itself.
    pub table: String,
    /// Number of the session that has it or waits for it.
    pub owner: u64,
    /// Its mode.
    pub mode: LockMode,
    /// Whether the session has it.
    pub is_granted: bool,
}

impl MetadataLocks {
    /// The locks on `names` that sessions have or wait for. The locks know only hashes of names.
    pub fn shown(&self, names: impl Iterator<Item = (String, String)>) -> Vec<ShownLock> {
        let by_key: HashMap<Key, (String, String)> =
            names.map(|(schema, table)| (Key::of(&schema, &table), (schema, table))).collect();
        let mut shown = Vec::new();
        let mut show = |key: Key, owner: u64, mode: LockMode, is_granted: bool| {
            if let Some((schema, table)) = by_key.get(&key).filter(|_| owner != NOBODY) {
                let (schema, table) = (schema.clone(), table.clone());
                shown.push(ShownLock { schema, table, owner, mode, is_granted });
            }
        };
        // Held while the parts are searched: a use may move from one of them into the exact table.
        let state = self.shared.state.lock();
        state.each(&mut show);
        self.shared.parts.iter().for_each(|part| part.each(&mut show));
        drop(state);
        shown.sort_by(|a, b| {
            (&a.schema, &a.table, a.owner, a.mode).cmp(&(&b.schema, &b.table, b.owner, b.mode))
        });
        shown
    }

    /// Locks of a single session, which no other sees. Each connection makes some: few blocks of
    /// memory.
    pub(crate) fn private() -> Self {
        Self { shared: Shared::new(None, 1) }
    }

    /// Locks of sessions that also wait for each other's row locks.
    pub fn with_row_waits(row_waits: RowWaits) -> Self {
        Self { shared: Shared::new(Some(row_waits), MANY) }
    }

    fn row_waits(&self) -> HashMap<u64, Vec<u64>> {
        let mut out = HashMap::<_, Vec<_>>::new();
        if let Some(row_waits) = &self.shared.row_waits {
            row_waits(&mut |waiter, holder| out.entry(waiter).or_default().push(holder));
        }
        out
    }

    /// Whether other owners wait for a lock that `lock` blocks.
    pub fn is_awaited(&self, lock: &LockTicket) -> bool {
        self.shared.state.lock().is_awaited(lock)
    }

    /// Runs `wait`, in which a session waits for another one for something else than a metadata
    /// lock.
    pub fn waiting_for<T>(&self, owner: u64, other: u64, wait: impl FnOnce() -> T) -> T {
        self.shared.state.lock().elsewhere.insert(owner, other);
        let done = wait();
        self.shared.state.lock().elsewhere.remove(&owner);
        done
    }

    /// Locks a table's name for `owner`, waiting up to `limit`. A schema's name has an empty table
    /// name.
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
        let mut watch = Watch::begin(key, mode);
        if !part.add(&self.shared.interests, key, owner, mode)
            && let Err(error) = self.lock_exactly(control, key, owner, mode, limit)
        {
            watch.end(key, mode);
            return Err(error);
        }
        Ok(LockTicket { part: part.clone(), key, owner, mode, watch })
    }

    /// Waits until every transaction has ended that may have changed rows of a table before this
    /// call. Those that begin meanwhile are not held up. In a cycle of waits another member should
    /// get error 1213: `owner` looks for one only after a while.
    pub fn drain(
        &self,
        control: &Control,
        owner: u64,
        (schema, table): (&str, &str),
        limit: Duration,
    ) -> SqlResult<()> {
        let key = Key::of(schema, table);
        let time = self.shared.interests.next_time();
        let patience = control.patience(Some(limit));
        let mut pause = FIRST_PAUSE;
        let drained = blocking(WaitKind::MetadataLock, || {
            while let Some(state) = self.shared.note_writers_since_before(time, key, owner) {
                control.check()?;
                let is_last = patience.waited() >= LAST_LOOK;
                if is_last && state.is_deadlocked(owner, &self.row_waits()) {
                    return Err(SqlError::deadlock());
                }
                drop(state);
                let left = patience.left().ok_or_else(SqlError::lock_wait_timeout)?;
                std::thread::sleep(left.min(pause));
                pause = LAST_PAUSE.min(pause * 2);
            }
            Ok(())
        });
        self.shared.state.lock().drained.remove(&owner);
        drained
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
        state.grant(key, owner, mode, self.shared.interests.time());
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
        let began = Instant::now();
        let mut patience = control.patience(Some(limit));
        let sleeper = Sleeper { shared: Arc::clone(&self.shared), bell };
        let bell = Arc::clone(&sleeper.bell);
        let _woken = control.wakes(Arc::new(sleeper).into());
        while !state.is_free(key, owner, mode) {
            control.check()?;
            if state.is_deadlocked(owner, &self.row_waits()) {
                return Err(SqlError::deadlock());
            }
            // Whoever works for the server alone gives way at once: the time until then is no wait.
            if state.has(key, NOBODY) && began.elapsed() < GIVEN_WAY {
                bell.wait_for(state, FIRST_LOOK);
                patience = control.patience(Some(limit));
                continue;
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

    #[test]
    fn a_lock_of_nobody_is_waited_for_without_a_limit_and_that_of_a_session_is_not() {
        let locks = MetadataLocks::default();
        let control = Control::unattended();
        let name = ("s", "t");
        let at_once =
            |owner| locks.lock(&control, owner, name, LockMode::Exclusive, Duration::ZERO);
        thread::scope(|scope| {
            let held = lock(&locks, NOBODY, "t", LockMode::Read);
            let waiting = scope.spawn(|| at_once(1));
            while !locks.is_awaited(&held) {
                thread::yield_now();
            }
            drop(held);
            let lock = waiting.join().expect("no panic").expect("nobody's lock is gone");
            drop(lock);
            let _session = super::tests::lock(&locks, 2, "t", LockMode::Read);
            let held = super::tests::lock(&locks, NOBODY, "t", LockMode::Read);
            let waiting = scope.spawn(|| at_once(1));
            while !locks.is_awaited(&held) {
                thread::yield_now();
            }
            drop(held);
            let began = Instant::now();
            assert!(waiting.join().expect("no panic").is_err());
            assert!(began.elapsed() < GIVEN_WAY / 2, "the session's lock has the limit");
        });
    }

    #[test]
    fn a_drain_waits_for_writers_from_before_and_for_nobody_else() {
        let locks = MetadataLocks::default();
        let control = Control::unattended();
        let _online = lock(&locks, 1, "t", LockMode::Online);
        let drain = |limit| locks.drain(&control, 1, ("s", "t"), limit);
        let writer = lock(&locks, 2, "t", LockMode::Write);
        let (_reader, _other) =
            (lock(&locks, 3, "t", LockMode::Read), lock(&locks, 4, "u", LockMode::Write));
        assert!(drain(Duration::ZERO).is_err());
        // Taken into the exact table, and still from before.
        let name = ("s", "t");
        assert!(locks.lock(&control, 5, name, LockMode::Exclusive, Duration::ZERO).is_err());
        assert!(locks.lock(&control, 5, name, LockMode::Online, Duration::ZERO).is_err());
        assert!(drain(Duration::ZERO).is_err());
        thread::scope(|scope| {
            let drained = scope.spawn(|| drain(LONG));
            thread::sleep(Duration::from_millis(20));
            let again = lock(&locks, 2, "t", LockMode::Write);
            let newcomer = lock(&locks, 6, "t", LockMode::Write);
            drop(writer);
            assert!(!drained.is_finished(), "it has not let go of the table");
            drop(again);
            let _again = lock(&locks, 2, "t", LockMode::Write);
            assert!(drained.join().is_ok_and(|drained| drained.is_ok()));
            drop(newcomer);
        });
    }

    /// One thread of a crowd: uses count up; an exclusive owner must find no user.
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
