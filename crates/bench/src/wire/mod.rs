//! A client of the MySQL protocol, as cheap as it can be: no values are decoded that nobody reads.
//!
//! May use nothing of the server. Must not retry or hide an error.

mod auth;
mod connection;
mod packet;
mod response;
mod rows;

pub(crate) use connection::{Address, Connection};
pub(crate) use packet::{begin_packet, end_packet, put_length_encoded};
pub(crate) use response::{Outcome, Scanner};
pub(crate) use rows::{Answer, ServerError};
