//! `selkie bench`: benchmarks with the tables and graphs of the field, each with one command,
//! against any server that speaks the MySQL protocol.
//!
//! Must not use the server's crates: the measured server is a separate process. Connects only to
//! the servers named on the command line. Stops every server it has started.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of the command line")]

mod commands;
mod dbt3;
mod error;
mod floor;
mod insert;
mod machine;
mod oltp;
mod pages;
mod report;
mod server;
mod stop;
mod wire;

pub use commands::main;
