//! Query expansion: all words of the documents found are searched for in turn. All words of all
//! documents are kept for that.

use hashbrown::{HashMap, HashSet};

use super::compile::Query;
use super::{inverse_frequency, part_of_rank};
use crate::token::Tokens;
use crate::{Hit, Rules};

/// The words of all documents.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    words: HashMap<Box<[u8]>, usize>,
    /// For each word, the number of documents that have it.
    counts: Vec<u64>,
    /// For each document, its words with the number of occurrences.
    documents: Vec<HashMap<usize, u32>>,
    key: Vec<u8>,
}

impl Expansion {
    pub(super) fn add(&mut self, rules: &Rules, texts: &[&[u8]]) {
        let mut document = HashMap::new();
        let charset = rules.collation.charset();
        let tokens = |text| Tokens::new(charset, text).without_elisions();
        for token in texts.iter().copied().flat_map(tokens) {
            rules.put_key(token.text, &mut self.key);
            if !rules.is_word(token) {
                continue;
            }
            let next = self.words.len();
            let word = match self.words.get(&self.key[..]) {
                Some(word) => *word,
                None => *self.words.entry(self.key.clone().into_boxed_slice()).or_insert(next),
            };
            if word == self.counts.len() {
                self.counts.push(0);
            }
            let occurrences = document.entry(word).or_insert(0);
            self.counts[word] += u64::from(*occurrences == 0);
            *occurrences += 1;
        }
        self.documents.push(document);
    }

    /// Adds a word with its documents and the number of occurrences in each.
    pub(super) fn add_word(&mut self, key: &[u8], list: &[(usize, u32)]) {
        let word = self.words.len();
        if self.words.insert(key.into(), word).is_some() {
            return;
        }
        self.counts.push(list.len() as u64);
        for (document, occurrences) in list {
            if self.documents.len() <= *document {
                self.documents.resize_with(document + 1, HashMap::new);
            }
            self.documents[*document].insert(word, *occurrences);
        }
    }

    /// The hits of the expanded query. `found` are those of the query itself, with its words that
    /// count for them, and `times` says how often each of its words was looked up.
    ///
    /// Compat: a word that is in a phrase of the query only is looked up again.
    pub(super) fn hits(
        self,
        query: &Query,
        times: &[u64],
        found: &[(usize, Vec<usize>)],
        documents: u64,
    ) -> Vec<Hit> {
        let place = |word: usize| self.words.get(&query.words[word].key[..]).copied();
        let mut known = HashSet::new();
        let mut looked_up = vec![0; self.words.len()];
        for (word, times) in times.iter().enumerate() {
            let Some(at) = place(word) else { continue };
            looked_up[at] += times;
            if query.words[word].times > 0 {
                known.insert(at);
            }
        }
        let mut keys: Vec<&[u8]> = vec![&[]; self.words.len()];
        self.words.iter().for_each(|(key, word)| keys[*word] = key);
        let of_found = found.iter().flat_map(|(at, _)| self.documents[*at].keys().copied());
        let mut wanted: Vec<usize> = of_found.filter(|word| known.insert(*word)).collect();
        wanted.sort_by_key(|word| keys[*word]);
        wanted.iter().for_each(|word| looked_up[*word] += 1);
        let counts = self.counts.iter().zip(&looked_up);
        let inverse = counts.map(|(count, times)| inverse_frequency(documents, count * times));
        let inverse: Vec<f64> = inverse.collect();
        let mut own: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, words) in found {
            own.insert(*at, words.iter().filter_map(|word| place(*word)).collect());
        }
        let mut hits = Vec::new();
        for (number, document) in self.documents.iter().enumerate() {
            let first = own.get(&number).map_or(&[][..], |words| words);
            let others = wanted.iter().filter(|word| !first.contains(word));
            let words = first.iter().chain(others);
            let mut counted = words.filter_map(|word| Some((*word, *document.get(word)?)));
            let Some((word, count)) = counted.next() else { continue };
            let rank = counted.fold(part_of_rank(count, inverse[word]), |rank, (word, count)| {
                rank + part_of_rank(count, inverse[word])
            });
            hits.push(Hit { document: number, rank });
        }
        hits
    }
}
