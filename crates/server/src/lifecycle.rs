//! Starting and stopping the server process.
//!
//! Must not contain the work of a running server.

mod command_line;
mod data_dir;
mod open_files;
mod signals;
mod start;
mod tls;

pub(crate) use command_line::main;
pub use data_dir::DataDir;
pub(crate) use open_files::most_connections;
pub use start::{OpenBackend, Running, Start, start};
