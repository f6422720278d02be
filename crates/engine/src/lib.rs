//! The contract between the executor and any storage engine.
//!
//! # What it is
//! Table definitions as engines see them, the traits an engine implements, and the encoding of
//! index keys that every engine shares. Batches in, batches out: one virtual call per statement
//! step, not per row.
//!
//! # Words
//! *Clustered key*: the key bytes that identify a row: the primary key's encoding, or an 8-byte
//! row number for a table without one. *Key bytes*: memcomparable encodings, so that an engine
//! only ever compares bytes. *Entry*: the item of an index for a row.
//!
//! # Invariants
//! - ENG-1 After an error of [`Table::insert`] or [`Table::update`] naming a row, the rows before
//!   it are done and that row has left no trace; the executor decides about the undo.
//! - ENG-2 `commit` publishes and returns without waiting for a disk; the caller answers its
//!   client only after [`Engine::wait_durable`].
//! - ENG-3 A row handed out is valid under the table's [`TableDef::layout`].
//!
//! # Not here
//! No engine is named, no SQL is parsed, no file is touched.

mod ahead;
mod blocking;
mod columns;
mod contract;
mod def;
mod error;
mod inspect;
mod kept;
mod keys;
mod moment;
mod named;
mod personality;
mod range;
mod rider;
mod stripe;
#[cfg(feature = "testing")]
pub mod testing;
mod text;

pub use ahead::{CACHE_LINE, count_of, fetch_ahead};
pub use blocking::{
    WaitObserver, blocking, going_on, note_waits, noted_wait, observe_waits, reading_much,
};
pub use columns::{
    ColumnReader, ColumnSource, ColumnSpec, ColumnState, GroupShape, GroupView, PartRows,
    TouchedKey, TouchedKeys,
};
pub use contract::{
    Bound, BuildStage, Capabilities, Cursor, Engine, EngineTrx, IndexEntries, InsertInfo,
    Isolation, LockMode, LockWait, Lsn, NoWait, PreparedTrx, RangeEstimate, RowSet, Scan,
    StatementContext, Table, TableStatistics, WaitKind, Xid,
};
pub use def::{
    ColumnDef, IndexDef, IndexId, IndexKind, IndexPart, StopwordList, TableDef, TableId, TextDef,
    TextDialect, TextRules,
};
pub use error::{EngineError, EngineResult};
pub use inspect::{
    Deadlock, DeadlockParty, EngineObserver, Inspection, LockDetail, LockExtent, LockInfo,
    LockStrength, LockWaitInfo, TransactionInfo, TransactionPhase,
};
pub use kept::{Keepable, Kept, KeptSlot};
pub use keys::{IndexCodec, PeriodKey, automatic_number, next_in_series, prefix_end};
pub use moment::Moment;
pub use named::NamedEngine;
pub use personality::{
    ColumnLimits, DistinctKeys, FullText, KeptStatistics, KeyLimits, Maintenance, Optimizes,
    OptionValues, OwnOption, Personality, RowFormats, RowHabits, Shown, StatementLimits,
};
pub use range::KeyRange;
pub use rider::{Refusal, Rider, RiderFiles};
pub use stripe::{OwnLines, Parts};
pub use text::{TextList, TextSearch, TextSize, WantedWords};
