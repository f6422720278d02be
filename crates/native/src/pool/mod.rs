//! The buffer pool: pages of files in memory, latched. `Pool::shared` / `exclusive` / `optimistic`
//! are the only ways to a page's bytes. Translation is an array of words per file (`translate`,
//! `word`), frames are in one huge-page arena, a clock chooses victims (`evict`), dirty pages leave
//! through `write`. The pool does not know the meaning of pages and never logs anything. It must
//! not write a page before the page's log is durable (I1).

mod arena;
mod evict;
mod frame;
mod guard;
mod miss;
mod optimistic;
mod readahead;
mod resize;
mod translate;
mod wait;
mod word;
mod write;

pub(crate) use arena::Arena;
pub(crate) use guard::{ExclusiveGuard, SharedGuard};
pub(crate) use miss::{MIN_FRAMES, Pool};
pub(crate) use optimistic::{OptimisticGuard, Restart};
pub(crate) use readahead::RUN_PAGES;
pub(crate) use wait::Backoff;
pub(crate) use write::doublewrite_bytes;
