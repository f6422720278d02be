//! The traits an engine implements and the types of their arguments and results.
//!
//! The executor calls them and the engines implement them. Must not name an engine.

use std::any::Any;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use selkie_types::ByteRows;

use crate::{
    ColumnSource, EngineError, EngineObserver, EngineResult, IndexId, Inspection, LockDetail,
    Personality, Rider, TableDef, TableId, TextSearch,
};

/// A byte position in an engine's log; commits are ordered by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(pub u64);

/// Abilities of an engine; the executor emulates or refuses what is missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Capabilities {
    /// Tables survive a restart.
    pub durable: bool,
    /// Rows stored under an earlier version of the definition are read under the current one.
    pub row_versions: bool,
    /// Indexes are built while transactions change the table: [`Engine::start_index`].
    pub grows_indexes: bool,
    /// [`EngineTrx::rollback_to`] undoes changes of rows.
    pub undoes_rows: bool,
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

/// Reaction to a row that another transaction has locked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockWait {
    /// Wait for `innodb_lock_wait_timeout`.
    #[default]
    Default,
    /// Fail at once.
    NoWait,
    /// Leave the row out.
    SkipLocked,
    /// Wait at most this long.
    Upto(Duration),
}

/// Reason that a statement waits.
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
    /// A temporary file is written or read.
    TemporaryFile,
    /// The log is flushed.
    LogFlush,
    /// Writers are slowed.
    Throttle,
    /// The statement sleeps.
    Sleep,
    /// The client neither sends nor reads.
    Network,
    /// Another session keeps all changes out, or this one waits until no change runs.
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

    /// Blocks until the wait is over: calls `park` with the longest time it may sleep, until `park`
    /// returns true. `limit` is the longest wait; after it the result is
    /// [`crate::EngineError::LockWaitTimeout`]. A kill ends the wait too: it calls `waker`, which
    /// ends the running sleep in `park`, or else the next one. Never called while a latch is held.
    fn wait(
        &self,
        kind: WaitKind,
        limit: Option<Duration>,
        waker: Waker,
        park: &mut dyn FnMut(Duration) -> bool,
    ) -> EngineResult<()>;

    /// `innodb_lock_wait_timeout`.
    fn lock_wait_timeout(&self) -> Duration;

    /// Called from time to time while an index is built: so many of about `all` steps of a stage
    /// are done.
    fn building(&self, _stage: BuildStage, _done: u64, _all: u64) {}
}

/// A stage of the build of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildStage {
    /// Rows are read and their entries sorted.
    Read,
    /// Entries are put into the index.
    Fill,
    /// Keys that two rows may have are looked at.
    Check,
}

/// Context of work that cannot be killed and never waits: every wait fails at once.
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
        Err(EngineError::LockWaitTimeout)
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
    /// Number of the scheme the two names follow (`formatID`).
    pub format: u32,
}

/// A transaction that was prepared before a restart and waits for its outcome.
pub struct PreparedTrx {
    /// Its name.
    pub xid: Xid,
    /// Tables it has changed.
    pub tables: Vec<TableId>,
    /// The transaction itself, to be committed or rolled back.
    pub trx: Box<dyn EngineTrx>,
}

/// A storage engine.
pub trait Engine: Send + Sync {
    /// The engine as statements see it.
    fn personality(&self) -> &'static Personality;

