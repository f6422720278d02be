//! The traits an engine implements and the words it is asked with.

use std::any::Any;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use selkie_types::ByteRows;

use crate::{
    EngineObserver, EngineResult, IndexId, Inspection, LockDetail, Personality, TableDef, TableId,
};

/// A byte position in an engine's log; commits are ordered by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(pub u64);

/// What an engine can do; what it cannot, the executor emulates or refuses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Capabilities {
    /// Tables survive a restart.
    pub durable: bool,
    /// Rows stored under an earlier version of the definition are read under the current one.
    pub row_versions: bool,
}

/// Transaction isolation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Reads see uncommitted changes.
    ReadUncommitted,
    /// A snapshot per statement.
    ReadCommitted,
    /// A snapshot per transaction.
    #[default]
    RepeatableRead,
    /// Reads take shared locks.
    Serializable,
}

/// Lock taken on rows read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockMode {
    /// A consistent read without locks.
    #[default]
    None,
    /// `LOCK IN SHARE MODE`.
    Shared,
    /// `FOR UPDATE`, and reads of statements that change what they find.
    Exclusive,
}

/// What to do when a row is locked by another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockWait {
    /// Wait for `innodb_lock_wait_timeout`.
    #[default]
    Default,
    /// Fail at once.
    NoWait,
    /// Leave the row out.
    SkipLocked,
    /// Wait so long.
    Upto(Duration),
}

/// Why a statement waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// Another transaction holds the row.
    RowLock,
    /// Another statement holds the table's definition.
    MetadataLock,
    /// Another session holds a user lock.
    UserLock,
    /// A page is read.
    PageRead,
    /// The log is flushed.
    LogFlush,
    /// Writers are slowed.
    Throttle,
    /// The statement sleeps.
    Sleep,
    /// The client neither sends nor reads.
    Network,
    /// Somebody keeps all changes out, or waits until nobody changes anything.
    GlobalLock,
}

impl WaitKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::RowLock,
        Self::MetadataLock,
        Self::UserLock,
        Self::PageRead,
        Self::LogFlush,
        Self::Throttle,
        Self::Sleep,
        Self::Network,
        Self::GlobalLock,
    ];
}

/// The statement on whose behalf an engine works. All blocking goes through here.
pub trait StatementContext: Sync {
    /// Fails if the statement was killed or ran out of time. Called at least once per batch.
    fn check_killed(&self) -> EngineResult<()>;

    /// Blocks: calls `park` with the time it may last until it says the wait is over. `limit` is
    /// the longest wait, after which the result is [`crate::EngineError::LockWaitTimeout`]; a kill
    /// ends it too, and calls `waker`, which ends the sleep in `park` that runs or else the next
    /// one. Never called while a latch is held.
    fn wait(
        &self,
        kind: WaitKind,
        limit: Option<Duration>,
        waker: Waker,
        park: &mut dyn FnMut(Duration) -> bool,
    ) -> EngineResult<()>;

    /// `innodb_lock_wait_timeout`.
    fn lock_wait_timeout(&self) -> Duration;
}

/// The context of work that nobody kills and that waits for nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoWait;

impl StatementContext for NoWait {
    fn check_killed(&self) -> EngineResult<()> {
        Ok(())
    }

    fn wait(
        &self,
        _: WaitKind,
        _: Option<Duration>,
        _: Waker,
        _: &mut dyn FnMut(Duration) -> bool,
    ) -> EngineResult<()> {
        Err(crate::EngineError::LockWaitTimeout)
    }

    fn lock_wait_timeout(&self) -> Duration {
        Duration::ZERO
    }
}

/// Name of a branch of a distributed transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Xid {
    /// The transaction, up to 64 bytes.
    pub gtrid: Box<[u8]>,
    /// The branch, up to 64 bytes.
    pub bqual: Box<[u8]>,
    /// Whose names these are.
    pub format: u32,
}

/// A transaction that was prepared before a restart and waits for its outcome.
pub struct PreparedTrx {
    /// Its name.
    pub xid: Xid,
    /// Tables it has changed.
    pub tables: Vec<TableId>,
    /// What remains to be done: commit or rollback.
    pub trx: Box<dyn EngineTrx>,
}

/// A storage engine.
pub trait Engine: Send + Sync {
    /// What statements see of it.
    fn personality(&self) -> &'static Personality;

