//! The runner of SQL scripts.

pub mod script;
pub mod world;
