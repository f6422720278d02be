//! Numbers of groups: one, lists of them, what a log has had, what a replica has applied.
//!
//! Must not know events or files.

mod binlog_state;
mod id;
mod position;
mod stored;

pub use binlog_state::{BinlogState, OutOfOrder};
pub use id::{Gtid, ParseError};
pub use position::Position;
pub(crate) use stored::{GTID_BYTES, gtid, gtids, put_gtid, put_gtids};
