//! Full text without I/O: words of documents, stopwords, the two query languages, and ranks.
//!
//! # Words
//! *Document*: the texts of the indexed columns of one row. *Token*: a run of letters and digits in
//! a text. *Word*: a token that an index keeps, that is one of allowed length which is no stopword.
//! *Dialect*: MariaDB has two kinds of full-text index, which choose words, read queries and rank
//! documents differently. *Posting*: a document that has a word, and how often. *List*: the
//! postings of a word.
//!
//! # Not here
//! No table, no statement, no engine: the caller brings documents and keeps their keys.

#![forbid(unsafe_code)]

mod lenient;
mod letters;
mod postings;
mod rules;
mod search;
mod stopwords;
mod strict;
mod syntax;
#[cfg(test)]
mod testing;
mod token;
mod words;

pub use lenient::Size;
pub use postings::{Posting, decode, encode, settle};
pub use rules::{Dialect, Rules};
pub use search::{Hit, Index, Mode, Search, SearchError, Wanted, search_index};
pub use stopwords::{Stopwords, builtin_stopwords};
pub use syntax::{BooleanSyntax, SyntaxError};
pub use words::Words;