    /// Name in `ENGINE=`.
    fn name(&self) -> &'static str {
        self.personality().name
    }

    /// Names that its files in the data directory may have and that a schema's directory could
    /// have too. None of these may be made there by others.
    fn own_files(&self) -> &'static [&'static str] {
        &[]
    }

    /// Name of the engine that stores its tables: its own name, unless it is a
    /// [`crate::NamedEngine`].
    fn storage(&self) -> &'static str {
        self.name()
    }

    /// Its abilities.
    fn capabilities(&self) -> Capabilities;

    /// Starts a transaction. This is cheap: costs arise with the first change.
    fn begin(&self, isolation: Isolation, read_only: bool) -> EngineResult<Box<dyn EngineTrx>>;

    /// Creates the storage of a new table, as part of `trx`: it is removed again if `trx` rolls
    /// back, or if the server dies before the commit of `trx` is durable.
    fn create_table(&self, trx: &dyn EngineTrx, def: &TableDef) -> EngineResult<()>;

    /// Removes a table's storage once the commit of `trx` is durable.
    fn drop_table(&self, trx: &dyn EngineTrx, id: TableId) -> EngineResult<()>;

    /// Builds the index at `position` of `def` over the rows of the table; the other indexes exist
    /// already. The caller lets no other thread change the table meanwhile. Takes effect with
    /// `trx`.
    fn create_index(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        def: &Arc<TableDef>,
        position: usize,
    ) -> EngineResult<()>;

    /// Begins to build the index at `position` of `def` while transactions change rows: changes
    /// that begin from now on keep it, under a definition with or without it. Layout and other
    /// indexes of `def` are those of the current definition. If `trx` rolls back, the index goes.
    fn start_index(
        &self,
        _trx: &dyn EngineTrx,
        _def: &Arc<TableDef>,
        _position: usize,
    ) -> EngineResult<()> {
        Err(EngineError::Unsupported("an index built beside changes"))
    }

    /// Completes a started index. Before, the caller waits until all transactions have ended that
    /// may have changed rows before the start. From now on changes fail that break its rules, with
    /// [`EngineError::TableChanged`] if their definition does not have it.
    fn fill_index(
        &self,
        _context: &dyn StatementContext,
        _def: &Arc<TableDef>,
        _position: usize,
    ) -> EngineResult<()> {
        Err(EngineError::Unsupported("an index built beside changes"))
    }

    /// Called after the commit with an index that was built, before a statement can use it. Reads
    /// of it through snapshots taken before fail.
    fn index_published(&self, _table: TableId, _index: IndexId) {}

    /// Builds the full-text index at `position` of [`TableDef::texts`]; otherwise as
    /// [`Self::create_index`].
    fn create_text_index(
        &self,
        _trx: &dyn EngineTrx,
        _context: &dyn StatementContext,
        _def: &Arc<TableDef>,
        _position: usize,
    ) -> EngineResult<()> {
        Err(EngineError::Unsupported("a full-text index"))
    }

    /// Removes an index of a table, of whatever kind, once `trx` has committed.
    fn drop_index(&self, trx: &dyn EngineTrx, table: TableId, index: IndexId) -> EngineResult<()>;

    /// A handle on an existing table under `def`. Handles are cheap and may be kept as long as the
    /// definition is current.
    fn open_table(&self, def: &Arc<TableDef>) -> EngineResult<Arc<dyn Table>>;

    /// Marks a new table as complete: it has all its rows and becomes visible now. Reads through
    /// snapshots taken before fail.
    fn table_published(&self, _id: TableId) {}

    /// Whether storage of a table exists.
    fn table_exists(&self, id: TableId) -> bool;

    /// Whether there is storage of any table.
    fn has_tables(&self) -> bool {
        false
    }

    /// Called once at start with every table the dictionary knows; storage of all other tables is
    /// removed.
    fn retain_tables(&self, known: &[TableId]) -> EngineResult<()>;

    /// Returns when everything up to `lsn` survives a crash, as far as the server's flush setting
    /// promises it.
    fn wait_durable(&self, lsn: Lsn) -> EngineResult<()>;

    /// Whether [`Self::wait_durable`] would return at once.
    fn is_durable(&self, lsn: Lsn) -> bool;

    /// Returns when everything up to `lsn` survives the end of the process, whatever the flush
    /// setting is: the operating system has it.
    fn wait_written(&self, lsn: Lsn) -> EngineResult<()> {
        self.wait_durable(lsn)
    }

    /// Whether [`Self::wait_written`] would return at once.
    fn is_written(&self, lsn: Lsn) -> bool {
        self.is_durable(lsn)
    }

    /// Returns when everything up to `lsn` survives a loss of power, whatever the flush setting is.
    fn wait_synced(&self, lsn: Lsn) -> EngineResult<()> {
        self.wait_durable(lsn)
    }

    /// Whether [`Self::wait_synced`] would return at once.
    fn is_synced(&self, lsn: Lsn) -> bool {
        self.is_durable(lsn)
    }

    /// Returns the prepared transactions that nobody has: at start those that have not ended, later
    /// those whose commit failed. Their rows are locked.
    fn take_prepared(&self) -> EngineResult<Vec<PreparedTrx>> {
        Ok(Vec::new())
    }

    /// Whether commits and prepared transactions can carry a [`Rider`].
    fn carries_riders(&self) -> bool {
        false
    }

    /// The most bytes that a rider may bring: more than this must not be the answer of
    /// [`Rider::place`].
    fn most_rider_bytes(&self) -> usize {
        0
    }

    /// Makes a rider's bytes part of the log by themselves, at its place among the commits. Returns
    /// the LSN to wait for. If [`Rider::place`] refuses, the result is [`EngineError::Refused`].
    fn append(&self, _rider: &mut dyn Rider) -> EngineResult<Lsn> {
        Err(EngineError::Unsupported("a rider"))
    }

    /// Writes a checkpoint; `sharp` leaves nothing to redo.
    fn checkpoint(&self, sharp: bool) -> EngineResult<()>;

    /// Ends background work after a sharp checkpoint.
    fn shutdown(&self) -> EngineResult<()>;

    /// Reports status counters by name.
    fn status(&self, report: &mut dyn FnMut(&str, u64));

    /// Announces the new value of a server variable, before it takes effect. Returns the value it
    /// gets, which differs if the engine can only go part of the way. Called for every variable
    /// that is assigned a number; an engine ignores most.
    fn set_variable(&self, _name: &str, value: u64) -> u64 {
        value
    }

    /// Reports the transactions that have not ended, and their locks as far as `detail` asks.
    fn inspect(&self, _detail: LockDetail) -> Inspection {
        Inspection::default()
    }

    /// Calls `show` with each session that waits for a row lock and each session it waits for.
    fn row_waits(&self, _show: &mut dyn FnMut(u64, u64)) {}

    /// Sets the observer of this engine's events; it replaces the one before.
    fn observe(&self, _observer: Arc<dyn EngineObserver>) {}
}

