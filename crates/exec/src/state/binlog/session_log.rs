//! The caches of a session: of changes that its transaction may undo, and of changes that stand
//! when their statement ends.
//!
//! A transaction shares them with the functions and triggers of its statements. Must not outlive
//! the session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};
use selkie_engine::{Engine, EngineError, EngineResult, EngineTrx, Lsn, TableId, Xid};
use selkie_replication::Gtid;
use selkie_replication::codec::Change;
use selkie_replication::log::{Cache, CacheError, Place};
use selkie_types::error::catalogue::{ER_ERROR_ON_WRITE, ER_STMT_CACHE_FULL, ER_TRANS_CACHE_FULL};
use selkie_types::{RowCorrupt, SqlError, SqlResult};
use smallvec::SmallVec;

use super::by_text::ByText;
use super::events::{Events, EventsMark, NewRows, RowSpace, Stamp};
use super::images::TableImages;
use super::noted::commit_with_note;
use super::rider::{Binlog, GroupEnd, GroupHeadline, Logged};
use super::row_log::RowLog;
use crate::state::error::from_engine_commit;

/// Changes that a session has not handed to the binary log yet.
pub(crate) struct SessionLog {
    pub(super) binlog: Arc<Binlog>,
    state: Mutex<LogState>,
    /// Whether the state has the place of a snapshot: a transaction that ends need not lock it.
    has_snapshot: AtomicBool,
    /// Whether the running statement is logged as its text, so that rows are not.
    is_by_text: AtomicBool,
    /// Whether the transaction's cache may have texts: its commit writes them even if the
    /// transaction has changed nothing.
    holds_text: AtomicBool,
}

/// The cache that gets a table's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Of changes that the transaction may undo.
    Transaction,
    /// Of changes that stand.
    Immediate,
    /// Of the rows of a new table, which are logged with its definition.
    NewTable,
}

/// The rows of a new table, behind its definition.
struct Filling {
    table: TableId,
    events: Events,
}

/// The caches and the running statement.
pub(super) struct LogState {
    /// Changes that the transaction may undo.
    pub(super) transaction: Events,
    /// Changes that stand.
    pub(super) immediate: Events,
    filling: Option<Filling>,
    /// Texts of the running statement and of those of its functions and triggers, one behind the
    /// other.
    texts: Vec<u8>,
    /// Begin of the innermost text.
    text_at: usize,
    has_text: bool,
    /// Tables that the statement may change, beside the first one that it does.
    expected: SmallVec<[(Target, Arc<TableImages>); 2]>,
    pub(super) stamp: Stamp,
    /// The running statement, if its text is logged in place of its rows.
    pub(super) by_text: Option<Box<ByText>>,
    /// Texts in the transaction's cache whose changes stand, in part at least.
    pub(super) standing: u32,
    /// Whether the transaction's cache may have changes of tables that are not temporary.
    pub(super) has_shared: bool,
    /// Bytes of all groups.
    bytes: u64,
    /// End of what the transaction's snapshot sees, if it was taken for a copy.
    snapshot: Option<Place>,
    /// Last group of the session.
    last: Option<Gtid>,
    /// End of the last group, until somebody takes it.
    end: Option<Place>,
}

/// A state of the transaction's cache.
pub(crate) struct LogMark {
    events: EventsMark,
    standing: u32,
}

