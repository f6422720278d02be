//! Searches in indexes of the strict dialect. Ranks are computed at the end, when it is known how
//! many documents have each word.

mod compile;
mod evaluate;
mod expand;
mod indexed;
mod lexer;
mod parse;
mod phrases;
mod scan;

pub(crate) use self::indexed::search;

use std::sync::Arc;

use self::compile::{Query, compile};
use self::evaluate::{Ranker, counted};
use self::expand::Expansion;
use self::scan::{Found, Scanner};
use crate::{Hit, Mode, Rules, SyntaxError};

/// A search in an index of the strict dialect.
#[derive(Debug)]
pub(crate) struct Strict {
    rules: Arc<Rules>,
    query: Query,
    scanner: Scanner,
    /// Documents with at least one of the query's words.
    found: Vec<Found>,
    /// For each word of the query, the number of entries of documents that the index has for it.
    counts: Vec<u64>,
    /// Number of documents.
    documents: usize,
    expansion: Option<Expansion>,
}

impl Strict {
    pub(crate) fn new(rules: Arc<Rules>, query: &[u8], mode: Mode) -> Result<Self, SyntaxError> {
        let tree = parse::parse(query, mode)?;
        let query = compile(&rules, &tree);
        Ok(Self {
            scanner: Scanner::new(&query),
            found: Vec::new(),
            counts: vec![0; query.words.len()],
            documents: 0,
            expansion: (mode == Mode::Expansion).then(Expansion::default),
            query,
            rules,
        })
    }

    pub(crate) fn add(&mut self, texts: &[&[u8]]) {
        let number = self.documents;
        self.documents += 1;
        if let Some(found) = self.scanner.scan(&self.rules, &self.query, texts, &mut self.counts) {
            self.found.push(Found { document: number, ..found });
        }
        if let Some(expansion) = &mut self.expansion {
            expansion.add(&self.rules, texts);
        }
    }

    pub(crate) fn hits(self) -> Vec<Hit> {
        let times = self.query.times(&self.scanner.leading);
        if let Some(expansion) = self.expansion {
            let counted = |found: &Found| Some((found.document, counted(&self.query, found)?));
            let found: Vec<(usize, Vec<usize>)> = self.found.iter().filter_map(counted).collect();
            return expansion.hits(&self.query, &times, &found, self.documents as u64);
        }
        let ranker = Ranker::new(&self.query, (&self.counts, &times), self.documents as u64);
        let hits = self.found.iter().filter_map(|found| ranker.hit(&self.query, found));
        hits.collect()
    }
}

/// The inverse frequency of a word that `count` of `documents` have.
///
/// Compat: a word that all have does not count as nothing.
fn inverse_frequency(documents: u64, count: u64) -> f64 {
    if documents == count { 1.0001_f64.log10() } else { (documents as f64 / count as f64).log10() }
}

/// A word's part of a rank.
fn part_of_rank(occurrences: u32, inverse: f64) -> f32 {
    (f64::from(occurrences) * inverse * inverse) as f32
}

#[cfg(test)]
mod tests;
