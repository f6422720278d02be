//! The rules of a replica: what it has applied, which tables it takes, how it reads what it
//! received.
//!
//! No sockets, threads, files or SQL here: the server has those.

mod course;
mod ends;
mod filter;
mod flight;
mod kept;
mod note;
mod relay;
mod schedule;
mod stream;
mod tracker;

pub use course::Course;
pub use ends::GroupEnds;
pub use filter::{BadRule, FilterRule, ReplicaFilter};
pub use flight::{Entry, Flights};
pub use kept::{Kept, Known, RelayPlace, Walk};
pub use note::{Applied, Note, Place};
pub use relay::RelayWriter;
pub use schedule::{Facts, Front, Lane, ParallelMode, Ticket, Touch};
pub use stream::{Stream, StreamError, Taken, Wants};
pub use tracker::{MOST_NOTE, Tracker};
