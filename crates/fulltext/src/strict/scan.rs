//! Looks for the words and phrases of a strict query in the text of a document. Counts documents
//! per word, whether they are hits or not.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::compile::Query;
use super::phrases::{OTHER, has_phrase};
use crate::Rules;
use crate::token::Tokens;

/// A document with words of the query.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Its number.
    pub document: usize,
    /// Words of the query with the number of their occurrences, in the query's order.
    pub words: Vec<(usize, u32)>,
    /// For each phrase of the query, whether the document has it.
    pub phrases: Vec<bool>,
}

/// State kept from one document to the next.
#[derive(Debug)]
pub(super) struct Scanner {
    /// Places of the whole words of the query.
    whole: HashMap<Vec<u8>, usize>,
    /// Places of its prefixes.
    prefixes: Vec<usize>,
    /// For each phrase, the most of its first words that are together in a document.
    pub leading: Vec<usize>,
    key: Vec<u8>,
}

impl Scanner {
    pub(super) fn new(query: &Query) -> Self {
        let places = || query.words.iter().enumerate();
        let whole = places().filter(|(_, word)| !word.prefix);
        Self {
            whole: whole.map(|(at, word)| (word.key.clone(), at)).collect(),
            prefixes: places().filter(|(_, word)| word.prefix).map(|(at, _)| at).collect(),
            leading: vec![0; query.phrases.len()],
            key: Vec::new(),
        }
    }

    /// The words of `query` in a document; `None` if it has none. Adds the document to the counts
    /// of its words.
    pub(super) fn scan(
        &mut self,
        rules: &Rules,
        query: &Query,
        texts: &[&[u8]],
        counts: &mut [u64],
    ) -> Option<Found> {
        let mut occurrences: BTreeMap<usize, u32> = BTreeMap::new();
        let mut begun: BTreeMap<usize, BTreeMap<Vec<u8>, u32>> = BTreeMap::new();
        let (mut lower, mut exact) = (Vec::new(), Vec::new());
        for text in texts {
            let mut sequence = Vec::new();
            for token in Tokens::new(rules.collation.charset(), text).without_elisions() {
                if !query.phrases.is_empty() {
                    rules.put_lower_key(token.text, &mut self.key);
                    sequence.push(query.tokens.get(&self.key).copied().unwrap_or(OTHER));
                }
                rules.put_key(token.text, &mut self.key);
                if !query.phrases.is_empty() {
                    exact.push(query.tokens.get(&self.key).copied().unwrap_or(OTHER));
                }
                if !rules.is_word(token) {
                    continue;
                }
                if let Some(at) = self.whole.get(&self.key) {
                    *occurrences.entry(*at).or_default() += 1;
                }
                for &at in &self.prefixes {
                    if self.key.starts_with(&query.words[at].key) {
                        let words = begun.entry(at).or_default();
                        *words.entry(self.key.clone()).or_default() += 1;
                    }
                }
            }
            lower.push(sequence);
        }
        if occurrences.is_empty() && begun.is_empty() {
            return None;
        }
        occurrences.keys().for_each(|at| counts[*at] += 1);
        for (at, words) in begun {
            counts[at] += words.len() as u64;
            // Compat: only the last of the words that match is counted in the document.
            occurrences.insert(at, words.last_key_value().map_or(0, |(_, count)| *count));
        }
        let has = |word: &usize| occurrences.contains_key(word);
        let phrases = query
            .phrases
            .iter()
            .map(|phrase| phrase.words.iter().all(has) && has_phrase(phrase, &lower, &exact));
        let phrases = phrases.collect();
        for (phrase, most) in query.phrases.iter().zip(&mut self.leading) {
            *most = (*most).max(phrase.words.iter().take_while(|word| has(word)).count());
        }
        Some(Found { document: 0, words: occurrences.into_iter().collect(), phrases })
    }
}