/// A transaction of one session in one engine.
pub trait EngineTrx: Send + Sync {
    /// Sets the session this transaction belongs to, for reports.
    fn set_session(&self, _session: u64) {}

    /// Starts a statement; at READ COMMITTED its snapshot. With `snapshot_isolation`, a locking
    /// read that meets a row newer than the transaction's snapshot fails with
    /// [`crate::EngineError::SnapshotConflict`] and ends the transaction.
    fn statement_begin(&self, isolation: Isolation, snapshot_isolation: bool) -> EngineResult<()>;

    /// Takes the transaction's snapshot now (`WITH CONSISTENT SNAPSHOT`). Returns the LSN up to
    /// which it sees commits; `None` if the engine has no such order.
    fn take_snapshot(&self) -> EngineResult<Option<Lsn>>;

    /// Returns a point to roll back to. The executor also undoes a failed statement this way.
    fn savepoint(&self) -> EngineResult<u64>;

    /// Undoes all changes since `savepoint`, which stays valid.
    fn rollback_to(&self, savepoint: u64) -> EngineResult<()>;

    /// Whether the transaction has changes that are not undone.
    fn has_changes(&self) -> bool;

    /// Position of the transaction's snapshot if an index of any table is younger.
    fn old_snapshot(&self) -> Option<u64> {
        None
    }

    /// Promises that [`EngineTrx::commit`] will succeed, also after a crash. Once the LSN is
    /// durable the transaction survives under the name `xid`, and dropping this object does not
    /// undo it. The transaction must not change anything any more. `None` if there is nothing to
    /// keep.
    ///
    /// `rider` goes with the promise; it is left out if there is nothing to keep. If it refuses,
    /// the result is [`EngineError::Refused`]. After an error the transaction is not prepared and
    /// can only be rolled back.
    fn prepare(&self, _xid: &Xid, _rider: Option<&mut dyn Rider>) -> EngineResult<Option<Lsn>> {
        Ok(None)
    }

