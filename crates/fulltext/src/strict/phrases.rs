//! Phrases of a strict query in the texts of documents whose words are known already.
//!
//! Must not count words: documents are read that have all words of a phrase, not all that have one.

use hashbrown::HashMap;

use super::compile::{Phrase, Query};
use crate::Rules;
use crate::token::{Token, Tokens};

/// A token that is in no phrase.
pub(super) const OTHER: u32 = u32::MAX;

/// Most tokens remembered with their numbers.
const REMEMBERED: usize = 65_536;

/// Numbers of a token among those of the query's phrases.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    /// Of the token in lower case.
    lower: u32,
    /// Of the token as it is.
    exact: u32,
}

/// State kept from one document to the next.
#[derive(Debug, Default)]
pub(super) struct PhraseScanner {
    /// Tokens by their bytes. Most tokens of a text are in many others, and a key costs much more
    /// than a look here.
    known: HashMap<Box<[u8]>, Numbers>,
    key: Vec<u8>,
    /// Tokens of the text in lower case.
    lower: Vec<u32>,
    /// Tokens of the document.
    exact: Vec<u32>,
}

impl PhraseScanner {
    /// For each phrase of `query`, whether a document has it. `wanted` are those of which it has
    /// all words; the others it cannot have.
    pub(super) fn scan(
        &mut self,
        rules: &Rules,
        query: &Query,
        texts: &[&[u8]],
        wanted: &[bool],
    ) -> Vec<bool> {
        let mut found = vec![false; query.phrases.len()];
        let asked = || query.phrases.iter().zip(wanted).filter(|(_, wanted)| **wanted);
        let mut left = asked().filter(|(phrase, _)| phrase.within.is_none()).count();
        let has_stretches = asked().any(|(phrase, _)| phrase.within.is_some());
        self.exact.clear();
        for text in texts {
            self.lower.clear();
            for token in Tokens::new(rules.collation.charset(), text).without_elisions() {
                let numbers = self.numbers(rules, query, token);
                if has_stretches {
                    self.exact.push(numbers.exact);
                }
                self.lower.push(numbers.lower);
                if numbers.lower != OTHER {
                    left -= self.end_phrases(query, wanted, &mut found);
                }
                if left == 0 && !has_stretches {
                    return found;
                }
            }
        }
        for (at, phrase) in query.phrases.iter().enumerate() {
            if wanted[at] && phrase.within.is_some() {
                found[at] = has_phrase(phrase, &[], &self.exact);
            }
        }
        found
    }

    /// Notes the phrases that end with the last token; returns how many were not found before.
    fn end_phrases(&self, query: &Query, wanted: &[bool], found: &mut [bool]) -> usize {
        let mut ended = 0;
        for (at, phrase) in query.phrases.iter().enumerate() {
            let ends = || phrase.within.is_none() && self.lower.ends_with(&phrase.tokens);
            if wanted[at] && !found[at] && ends() {
                found[at] = true;
                ended += 1;
            }
        }
        ended
    }

    fn numbers(&mut self, rules: &Rules, query: &Query, token: Token<'_>) -> Numbers {
        if let Some(numbers) = self.known.get(token.text) {
            return *numbers;
        }
        let number = |key: &Vec<u8>| query.tokens.get(key).copied().unwrap_or(OTHER);
        rules.put_lower_key(token.text, &mut self.key);
        let lower = number(&self.key);
        rules.put_key(token.text, &mut self.key);
        let numbers = Numbers { lower, exact: number(&self.key) };
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(token.text.into(), numbers);
        numbers
    }
}

/// Whether a document has a phrase. `lower` are the tokens of each text in lower case, `exact` all
/// its tokens.
///
/// Compat: tokens that follow each other are compared in lower case, though the query's are not.
pub(super) fn has_phrase(phrase: &Phrase, lower: &[Vec<u32>], exact: &[u32]) -> bool {
    let tokens = &phrase.tokens[..];
    match phrase.within {
        None => lower.iter().any(|s| s.windows(tokens.len()).any(|part| part == tokens)),
        Some(stretch) => {
            let stretch =
                usize::try_from(stretch).unwrap_or(usize::MAX).clamp(1, exact.len().max(1));
            exact.windows(stretch).any(|part| tokens.iter().all(|token| part.contains(token)))
        }
    }
}
