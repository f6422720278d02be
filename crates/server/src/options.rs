//! Startup options in MariaDB's format: option files, then the command line, into variables.
//!
//! Must not start anything. Errors are sentences for the log, in mariadbd's words.

mod apply;
mod file;
mod logs;
mod other;
mod replica;
mod source;

pub use apply::{Settings, apply};
pub use file::GROUPS;
pub use logs::BinlogOptions;
pub use replica::ReplicaOptions;
pub use source::{Sources, collect};
