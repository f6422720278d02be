//! A transaction: the contract's object, owned by a session.
//!
//! The lock of `body` must not be held during a wait for row locks.

use super::Snapshot;
use super::record::{Kind, RowRecord};
use super::segment::Segment;
use super::state::{TrxState, Waiter};
use super::view::View;
use super::weight::LockKind;
use crate::engine::Shared;
use crate::ids::FileId;
use crate::lock::{Covered, LockTable};
use crate::page::get_u64;
use crate::sync::Mutex;
use crate::sync::atomic::Ordering;
use crate::table::TableFiles;
use selkie_engine::{
    EngineError, EngineResult, EngineTrx, IndexId, Isolation, LockMode, LockWait, Lsn, Rider,
    StatementContext, WaitKind, Xid,
};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// Sleeps until the waiter is woken.
type Sleep<'a> = &'a dyn Fn(&Arc<Waiter>) -> EngineResult<()>;

/// A change of files, to be completed at commit or undone at rollback.
pub(crate) enum DdlStep {
    /// A table was created.
    TableCreated(Arc<TableFiles>),
    /// A table was dropped.
    TableDropped(Arc<TableFiles>),
    /// An index was built.
    IndexCreated(Arc<TableFiles>, IndexId, FileId),
    /// An index was dropped.
    IndexDropped(Arc<TableFiles>, IndexId, Arc<crate::btree::Tree>),
}

/// Explicit locks of a transaction, in the order they were taken.
#[derive(Default)]
pub(super) struct LockList {
    pub(super) locks: Vec<(FileId, Box<[u8]>)>,
    /// Number of locks taken before the running statement.
    older: usize,
}

impl LockList {
    /// Removes a lock that the running statement took; false if there is none.
    fn forget(&mut self, file: FileId, key: &[u8]) -> bool {
        let newer = &self.locks[self.older.min(self.locks.len())..];
        let found = newer.iter().rposition(|(f, k)| *f == file && **k == *key);
        // Rows are mostly unlocked in the reverse order of locking.
        let Some(at) = found.filter(|at| newer.len() - at <= 2048) else { return false };
        self.locks.swap_remove(at + self.older);
        true
    }
}

/// The session's part of a transaction: undo segments, undone ranges in them, locks, settings.
#[derive(Default)]
pub(super) struct Body {
    pub(super) isolation: Isolation,
    pub(super) snapshot: Option<Snapshot>,
    pub(super) segments: Vec<Arc<Segment>>,
    pub(super) skips: Vec<(u64, u64)>,
    pub(super) ddl: Vec<DdlStep>,
    /// Locks of rows: keys of clustered trees.
    pub(super) row_locks: LockList,
    /// Locks of index entries.
    pub(super) entry_locks: LockList,
    /// The clustered tree changed most recently.
    pub(super) changed: Option<FileId>,
    /// Trees with gap locks.
    pub(super) gaps: Vec<FileId>,
    /// `innodb_snapshot_isolation`.
    pub(super) snapshot_isolation: bool,
    /// It has changed rows that others changed since its snapshot (see [`View::overtakes`]).
    pub(super) overtakes: bool,
    pub(super) ended: bool,
    /// Its outcome is decided outside.
    pub(super) prepared: bool,
}

impl Body {
    /// Whether other transactions cannot have noticed it.
    pub(super) fn is_untouched(&self) -> bool {
        let changes = self.segments.is_empty() && self.ddl.is_empty() && self.changed.is_none();
        let locks = self.row_locks.locks.is_empty() && self.entry_locks.locks.is_empty();
        changes && locks && self.gaps.is_empty() && !self.ended && !self.prepared
    }

    /// Lower bound of the version words of future changes.
    fn own_end(&self) -> u64 {
        self.segments.last().map_or(0, |segment| segment.end())
    }
}

/// A transaction of the native engine.
pub(crate) struct NativeTrx {
    pub(crate) shared: Arc<Shared>,
    /// Replaced when a deadlock has ended the transaction and the session continues with the same
    /// object.
    state: Mutex<Arc<TrxState>>,
    pub(super) body: Mutex<Body>,
}

/// Combines segment number and record number into one position.
pub(super) fn position(segment: usize, record: usize) -> u64 {
    (segment as u64) << 32 | record as u64
}