    /// Ends a transaction that has changed and locked nothing, so that no other one can have
    /// noticed it, and keeps the object for [`Self::restart`]. Returns false and does nothing if
    /// there is something to end.
    fn end_reading(&self) -> bool {
        false
    }

    /// Calls `note` with address and length of the memory it uses, for a prefetch.
    fn memory(&self, _note: &mut dyn FnMut(usize, usize)) {}

    /// Begins another transaction of the session after [`Self::end_reading`].
    fn restart(&self, _read_only: bool) {}

    /// Publishes the changes. Returns the LSN to wait for, `None` if nothing was changed.
    ///
    /// `rider` goes with the changes, and also if there are none. If it refuses, the result is
    /// [`EngineError::Refused`]. After an error everything is undone; but a prepared transaction
    /// stays prepared, and [`Engine::take_prepared`] gives it again.
    fn commit(self: Box<Self>, rider: Option<&mut dyn Rider>) -> EngineResult<Option<Lsn>>;

    /// Undoes everything.
    fn rollback(self: Box<Self>) -> EngineResult<()>;

    /// Lets the engine find its own type again.
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

/// Description of a scan.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Position of the index in the definition; `None` the clustered order.
    pub index: Option<usize>,
    /// Lower end of the range, in key order, also of a reverse scan.
    pub lower: Bound,
    /// Upper end of the range.
    pub upper: Bound,
    /// Reads from the upper end to the lower.
    pub reverse: bool,
    /// Give index entries instead of rows: [`RowSet::entries`], not [`RowSet::rows`].
    pub covering: bool,
    /// Nothing is read but columns of the index and of the clustered key. An engine that can lock
    /// index entries by themselves need not put a shared lock on the rows.
    pub entry_locks: bool,
    /// Only columns with `is_fixed` in the layout are needed: rows may be cut after the fixed part.
    pub fixed_only: bool,
    /// Fill [`RowSet::keys`].
    pub want_keys: bool,
    /// Lock on the rows returned.
    pub lock: LockMode,
    /// Reaction to a locked row.
    pub wait: LockWait,
    /// A row that another transaction has locked is given in its last committed version, without a
    /// lock, and noted in [`RowSet::unlocked`].
    pub semi_consistent: bool,
    /// Of a table in parts, the numbers of those that are read, rising; all of them if `None`.
    pub parts: Option<Arc<[u16]>>,
}

/// Index entries of a covering scan or lookup: each index part's stored value in part order, as a
/// row of [`crate::IndexCodec::entry_layout`].
pub type IndexEntries = ByteRows;

/// Rows an engine hands out or takes.
#[derive(Clone, Debug, Default)]
pub struct RowSet {
    /// Rows in the table's layout (or cut after the fixed part, if the scan allowed).
    pub rows: ByteRows,
    /// Index entries; covering scans fill them instead of `rows`.
    pub entries: IndexEntries,
    /// Clustered keys, if the scan asked for them.
    pub keys: ByteRows,
    /// Filled by [`Table::lookup`]: the number of the key each row was found by.
    pub found_by: Vec<u32>,
    /// Filled by semi-consistent scans: the numbers of the rows given without a lock.
    pub unlocked: Vec<u32>,
}

impl RowSet {
    /// Number of rows, or of entries in their place.
    pub fn count(&self) -> usize {
        self.rows.len() + self.entries.len()
    }

    /// Whether the batch should end early because of its size in bytes.
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

    /// Continues with another range, like a new scan that differs in nothing else.
    fn restart(&mut self, lower: Bound, upper: Bound) -> EngineResult<()>;

    /// Whether the range is known to have no more rows.
    fn has_ended(&self) -> bool {
        false
    }

    /// Releases the locks of some rows of the last batch, as far as the running statement took
    /// them. The rows are given by their numbers in descending order.
    fn unlock(&mut self, _rows: &mut dyn Iterator<Item = usize>) {}
}

/// Result of an insert.
#[derive(Clone, Copy, Debug, Default)]
pub struct InsertInfo {
    /// Rows inserted.
    pub rows: u64,
}

