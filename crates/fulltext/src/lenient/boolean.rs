//! Boolean queries of the lenient dialect. A document's rank depends on nothing but the query and
//! the document.

use std::sync::Arc;

use hashbrown::HashMap;

use super::climb::Climb;
use super::query::{Query, parse};
use super::sieve::Sieve;
use crate::token::Tokens;
use crate::{Hit, Rules};

/// A search.
#[derive(Debug)]
pub(crate) struct Boolean {
    rules: Arc<Rules>,
    query: Query,
    /// Places of the query's whole words, by key.
    whole: HashMap<Vec<u8>, Vec<usize>>,
    /// Places of its prefixes.
    prefixes: Vec<usize>,
    /// Places of all words: of inner groups first.
    inner_first: Vec<usize>,
    sieve: Sieve,
    hits: Vec<Hit>,
    documents: usize,
}

impl Boolean {
    pub(crate) fn new(rules: Arc<Rules>, query: &[u8]) -> Self {
        let query = parse(&rules, query);
        let mut whole: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        let mut prefixes = Vec::new();
        for (at, word) in query.words.iter().enumerate() {
            match word.prefix {
                true => prefixes.push(at),
                false => whole.entry(word.key.clone()).or_default().push(at),
            }
        }
        let mut inner_first: Vec<usize> = (0..query.words.len()).collect();
        inner_first.sort_by_key(|at| std::cmp::Reverse(query.words[*at].depth));
        let sieve = sieve(&rules, &query);
        Self { rules, query, whole, prefixes, inner_first, sieve, hits: Vec::new(), documents: 0 }
    }

    pub(crate) fn add(&mut self, texts: &[&[u8]]) {
        let document = self.documents;
        self.documents += 1;
        if self.sieve.holds_back(texts) {
            return;
        }
        if let Some(rank) = self.rank(texts) {
            self.hits.push(Hit { document, rank });
        }
    }

    /// The rank of a document, if it is found.
    pub(super) fn rank(&self, texts: &[&[u8]]) -> Option<f32> {
        let seen = self.words(texts)?;
        let by_words = self.rank_by_words(&seen)?;
        if !self.query.rereads {
            return Some(by_words);
        }
        let sequences = self.sequences(texts);
        let has_phrase = |group: usize| match &self.query.groups[group].phrase {
            None => true,
            Some(phrase) => {
                let mut windows = sequences.iter().flat_map(|s| s.windows(phrase.len().max(1)));
                phrase.is_empty() || windows.any(|part| part == phrase)
            }
        };
        self.climb(&seen, seen.order.iter().copied(), &has_phrase)
    }

    /// The rank of a document by its words alone, if it may be found.
    pub(super) fn rank_by_words(&self, seen: &Seen) -> Option<f32> {
        self.climb(seen, self.inner_first.iter().copied(), &|_| true)
    }

    pub(super) fn query(&self) -> &Query {
        &self.query
    }

    pub(crate) fn hits(self) -> Vec<Hit> {
        self.hits
    }

    /// The query's words that a document has; `None` if there are none.
    fn words(&self, texts: &[&[u8]]) -> Option<Seen> {
        let mut seen = Seen::new(self.query.words.len());
        let mut key = Vec::new();
        let charset = self.rules.collation.charset();
        for token in texts.iter().flat_map(|text| Tokens::new(charset, text)) {
            self.rules.put_key(token.text, &mut key);
            if !self.rules.is_word(token) {
                continue;
            }
            self.whole.get(&key).into_iter().flatten().for_each(|at| seen.add(*at));
            let begun = |at: &&usize| key.starts_with(&self.query.words[**at].key);
            self.prefixes.iter().filter(begun).for_each(|at| seen.add(*at));
        }
        (!seen.order.is_empty()).then_some(seen)
    }

    fn climb(
        &self,
        seen: &Seen,
        order: impl Iterator<Item = usize>,
        has_phrase: &dyn Fn(usize) -> bool,
    ) -> Option<f32> {
        let mut climb = Climb::new(&self.query);
        for word in order.filter(|word| seen.has[*word]) {
            climb.tell(&self.query, word, has_phrase);
        }
        climb.weight(&self.query)
    }

    /// The keys of all tokens of each text.
    fn sequences(&self, texts: &[&[u8]]) -> Vec<Vec<Vec<u8>>> {
        let key_of = |text: &[u8]| {
            let mut key = Vec::new();
            self.rules.put_key(text, &mut key);
            key
        };
        let charset = self.rules.collation.charset();
        let keys = |text: &&[u8]| Tokens::new(charset, text).map(|t| key_of(t.text)).collect();
        texts.iter().map(keys).collect()
    }
}

/// Documents have one of the words, and each that is required in the query itself, not in a group.
fn sieve(rules: &Rules, query: &Query) -> Sieve {
    let required = query.words.iter().filter(|word| word.is_required());
    Sieve::new(
        rules.collation,
        query.words.iter().map(|word| &word.text[..]),
        required.map(|word| &word.text[..]),
    )
}

/// Words of a query that a document has.
pub(super) struct Seen {
    has: Vec<bool>,
    /// The words in the order of their first occurrence.
    order: Vec<usize>,
}

impl Seen {
    pub(super) fn new(words: usize) -> Self {
        Self { has: vec![false; words], order: Vec::new() }
    }

    pub(super) fn add(&mut self, word: usize) {
        if !std::mem::replace(&mut self.has[word], true) {
            self.order.push(word);
        }
    }
}
