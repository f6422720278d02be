//! Natural language queries of the lenient dialect.
//!
//! A word weighs more in a document the more often it is there, and less the more words the
//! document has. A word that half of all documents have finds nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::sieve::Sieve;
use crate::token::Tokens;
use crate::{Hit, Mode, Rules};

/// Slope of the loss of weight by the number of different words in a document.
const SLOPE: f64 = 0.0115;

/// A search.
#[derive(Debug)]
pub(crate) struct Natural {
    rules: Arc<Rules>,
    /// The words of the query with the number of times they are in it.
    query: Bag,
    sieve: Sieve,
    /// For each word of the query, the documents that have it and its weight there. With expansion,
    /// for each word of all documents.
    lists: BTreeMap<Vec<u8>, Vec<(usize, f32)>>,
    documents: usize,
    /// The words of each document, if the query is to be expanded.
    expansion: Option<Vec<Bag>>,
}

/// Words with the number of their occurrences.
type Bag = BTreeMap<Vec<u8>, u32>;

fn bag(rules: &Rules, texts: &[&[u8]]) -> Bag {
    let mut out = Bag::new();
    let mut key = Vec::new();
    for token in texts.iter().flat_map(|text| Tokens::new(rules.collation.charset(), text)) {
        rules.put_key(token.text, &mut key);
        if rules.is_word(token) {
            match out.get_mut(&key) {
                Some(count) => *count += 1,
                None => drop(out.insert(key.clone(), 1)),
            }
        }
    }
    out
}

/// The weights of the words of a document.
fn weights(bag: &Bag) -> impl Iterator<Item = (&Vec<u8>, f32)> {
    let weight = |count: u32| f64::from(count).ln() + 1.0;
    let sum: f64 = bag.values().map(|count| weight(*count)).sum();
    let words = bag.len() as f64;
    bag.iter().map(move |(key, count)| {
        (key, (weight(*count) / sum * words / (1.0 + SLOPE * words)) as f32)
    })
}

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
        for (key, weight) in weights(&bag) {
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

    /// Documents with words of a query, with ranks not rounded yet. Those of words that are too
    /// frequent have rank 0.
    fn ranked(&self, query: &Bag) -> BTreeMap<usize, f64> {
        let mut ranks = BTreeMap::new();
        for (key, times) in query {
            let list = self.lists.get(key).map_or(&[][..], |list| list);
            let weight = f64::from(*times) * rarity(self.documents, list.len());
            // Compat: a word is not looked for any more once half the documents have it.
            for (document, of_word) in list.iter().take(self.documents.div_ceil(2)) {
                *ranks.entry(*document).or_default() += f64::from(*of_word) * weight;
            }
        }
        ranks
    }

    pub(crate) fn hits(self) -> Vec<Hit> {
        let mut ranks = self.ranked(&self.query);
        if let Some(documents) = &self.expansion {
            let mut query = self.query.clone();
            let mut best: Vec<(usize, f64)> = ranks.into_iter().collect();
            best.sort_by(|a, b| b.1.total_cmp(&a.1));
            for (document, _) in best.iter().take(self.rules.expansion) {
                for (key, count) in &documents[*document] {
                    *query.entry(key.clone()).or_default() += count;
                }
            }
            ranks = self.ranked(&query);
        }
        let hit = |(document, rank): (usize, f64)| Hit { document, rank: rank as f32 };
        ranks.into_iter().map(hit).filter(|hit| hit.rank > 0.0).collect()
    }
}

/// Weight of a word that `count` of `documents` have.
fn rarity(documents: usize, count: usize) -> f64 {
    if count == 0 || documents <= count {
        return 0.0;
    }
    ((documents - count) as f64 / count as f64).ln().max(0.0)
}
