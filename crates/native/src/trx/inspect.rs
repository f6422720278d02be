//! Facts about running transactions for reports, and the list of transactions.
//!
//! A session writes the notes of its own transaction, and lists it in its thread's part of the
//! list: a statement writes no memory that other threads write. No decision may depend on this
//! data.

use super::state::TrxState;
use crate::ids::FileId;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use rustix::time::{ClockId, clock_gettime};
use selkie_engine::{Isolation, LockMode, Parts, TransactionInfo, TransactionPhase};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const UNLISTED: u32 = u32::MAX;

/// A row lock that a transaction waits for.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) file: FileId,
    pub(crate) key: Box<[u8]>,
    pub(crate) mode: LockMode,
}

/// Facts about a transaction for reports, written by its session.
pub(crate) struct Notes {
    /// Connection number; 0: none.
    session: AtomicU64,
    /// Microseconds since 1970; 0 while it has not begun.
    started: AtomicU64,
    wait_started: AtomicU64,
    isolation: AtomicU8,
    phase: AtomicU8,
    read_only: AtomicBool,
    pub(crate) has_snapshot: AtomicBool,
    pub(crate) rows_locked: AtomicU64,
    pub(crate) lock_bytes: AtomicU64,
    rows_modified: AtomicU64,
    part: AtomicU32,
    request: Mutex<Option<Request>>,
}

impl Default for Notes {
    fn default() -> Notes {
        Notes {
            session: AtomicU64::new(0),
            started: AtomicU64::new(0),
            wait_started: AtomicU64::new(0),
            isolation: AtomicU8::new(0),
            phase: AtomicU8::new(0),
            read_only: AtomicBool::new(false),
            has_snapshot: AtomicBool::new(false),
            rows_locked: AtomicU64::new(0),
            lock_bytes: AtomicU64::new(0),
            rows_modified: AtomicU64::new(0),
            part: AtomicU32::new(UNLISTED),
            request: Mutex::default(),
        }
    }
}

impl Notes {
    pub(crate) fn set_session(&self, session: u64) {
        self.session.store(session, Relaxed);
    }

    pub(crate) fn session(&self) -> u64 {
        self.session.load(Relaxed)
    }

    pub(crate) fn set_read_only(&self, read_only: bool) {
        self.read_only.store(read_only, Relaxed);
    }

    pub(crate) fn set_phase(&self, phase: TransactionPhase) {
        self.phase.store(phase as u8, Relaxed);
    }

    pub(crate) fn begin_wait(&self) {
        self.wait_started.store(now_micros(), Relaxed);
        self.set_phase(TransactionPhase::LockWait);
    }

    /// Notes the row of the next wait.
    pub(crate) fn will_wait_for(&self, file: FileId, key: &[u8], mode: LockMode) {
        *self.request.lock() = Some(Request { file, key: key.into(), mode });
    }

    /// The row it waits for.
    pub(crate) fn request(&self) -> Option<Request> {
        self.request.lock().clone()
    }

    pub(crate) fn end_wait(&self) {
        self.request.lock().take();
        self.set_phase(TransactionPhase::Running);
        self.wait_started.store(0, Relaxed);
    }

    /// Counts changed rows.
    pub(crate) fn count_rows(&self, rows: u64) {
        self.rows_modified.fetch_add(rows, Relaxed);
    }

    /// Counts a locked record, with the bytes of its lock.
    pub(crate) fn count_lock(&self, bytes: usize) {
        self.rows_locked.fetch_add(1, Relaxed);
        self.lock_bytes.fetch_add(bytes as u64, Relaxed);
    }

    fn phase(&self) -> TransactionPhase {
        use TransactionPhase::{Committing, LockWait, Prepared, RollingBack, Running};
        let all = [Running, LockWait, RollingBack, Committing, Prepared];
        all.into_iter().find(|phase| *phase as u8 == self.phase.load(Relaxed)).unwrap_or_default()
    }

    fn isolation(&self) -> Isolation {
        use Isolation::{ReadCommitted, ReadUncommitted, RepeatableRead, Serializable};
        let all = [ReadUncommitted, ReadCommitted, RepeatableRead, Serializable];
        all.into_iter().find(|i| *i as u8 == self.isolation.load(Relaxed)).unwrap_or_default()
    }
}

