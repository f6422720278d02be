//! `selkie inspect`: describes the content of a data directory in words. Must not write to it:
//! recovery runs on copies in memory. So a directory after a crash, or one that a server is using,
//! is shown as the next start would find it.

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
