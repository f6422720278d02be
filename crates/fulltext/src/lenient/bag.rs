//! The words of one document, and what they weigh there. Must add weights up in the order of keys:
//! ranks are equal bit by bit only then.

use std::collections::BTreeMap;

use crate::Rules;
use crate::token::Tokens;

/// Slope of the loss of weight by the number of different words in a document.
const SLOPE: f64 = 0.0115;

/// Words by their keys with the number of their occurrences.
pub(crate) type Bag = BTreeMap<Vec<u8>, u32>;

/// The words of a document.
pub(crate) fn bag(rules: &Rules, texts: &[&[u8]]) -> Bag {
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

/// Size of a document: the weight of a word there depends on it and on the word's occurrences.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// Number of different words.
    pub words: u32,
    /// Sum of the weights of their occurrences, in the order of their keys: the sum depends on it.
    pub weights: f64,
}

impl Size {
    pub(crate) fn of(bag: &Bag) -> Self {
        let weights = bag.values().map(|count| of_occurrences(*count)).sum();
        Self { words: bag.len() as u32, weights }
    }

    /// The weight of a word.
    pub(super) fn weight(&self, occurrences: u32) -> f32 {
        let words = f64::from(self.words);
        (of_occurrences(occurrences) / self.weights * words / (1.0 + SLOPE * words)) as f32
    }
}

fn of_occurrences(count: u32) -> f64 {
    f64::from(count).ln() + 1.0
}
