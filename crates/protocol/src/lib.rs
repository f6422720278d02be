//! MySQL packets as a codec without I/O: bytes in, values out, and the reverse.
//!
//! Must not know the executor, sockets or threads. Every decoder is total: for any bytes it returns
//! a value or an error, and never panics.

#![forbid(unsafe_code)]

pub mod auth;
pub mod capabilities;
pub mod client;
pub mod command;
pub mod compressed;
pub mod error;
pub mod field_type;
pub mod frame;
pub mod greeting;
pub mod login;
pub mod output;
pub mod packet;
pub mod reader;
pub mod replica;
pub mod row;
pub mod status;
pub mod stmt;
pub mod track;
pub mod writer;

pub use capabilities::Capabilities;
pub use command::Command;
pub use error::{DecodeError, DecodeResult};
pub use field_type::FieldType;
pub use frame::{FrameError, FrameReader};
pub use greeting::Greeting;
pub use login::{ChangeUser, Login, SslRequest};
pub use output::Output;
pub use status::Status;
