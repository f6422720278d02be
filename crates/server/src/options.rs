//! Startup options as MariaDB reads them: option files, then the command line, into variables.
//!
//! Must not start anything. Errors are sentences for the log, worded as mariadbd words them.

mod apply;
mod file;
mod other;
mod source;

pub use apply::{Settings, apply};
pub use file::GROUPS;
pub use source::{Sources, collect};