impl TrxState {
    /// The transaction's entry in a report.
    pub(crate) fn info(&self) -> TransactionInfo {
        let notes = &self.notes;
        let (lock_structs, tables) = self.weight.locks();
        let rows_locked = notes.rows_locked.load(Relaxed);
        let session = notes.session();
        let wait_started = notes.wait_started.load(Relaxed);
        TransactionInfo {
            id: self.id,
            session: (session != 0).then_some(session),
            phase: notes.phase(),
            started: time_of(notes.started.load(Relaxed)),
            wait_started: (wait_started != 0).then(|| time_of(wait_started)),
            isolation: notes.isolation(),
            read_only: notes.read_only.load(Relaxed),
            has_snapshot: notes.has_snapshot.load(Relaxed),
            rows_modified: notes.rows_modified.load(Relaxed),
            undo_records: self.weight.rows(),
            rows_locked,
            lock_structs,
            lock_bytes: notes.lock_bytes.load(Relaxed),
            tables,
        }
    }
}

/// The clock of reports: cheap, and exact to a few milliseconds.
fn now_micros() -> u64 {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1000
}

fn time_of(micros: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(micros)
}

/// The transactions of sessions that have not ended.
#[derive(Default)]
pub(crate) struct TrxList {
    parts: Parts<Mutex<Vec<Arc<TrxState>>>>,
}

/// Times of waits for row locks.
#[derive(Default)]
pub(crate) struct WaitTimes {
    pub(crate) micros: AtomicU64,
    pub(crate) longest: AtomicU64,
    /// Waits that have ended.
    pub(crate) ended: AtomicU64,
    pub(crate) timeouts: AtomicU64,
}

impl WaitTimes {
    /// Counts a wait that has ended.
    pub(crate) fn count(&self, time: Duration, timed_out: bool) {
        let micros = time.as_micros() as u64;
        self.micros.fetch_add(micros, Relaxed);
        self.longest.fetch_max(micros, Relaxed);
        self.ended.fetch_add(1, Relaxed);
        self.timeouts.fetch_add(timed_out.into(), Relaxed);
    }
}

impl TrxList {
    /// Notes that a statement begins. The first one puts the transaction on the list.
    pub(crate) fn enter(&self, state: &Arc<TrxState>, isolation: Isolation) {
        let notes = &state.notes;
        notes.isolation.store(isolation as u8, Relaxed);
        if notes.started.load(Relaxed) != 0 {
            return;
        }
        notes.started.store(now_micros(), Relaxed);
        if notes.part.load(Relaxed) != UNLISTED {
            return;
        }
        let part = self.parts.own_number();
        notes.part.store(part as u32, Relaxed);
        self.parts[part].lock().push(state.clone());
    }

    /// Notes that the transaction has ended and the session's next one will take its place. The
    /// entry stays on the list, which is cheaper.
    pub(crate) fn rest(&self, state: &TrxState) {
        state.notes.started.store(0, Relaxed);
    }

    /// Removes an ended transaction from the list.
    pub(crate) fn leave(&self, state: &Arc<TrxState>) {
        let part = state.notes.part.swap(UNLISTED, Relaxed);
        if part == UNLISTED {
            return;
        }
        let mut part = self.parts[part as usize].lock();
        if let Some(at) = part.iter().position(|other| Arc::ptr_eq(other, state)) {
            part.swap_remove(at);
        }
    }

    /// The transactions on the list, oldest first.
    pub(crate) fn all(&self) -> Vec<Arc<TrxState>> {
        let mut all: Vec<_> = self.parts.iter().flat_map(|part| part.lock().clone()).collect();
        all.retain(|state| state.notes.started.load(Relaxed) != 0);
        // The id alone is not enough: a session that only reads keeps its id for later
        // transactions.
        all.sort_by_key(|state| (state.notes.started.load(Relaxed), state.id));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_come_and_go() {
        let list = TrxList::default();
        let states: Vec<_> = (1..=3).map(|id| Arc::new(TrxState::new(id))).collect();
        states.iter().rev().for_each(|state| list.enter(state, Isolation::ReadCommitted));
        list.enter(&states[0], Isolation::Serializable);
        list.rest(&states[2]);
        assert_eq!(list.all().len(), 2);
        list.enter(&states[2], Isolation::ReadCommitted);
        list.leave(&states[1]);
        list.leave(&states[1]);
        states[0].notes.started.store(5, Relaxed);
        let ids = || list.all().iter().map(|state| state.id).collect::<Vec<u64>>();
        assert_eq!(ids(), [1, 3]);
        states[0].notes.started.store(u64::MAX, Relaxed);
        assert_eq!(ids(), [3, 1]);
        states[0].notes.started.store(5, Relaxed);
        assert_eq!(states[0].info().isolation, Isolation::Serializable);
        states[2].notes.begin_wait();
        let info = states[2].info();
        assert_eq!(info.phase, TransactionPhase::LockWait);
        assert!(info.wait_started.is_some_and(|at| at >= info.started));
    }
}
