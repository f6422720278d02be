//! Status counters: MariaDB 10.11's list, counted for each session where MariaDB does.
//!
//! A session counts in its own memory. The server's value is the sum of the ended and the running
//! sessions. Must not format result sets.

mod counters;
mod ids;
mod list;
mod show;

pub use counters::{Counters, SharedCounters, Totals};
pub use ids::counter;
pub use list::{
    StatusDef, StatusId, StatusScope, com_counter, find_status, shown_statuses, status_list,
};
pub use show::{Gauges, global_rows, session_rows};
