//! Plans as text: a tree for people and tests, the table of EXPLAIN, and its JSON.
//!
//! Must not change or interpret plans. The text describes what the executor will do.

mod aliases;
mod arrange;
mod constants;
mod json;
mod known;
mod merged;
mod names;
mod rows;
mod text;
mod tree;

pub use json::json;
pub use rows::{ExactRows, ExplainRow, PartNames, rows};
pub use text::{ConstantTable, Known, query_text};
pub use tree::tree;
