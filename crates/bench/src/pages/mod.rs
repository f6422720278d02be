//! Recordings of what an application sends, and the player that sends them again.
//!
//! Must not interpret statements: a recording has the bytes that the application sent.

mod digest;
mod player;
mod proxy;
mod recording;

pub(crate) use digest::{Class, classes};
pub(crate) use player::{Connections, Played, play_class, play_pages};
pub(crate) use proxy::record;
pub(crate) use recording::{Page, parse};
