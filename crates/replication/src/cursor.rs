//! The way of one reader through the binary log: where it begins, what it gets, and in which form.
//!
//! # Way of a dump
//! [`Dump::begin`] finds the place that an [`Ask`] names, by file and offset or by the groups the
//! reader has. [`Dump::step`] then hands over the events behind it, one file after the other, up to
//! the place that the caller allows: the caller alone knows what is durable. Events that no file
//! has are made here: the name of each file, heartbeats, and lists of groups for a reader that gets
//! fewer groups than there are.
//!
//! # Invariants
//! * REPL-7: an event is sent as it is in the file, with the same length and end, or not at all. An
//!   event that an old reader does not know is replaced by one of the same length.
//! * REPL-8: of a group either all events are sent or none.
//!
//! # Not here
//! No sockets, no threads, no clock: the caller sends, waits, and says how far it may go.

mod ask;
mod dump;
mod groups;
mod made;
mod old;
mod refusal;
mod start;

pub use ask::{Annotations, Ask, Capability, Known, MarkedEvents, Start};
pub use dump::{Dump, Passed, Step};
pub use refusal::{Reason, Refusal};
pub use start::Found;
