//! The executor behind connections: one executor session for each client.
//!
//! The only place that names concrete engines. Must not know packets.

mod administration;
mod hooks;
mod settings;
mod system;
