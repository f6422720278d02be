//! Natural language queries of the lenient dialect.
//!
//! A word weighs more in a document the more often it is there, and less the more words the
//! document has. A word that half of all documents have finds nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bag::{Bag, Size, bag};
use super::sieve::Sieve;
use crate::token::Tokens;
use crate::{Hit, Mode, Rules};

/// A search.
#[derive(Debug)]
pub(crate) struct Natural {
    rules: Arc<Rules>,
    /// The words of the query with the number of times they are in it.
    query: Bag,
    sieve: Sieve,
    /// For each word of the query, the documents that have it and its weight there. With expansion,
    /// for each word of all documents.
    lists: BTreeMap<Vec<u8>, Vec<Weighted>>,
    documents: usize,
    /// The words of each document, if the query is to be expanded.
    expansion: Option<Vec<Bag>>,
}

/// A document, and the weight of a word there.
pub(super) type Weighted = (usize, f32);

impl Natural {
    pub(crate) fn new(rules: Arc<Rules>, query: &[u8], mode: Mode) -> Self {
        let tokens = Tokens::new(rules.collation.charset(), query);
        let words = tokens.filter(|token| rules.is_word(*token)).map(|token| token.text);
        let sieve = match mode {
            // All words of all documents count.
            Mode::Expansion => Sieve::default(),
            _ => Sieve::new(rules.collation, words, std::iter::empty()),
        };
        let query = bag(&rules, &[query]);
        let lists = query.keys().map(|key| (key.clone(), Vec::new())).collect();
        let expansion = (mode == Mode::Expansion).then(Vec::new);
        Self { rules, query, sieve, lists, documents: 0, expansion }
    }

    pub(crate) fn add(&mut self, texts: &[&[u8]]) {
        let document = self.documents;
        self.documents += 1;
        if self.sieve.holds_back(texts) {
            return;
        }
        let bag = bag(&self.rules, texts);
        let size = Size::of(&bag);
        for (key, count) in &bag {
            let weight = size.weight(*count);
            match self.lists.get_mut(key) {
                Some(list) => list.push((document, weight)),
                None if self.expansion.is_some() => {
                    self.lists.insert(key.clone(), vec![(document, weight)]);
                }
                None => {}
            }
        }
        if let Some(documents) = &mut self.expansion {
            documents.push(bag);
        }
    }

    fn ranked(&self, query: &Bag) -> Vec<Option<f64>> {
        let words = query.iter().map(|(key, times)| {
            let list = self.lists.get(key).map_or(&[][..], |list| list);
            (*times, list)
        });
        ranked(words, self.documents, self.documents)
    }

    pub(crate) fn hits(self) -> Vec<Hit> {
        let mut ranks = self.ranked(&self.query);
        if let Some(documents) = &self.expansion {
            let mut query = self.query.clone();
            for document in best(&ranks, self.rules.expansion) {
                expand(&mut query, &documents[document]);
            }
            ranks = self.ranked(&query);
        }
        hits(&ranks).collect()
    }
}

/// Ranks, not rounded yet, of the documents with numbers below `places`; none for one without a
/// word. `words` of a query come with their number of times there, and their documents in order.
/// Those of words that are too frequent have rank 0. There are `documents` in the table.
pub(super) fn ranked<'l>(
    words: impl Iterator<Item = (u32, &'l [Weighted])>,
    documents: usize,
    places: usize,
) -> Vec<Option<f64>> {
    let mut ranks: Vec<Option<f64>> = vec![None; places];
    for (times, list) in words {
        let weight = f64::from(times) * rarity(documents, list.len());
        // Compat: a word is not looked for any more once half the documents have it.
        for (document, of_word) in list.iter().take(documents.div_ceil(2)) {
            let rank = &mut ranks[*document];
            *rank = Some(rank.unwrap_or(0.0) + f64::from(*of_word) * weight);
        }
    }
    ranks
}

/// The documents with the best ranks.
pub(super) fn best(ranks: &[Option<f64>], most: usize) -> impl Iterator<Item = usize> {
    let found = ranks.iter().enumerate().filter_map(|(at, rank)| Some((at, (*rank)?)));
    let mut best: Vec<(usize, f64)> = found.collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1));
    best.into_iter().take(most).map(|(document, _)| document)
}

/// Adds the words of a document to a query.
pub(super) fn expand(query: &mut Bag, document: &Bag) {
    for (key, count) in document {
        *query.entry(key.clone()).or_default() += count;
    }
}

/// The hits by their ranks, in order.
pub(super) fn hits(ranks: &[Option<f64>]) -> impl Iterator<Item = Hit> {
    let hit =
        |(document, rank): (usize, &Option<f64>)| Some(Hit { document, rank: (*rank)? as f32 });
    ranks.iter().enumerate().filter_map(hit).filter(|hit| hit.rank > 0.0)
}

/// Weight of a word that `count` of `documents` have.
fn rarity(documents: usize, count: usize) -> f64 {
    if count == 0 || documents <= count {
        return 0.0;
    }
    ((documents - count) as f64 / count as f64).ln().max(0.0)
}
