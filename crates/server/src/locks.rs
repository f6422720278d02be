//! User locks: GET_LOCK and its relatives.
//!
//! A lock must not outlive its session: a session's locks are released when it ends. Deadlocks are
//! checked before a session waits; the one that would close a cycle gets error 1213.

use std::collections::VecDeque;

use hashbrown::HashMap;
use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};
use selkie_engine::{WaitKind, blocking};
use selkie_exec::metadata::MetadataLocks;
use selkie_exec::{CLIENT_CHECK, KillFlag, Killed, Patience};
use selkie_types::{SqlError, SqlResult};

/// All user locks of a server.
#[derive(Debug, Default)]
pub(crate) struct UserLocks {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Locks by name. Compat: names are compared as bytes, without a collation.
    locks: HashMap<Vec<u8>, Lock>,
    /// Lock name each waiting session waits for.
    waiting: HashMap<u64, Vec<u8>>,
}

/// A lock with an owner or with waiters.
#[derive(Debug, Default)]
struct Lock {
    /// Owner and how often it took the lock; `None` while the first waiter is about to take it.
    owner: Option<(u64, u64)>,
    queue: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    session: u64,
    bell: Arc<Condvar>,
}

impl Lock {
    /// Takes the lock, also if the session has it already. Returns false if the session must wait.
    fn take(&mut self, session: u64) -> bool {
        let is_first = self.queue.front().is_none_or(|first| first.session == session);
        match &mut self.owner {
            None if is_first => self.owner = Some((session, 1)),
            Some((owner, count)) if *owner == session => *count += 1,
            _ => return false,
        }
        true
    }

    fn give_back(&mut self) {
        self.owner = None;
        self.wake_first();
    }

    fn wake_first(&self) {
        if let Some(first) = self.queue.front().filter(|_| self.owner.is_none()) {
            first.bell.notify_one();
        }
    }

    fn leave(&mut self, session: u64) {
        self.queue.retain(|waiting| waiting.session != session);
        self.wake_first();
    }

    fn is_unused(&self) -> bool {
        self.owner.is_none() && self.queue.is_empty()
    }
}

impl State {
    fn take(&mut self, session: u64, name: &[u8]) -> bool {
        match self.locks.get_mut(name) {
            Some(lock) => lock.take(session),
            None => self.locks.entry(name.into()).or_default().take(session),
        }
    }

    fn queue(&mut self, session: u64, name: &[u8], bell: Arc<Condvar>) {
        self.locks.entry(name.into()).or_default().queue.push_back(Waiting { session, bell });
        self.waiting.insert(session, name.into());
    }

    fn leave(&mut self, session: u64, name: &[u8]) {
        self.waiting.remove(&session);
        let Some(lock) = self.locks.get_mut(name) else { return };
        lock.leave(session);
        if lock.is_unused() {
            self.locks.remove(name);
        }
    }

    fn holder(&self, name: &[u8]) -> Option<u64> {
        self.locks.get(name)?.owner.map(|(owner, _)| owner)
    }

    /// Whether the owner of `name` waits, directly or through other sessions, for a lock of
    /// `session`.
    fn closes_cycle(&self, session: u64, name: &[u8]) -> bool {
        let mut name = name;
        for _ in 0..=self.waiting.len() {
            let Some(owner) = self.holder(name) else { return false };
            if owner == session {
                return true;
            }
            match self.waiting.get(&owner) {
                Some(next) => name = next,
                None => return false,
            }
        }
        false
    }
}

impl UserLocks {
    /// Takes a lock, also if the session has it already. Waiters get it in the order of arrival.
    /// `None` means killed. While the session waits, `end_if_gone` now and then kills it if its
    /// client has gone.
    pub(crate) fn get(
        self: &Arc<Self>,
        (session, definitions): (u64, &MetadataLocks),
        name: &[u8],
        timeout: Duration,
        (kill, end_if_gone): (&KillFlag, &dyn Fn()),
    ) -> SqlResult<Option<bool>> {
        let mut state = self.state.lock();
        if state.take(session, name) {
            return Ok(Some(true));
        }
        let bell = Arc::<Condvar>::default();
        state.queue(session, name, Arc::clone(&bell));
        let sleeper = Arc::new(Sleeper { locks: Arc::clone(self), bell });
        let _woken = kill.wakes(Arc::clone(&sleeper).into());
        let patience = Patience::new(Some(timeout), None);
        let got = loop {
            if state.take(session, name) {
                break Ok(Some(true));
            }
            if state.closes_cycle(session, name) {
                break Err(SqlError::deadlock());
            }
            let Some(left) = patience.left() else { break Ok(Some(false)) };
            if kill.get() != Killed::No {
                break Ok(None);
            }
            // While nobody owns the lock, the first waiter is about to take it, so there is no
            // owner to name.
            let holder = state.holder(name).unwrap_or(session);
            let wait = left.min(CLIENT_CHECK);
            let result = definitions.waiting_for(session, holder, || {
                blocking(WaitKind::UserLock, || sleeper.bell.wait_for(&mut state, wait))
            });
            if result.timed_out() {
                // A kill wakes the session, for which it takes the lock.
                MutexGuard::unlocked(&mut state, end_if_gone);
            }
        };
        state.leave(session, name);
        got
    }

