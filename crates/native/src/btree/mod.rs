//! B+trees of byte strings: one tree per data file, its root at a fixed page. The tree knows keys,
//! values and, in a leaf value's first eight bytes, a version word of which it keeps the highest
//! sequence per leaf. What versions mean, who may see or change what, is decided by its callers.
//!
//! # Concurrency
//! Inner nodes are read optimistically and change only under the tree's structure mutex. A leaf is
//! found by its fences: whoever latches a page checks that it is a leaf and that the key lies
//! between its fences, and starts over if not, so no link between siblings is followed and no latch
//! is held while another is awaited, except top to bottom and left to right inside a structure
//! change.

mod blob;
mod bulk;
mod change;
mod check;
mod descend;
mod node;
mod salvage;
mod split;
mod tree;

pub(crate) use blob::{free_chain, next_of_chain, read_chain, write_chain};
pub(crate) use bulk::BulkLoad;
pub(crate) use change::{TreeRedo, VER_OFFSET_BITS};
pub(crate) use descend::Seek;
pub(crate) use node::Node;
pub(crate) use tree::{Decision, Hint, MAX_ENTRY, MAX_KEY, Tree};
