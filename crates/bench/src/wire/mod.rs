//! A client of the MySQL protocol with minimal cost: values that nothing reads are not decoded.
//!
//! Must not use the server's code. Must not retry or hide an error.

mod auth;
mod connection;
mod packet;
mod response;
mod rows;

pub(crate) use auth::{Login, hide_capabilities};
pub(crate) use connection::{Address, Connection};
pub(crate) use packet::{begin_packet, end_packet, put_length_encoded};
pub(crate) use response::{Outcome, Scanner};
pub(crate) use rows::{Answer, ServerError};
