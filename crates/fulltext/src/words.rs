//! The words of documents that enter an index together, by word. An index has them stored in the
//! order of their keys, so that each part of it is changed once.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::lenient::{Size, bag};
use crate::token::Tokens;
use crate::{Dialect, Posting, Rules};

/// The words of some documents.
#[derive(Debug)]
pub struct Words {
    rules: Arc<Rules>,
    lists: HashMap<Box<[u8]>, Vec<Posting>>,
    bytes: usize,
    key: Vec<u8>,
}

impl Words {
    /// No documents.
    pub fn new(rules: Arc<Rules>) -> Self {
        Self { rules, lists: HashMap::new(), bytes: 0, key: Vec::new() }
    }

    /// Adds a document, by the texts of its columns. Its number is above those of all before.
    /// Returns its size, which a lenient index keeps.
    pub fn add(&mut self, document: u64, texts: &[&[u8]]) -> Option<Size> {
        if self.rules.dialect == Dialect::Lenient {
            let bag = bag(&self.rules, texts);
            bag.iter().for_each(|(key, count)| self.count(document, key, *count));
            return Some(Size::of(&bag));
        }
        let rules = self.rules.clone();
        let mut key = std::mem::take(&mut self.key);
        for text in texts {
            for token in Tokens::new(rules.collation.charset(), text).without_elisions() {
                if rules.is_word(token) {
                    rules.put_key(token.text, &mut key);
                    self.count(document, &key, 1);
                }
            }
        }
        self.key = key;
        None
    }

    /// Counts occurrences of a word in the last document.
    fn count(&mut self, document: u64, key: &[u8], occurrences: u32) {
        let Some(list) = self.lists.get_mut(key) else {
            self.bytes += key.len() + 100;
            self.lists.insert(key.into(), vec![Posting { document, occurrences }]);
            return;
        };
        match list.last_mut() {
            Some(last) if last.document == document => {
                last.occurrences = last.occurrences.saturating_add(occurrences);
            }
            _ => {
                self.bytes += size_of::<Posting>();
                list.push(Posting { document, occurrences });
            }
        }
    }

    /// Bytes of memory used, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes all words out, in the order of their keys.
    pub fn take(&mut self) -> Vec<(Box<[u8]>, Vec<Posting>)> {
        self.bytes = 0;
        let mut words: Vec<_> = self.lists.drain().collect();
        words.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;
    use crate::testing::rules;

    #[test]
    fn words_are_counted_by_document() {
        let mut words = Words::new(rules(Dialect::Strict).into());
        words.add(4, &[b"Apple apple the", b"Banana"]);
        words.add(9, &[b"of", b"apple"]);
        let found = words.take();
        let lists: Vec<Vec<(u64, u32)>> = found
            .iter()
            .map(|(_, list)| list.iter().map(|p| (p.document, p.occurrences)).collect())
            .collect();
        assert_eq!(lists, [vec![(4, 2), (9, 1)], vec![(4, 1)]]);
        assert!(words.take().is_empty() && words.bytes() == 0);
    }
}
