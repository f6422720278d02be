//! Plans as text: a tree for people and tests, the table of EXPLAIN, and its JSON.
//!
//! Must not change or interpret plans. The text describes what the executor will do.

mod aliases;
mod arrange;
mod blocks;
mod constants;
mod ends;
mod having;
mod joins;
mod json;
mod json_text;
mod kept_results;
mod keys;
mod known;
mod lookups;
mod merged;
mod names;
mod numbers;
mod outer_columns;
mod outer_values;
mod pulled;
mod readers;
mod remarks;
mod rows;
mod run_each;
mod syntax;
mod text;
mod trace;
mod tree;
mod units;
mod versions;
mod work;

pub use blocks::own_blocks;
pub use having::tested;
pub use json::{Times, json};
pub(crate) use keys::key_length;
pub use rows::{ExactRows, ExplainRow, Facts, PartNames, WorkOf, rows};
pub use text::{ConstantTable, ConstantValue, Known, Never, query_text, selects};
pub use trace::{QueryTexts, query_texts, trace};
pub use tree::tree;
pub use work::{JoinRun, Run, SortShown, Work};
