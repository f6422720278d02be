//! The transactional engine: files, log, buffer pool, B+tree, transactions, recovery.
//!
//! Lower half, from the bottom up: `disk`, `page`, `log`, `pool`, `mtr`, `space`, `checkpoint`,
//! `recovery`, and `storage`, which joins them in one object. It knows pages, not rows.
//!
//! Upper half: `btree` makes ordered maps of pages, `trx` keeps versions and transactions of their
//! entries, `columns` encoded copies of key ranges, `lock` row locks and waits, `table` maps rows
//! and indexes to entries, and `engine` is the contract's engine on top. The lower half must not
//! use the upper.

mod btree;
mod checkpoint;
mod columns;
#[cfg(any(test, feature = "testing"))]
pub mod decoders;
mod disk;
mod engine;
mod error;
mod failpoint;
mod ids;
mod inspect;
mod lock;
mod log;
mod mtr;
mod page;
mod pool;
mod recovery;
mod space;
mod storage;
mod stripe;
mod sync;
mod table;
mod trx;

pub use engine::{FlushAtCommit, MakeFile, NativeEngine, NativeOptions};
pub use inspect::inspect;

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod format_tests;
#[cfg(all(test, feature = "models"))]
mod models;
