//! What an engine tells of its running transactions and their locks.
//!
//! Plain facts for reports: names, texts of queries and decoded keys are the asker's. A report is a
//! look in passing: parts of it may have ended by the time it is read. Nothing here may be used to
//! decide what a transaction does.

use std::time::SystemTime;

use crate::{IndexId, Isolation, TableId};

/// What a transaction is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransactionPhase {
    /// It runs, or waits for its client.
    #[default]
    Running,
    /// It waits for a lock.
    LockWait,
    /// It takes changes back.
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
    /// What it is doing.
    pub phase: TransactionPhase,
    /// When it began.
    pub started: SystemTime,
    /// Since when it waits for a lock.
    pub wait_started: Option<SystemTime>,
    /// Its isolation.
    pub isolation: Isolation,
    /// Whether it was begun as one that changes nothing.
    pub read_only: bool,
    /// Whether it holds a snapshot.
    pub has_snapshot: bool,
    /// Rows changed: what a rollback has to take back.
    pub rows_modified: u64,
    /// Undo records made.
    pub undo_records: u64,
    /// Records locked explicitly.
    pub rows_locked: u64,
    /// Lock structures held.
    pub lock_structs: u64,
    /// Bytes of memory of those.
    pub lock_bytes: u64,
    /// Tables it has changed or locked.
    pub tables: u64,
}

/// How strong a lock is.
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

/// What a lock covers.
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
    /// An insert's claim on the gap before a record.
    InsertIntention,
}

/// A lock, held or waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockInfo {
    /// The transaction.
    pub transaction: u64,
    /// How strong it is.
    pub strength: LockStrength,
    /// What it covers.
    pub extent: LockExtent,
    /// The table.
    pub table: TableId,
    /// The index; `None` is the clustered order, or a lock of the table.
    pub index: Option<IndexId>,
    /// Key bytes of the record; `None` for a lock of the table and for the gap after the last
    /// record.
    pub key: Option<Box<[u8]>>,
    /// Number of the record in its page, in the order of keys: the first is 2, the end of the page
    /// 1; 0 if it was not looked for.
    pub record: u32,
    /// Whether it is held, not waited for.
    pub granted: bool,
}

/// A lock waited for and one in its way, by position in [`Inspection::locks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockWaitInfo {
    /// The lock that is waited for.
    pub requested: usize,
    /// A lock in its way.
    pub blocking: usize,
}

/// How much of the locks a report contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockDetail {
    /// None.
    #[default]
    None,
    /// Those waited for and those in their way.
    Waits,
    /// All of them.
    All,
}

/// A look at an engine's transactions.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// Transactions that have not ended, oldest first.
    pub transactions: Vec<TransactionInfo>,
    /// Locks, as far as asked for.
    pub locks: Vec<LockInfo>,
    /// Who waits for whom.
    pub waits: Vec<LockWaitInfo>,
}

/// One transaction of a deadlock.
#[derive(Clone, Debug)]
pub struct DeadlockParty {
    /// The transaction as it was then.
    pub transaction: TransactionInfo,
    /// The lock it waits for.
    pub requested: LockInfo,
    /// The lock of it that the transaction before it in the circle waits for.
    pub held: Vec<LockInfo>,
}

/// A circle of transactions that wait for each other; each waits for the next, the last for the
/// first.
#[derive(Clone, Debug)]
pub struct Deadlock {
    /// When it was found.
    pub at: SystemTime,
    /// The transactions.
    pub parties: Vec<DeadlockParty>,
    /// Position of the one that is rolled back.
    pub victim: usize,
}

/// Somebody who is told what happens inside an engine, while it happens.
///
/// Called without latches held, but with locks of the engine's lists: it must not call the engine.
pub trait EngineObserver: Send + Sync {
    /// A deadlock was found; its victim has not been woken yet.
    fn deadlock(&self, deadlock: &Deadlock);
}