impl NativeTrx {
    pub(crate) fn new(shared: Arc<Shared>, isolation: Isolation) -> NativeTrx {
        let state = shared.new_state();
        NativeTrx::with_state(shared, state, Body { isolation, ..Body::default() })
    }

    pub(super) fn with_state(shared: Arc<Shared>, state: Arc<TrxState>, body: Body) -> NativeTrx {
        NativeTrx { shared, state: Mutex::new(state), body: Mutex::new(body) }
    }

    pub(crate) fn state(&self) -> Arc<TrxState> {
        self.state.lock().clone()
    }

    pub(super) fn renew(&self) {
        let mut state = self.state.lock();
        let session = state.notes.session();
        *state = self.shared.new_state();
        state.notes.set_session(session);
    }

    /// Current end of the undo, as a position.
    pub(crate) fn mark(&self) -> u64 {
        let body = self.body.lock();
        match body.segments.len().checked_sub(1) {
            Some(last) => position(last, body.segments[last].len()),
            None => 0,
        }
    }

    /// Adds undo for a change of a row or an index entry, before the change. Returns its version
    /// word and leaves the record's encoding in `out`.
    pub(crate) fn push_undo(
        &self,
        record: RowRecord<'_>,
        is_row: bool,
        work: bool,
        out: &mut Vec<u8>,
    ) -> u64 {
        let mut body = self.body.lock();
        let state = self.state();
        if is_row {
            state.weight.add_row();
            self.note_overtaken(&mut body, &state, record.before);
            if body.changed.replace(record.file) != Some(record.file) {
                state.weight.lock(LockKind::Table(record.file, LockMode::Exclusive));
            }
        }
        loop {
            if let Some(segment) = body.segments.last()
                && let Some(ver) = segment.push(record, out)
            {
                if work || record.kind == Kind::Delete {
                    segment.leaves_work.store(true, Ordering::Relaxed);
                }
                return ver;
            }
            let undo = &self.shared.undo;
            let segment = match body.segments.last() {
                Some(full) => {
                    undo.seal(full);
                    undo.allocate_next(&state)
                }
                None => undo.allocate(&state),
            };
            body.segments.push(segment);
        }
    }

    /// Notes a change of a row with the value `before`.
    fn note_overtaken(&self, body: &mut Body, state: &TrxState, before: &[u8]) {
        let Some(snapshot) = body.snapshot.filter(|_| !body.overtakes && !before.is_empty()) else {
            return;
        };
        let view = View::new(&self.shared.undo, state.id, Some(snapshot.lsn), u64::MAX);
        body.overtakes = !view.sees(get_u64(before, 0));
    }

    pub(crate) fn push_ddl(&self, step: DdlStep) {
        self.body.lock().ddl.push(step);
    }

    /// Notes a lock on a row or an index entry.
    pub(crate) fn push_lock(&self, file: FileId, key: &[u8], kind: LockKind, is_row: bool) {
        let state = self.state();
        state.notes.count_lock(std::mem::size_of::<(FileId, Box<[u8]>)>() + key.len());
        state.weight.lock(kind);
        let mut body = self.body.lock();
        let list = if is_row { &mut body.row_locks } else { &mut body.entry_locks };
        list.locks.push((file, key.into()));
    }

    /// Releases the lock on a row that the running statement locked: it has changed the row, which
    /// locks it too, or does not want it.
    pub(crate) fn drop_lock(&self, file: FileId, key: &[u8]) {
        let found = self.body.lock().row_locks.forget(file, key);
        if found {
            self.shared.locks.release_one(self.state().id, file, key);
        }
    }

    /// Releases the lock on an index entry that the running statement locked.
    pub(crate) fn drop_entry_lock(&self, file: FileId, key: &[u8]) {
        let found = self.body.lock().entry_locks.forget(file, key);
        if found {
            self.shared.locks.release_one(self.state().id, file, key);
        }
    }

    /// Fails if a locking read must not see the version `ver` of a row, because it is newer than
    /// the snapshot. The transaction has then been rolled back.
    pub(crate) fn check_snapshot(&self, ver: u64) -> EngineResult<()> {
        let body = self.body.lock();
        let Some(snapshot) = body.snapshot.filter(|_| body.snapshot_isolation) else {
            return Ok(());
        };
        let own_end = body.own_end();
        drop(body);
        let view = View::new(&self.shared.undo, self.state().id, Some(snapshot.lsn), own_end);
        if view.sees(ver) {
            return Ok(());
        }
        self.roll_back_all()?;
        Err(EngineError::SnapshotConflict)
    }

