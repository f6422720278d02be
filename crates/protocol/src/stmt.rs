//! Prepared statements in the protocol: the answer to PREPARE, the parameters of EXECUTE.
//!
//! Must not keep statements; the session does.

mod bulk;
mod execute;
mod param;
mod prepared;

pub use bulk::{Bulk, BulkCell};
pub use execute::{CursorType, Execute};
pub use param::{IntWidth, Param, ParamType};
pub use prepared::put_prepared;
