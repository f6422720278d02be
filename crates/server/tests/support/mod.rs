//! A backend that answers a few fixed statements, and a client that speaks raw packets.
//!
//! Must not grow towards an executor: it exists to test what lies between socket and statements.
#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod client;
pub(crate) mod double;