/// Estimated rows in a range.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RangeEstimate {
    /// Rows.
    pub rows: f64,
    /// Whether `rows` was counted, not guessed.
    pub exact: bool,
}

/// Statistics an engine has without reading the table.
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
    /// with it, and notes the key's number in `found_by`. Bounds and direction of `scan` are
    /// ignored.
    fn lookup(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        scan: &Scan,
        keys: &ByteRows,
        out: &mut RowSet,
    ) -> EngineResult<()>;

    /// Begins a search in the full-text index at `position` of [`TableDef::texts`].
    fn search_text<'a>(
        &'a self,
        _trx: &'a dyn EngineTrx,
        _context: &'a dyn StatementContext,
        _position: usize,
    ) -> EngineResult<Box<dyn TextSearch + 'a>> {
        Err(EngineError::Unsupported("a full-text index"))
    }

    /// Inserts rows. An AUTO_INCREMENT column has its final value; the counter follows it.
    fn insert(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        rows: &ByteRows,
    ) -> EngineResult<InsertInfo>;

    /// Replaces the rows with clustered keys `at` by `new`, one each; a row whose clustered key
    /// changed moves. A key that no longer exists is skipped. Returns the number of rows changed.
    ///
    /// `before` is extended by the old row of each key, in the table's layout and in order of `at`;
    /// by an empty row for a key that was skipped. After an error its new rows have no meaning.
    fn update(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        at: &ByteRows,
        new: &ByteRows,
        before: Option<&mut ByteRows>,
    ) -> EngineResult<u64>;

    /// Deletes the rows with clustered keys `at`; returns how many existed. `before` is as for
    /// [`Self::update`].
    fn delete(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        at: &ByteRows,
        before: Option<&mut ByteRows>,
    ) -> EngineResult<u64>;

    /// Reserves `count` values of the AUTO_INCREMENT counter at `offset + n * step`. Returns the
    /// first.
    fn reserve_auto_increment(&self, count: u64, step: u64, offset: u64) -> EngineResult<u64>;

    /// Puts the AUTO_INCREMENT counter from `from` back to `to`, unless it has moved on.
    fn release_auto_increment(&self, from: u64, to: u64);

    /// Sets the next AUTO_INCREMENT value; it stays above all existing values.
    fn set_auto_increment(&self, trx: &dyn EngineTrx, next: u64) -> EngineResult<()>;

    /// Estimates the rows between two keys of an index (`None`: clustered).
    fn estimate(
        &self,
        index: Option<usize>,
        lower: &Bound,
        upper: &Bound,
    ) -> EngineResult<RangeEstimate>;

    /// Whether an index is younger than a transaction's snapshot, which then cannot be read through
    /// it.
    fn is_too_young(&self, _trx: &dyn EngineTrx, _index: usize) -> bool {
        false
    }

    /// Statistics that need no reading.
    fn statistics(&self) -> TableStatistics;

    /// Share of the rows' pages that the engine's cache cannot hold, from 0 to 1.
    fn uncached_share(&self) -> f64 {
        0.0
    }

    /// Number of rows, as in [`Self::statistics`]; the planner asks for it at every statement.
    fn rows(&self) -> u64 {
        self.statistics().rows
    }

    /// Up to `rows` rows spread evenly over the table, for statistics.
    fn sample(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
        rows: usize,
        out: &mut RowSet,
    ) -> EngineResult<()>;

    /// Its columns, if the engine keeps columns of its tables.
    fn columns(&self) -> Option<&dyn ColumnSource> {
        None
    }

    /// Frees storage that nothing refers to, as a crash may leave it. Returns the number of things
    /// freed. The caller lets no other thread change the table meanwhile.
    fn reclaim(&self, _context: &dyn StatementContext) -> EngineResult<u64> {
        Ok(0)
    }

    /// Checks the structure of the table and compares every index with the rows. Returns a text per
    /// fault.
    fn check(
        &self,
        trx: &dyn EngineTrx,
        context: &dyn StatementContext,
    ) -> EngineResult<Vec<String>>;
}
