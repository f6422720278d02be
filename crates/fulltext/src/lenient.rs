//! Searches in indexes of the lenient dialect. Natural queries and boolean ones have nothing in
//! common but the words of documents.

mod bag;
mod boolean;
mod climb;
mod indexed;
mod natural;
mod query;
mod sieve;

pub use bag::Size;
pub(crate) use bag::bag;
pub(crate) use boolean::Boolean;
pub(crate) use indexed::search;
pub(crate) use natural::Natural;

#[cfg(test)]
mod tests;
