//! `selkie bench`: the laboratory. Every table and graph of the field's benchmarks with one
//! command, against any server that speaks the MySQL protocol.
//!
//! May use none of the server's crates, so that what it measures is what a client sees. Talks only
//! to the servers it is told of. What it starts, it stops.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of the command line")]

mod commands;
mod dbt3;
mod error;
mod floor;
mod insert;
mod machine;
mod oltp;
mod report;
mod server;
mod stop;
mod wire;

pub use commands::main;