    /// Keeps others from inserting keys from `from` up to, not including, `to`.
    pub(crate) fn lock_gap(&self, file: FileId, from: &[u8], to: Option<&[u8]>) -> Covered {
        let (first, covered) = self.shared.locks.gaps.cover(&self.state(), file, from, to);
        if first {
            self.body.lock().gaps.push(file);
        }
        covered
    }

    /// Keeps only `kept` of the range that the last [`Self::lock_gap`] covered.
    pub(crate) fn shrink_gap(&self, file: FileId, covered: Covered, kept: (&[u8], Option<&[u8]>)) {
        self.shared.locks.gaps.shrink(&self.state(), file, covered, kept);
    }

    /// Whether other transactions hold explicit locks.
    pub(crate) fn others_lock(&self) -> bool {
        let all = self.shared.locks.len();
        let body = self.body.lock();
        all > body.row_locks.locks.len() + body.entry_locks.locks.len()
    }

    /// Counts locks on gaps and the entries between them.
    pub(crate) fn note_gaps(&self, file: FileId, mode: LockMode) {
        self.state().weight.lock(LockKind::Gaps(file, mode));
    }

    /// Counts a locking read or a write of a table.
    pub(crate) fn note_table(&self, file: FileId, mode: LockMode) {
        self.state().weight.lock(LockKind::Table(file, mode));
    }

    /// Whether locking reads lock gaps too.
    pub(crate) fn locks_gaps(&self) -> bool {
        matches!(self.isolation(), Isolation::RepeatableRead | Isolation::Serializable)
    }

    pub(crate) fn has_snapshot_isolation(&self) -> bool {
        self.body.lock().snapshot_isolation
    }

    pub(crate) fn isolation(&self) -> Isolation {
        self.body.lock().isolation
    }

    /// The view of a consistent read of this transaction. Takes the snapshot if there is none yet.
    pub(crate) fn view(&self) -> View<'_> {
        let mut body = self.body.lock();
        let log = self.shared.storage.log();
        let snapshot = *body.snapshot.get_or_insert_with(|| self.shared.snapshots.take(log));
        let dirty = body.isolation == Isolation::ReadUncommitted;
        let (own_end, overtakes) = (body.own_end(), body.overtakes);
        drop(body);
        let state = self.state.lock();
        state.notes.has_snapshot.store(true, Ordering::Relaxed);
        let snapshot = (!dirty).then_some(snapshot.lsn);
        let mut view = View::new(&self.shared.undo, state.id, snapshot, own_end);
        view.overtakes = overtakes;
        view
    }

    /// A view of the newest versions that are committed or this transaction's own, without its
    /// later changes.
    pub(crate) fn newest_view(&self) -> View<'_> {
        let own_end = self.body.lock().own_end();
        View::new(&self.shared.undo, self.state().id, Some(u64::MAX), own_end)
    }

    /// Waits until one of `holders` has ended or has released the gap that `key` belongs into.
    /// Rolls back if this transaction is a deadlock's victim.
    pub(crate) fn wait_for_gap(
        &self,
        holders: &[Arc<TrxState>],
        place: (FileId, &[u8]),
        context: &dyn StatementContext,
        wait: LockWait,
    ) -> EngineResult<()> {
        self.wait_with(context, wait, |locks, me, sleep| {
            locks.wait_for_gap(me, holders, place, sleep)
        })
    }

    /// Waits until one of `holders` has ended, or `waiter` is woken, which may have a place in a
    /// queue. Rolls back if this transaction is a deadlock's victim.
    pub(crate) fn wait_in_place(
        &self,
        holders: &[Arc<TrxState>],
        waiter: Arc<Waiter>,
        context: &dyn StatementContext,
        wait: LockWait,
    ) -> EngineResult<()> {
        self.wait_with(context, wait, |locks, me, sleep| locks.wait(me, holders, waiter, sleep))
    }

    fn wait_with(
        &self,
        context: &dyn StatementContext,
        wait: LockWait,
        in_table: impl FnOnce(&LockTable, &Arc<TrxState>, Sleep<'_>) -> EngineResult<()>,
    ) -> EngineResult<()> {
        let limit = match wait {
            LockWait::NoWait | LockWait::SkipLocked => return Err(EngineError::LockWaitTimeout),
            LockWait::Default => context.lock_wait_timeout(),
            LockWait::Upto(limit) => limit,
        };
        let me = self.state();
        me.notes.begin_wait();
        let since = Instant::now();
        let outcome = in_table(&self.shared.locks, &me, &|waiter| {
            let park = &mut |time| waiter.park(time);
            context.wait(WaitKind::RowLock, Some(limit), waiter.clone().into(), park)
        });
        me.notes.end_wait();
        let timed_out = matches!(outcome, Err(EngineError::LockWaitTimeout));
        self.shared.wait_times.count(since.elapsed(), timed_out);
        if matches!(outcome, Err(EngineError::Deadlock)) {
            self.roll_back_all()?;
        }
        outcome
    }

    pub(super) fn release_snapshot(&self, body: &mut Body) {
        if let Some(snapshot) = body.snapshot.take() {
            body.overtakes = false;
            self.state.lock().notes.has_snapshot.store(false, Ordering::Relaxed);
            self.shared.snapshots.release(snapshot);
        }
    }
}