    /// Name in `ENGINE=`.
    fn name(&self) -> &'static str {
        self.personality().name
    }

    /// Name of the engine that keeps its tables: itself, unless it is one by another name.
    fn storage(&self) -> &'static str {
        self.name()
    }

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Starts a transaction. Costs next to nothing until it changes something.
    fn begin(&self, isolation: Isolation, read_only: bool) -> EngineResult<Box<dyn EngineTrx>>;

    /// Creates the storage of a new table, as part of `trx`: gone again if that rolls back or the
    /// server dies before its commit is durable.
    fn create_table(&self, trx: &dyn EngineTrx, def: &TableDef) -> EngineResult<()>;

    /// Removes a table's storage once `trx` has committed and that is durable.
    fn drop_table(&self, trx: &dyn EngineTrx, id: TableId) -> EngineResult<()>;

    /// Builds the index at `position` of `def` over the rows of the table, whose other indexes
    /// exist. Nobody else changes the table meanwhile. Takes effect with `trx`.
    fn create_index(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()>;

    /// Removes an index of a table once `trx` has committed.
    fn drop_index(&self, trx: &dyn EngineTrx, table: TableId, index: IndexId) -> EngineResult<()>;

    /// A handle on an existing table under `def`. Handles are cheap and may be kept as long as the
    /// definition is current.
    fn open_table(&self, def: &Arc<TableDef>) -> EngineResult<Arc<dyn Table>>;

    /// A table that is new has all its rows and becomes known now: snapshots taken before do not
    /// see it as it was, and reads through them fail.
    fn table_published(&self, _id: TableId) {}

    /// Whether storage of a table exists.
    fn table_exists(&self, id: TableId) -> bool;

    /// Whether there is storage of any table.
    fn has_tables(&self) -> bool {
        false
    }

    /// Called once at start with every table the dictionary knows; storage of others is removed.
    fn retain_tables(&self, known: &[TableId]) -> EngineResult<()>;

    /// Returns when everything up to `lsn` survives a crash, as far as the session's setting asks.
    fn wait_durable(&self, lsn: Lsn) -> EngineResult<()>;

    /// Whether [`Self::wait_durable`] would return at once.
    fn is_durable(&self, lsn: Lsn) -> bool;

    /// Returns when everything up to `lsn` survives the end of the process, whatever the session's
    /// setting asks: the operating system has it.
    fn wait_written(&self, lsn: Lsn) -> EngineResult<()> {
        self.wait_durable(lsn)
    }

    /// Whether [`Self::wait_written`] would return at once.
    fn is_written(&self, lsn: Lsn) -> bool {
        self.is_durable(lsn)
    }

    /// Called once at start: transactions that were prepared and have not ended. Their rows are
    /// locked.
    fn take_prepared(&self) -> EngineResult<Vec<PreparedTrx>> {
        Ok(Vec::new())
    }

    /// Writes a checkpoint; `sharp` leaves nothing to redo.
    fn checkpoint(&self, sharp: bool) -> EngineResult<()>;

    /// Ends background work after a sharp checkpoint.
    fn shutdown(&self) -> EngineResult<()>;

    /// Reports status counters by name.
    fn status(&self, report: &mut dyn FnMut(&str, u64));

    /// A server variable is about to get this value, here and now; returns the value it gets, which
    /// differs if the engine can only go part of the way. Called for every number that is assigned;
    /// most mean nothing to an engine.
    fn set_variable(&self, _name: &str, value: u64) -> u64 {
        value
    }

    /// Tells of the transactions that have not ended, and of locks in such detail.
    fn inspect(&self, _detail: LockDetail) -> Inspection {
        Inspection::default()
    }

    /// Shows for every session that waits for a row the sessions it waits for.
    fn row_waits(&self, _show: &mut dyn FnMut(u64, u64)) {}

    /// Has `observer` told of what happens from now on, in place of who was told before.
    fn observe(&self, _observer: Arc<dyn EngineObserver>) {}
}

/// A transaction of one session in one engine.
pub trait EngineTrx: Send + Sync {
    /// Says which session's transaction this is, for reports.
    fn set_session(&self, _session: u64) {}

    /// A statement starts; at READ COMMITTED its snapshot. With `snapshot_isolation`, a locking
    /// read that meets a row newer than the transaction's snapshot fails with
    /// [`crate::EngineError::SnapshotConflict`] and ends the transaction.
    fn statement_begin(&self, isolation: Isolation, snapshot_isolation: bool) -> EngineResult<()>;

    /// Takes the transaction's snapshot now (`WITH CONSISTENT SNAPSHOT`).
    fn take_snapshot(&self) -> EngineResult<()>;

