//! The server around the executor: listeners, sessions, authentication, system variables, status.
//!
//! Must not contain SQL semantics: the crates below parse, plan and run statements. This is the
//! only crate that names concrete engines.

#![forbid(unsafe_code)]

pub mod accounts;
mod admin;
pub mod backend;
mod binlog;
mod dumps;
mod events;
mod executor;
mod innodb;
mod inspect_binlog;
mod key_caches;
pub mod lifecycle;
mod locks;
mod log;
mod login;
mod memory;
pub mod net;
mod optimizer_trace;
pub mod options;
mod panics;
mod performance;
mod profiles;
mod query_log;
mod replica;
mod scheduler;
mod semi_sync;
pub mod server;
pub mod session;
pub mod sessions;
mod slots;
pub mod status;
mod tables;
mod thread_pool;
mod time;
mod user_statistics;
pub mod variables;

pub use executor::inspect;
pub use log::LogTarget;

/// Runs the program, with the executor as its backend, and returns its exit code.
pub fn main(arguments: &[String]) -> std::process::ExitCode {
    lifecycle::main(arguments, &executor::open_backend)
}
