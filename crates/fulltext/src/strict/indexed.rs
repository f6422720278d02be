//! A strict search that reads lists of documents instead of all documents. Its result is that of a
//! search through all documents; only phrases and the words of expansions need texts.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::compile::{Phrase, Query, compile};
use super::evaluate::{Ranker, counted};
use super::expand::Expansion;
use super::parse;
use super::phrases::PhraseScanner;
use super::scan::Found;
use crate::token::Tokens;
use crate::{Hit, Index, Mode, Posting, Rules, SearchError, Wanted};

/// A document, the place of a word in the query, and the number of its occurrences.
type Occurrence = (u64, u32, u32);

/// The hits of a query in an index, in no order.
pub(crate) fn search<I: Index>(
    rules: &Arc<Rules>,
    query: &[u8],
    mode: Mode,
    index: &mut I,
) -> Result<Vec<Hit>, SearchError<I::Error>> {
    let tree = parse::parse(query, mode).map_err(SearchError::Syntax)?;
    let query = compile(rules, &tree);
    let mut counts = vec![0; query.words.len()];
    let occurrences = read(&query, index, &mut counts).map_err(SearchError::Index)?;
    let mut found = by_document(&query, &occurrences);
    if bytes(occurrences.len(), found.len()) > index.most_bytes() {
        return Err(SearchError::TooMany);
    }
    let times = query.times(&leading(&query, &found));
    check_phrases(rules, &query, index, &mut found).map_err(SearchError::Index)?;
    if mode == Mode::Expansion {
        return expand(rules, &query, &times, (index, &found)).map_err(SearchError::Index);
    }
    let ranker = Ranker::new(&query, (&counts, &times), index.documents());
    Ok(found.iter().filter_map(|found| ranker.hit(&query, found)).collect())
}

/// Bytes that MariaDB uses for documents and their words. Compat: seen, for words without `+`.
fn bytes(occurrences: usize, documents: usize) -> u64 {
    60 * occurrences as u64 + 68 * documents as u64
}

/// Occurrences of all words of the query, by document, then by word.
fn read<I: Index>(
    query: &Query,
    index: &mut I,
    counts: &mut [u64],
) -> Result<Vec<Occurrence>, I::Error> {
    let mut out: Vec<Occurrence> = Vec::new();
    for (at, word) in query.words.iter().enumerate() {
        let wanted = match word.prefix {
            true => Wanted::Begun(&word.key),
            false => Wanted::Whole(&word.key),
        };
        index.lists(wanted, &mut |_, list: &[Posting]| {
            counts[at] += list.len() as u64;
            out.extend(list.iter().map(|p| (p.document, at as u32, p.occurrences)));
        })?;
    }
    // The sort is stable, so the words of a document stay in order.
    out.sort_by_key(|(document, ..)| *document);
    Ok(out)
}

fn by_document(query: &Query, occurrences: &[Occurrence]) -> Vec<Found> {
    let mut out = Vec::new();
    for of_one in occurrences.chunk_by(|a, b| a.0 == b.0) {
        let mut words: Vec<(usize, u32)> = Vec::with_capacity(of_one.len());
        for (_, word, count) in of_one {
            match words.last_mut() {
                // Compat: only the last of the words that match a prefix is counted.
                Some(last) if last.0 == *word as usize => last.1 = *count,
                _ => words.push((*word as usize, *count)),
            }
        }
        let phrases = vec![false; query.phrases.len()];
        out.push(Found { document: of_one[0].0 as usize, words, phrases });
    }
    out
}

fn has(found: &Found, word: usize) -> bool {
    found.words.binary_search_by_key(&word, |(at, _)| *at).is_ok()
}

/// For each phrase, the most of its first words that are together in a document.
fn leading(query: &Query, found: &[Found]) -> Vec<usize> {
    let most = |words: &[usize]| {
        let of = |found: &Found| words.iter().take_while(|word| has(found, **word)).count();
        found.iter().map(of).max().unwrap_or(0)
    };
    query.phrases.iter().map(|phrase| most(&phrase.words)).collect()
}

/// Looks for phrases in the texts of documents that have all words of one.
fn check_phrases<I: Index>(
    rules: &Rules,
    query: &Query,
    index: &mut I,
    found: &mut [Found],
) -> Result<(), I::Error> {
    let may = |found: &Found| {
        query.phrases.iter().any(|phrase| phrase.words.iter().all(|word| has(found, *word)))
    };
    let mut candidates: HashMap<u64, usize> = HashMap::new();
    let places = found.iter().enumerate().filter(|(_, found)| may(found));
    candidates.extend(places.map(|(at, found)| (found.document as u64, at)));
    if candidates.is_empty() {
        return Ok(());
    }
    let mut documents: Vec<u64> = candidates.keys().copied().collect();
    documents.sort_unstable();
    let mut scanner = PhraseScanner::default();
    let mut wanted = Vec::new();
    index.texts(&documents, &mut |document, texts| {
        let Some(found) = candidates.get(&document).and_then(|at| found.get_mut(*at)) else {
            return;
        };
        let has_all = |phrase: &Phrase| phrase.words.iter().all(|word| has(found, *word));
        wanted.clear();
        wanted.extend(query.phrases.iter().map(has_all));
        found.phrases = scanner.scan(rules, query, texts, &wanted);
    })
}

/// The hits of the query expanded by the words of the documents found.
fn expand<I: Index>(
    rules: &Rules,
    query: &Query,
    times: &[u64],
    (index, found): (&mut I, &[Found]),
) -> Result<Vec<Hit>, I::Error> {
    let counted = |found: &Found| Some((found.document, counted(query, found)?));
    let found: Vec<(usize, Vec<usize>)> = found.iter().filter_map(counted).collect();
    let documents: Vec<u64> = found.iter().map(|(document, _)| *document as u64).collect();
    let mut keys: HashSet<Vec<u8>> = query.words.iter().map(|word| word.key.clone()).collect();
    let mut key = Vec::new();
    index.texts(&documents, &mut |_, texts| {
        let charset = rules.collation.charset();
        let tokens = |text| Tokens::new(charset, text).without_elisions();
        for token in texts.iter().copied().flat_map(tokens) {
            rules.put_key(token.text, &mut key);
            if rules.is_word(token) && !keys.contains(&key) {
                keys.insert(key.clone());
            }
        }
    })?;
    let mut expansion = Expansion::default();
    let mut numbers: HashMap<u64, usize> = HashMap::new();
    let mut known = Vec::new();
    for key in &keys {
        index.lists(Wanted::Whole(key), &mut |_, list: &[Posting]| {
            let number = |document| {
                *numbers.entry(document).or_insert_with(|| {
                    known.push(document as usize);
                    known.len() - 1
                })
            };
            let list: Vec<(usize, u32)> = {
                let mut number = number;
                list.iter().map(|p| (number(p.document), p.occurrences)).collect()
            };
            expansion.add_word(key, &list);
        })?;
    }
    let numbered =
        |(document, words): (usize, Vec<usize>)| Some((*numbers.get(&(document as u64))?, words));
    let found: Vec<(usize, Vec<usize>)> = found.into_iter().filter_map(numbered).collect();
    let mut hits = expansion.hits(query, times, &found, index.documents());
    hits.iter_mut().for_each(|hit| hit.document = known[hit.document]);
    Ok(hits)
}
