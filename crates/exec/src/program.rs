//! Stored programs: procedures, functions, triggers and anonymous blocks, run step by step.
//!
//! A body is parsed once per session into a tree of steps ([`compile`]) and walked by a [`machine`].
//! Its statements are planned like prepared ones; local variables are their parameters. A procedure
//! runs in the session that calls it. A function or trigger runs while a statement does, which
//! holds the session: it gets a session of its own that shares the transaction and gives back what
//! it changed ([`sub`]).
//!
//! Must not know packets, or what a statement does.

mod call;
mod compile;
mod cursor;
mod frame;
mod function;
mod handlers;
mod machine;
mod output;
mod rows;
mod signal;
mod sub;
mod trigger;

pub(crate) use call::{call_statement, compound, schema_collation};
pub(crate) use compile::{check_body, check_trigger, resolve_type};
pub(crate) use function::call_function;
pub(crate) use signal::{get_diagnostics, signal};
pub(crate) use trigger::Triggers;
