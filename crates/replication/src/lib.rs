//! The binary log: events, row images, GTIDs, files of events and their text, and a log that is
//! written.
//!
//! # What it is
//! A codec of MariaDB's binary log, both ways, and the rules about the numbers of groups. What
//! MySQL alone writes is read where it costs nothing, and carried as bytes otherwise.
//!
//! # Words
//! *Event*: header, body, checksum. *Format*: what a FORMAT_DESCRIPTION event says of the events
//! behind it. *Group*: the events from one GTID to what ends it. *Image*: a row as a rows event has
//! it. *Present columns*: those an image has.
//!
//! # Invariants
//! * REPL-1: a decoder gives a value or an error for any bytes, and allocates in proportion to
//!   them.
//! * REPL-2: an event of MariaDB that was decoded is encoded as the same bytes.
//! * REPL-3: lengths of fixed parts come from the format received, never from this crate's own.
//!
//! # Not here
//! No sockets, no threads, no clock, no `std::fs`, no SQL: callers hand over bytes and get bytes.
//! `log` writes files through a trait.

#![forbid(unsafe_code)]

mod bytes;
pub mod codec;
pub mod cursor;
mod error;
pub mod file;
mod filter;
pub mod gtid;
pub mod images;
pub mod log;
pub mod replica;
pub mod show;

pub use codec::{Event, EventKind, Format, Frame, Header};
pub use error::{DecodeError, DecodeResult};
pub use filter::DatabaseFilter;
pub use gtid::Gtid;
