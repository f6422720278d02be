//! The log that is written: caches, places, files, crashes.
//!
//! Must not use real files: `files.rs` is a file system that can lose what was not made durable.

#![allow(clippy::indexing_slicing, reason = "a test that indexes wrongly fails")]

mod caches;
mod crashes;
mod dumps;
mod engine;
mod files;
mod lives;
mod places;
mod threads;
