//! Searches in indexes of the lenient dialect. Natural queries and boolean ones have nothing in
//! common but the words of documents.

mod boolean;
mod climb;
mod natural;
mod query;
mod sieve;

pub(crate) use boolean::Boolean;
pub(crate) use natural::Natural;

#[cfg(test)]
mod tests;