    /// A point to roll back to; also how the executor undoes a failed statement.
    fn savepoint(&self) -> EngineResult<u64>;

    /// Undoes all changes since `savepoint`, which stays valid.
    fn rollback_to(&self, savepoint: u64) -> EngineResult<()>;

    /// Whether anything was changed, and not undone since.
    fn has_changes(&self) -> bool;

    /// Promises that [`EngineTrx::commit`] will succeed, also after a crash: once the LSN is
    /// durable the transaction survives under the name `xid`, and is not undone when this object
    /// goes. Nothing may be changed any more. `None` if there is nothing to keep.
    fn prepare(&self, _xid: &Xid) -> EngineResult<Option<Lsn>> {
        Ok(None)
    }

    /// Ends a transaction that nobody else can have noticed, having changed and locked nothing, and
    /// keeps the object for [`Self::restart`]. False, and nothing is done, if there is something to
    /// end.
    fn end_reading(&self) -> bool {
        false
    }

    /// Tells by address and length which memory it uses.
    fn memory(&self, _note: &mut dyn FnMut(usize, usize)) {}

    /// Begins another transaction of the session after [`Self::end_reading`].
    fn restart(&self, _read_only: bool) {}

    /// Publishes the changes; the LSN to wait for, `None` if nothing was changed.
    fn commit(self: Box<Self>) -> EngineResult<Option<Lsn>>;

    /// Undoes everything.
    fn rollback(self: Box<Self>) -> EngineResult<()>;

    /// For the engine to find its own type again.
    fn as_any(&self) -> &dyn Any;
}

/// End of a key range, on key bytes, which may be a prefix of full keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// No bound.
    #[default]
    Unbounded,
    /// Keys from (or up to) this one, keys that begin with it included.
    Included(Box<[u8]>),
    /// Keys after (or before) this one, keys that begin with it excluded.
    Excluded(Box<[u8]>),
}

/// What a scan reads.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Position of the index in the definition; `None` the clustered order.
    pub index: Option<usize>,
    /// Where it starts (by key order, also in reverse).
    pub lower: Bound,
    /// Where it ends.
    pub upper: Bound,
    /// From upper to lower.
    pub reverse: bool,
    /// Give index entries instead of rows: [`RowSet::entries`], not [`RowSet::rows`].
    pub covering: bool,
    /// Nothing is read but columns of the index and of the clustered key: an engine whose entries
    /// can be locked by themselves need not put a shared lock on the rows.
    pub entry_locks: bool,
    /// Only columns with `is_fixed` in the layout are needed: rows may be cut after the fixed part.
    pub fixed_only: bool,
    /// Fill [`RowSet::keys`].
    pub want_keys: bool,
    /// Lock on the rows returned.
    pub lock: LockMode,
    /// If a row is locked.
    pub wait: LockWait,
    /// A row that another transaction has locked is given as it was committed last, without a lock,
    /// and noted in [`RowSet::unlocked`].
    pub semi_consistent: bool,
}

/// Index entries of a covering scan or lookup: each index part's stored value in part order, as a
/// row of [`crate::IndexCodec::entry_layout`].
pub type IndexEntries = ByteRows;

/// Rows an engine hands out or takes.
#[derive(Clone, Debug, Default)]
pub struct RowSet {
    /// Rows in the table's layout (or cut after the fixed part, if the scan allowed).
    pub rows: ByteRows,
    /// Index entries, of covering scans instead of `rows`.
    pub entries: IndexEntries,
    /// Clustered keys, if asked for.
    pub keys: ByteRows,
    /// Of [`Table::lookup`]: the number of the key each row was found by.
    pub found_by: Vec<u32>,
    /// Of semi-consistent scans: the numbers of rows given without a lock.
    pub unlocked: Vec<u32>,
}

impl RowSet {
    /// Rows, or entries in their place.
    pub fn count(&self) -> usize {
        self.rows.len() + self.entries.len()
    }

    /// Whether a batch ends early because of the bytes in it.
    pub fn is_large(&self) -> bool {
        const BATCH_BYTES: usize = 4 << 20;
        self.rows.data().len() + self.entries.data().len() > BATCH_BYTES
    }

    /// Bytes of memory held.
    pub fn memory(&self) -> usize {
        let numbers = self.found_by.capacity() + self.unlocked.capacity();
        self.rows.memory() + self.entries.memory() + self.keys.memory() + numbers * 4
    }

