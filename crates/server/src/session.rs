//! One client's session: commands in, packets out.
//!
//! Must not run SQL itself; a [`crate::backend::BackendSession`] does.

mod acks;
mod bulk;
mod connection;
mod cursor;
mod debt;
mod dispatch;
mod dump;
mod habits;
mod head;
mod metadata;
mod params;
mod pooled;
mod reply;
mod rows;
mod runner;
mod shared;
mod statements;
mod timeouts;
mod watch;

pub use crate::sessions::Door;
pub(crate) use connection::{connect_timeout, serve};
pub use metadata::column_def;
pub(crate) use pooled::PooledSession;
pub(crate) use reply::text_form;
pub use shared::Shared;
