//! `selkie inspect`: what lies in a data directory, in words. Nothing is written there: recovery
//! runs on copies in memory, so that a directory after a crash, or one that a server is using, is
//! looked at as the next start would find it.

mod check;
mod command;
mod files;
mod log;
mod overlay;
mod pages;
mod tree;
mod undo;

pub use command::inspect;
pub(crate) use overlay::Overlay;
