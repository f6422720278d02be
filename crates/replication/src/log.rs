//! The binary log as it is written: groups get places, ride with commits, and come into files.
//!
//! # Way of a group
//! A [`Cache`] holds a transaction's events. [`BinaryLog::group`] makes a [`Group`] of them, the
//! rider of the commit. `place` takes its number and its place under the engine's order lock;
//! `fill` encodes the sealed events for the engine's log, and queues a copy. Once the engine says
//! that its log is durable up to an LSN, [`BinaryLog::write_upto`] writes the queued copies into
//! files. A change of the files themselves, or of the state, is a [`Control`], a rider too.
//!
//! # Recovery
//! Riders' bytes are records. Writing a record into the files is the same code before a crash, from
//! the queue, and after it, from the engine's log; each record has its place, so writing one twice
//! changes nothing.
//!
//! # Invariants
//! * REPL-4: places are without gap, in the order of records.
//! * REPL-5: after a crash, files have no byte of a record that is not in the engine's log. Records
//!   that remove files are written only when they are durable there.
//! * REPL-6: what `place` said is what `fill` appends.
//!
//! # Not here
//! No sockets, no threads, no clock, and no `std::fs`: [`LogFiles`] is the file system. No lock is
//! held over I/O but that of the writer and that of who makes room.

mod binary_log;
mod cache;
mod control;
mod counts;
mod files;
mod group;
mod large;
mod life;
mod limits;
mod position;
mod purge;
mod record;
mod scan;
mod seal;
mod spill;
mod tip;
mod writer;

pub use binary_log::{BinaryLog, Refused, Settings};
pub use cache::{Cache, CacheError, CacheMark};
pub use control::Control;
pub use counts::{Caches, Counts};
pub use files::{FileNumber, LogFiles, Place};
pub use group::{Group, GroupHead};
pub use limits::CacheLimits;
pub use scan::{FileScan, ScanError};
