//! Whether a document fulfils a strict query, and its rank. Parts of a rank are added in the order
//! in which words were looked up, because sums of 32-bit numbers depend on it.

use selkie_types::stack;

use super::compile::{Demand, Query};
use super::parse::Sign;
use super::scan::Found;
use super::{inverse_frequency, part_of_rank};
use crate::Hit;

/// A document in the course of a query. Expressions are applied to it one after the other.
struct Course {
    /// Whether it is among the documents found so far.
    present: bool,
    /// Sum of the operators `>`, `<` and `~`, within -1 and 1.
    raised: f32,
    /// The words in ranks that count for it.
    counted: Vec<bool>,
    /// Whether a required expression was applied.
    required: bool,
}

impl Course {
    fn new(words: usize) -> Self {
        Self { present: false, raised: 0.0, counted: vec![false; words], required: false }
    }

    fn raise(&mut self, by: f32) {
        self.raised = (self.raised + by).clamp(-1.0, 1.0);
    }

    fn count(&mut self, words: &[usize]) {
        words.iter().for_each(|word| self.counted[*word] = true);
    }

    /// Applies an expression that the document fulfils, with the words that count, or one that it
    /// does not fulfil.
    fn apply(&mut self, sign: Sign, fulfilled: Option<(f32, Vec<usize>)>) {
        if sign == Sign::Required {
            if self.required && !self.present {
                return;
            }
            self.required = true;
            let Some((raised, words)) = fulfilled else {
                *self = Self { required: true, ..Self::new(self.counted.len()) };
                return;
            };
            self.raised += raised;
            self.present = true;
            return self.count(&words);
        }
        let Some((raised, words)) = fulfilled else { return };
        match sign {
            Sign::Forbidden => {
                *self = Self { required: self.required, ..Self::new(self.counted.len()) };
                return;
            }
            Sign::Negates if !self.present => return,
            Sign::Negates => self.raise(-1.0),
            _ => {
                if !self.present {
                    self.present = true;
                    self.raised = raised;
                }
                match sign {
                    Sign::Raises => self.raise(1.0),
                    Sign::Lowers => self.raise(-1.0),
                    _ => {}
                }
            }
        }
        self.count(&words);
    }
}

/// Ranks documents of one search.
pub(super) struct Ranker {
    /// Inverse frequency of each word in ranks.
    inverse: Vec<f64>,
    /// The query is a list of words without operators: each document with one is a hit.
    is_plain: bool,
}

impl Ranker {
    pub(super) fn new(query: &Query, (counts, times): (&[u64], &[u64]), documents: u64) -> Self {
        let mut all = vec![0u64; query.entries];
        for (word, (count, times)) in query.words.iter().zip(counts.iter().zip(times)) {
            all[word.entry] = all[word.entry].saturating_add(count.saturating_mul(*times));
        }
        let inverse = all.into_iter().map(|n| inverse_frequency(documents, n)).collect();
        let plain = |(sign, demand): &(Sign, Demand)| {
            *sign == Sign::Optional && matches!(demand, Demand::Word(_))
        };
        Self { inverse, is_plain: query.demands.iter().all(plain) }
    }

    /// The document as a hit, if it is one.
    pub(super) fn hit(&self, query: &Query, found: &Found) -> Option<Hit> {
        if self.is_plain
            && let [(word, occurrences)] = found.words[..]
        {
            let rank = part_of_rank(occurrences, self.inverse[query.words[word].entry]);
            return Some(Hit { document: found.document, rank });
        }
        let course = run(query, &query.demands, found);
        if !course.present {
            return None;
        }
        // Of several words that are one in ranks, the last one is counted.
        let mut occurrences = vec![0; query.entries];
        found.words.iter().for_each(|(word, n)| occurrences[query.words[*word].entry] = *n);
        let mut rank = course.raised;
        for (entry, counted) in course.counted.iter().enumerate() {
            if *counted && occurrences[entry] > 0 {
                rank += part_of_rank(occurrences[entry], self.inverse[entry]);
            }
        }
        Some(Hit { document: found.document, rank })
    }
}

/// The words of a document that count for its rank, if it is a hit.
pub(super) fn counted(query: &Query, found: &Found) -> Option<Vec<usize>> {
    let course = run(query, &query.demands, found);
    let words = found.words.iter().map(|(word, _)| *word);
    let counted = words.filter(|word| course.counted[query.words[*word].entry]);
    course.present.then(|| counted.collect())
}

fn run(query: &Query, demands: &[(Sign, Demand)], found: &Found) -> Course {
    stack::ensure();
    let mut course = Course::new(query.entries);
    for (sign, demand) in demands {
        let fulfilled = match demand {
            Demand::Never => None,
            Demand::Word(word) => {
                has_word(found, *word).then(|| (0.0, vec![query.words[*word].entry]))
            }
            Demand::Phrase(at) => {
                let entries = || query.phrases[*at].words.iter().map(|w| query.words[*w].entry);
                found.phrases[*at].then(|| (0.0, entries().collect()))
            }
            Demand::Group(demands) => {
                let inner = run(query, demands, found);
                let counted = inner.counted.iter().enumerate().filter(|(_, counted)| **counted);
                let words = counted.map(|(word, _)| word).collect();
                inner.present.then_some((inner.raised, words))
            }
        };
        course.apply(*sign, fulfilled);
    }
    course
}

fn has_word(found: &Found, word: usize) -> bool {
    found.words.binary_search_by_key(&word, |(at, _)| *at).is_ok()
}
