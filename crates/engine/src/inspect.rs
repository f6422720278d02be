//! Reports of an engine about its running transactions and their locks.
//!
//! Plain facts only: the asker adds names, query texts and decoded keys. A report is not a
//! consistent snapshot: parts of it may have ended by the time it is read. Nothing here may be used
//! to decide what a transaction does.

use std::time::SystemTime;

use crate::{IndexId, Isolation, TableId};

/// State of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransactionPhase {
    /// It runs, or waits for its client.
    #[default]
    Running,
    /// It waits for a lock.
    LockWait,
    /// It undoes changes.
    RollingBack,
    /// It publishes its changes.
    Committing,
    /// It has promised to commit (`XA PREPARE`).
    Prepared,
}

/// A transaction that has not ended.
#[derive(Clone, Debug)]
pub struct TransactionInfo {
    /// Its number, never given twice while the server runs.
    pub id: u64,
    /// The session it belongs to; `None` if it has lost its session or is the engine's own.
    pub session: Option<u64>,
    /// Its state.
    pub phase: TransactionPhase,
    /// When it began.
    pub started: SystemTime,
    /// Start of its wait for a lock; `None` if it does not wait.
    pub wait_started: Option<SystemTime>,
    /// Its isolation level.
    pub isolation: Isolation,
    /// Whether it was started as read only.
    pub read_only: bool,
    /// Whether it holds a snapshot.
    pub has_snapshot: bool,
    /// Rows changed, which a rollback has to undo.
    pub rows_modified: u64,
    /// Undo records made.
    pub undo_records: u64,
    /// Records locked explicitly.
    pub rows_locked: u64,
    /// Lock structures held.
    pub lock_structs: u64,
    /// Bytes of memory of the lock structures.
    pub lock_bytes: u64,
    /// Tables it has changed or locked.
    pub tables: u64,
}

/// Mode of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockStrength {
    /// S
    Shared,
    /// X
    Exclusive,
    /// IS, of tables.
    IntentionShared,
    /// IX, of tables.
    IntentionExclusive,
    /// AUTO_INC, of tables.
    AutoIncrement,
}

/// Part of a table that a lock covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockExtent {
    /// A table.
    Table,
    /// A record and the gap before it.
    NextKey,
    /// A record without its gap.
    Record,
    /// The gap before a record.
    Gap,
    /// An insert's request for the gap before a record.
    InsertIntention,
}

/// A lock, held or waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockInfo {
    /// The transaction.
    pub transaction: u64,
    /// Its mode.
    pub strength: LockStrength,
    /// The part it covers.
    pub extent: LockExtent,
    /// The table.
    pub table: TableId,
    /// The index; `None` is the clustered order, or a lock of the table.
    pub index: Option<IndexId>,
    /// Key bytes of the record; `None` for a lock of the table and for the gap after the last
    /// record.
    pub key: Option<Box<[u8]>>,
    /// Number of the record in its page, in the order of keys: the first is 2, the end of the page
    /// 1; 0 if the report did not look for it.
    pub record: u32,
    /// Whether it is held, not waited for.
    pub granted: bool,
}

/// A requested lock and one that blocks it, by position in [`Inspection::locks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockWaitInfo {
    /// The lock that a transaction waits for.
    pub requested: usize,
    /// A lock that blocks it.
    pub blocking: usize,
}

/// Amount of lock data in a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockDetail {
    /// None.
    #[default]
    None,
    /// Requested locks and the locks that block them.
    Waits,
    /// All of them.
    All,
}

/// A report about an engine's transactions.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// Transactions that have not ended, oldest first.
    pub transactions: Vec<TransactionInfo>,
    /// Locks, as far as asked for.
    pub locks: Vec<LockInfo>,
    /// Waits: which lock blocks which.
    pub waits: Vec<LockWaitInfo>,
}

/// One transaction of a deadlock.
#[derive(Clone, Debug)]
pub struct DeadlockParty {
    /// The transaction as it was then.
    pub transaction: TransactionInfo,
    /// The lock it waits for.
    pub requested: LockInfo,
    /// Its lock that the previous transaction of the cycle waits for.
    pub held: Vec<LockInfo>,
}

/// A cycle of transactions: each waits for the next, the last for the first.
#[derive(Clone, Debug)]
pub struct Deadlock {
    /// When it was found.
    pub at: SystemTime,
    /// The transactions.
    pub parties: Vec<DeadlockParty>,
    /// Position of the transaction that is rolled back.
    pub victim: usize,
}

/// Receiver of events inside an engine, told while they happen.
///
/// Called without latches held, but with locks of the engine's lists: it must not call the engine.
pub trait EngineObserver: Send + Sync {
    /// A deadlock was found; its victim has not been woken yet.
    fn deadlock(&self, deadlock: &Deadlock);

    /// A session begins to wait for a row that another transaction has. Called without any locks:
    /// it may ask who waits for whom.
    fn row_wait(&self, _session: u64) {}
}