impl SessionLog {
    pub(crate) fn new(binlog: Arc<Binlog>) -> Self {
        let state = LogState {
            transaction: Events::new(binlog.log.transaction_cache()),
            immediate: Events::new(binlog.log.statement_cache()),
            filling: None,
            texts: Vec::new(),
            text_at: 0,
            has_text: false,
            expected: SmallVec::new(),
            stamp: Stamp::default(),
            by_text: None,
            standing: 0,
            has_shared: false,
            bytes: 0,
            snapshot: None,
            last: None,
            end: None,
        };
        Self {
            binlog,
            state: Mutex::new(state),
            has_snapshot: AtomicBool::new(false),
            is_by_text: AtomicBool::new(false),
            holds_text: AtomicBool::new(false),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, LogState> {
        self.state.lock()
    }

    /// Whether the running statement is logged as its text.
    pub(crate) fn is_by_text(&self) -> bool {
        self.is_by_text.load(Ordering::Relaxed)
    }

    pub(super) fn set_by_text(&self, is_by_text: bool) {
        self.is_by_text.store(is_by_text, Ordering::Relaxed);
    }

    /// Whether a commit must look for texts.
    pub(crate) fn holds_text(&self) -> bool {
        self.holds_text.load(Ordering::Relaxed)
    }

    /// A text was added to one of the caches.
    pub(super) fn note_text(&self, target: Target) {
        if target == Target::Transaction {
            self.holds_text.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the transaction has changes to roll back so far.
    pub(crate) fn has_transaction(&self) -> bool {
        !self.state.lock().transaction.cache.is_empty()
    }

    /// Begins a statement, whose text is logged with its rows if it is given.
    pub(super) fn begin_statement(&self, text: Option<&[u8]>, stamp: Stamp) {
        let mut state = self.state.lock();
        state.texts.clear();
        state.texts.extend_from_slice(text.unwrap_or_default());
        (state.text_at, state.expected) = (0, SmallVec::new());
        state.has_text = text.is_some();
        state.by_text = None;
        self.set_by_text(false);
        state.stamp = stamp;
    }

    /// Begins a statement of a function or trigger. Compat: the log has the text of the statement
    /// that changes the first row. Returns the place of the outer one's text.
    pub(crate) fn enter(&self, text: &[u8]) -> usize {
        let mut state = self.state.lock();
        let outer = state.text_at;
        state.text_at = state.texts.len();
        state.texts.extend_from_slice(text);
        outer
    }

    /// Ends a statement of a function or trigger.
    pub(crate) fn leave(&self, outer: usize) {
        let mut state = self.state.lock();
        let inner = state.text_at;
        state.texts.truncate(inner);
        state.text_at = outer;
    }

    /// Tells that the statement may change a table. Compat: its tables are named before its first
    /// row.
    pub(super) fn expect(&self, target: Target, images: Arc<TableImages>) {
        let mut state = self.state.lock();
        if !state.expected.iter().any(|(_, known)| known.id == images.id) {
            state.expected.push((target, images));
        }
    }

    /// Ends the running statement.
    pub(crate) fn end_statement(&self) {
        let mut state = self.state.lock();
        state.transaction.end_statement();
        state.immediate.end_statement();
        state.filling.iter_mut().for_each(|filling| filling.events.end_statement());
    }

    /// Marks the changes that the transaction may undo.
    pub(crate) fn mark(&self) -> LogMark {
        let state = self.state.lock();
        LogMark { events: state.transaction.mark(), standing: state.standing }
    }

    /// Cuts the undone changes off (LOG-2).
    pub(crate) fn cut(&self, mark: &LogMark) -> SqlResult<()> {
        let mut state = self.state.lock();
        state.standing = mark.standing;
        state.transaction.cut(&mark.events).map_err(SqlError::internal)
    }

    /// Goes back to a savepoint. What stands is not cut off: the log says that the rest is undone.
    /// A savepoint before the first event is not logged, so what stands is a group of its own.
    pub(crate) fn rollback_to(
        &self,
        mark: &LogMark,
        name: &str,
        (head, is_deferred): (&GroupHeadline, bool),
    ) -> SqlResult<()> {
        let mut state = self.state.lock();
        if state.standing == mark.standing {
            drop(state);
            return self.cut(mark);
        }
        if mark.events.is_begin() && !is_deferred {
            drop(state);
            return self.append_standing(head).map_err(from_engine_commit);
        }
        let added = state.transaction.savepoint("ROLLBACK TO", name, head);
        added.map_err(|error| cache_error(error, Target::Transaction))
    }

    /// Forgets all changes that the transaction may undo.
    pub(crate) fn clear(&self) {
        let mut state = self.state.lock();
        self.begin_anew(&mut state);
        state.transaction.clear();
    }

    /// The transaction's cache has nothing any more.
    fn begin_anew(&self, state: &mut LogState) {
        (state.standing, state.has_shared) = (0, false);
        self.holds_text.store(false, Ordering::Relaxed);
    }

    /// Logs a transaction that is rolled back if some of its changes stand: all of it, with its
    /// end.
    pub(crate) fn append_standing(&self, head: &GroupHeadline) -> EngineResult<()> {
        let is_needed = self.holds_text() && self.state.lock().standing > 0;
        if is_needed {
            self.append_as(Target::Transaction, GroupEnd::Rollback, head)
        } else {
            Ok(())
        }
    }

    /// Logs the texts of a transaction that has changed nothing.
    pub(crate) fn append_texts(&self, head: &GroupHeadline) -> EngineResult<()> {
        match self.holds_text() {
            true => self.append_as(Target::Transaction, GroupEnd::Commit, head),
            false => Ok(()),
        }
    }

    fn append_as(
        &self,
        target: Target,
        end: GroupEnd<'_>,
        head: &GroupHeadline,
    ) -> EngineResult<()> {
        let mut state = self.state.lock();
        self.begin_anew(&mut state);
        let events = state.events(target);
        if events.cache.is_empty() {
            return Ok(());
        }
        let appended = self.binlog.append(&mut events.cache, head, end);
        events.clear();
        let (lsn, logged) = appended?;
        state.note(logged);
        drop(state);
        self.binlog.engine.wait_durable(lsn)
    }

    /// Adds a savepoint, if the transaction has changes.
    pub(crate) fn savepoint(&self, name: &str, head: &GroupHeadline) -> SqlResult<()> {
        let mut state = self.state.lock();
        let added = state.transaction.savepoint("SAVEPOINT", name, head);
        added.map_err(|error| cache_error(error, Target::Transaction))
    }

    /// Commits a transaction with the group of its events, if there are any (LOG-1).
    pub(crate) fn commit(
        &self,
        engine: &dyn Engine,
        trx: Box<dyn EngineTrx>,
        (head, is_deferred): (&GroupHeadline, bool),
    ) -> EngineResult<Option<Lsn>> {
        let mut state = self.state.lock();
        let (target, end) = match (is_deferred, engine.personality().transactional) {
            (true, _) => state.whole_group(),
            (false, true) => (Target::Transaction, GroupEnd::Xid),
            (false, false) => (Target::Immediate, GroupEnd::Commit),
        };
        let has_shared = state.has_shared;
        let events = state.events(target);
        if events.cache.is_empty() {
            return commit_with_note(trx, head.note.as_deref());
        }
        // Compat: texts that have changed nothing, or temporary tables only, do not end as a
        // transaction.
        let is_transaction = trx.has_changes() && has_shared;
        let end = if end == GroupEnd::Xid && !is_transaction { GroupEnd::Commit } else { end };
        let committed = self.binlog.commit(engine, trx, (&mut events.cache, head, end));
        events.clear();
        if target == Target::Transaction {
            self.begin_anew(&mut state);
        }
        let (lsn, logged) = committed?;
        state.note(logged);
        Ok(lsn)
    }

    /// Appends the events that no commit has taken, as a group.
    pub(crate) fn append_rest(&self, head: &GroupHeadline) -> EngineResult<()> {
        let mut state = self.state.lock();
        let (target, end) = state.whole_group();
        let events = state.events(target);
        if events.cache.is_empty() {
            return Ok(());
        }
        let appended = self.binlog.append(&mut events.cache, head, end);
        events.clear();
        self.begin_anew(&mut state);
        let (_, logged) = appended?;
        state.note(logged);
        Ok(())
    }

    /// Prepares a branch with the group of its events, if there are any.
    pub(crate) fn prepare(
        &self,
        engine: &dyn Engine,
        trx: &dyn EngineTrx,
        (xid, head): (&Xid, &GroupHeadline),
        is_logged: &mut bool,
    ) -> EngineResult<Option<Lsn>> {
        let mut state = self.state.lock();
        let events = &mut state.transaction;
        if !trx.has_changes() {
            events.clear();
        }
        if events.cache.is_empty() {
            return match head.note.as_deref().filter(|_| engine.carries_riders()) {
                Some(noted) => noted.ride(None, |rider| trx.prepare(xid, Some(rider))),
                None => trx.prepare(xid, None),
            };
        }
        let prepared = self.binlog.prepare(engine, trx, (xid, &mut events.cache, head));
        events.clear();
        let (lsn, logged) = prepared?;
        state.note(logged);
        *is_logged = true;
        Ok(lsn)
    }

    /// Commits a branch that a group has prepared.
    pub(crate) fn commit_prepared(
        &self,
        engine: &dyn Engine,
        trx: Box<dyn EngineTrx>,
        (xid, head): (&Xid, &GroupHeadline),
    ) -> EngineResult<Option<Lsn>> {
        let group = (&mut self.binlog.log.cache(), head, GroupEnd::XaCommit(xid));
        let (lsn, logged) = self.binlog.commit(engine, trx, group)?;
        self.note_group(logged);
        Ok(lsn)
    }

    /// Logs the rollback of a branch that a group has prepared.
    pub(crate) fn rolled_back(&self, xid: &Xid, head: &GroupHeadline) -> EngineResult<()> {
        let end = GroupEnd::XaRollback(xid);
        let (lsn, logged) = self.binlog.append(&mut self.binlog.log.cache(), head, end)?;
        self.note_group(logged);
        self.binlog.engine.wait_durable(lsn)
    }

    /// Begins to log the rows of a new table behind the events of `cache`, which define it.
    pub(super) fn begin_filling(&self, table: TableId, cache: Cache) {
        self.state.lock().filling = Some(Filling { table, events: Events::new(cache) });
    }

    /// Whether a table is new, so that its rows are logged with its definition.
    pub(super) fn is_filling(&self, table: TableId) -> bool {
        self.state.lock().filling.as_ref().is_some_and(|filling| filling.table == table)
    }

    /// The definition and the rows of the new table.
    pub(super) fn take_filling(&self) -> Option<Cache> {
        self.state.lock().filling.take().map(|filling| filling.events.cache)
    }

    /// Commits a transaction of the server's own that has changed one row.
    pub(super) fn commit_row(
        &self,
        (engine, trx): (&dyn Engine, Box<dyn EngineTrx>),
        head: &GroupHeadline,
        images: &TableImages,
        image: impl FnOnce(&mut Vec<u8>) -> Result<bool, RowCorrupt>,
    ) -> EngineResult<Option<Lsn>> {
        let mut state = self.state.lock();
        let text = state.has_text.then(|| &state.texts[state.text_at..]);
        let (change, present) = (Change::Write, (&images.full.present[..], &[][..]));
        let (expected, stamp) = (&[][..], state.stamp);
        let new = NewRows { images, change, present, flags: 0, text, stamp, expected };
        let mut events = Events::new(self.binlog.log.cache());
        let refused = |error| EngineError::Refused(Box::new(cache_error(error, Target::Immediate)));
        events.rows(&new).map_err(refused)?.row(image)?;
        events.end_statement();
        let group = (&mut events.cache, head, GroupEnd::Commit);
        let (lsn, logged) = self.binlog.commit(engine, trx, group)?;
        state.note(logged);
        Ok(lsn)
    }

    /// Notes that the transaction's snapshot sees the commits up to `lsn`.
    pub(crate) fn note_snapshot(&self, lsn: Lsn) {
        let place = self.binlog.log.end_at(lsn.0);
        self.has_snapshot.store(true, Ordering::Relaxed);
        self.state.lock().snapshot = place;
    }

    /// Forgets the snapshot, as the transaction has ended.
    pub(crate) fn forget_snapshot(&self) {
        if self.has_snapshot.load(Ordering::Relaxed) {
            self.has_snapshot.store(false, Ordering::Relaxed);
            self.state.lock().snapshot = None;
        }
    }

    /// End of what the transaction's snapshot sees.
    pub(super) fn snapshot(&self) -> Option<Place> {
        self.state.lock().snapshot
    }

    /// Remembers the session's last group.
    pub(super) fn note_group(&self, logged: Logged) {
        self.state.lock().note(logged);
    }

    /// The last group that the session has committed.
    pub(crate) fn last_group(&self) -> Option<Gtid> {
        self.state.lock().last
    }

    /// Bytes of all groups.
    pub(crate) fn logged_bytes(&self) -> u64 {
        self.state.lock().bytes
    }

    /// Takes the end of the last group since the last call.
    pub(crate) fn take_end(&self) -> Option<Place> {
        self.state.lock().end.take()
    }
}

impl LogState {
    /// The cache with all events of a replica's group. A definition comes before the rows of its
    /// table, also if that is of an engine without rollback.
    fn whole_group(&mut self) -> (Target, GroupEnd<'static>) {
        if self.immediate.cache.is_empty() {
            return (Target::Transaction, GroupEnd::Xid);
        }
        if self.transaction.cache.is_empty() {
            return (Target::Immediate, GroupEnd::Commit);
        }
        // Events that do not fit into memory become a group of their own.
        if self.transaction.cache.take_small(&mut self.immediate.cache) {
            self.immediate.clear();
        }
        (Target::Transaction, GroupEnd::Xid)
    }

    fn note(&mut self, logged: Logged) {
        (self.last, self.end) = (Some(logged.gtid), Some(logged.end));
        self.bytes += logged.bytes;
    }

    /// One of the caches. Rows of a new table that is not new any more go with the transaction's.
    pub(super) fn events(&mut self, target: Target) -> &mut Events {
        match (target, &mut self.filling) {
            (Target::Immediate, _) => &mut self.immediate,
            (Target::NewTable, Some(filling)) => &mut filling.events,
            (Target::Transaction | Target::NewTable, _) => &mut self.transaction,
        }
    }

    /// Begins an event of a table's rows.
    fn begin_rows(
        &mut self,
        log: &RowLog<'_>,
        change: Change,
        present: (&[u8], &[u8]),
    ) -> SqlResult<()> {
        let (texts, all) = (std::mem::take(&mut self.texts), std::mem::take(&mut self.expected));
        let (images, stamp, flags) = (&*log.images, self.stamp, log.flags);
        let text = self.has_text.then(|| &texts[self.text_at..]);
        let of_target = all.iter().filter(|(target, _)| *target == log.target);
        let expected: Vec<&TableImages> = of_target.map(|(_, images)| &**images).collect();
        let new = NewRows { images, change, present, flags, text, stamp, expected: &expected };
        self.has_shared |= log.target == Target::Transaction;
        let begun = self.events(log.target).begin(&new);
        drop(expected);
        (self.texts, self.expected) = (texts, all);
        begun.map_err(|error| cache_error(error, log.target))
    }

    /// Space for a row of a table.
    pub(super) fn rows(
        &mut self,
        log: &RowLog<'_>,
        change: Change,
        present: (&[u8], &[u8]),
    ) -> SqlResult<RowSpace<'_>> {
        if !self.events(log.target).takes((log.images.id, change, log.flags)) {
            self.begin_rows(log, change, present)?;
        }
        Ok(self.events(log.target).space())
    }
}

/// Error of a cache that has reached its limit, or cannot be written.
pub(super) fn cache_error(error: CacheError, target: Target) -> SqlError {
    match error {
        CacheError::TooLarge if target == Target::Immediate => {
            SqlError::new(&ER_STMT_CACHE_FULL, &[])
        }
        CacheError::TooLarge => SqlError::new(&ER_TRANS_CACHE_FULL, &[]),
        CacheError::Io(error) => write_error(&error),
    }
}

/// Error 1026 of the log's files.
pub(super) fn write_error(error: &std::io::Error) -> SqlError {
    let number = error.raw_os_error().unwrap_or_default();
    SqlError::new(&ER_ERROR_ON_WRITE, &[&"binlog", &number, error])
}
