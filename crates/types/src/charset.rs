//! Character sets and collations: characters of a byte string, and their order.
//!
//! The tables in `data/` were observed on a MariaDB server (`generate/`), so that order and
//! equality are MariaDB's. Must not know about columns or sessions.

mod case;
mod codec;
mod collation;
mod compare;
mod convert;
mod eight_bit;
mod find;
mod hash;
mod identifier;
mod levels;
mod like;
mod list;
mod multibyte;
mod registry;
mod sort_hash;
mod tables;
mod tailoring;
#[cfg(test)]
mod tests;
mod text;
mod uca1400;
mod weight_string;
pub(crate) mod weights;
mod whole;

pub(crate) use collation::Rule;
pub use collation::{Collation, CollationId, Pad};
pub use identifier::{first_duplicate, identifier_eq, in_one_case};
pub use like::{AsciiWord, LikePattern};
pub use list::Charset;
pub use sort_hash::SortHash;
pub use weight_string::WeightOptions;
