//! User locks: GET_LOCK and its relatives.
//!
//! Must not outlive sessions: what a session holds is released when it ends. A session that would
//! wait for itself through others gets error 1213.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::Wake;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use selkie_engine::{WaitKind, blocking};
use selkie_exec::metadata::MetadataLocks;
use selkie_exec::{KillFlag, Killed, Patience};
use selkie_types::{SqlError, SqlResult};

/// All user locks of a server.
#[derive(Debug, Default)]
pub(crate) struct UserLocks {
    state: Mutex<State>,
    released: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Owner and how often it locked, by folded name.
    held: HashMap<Vec<u8>, (u64, u64)>,
    /// What sessions wait for.
    waiting: HashMap<u64, Vec<u8>>,
}

impl State {
    /// Whether the owner of `name` waits, through others, for something `session` holds.
    fn closes_cycle(&self, session: u64, name: &[u8]) -> bool {
        let mut name = name;
        for _ in 0..=self.waiting.len() {
            let Some((owner, _)) = self.held.get(name) else { return false };
            if *owner == session {
                return true;
            }
            match self.waiting.get(owner) {
                Some(next) => name = next,
                None => return false,
            }
        }
        false
    }
}

/// Names are compared without regard to case.
fn fold(name: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(name).to_lowercase().into_bytes()
}

impl UserLocks {
    /// Takes a lock, again if the session has it already. `None` means killed.
    pub(crate) fn get(
        self: &Arc<Self>,
        (session, definitions): (u64, &MetadataLocks),
        name: &[u8],
        timeout: Duration,
        kill: &KillFlag,
    ) -> SqlResult<Option<bool>> {
        let name = fold(name);
        let patience = Patience::new(Some(timeout), None);
        let mut state = self.state.lock();
        let _woken = kill.wakes(Arc::clone(self).into());
        loop {
            let holder = match state.held.get_mut(&name) {
                None => {
                    state.held.insert(name, (session, 1));
                    return Ok(Some(true));
                }
                Some((owner, count)) if *owner == session => {
                    *count += 1;
                    return Ok(Some(true));
                }
                Some((owner, _)) => *owner,
            };
            if state.closes_cycle(session, &name) {
                return Err(SqlError::deadlock());
            }
            let Some(left) = patience.left() else { return Ok(Some(false)) };
            if kill.get() != Killed::No {
                return Ok(None);
            }
            state.waiting.insert(session, name.clone());
            definitions.waiting_for(session, holder, || {
                blocking(WaitKind::UserLock, || self.released.wait_for(&mut state, left))
            });
            state.waiting.remove(&session);
        }
    }

    /// Gives a lock back: whether the session had it, `None` if nobody had.
    pub(crate) fn release(&self, session: u64, name: &[u8]) -> Option<bool> {
        let name = fold(name);
        let mut state = self.state.lock();
        let (owner, count) = state.held.get_mut(&name)?;
        if *owner != session {
            return Some(false);
        }
        *count -= 1;
        if *count == 0 {
            state.held.remove(&name);
            self.released.notify_all();
        }
        Some(true)
    }

    /// Gives all locks of a session back, counting each time it took one.
    pub(crate) fn release_all(&self, session: u64) -> u64 {
        let mut state = self.state.lock();
        let mut count = 0;
        state.held.retain(|_, (owner, times)| {
            let own = *owner == session;
            count += if own { *times } else { 0 };
            !own
        });
        self.released.notify_all();
        count
    }

    /// The session that has a lock.
    pub(crate) fn holder(&self, name: &[u8]) -> Option<u64> {
        self.state.lock().held.get(&fold(name)).map(|(owner, _)| *owner)
    }
}

impl Wake for UserLocks {
    /// Somebody who waits was killed.
    fn wake(self: Arc<Self>) {
        drop(self.state.lock());
        self.released.notify_all();
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
        let get = |s, n: &[u8]| locks.get((s, &definitions), n, Duration::ZERO, &free).unwrap();
        assert_eq!(get(1, b"a"), Some(true));
        assert_eq!(get(1, b"A"), Some(true));
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
    fn killed_waiters_leave() {
        let (locks, definitions) = (Arc::<UserLocks>::default(), MetadataLocks::default());
        locks.get((1, &definitions), b"a", Duration::ZERO, &KillFlag::default()).unwrap();
        let (killed, long) = (KillFlag::default(), Duration::from_secs(60));
        killed.raise(Killed::Query);
        assert_eq!(locks.get((2, &definitions), b"a", long, &killed).unwrap(), None);
    }
}
