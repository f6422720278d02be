//! Tables: a clustered tree of rows and a tree per other index, all with the same kind of versioned
//! entries. Translates rows and keys of the contract to entries of trees and back.

mod build;
mod check;
mod column_build;
mod column_check;
mod column_reader;
mod cursor;
mod delete;
mod entry;
mod estimate;
mod files;
mod growing;
mod handle;
mod insert;
mod leaf_scan;
mod lookup;
mod next_key;
mod period;
mod rows;
mod sweep;
mod text;
mod update;
pub(crate) mod value;

pub(crate) use build::BuildEntry;
pub(crate) use files::{FileIdentity, TableFiles};
pub(crate) use growing::Growing;
pub(crate) use handle::{NativeTable, own_trx};
pub(crate) use sweep::sweep_marks;
pub(crate) use text::{TextIndex, has_lists, index_of, trees_of};