    /// Releases a lock once. Returns whether the session had it; `None` if no session had it.
    pub(crate) fn release(&self, session: u64, name: &[u8]) -> Option<bool> {
        let mut state = self.state.lock();
        let lock = state.locks.get_mut(name)?;
        let (owner, count) = lock.owner.as_mut()?;
        if *owner != session {
            return Some(false);
        }
        *count -= 1;
        if *count == 0 {
            lock.give_back();
            if lock.is_unused() {
                state.locks.remove(name);
            }
        }
        Some(true)
    }

    /// Releases all locks of a session. Returns how many times they had been taken.
    pub(crate) fn release_all(&self, session: u64) -> u64 {
        let mut state = self.state.lock();
        let mut given = 0;
        for lock in state.locks.values_mut() {
            if let Some((_, count)) = lock.owner.filter(|(owner, _)| *owner == session) {
                given += count;
                lock.give_back();
            }
        }
        state.locks.retain(|_, lock| !lock.is_unused());
        given
    }

    /// The owner of a lock.
    pub(crate) fn holder(&self, name: &[u8]) -> Option<u64> {
        self.state.lock().holder(name)
    }
}

/// A session that waits for a lock.
struct Sleeper {
    locks: Arc<UserLocks>,
    bell: Arc<Condvar>,
}

impl Wake for Sleeper {
    /// Called when its statement was killed.
    fn wake(self: Arc<Self>) {
        drop(self.locks.state.lock());
        self.bell.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_and_exclusive() {
        let locks = Arc::<UserLocks>::default();
        let free = KillFlag::default();
        let definitions = MetadataLocks::default();
        let get =
            |s, n: &[u8]| locks.get((s, &definitions), n, Duration::ZERO, (&free, &|| ())).unwrap();
        assert_eq!(get(1, b"a"), Some(true));
        assert_eq!(get(1, b"a"), Some(true));
        assert_eq!(get(2, b"A"), Some(true));
        assert_eq!(get(2, b"a"), Some(false));
        assert_eq!(locks.holder(b"a"), Some(1));
        assert_eq!(locks.release(2, b"a"), Some(false));
        assert_eq!(locks.release(1, b"a"), Some(true));
        assert_eq!(get(2, b"a"), Some(false));
        assert_eq!(locks.release_all(1), 1);
        assert_eq!(get(2, b"a"), Some(true));
        assert_eq!(locks.release(1, b"nosuch"), None);
    }

    #[test]
    fn who_came_first_is_let_in_first() {
        let (locks, definitions) = (Arc::<UserLocks>::default(), MetadataLocks::default());
        let (free, long) = (KillFlag::default(), Duration::from_secs(60));
        let get =
            |session| locks.get((session, &definitions), b"a", long, (&free, &|| ())).unwrap();
        let order = Mutex::new(Vec::new());
        get(1);
        std::thread::scope(|scope| {
            for session in 2..6 {
                let (get, order, locks) = (&get, &order, &locks);
                scope.spawn(move || {
                    get(session);
                    order.lock().push(session);
                    locks.release(session, b"a");
                });
                while locks.state.lock().waiting.len() < session as usize - 1 {
                    std::thread::yield_now();
                }
            }
            locks.release(1, b"a");
        });
        assert_eq!(*order.lock(), [2, 3, 4, 5]);
        assert!(locks.state.lock().locks.is_empty());
    }

    #[test]
    fn killed_waiters_leave() {
        let (locks, definitions) = (Arc::<UserLocks>::default(), MetadataLocks::default());
        let free = KillFlag::default();
        locks.get((1, &definitions), b"a", Duration::ZERO, (&free, &|| ())).unwrap();
        let (killed, long) = (KillFlag::default(), Duration::from_secs(60));
        killed.raise(Killed::Query);
        assert_eq!(locks.get((2, &definitions), b"a", long, (&killed, &|| ())).unwrap(), None);
    }
}
