//! The executor behind connections: one executor session for each client.
//!
//! The only place that names concrete engines. Must not know packets.

mod account_tables;
mod administration;
mod com;
mod engines;
mod events;
mod hooks;
mod log_tables;
mod open;
mod replica;
mod session;
mod settings;
mod sys_schema;
mod system;

pub(crate) use hooks::routine_kind;
pub use open::inspect;
pub(crate) use open::open_backend;
pub(crate) use system::Registered;