    /// Forgets the rows and keeps the buffers.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.entries.clear();
        self.keys.clear();
        self.found_by.clear();
        self.unlocked.clear();
    }
}

/// A scan in progress.
pub trait Cursor {
    /// Appends up to `max_rows` rows to `out`; false, with no row appended, once there are no more.
    /// Stops earlier, with at least one row, when `out` has grown large.
    fn next_batch(&mut self, out: &mut RowSet, max_rows: usize) -> EngineResult<bool>;

    /// Goes on with another range, as a new scan would that differs in nothing else.
    fn restart(&mut self, lower: Bound, upper: Bound) -> EngineResult<()>;

    /// Whether the range is known to have no more rows.
    fn has_ended(&self) -> bool {
        false
    }

    /// Gives up the locks of some rows of the last batch, by their numbers in descending order,
    /// as far as the running statement took them.
    fn unlock(&mut self, _rows: &mut dyn Iterator<Item = usize>) {}
}

/// What an insert did.
#[derive(Clone, Copy, Debug, Default)]
pub struct InsertInfo {
    /// Rows inserted.
    pub rows: u64,
}

/// Rows expected in a range.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RangeEstimate {
    /// Rows.
    pub rows: f64,
    /// Whether `rows` was counted, not guessed.
    pub exact: bool,
}

/// What an engine knows of a table without reading it.
#[derive(Clone, Debug, Default)]
pub struct TableStatistics {
    /// Rows, approximately.
    pub rows: u64,
    /// Bytes of the clustered index.
    pub data_bytes: u64,
    /// Bytes of the other indexes.
    pub index_bytes: u64,
    /// Next AUTO_INCREMENT value, if the table has such a column.
    pub auto_increment: Option<u64>,
}

/// A table.
pub trait Table: Send + Sync {
    /// Its definition.
    fn def(&self) -> &Arc<TableDef>;

    /// Starts a scan.
    fn scan<'a>(
        &'a self,
        trx: &'a dyn EngineTrx,
        context: &'a dyn StatementContext,
        scan: &Scan,
    ) -> EngineResult<Box<dyn Cursor + 'a>>;

    /// Appends to `out`, for each of `keys` in order, all rows whose key in `scan.index` begins
    /// with it, noting the key's number in `found_by`. Bounds and direction of `scan` are ignored.
    fn lookup(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        scan: &Scan,
        keys: &ByteRows,
        out: &mut RowSet,
    ) -> EngineResult<()>;

    /// Inserts rows. An AUTO_INCREMENT column has its final value; the counter follows it.
    fn insert(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        rows: &ByteRows,
    ) -> EngineResult<InsertInfo>;

    /// Replaces the rows with clustered keys `at` by `new`, one each, moving them where their
    /// clustered key changed. A key that no longer exists is skipped; returns rows changed.
    fn update(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        at: &ByteRows,
        new: &ByteRows,
    ) -> EngineResult<u64>;

    /// Deletes the rows with clustered keys `at`; returns how many there were.
    fn delete(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        at: &ByteRows,
    ) -> EngineResult<u64>;

    /// Reserves `count` values of the AUTO_INCREMENT counter at `offset + n * step`; the first.
    fn reserve_auto_increment(&self, count: u64, step: u64, offset: u64) -> EngineResult<u64>;

    /// Puts the AUTO_INCREMENT counter from `from` back to `to`, unless it has moved on.
    fn release_auto_increment(&self, from: u64, to: u64);

    /// Sets the next AUTO_INCREMENT value, not below what exists.
    fn set_auto_increment(&self, trx: &dyn EngineTrx, next: u64) -> EngineResult<()>;

    /// Rows between two keys of an index (`None`: clustered).
    fn estimate(
        &self,
        index: Option<usize>,
        lower: &Bound,
        upper: &Bound,
    ) -> EngineResult<RangeEstimate>;

    /// What is known without reading.
    fn statistics(&self) -> TableStatistics;

    /// Up to `rows` rows spread evenly over the table, for statistics.
    fn sample(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        rows: usize,
        out: &mut RowSet,
    ) -> EngineResult<()>;

    /// Gives back what nothing refers to, as after a crash; how many things. Nobody changes the
    /// table meanwhile.
    fn reclaim(&self, _context: &dyn StatementContext) -> EngineResult<u64> {
        Ok(0)
    }

    /// Compares every index with the rows and checks the structure: what is wrong, in words.
    fn check(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
    ) -> EngineResult<Vec<String>>;
}
