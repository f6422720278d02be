//! A backend that answers a few fixed statements, and a client that sends raw packets.
//!
//! Must not grow into an executor: it tests the layers between socket and statements.
#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod client;
pub(crate) mod double;
