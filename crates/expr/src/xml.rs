//! XML documents and XPath expressions, in the subset of MariaDB.
//!
//! A document is a flat list of nodes in document order ([`document`]). A path is parsed once into
//! a tree ([`path`], [`parse`]) and evaluated over documents ([`evaluate`]). Works on bytes of any
//! charset in which markup is ASCII. Must not know columns or batches.

mod axes;
mod document;
mod evaluate;
mod parse;
mod path;

pub(crate) use document::Document;
pub(crate) use evaluate::Evaluation;
pub(crate) use path::{Kind, Path};
