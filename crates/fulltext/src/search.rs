//! One search: a query, the documents it looks at, and its hits. Documents are given once, in their
//! order, and have numbers from 0 in that order.

use std::sync::Arc;

use crate::lenient::{self, Boolean, Natural, Size};
use crate::strict::{self, Strict};
use crate::{Dialect, Posting, Rules, SyntaxError};

/// The mode of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Documents with any of the words.
    Natural,
    /// Documents for which a query with operators is true.
    Boolean,
    /// As `Natural`, and again with the words of the documents found.
    Expansion,
}

/// A document that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Its number.
    pub document: usize,
    /// Its rank. It may be negative.
    pub rank: f32,
}

/// Words by their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted<'k> {
    /// The word with this key.
    Whole(&'k [u8]),
    /// All words whose keys begin so.
    Begun(&'k [u8]),
}

/// A stored index, as one search sees it.
pub trait Index {
    /// Its errors.
    type Error;

    /// Number of documents of the table.
    fn documents(&self) -> u64;

    /// The most bytes that MariaDB would use for the hits.
    fn most_bytes(&self) -> u64 {
        u64::MAX
    }

    /// Calls `each` with the wanted words, by their keys, and their documents. Both are in order.
    fn lists(
        &mut self,
        wanted: Wanted<'_>,
        each: &mut dyn FnMut(&[u8], &[Posting]),
    ) -> Result<(), Self::Error>;

    /// For each of some documents, which are in order: its place among them in the order of their
    /// rows, and its size; none if it has gone. Only lenient searches ask.
    fn places(&mut self, documents: &[u64]) -> Result<Vec<Option<(usize, Size)>>, Self::Error>;

    /// Calls `each` with the texts of documents.
    fn texts(
        &mut self,
        documents: &[u64],
        each: &mut dyn FnMut(u64, &[&[u8]]),
    ) -> Result<(), Self::Error>;
}

/// An error of a search in an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchError<E> {
    /// The query violates the grammar.
    Syntax(SyntaxError),
    /// There are too many hits.
    TooMany,
    /// The index cannot be read.
    Index(E),
}

/// The hits of a query in an index, the best first. Hits of equal rank are in the order of their
/// numbers in a strict index, in the order of rows in a lenient one. Compat: those of a lenient
/// boolean query are all in the order of rows.
pub fn search_index<I: Index>(
    rules: &Arc<Rules>,
    query: &[u8],
    mode: Mode,
    index: &mut I,
) -> Result<Vec<Hit>, SearchError<I::Error>> {
    if rules.dialect == Dialect::Lenient {
        return lenient::search(rules, query, mode, index).map_err(SearchError::Index);
    }
    let mut hits = strict::search(rules, query, mode, index)?;
    sort(&mut hits);
    Ok(hits)
}

fn sort(hits: &mut [Hit]) {
    hits.sort_by(|a, b| b.rank.total_cmp(&a.rank).then(a.document.cmp(&b.document)));
}

/// A search.
#[derive(Debug)]
pub struct Search(State);

#[derive(Debug)]
enum State {
    Strict(Box<Strict>),
    Natural(Box<Natural>),
    Boolean(Box<Boolean>),
}

impl Search {
    /// A search for `query`, a text in the character set of the index.
    pub fn new(rules: Arc<Rules>, query: &[u8], mode: Mode) -> Result<Self, SyntaxError> {
        Ok(Self(match (rules.dialect, mode) {
            (Dialect::Strict, _) => State::Strict(Box::new(Strict::new(rules, query, mode)?)),
            (Dialect::Lenient, Mode::Boolean) => {
                State::Boolean(Box::new(Boolean::new(rules, query)))
            }
            (Dialect::Lenient, _) => State::Natural(Box::new(Natural::new(rules, query, mode))),
        }))
    }

    /// Looks at the next document, by the texts of its columns.
    pub fn add(&mut self, texts: &[&[u8]]) {
        match &mut self.0 {
            State::Strict(search) => search.add(texts),
            State::Natural(search) => search.add(texts),
            State::Boolean(search) => search.add(texts),
        }
    }

    /// The documents found, in the order in which an index gives them: the best first, then by
    /// number. Compat: those of a lenient boolean query come by number.
    pub fn hits(self) -> Vec<Hit> {
        let mut hits = match self.0 {
            State::Strict(search) => search.hits(),
            State::Natural(search) => search.hits(),
            State::Boolean(search) => return search.hits(),
        };
        sort(&mut hits);
        hits
    }
}
