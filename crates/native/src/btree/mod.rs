//! B+trees of byte strings: one tree per data file, its root at a fixed page. The tree knows keys
//! and values. The first eight bytes of a leaf value are a version word; each leaf keeps the
//! highest sequence of its words. The meaning of versions, and the right to see or change them, is
//! decided by the callers.
//!
//! # Concurrency
//! Inner nodes are read optimistically and change only under the tree's structure mutex. A leaf is
//! found by its fences: after latching a page, a descent checks that it is a leaf and that the key
//! lies between its fences, and restarts if not. So there are no links between siblings, and no
//! latch is held while another is awaited, except top to bottom and left to right inside a
//! structure change.

mod blob;
mod bulk;
mod change;
mod check;
mod descend;
mod gate;
mod node;
mod salvage;
mod split;
mod tree;

pub(crate) use blob::{free_chain, next_of_chain, read_chain, write_chain};
pub(crate) use bulk::BulkLoad;
pub(crate) use change::{TreeRedo, VER_OFFSET_BITS};
pub(crate) use descend::Seek;
pub(crate) use node::Node;
pub(crate) use tree::{Change, Decision, Hint, MAX_ENTRY, MAX_KEY, Tree};
