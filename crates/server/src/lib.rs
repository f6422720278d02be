//! Listeners, sessions, authentication, system variables, status: the server around the executor.
//!
//! Must not contain SQL semantics: statements are parsed, planned and run by the crates below. The
//! only place that names concrete engines.

pub mod accounts;
pub mod backend;
pub mod contract;
pub mod lifecycle;
mod log;
mod login;
pub mod net;
pub mod options;
pub mod server;
pub mod session;
pub mod sessions;
pub mod status;
mod time;
pub mod variables;

pub use log::LogTarget;
