//! Character sets and collations: what bytes mean as characters and how they compare.
//!
//! The tables in `data/` were observed on a MariaDB server (`generate/`), so that order and equality
//! are MariaDB's. Must not know about columns or sessions.

mod collation;
mod identifier;
mod list;
mod registry;

pub use collation::{Collation, CollationId, Pad};
pub use identifier::identifier_eq;
pub use list::Charset;
