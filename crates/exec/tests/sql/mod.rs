//! The runner of SQL scripts.

pub(crate) mod script;
pub(crate) mod world;
