//! Status counters: MariaDB 10.11's list, counted by session where MariaDB does.
//!
//! A session counts in memory of its own; the server's value is the sum of the sessions that ended
//! and those that run. Must not format result sets.

mod counters;
mod ids;
mod list;
mod show;

pub use counters::{Counters, SharedCounters, Totals};
pub use ids::counter;
pub use list::{StatusDef, StatusId, StatusScope, com_counter, find_status, status_list};
pub use show::{Gauges, global_rows, session_rows};
