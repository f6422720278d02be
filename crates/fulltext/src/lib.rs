//! Full text without I/O: words of documents, stopwords, the two query languages, and ranks.
//!
//! # Words
//! *Document*: the texts of the indexed columns of one row. *Token*: a run of letters and digits in
//! a text. *Word*: a token that an index keeps, that is one of allowed length which is no stopword.
//! *Dialect*: MariaDB has two kinds of full-text index, which choose words, read queries and rank
//! documents differently.
//!
//! # Not here
//! No table, no statement, no engine: the caller brings documents and keeps their keys.

#![forbid(unsafe_code)]

mod lenient;
mod letters;
mod rules;
mod search;
mod stopwords;
mod strict;
mod syntax;
mod token;

pub use rules::{Dialect, Rules};
pub use search::{Hit, Mode, Search};
pub use stopwords::{Stopwords, builtin_stopwords};
pub use syntax::{BooleanSyntax, SyntaxError};
