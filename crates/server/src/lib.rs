//! Listeners, sessions, authentication, system variables, status: the server around the executor.
//!
//! Must not contain SQL semantics: statements are parsed, planned and run by the crates below. The
//! only place that names concrete engines.

pub mod accounts;
pub mod options;
pub mod variables;
