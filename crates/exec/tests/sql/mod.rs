//! Runner of SQL scripts, shared by the integration tests: the script format ([`script`]) and the
//! server they run on ([`world`]).

pub(crate) mod script;
pub(crate) mod world;
