//! The MEMORY engine: the simplest correct engine, and the model that others are tested against.
//!
//! # What it is
//! Ordered maps from key bytes to row bytes behind one lock per table. As MariaDB's MEMORY it does
//! not roll back changes of rows; [`MemoryEngine::model_of`] makes one that does, for tests.
//!
//! # Not here
//! No snapshots and no row locks: readers see the newest changes of all transactions.

#![forbid(unsafe_code)]

mod cursor;
mod data;
mod engine;
mod personality;
mod table;
mod trx;

pub use engine::MemoryEngine;
