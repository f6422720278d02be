//! Events: their rows in `mysql.event`, their times, what SHOW tells of them, and their runs.
//!
//! The statements that define events are in `ddl`; the queue of due times is the server's.
//!
//! # Invariants
//! - EVENT-1 A due time is marked as run, durably, before the body begins: after a crash it does
//!   not run again.
//! - EVENT-2 The next due time follows from definition, time zone and present time alone.

mod due;
mod run;
mod shown;
mod table;

pub(crate) use due::lock_name;
pub use due::{Taken, load, take};
pub use run::run;
pub(crate) use shown::EventList;
pub(crate) use table::{EventTable, TABLE};