impl EngineTrx for NativeTrx {
    fn set_session(&self, session: u64) {
        self.state.lock().notes.set_session(session);
    }

    fn statement_begin(&self, isolation: Isolation, snapshot_isolation: bool) -> EngineResult<()> {
        let mut body = self.body.lock();
        body.isolation = isolation;
        body.snapshot_isolation = snapshot_isolation;
        body.row_locks.older = body.row_locks.locks.len();
        body.entry_locks.older = body.entry_locks.locks.len();
        self.shared.running.enter(&self.state.lock(), isolation);
        if matches!(isolation, Isolation::ReadCommitted | Isolation::ReadUncommitted) {
            self.release_snapshot(&mut body);
        }
        drop(body);
        if snapshot_isolation && isolation == Isolation::Serializable {
            self.view();
        }
        Ok(())
    }

    fn take_snapshot(&self) -> EngineResult<Option<Lsn>> {
        self.view();
        Ok(self.body.lock().snapshot.map(|snapshot| Lsn(snapshot.lsn)))
    }

    fn savepoint(&self) -> EngineResult<u64> {
        Ok(self.mark())
    }

    fn rollback_to(&self, savepoint: u64) -> EngineResult<()> {
        self.roll_back_to(savepoint)
    }

    fn has_changes(&self) -> bool {
        let body = self.body.lock();
        let undone = matches!(body.skips.last(), Some(&(0, to)) if to == body.end());
        (!body.segments.is_empty() && !undone) || !body.ddl.is_empty()
    }

    fn prepare(&self, xid: &Xid, rider: Option<&mut dyn Rider>) -> EngineResult<Option<Lsn>> {
        self.prepare_as(xid, rider)
    }

    fn old_snapshot(&self) -> Option<u64> {
        let youngest = self.shared.snapshots.last_index.load(Ordering::Acquire);
        if youngest == 0 {
            return None;
        }
        let body = self.body.lock();
        body.snapshot.as_ref().map(|snapshot| snapshot.lsn).filter(|lsn| *lsn < youngest)
    }

    fn end_reading(&self) -> bool {
        let mut body = self.body.lock();
        if !body.is_untouched() || self.state.lock().weight.total() > 0 {
            return false;
        }
        self.release_snapshot(&mut body);
        self.shared.running.rest(&self.state.lock());
        true
    }

    fn memory(&self, note: &mut dyn FnMut(usize, usize)) {
        note(std::ptr::from_ref(self).addr(), size_of::<Self>());
        note(Arc::as_ptr(&self.state.lock()).addr(), size_of::<TrxState>());
    }

    fn restart(&self, read_only: bool) {
        self.state.lock().notes.set_read_only(read_only);
    }

    fn commit(self: Box<Self>, rider: Option<&mut dyn Rider>) -> EngineResult<Option<Lsn>> {
        self.commit_all(rider)
    }

    fn rollback(self: Box<Self>) -> EngineResult<()> {
        self.roll_back_all()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for NativeTrx {
    fn drop(&mut self) {
        // A prepared transaction stays prepared.
        let open = |body: &Body| !body.ended && !body.prepared;
        if !open(&self.body.lock()) {
            return;
        }
        if std::thread::panicking() {
            self.abandon();
        } else if let Err(e) = self.roll_back_all() {
            tracing::error!("rollback of an abandoned transaction failed: {e}");
        }
    }
}
