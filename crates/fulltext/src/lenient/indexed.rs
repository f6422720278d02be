//! A lenient search that reads lists of documents instead of all documents. Its result is that of a
//! search through all documents; only phrases, the words of expansions, and ranks that depend on
//! the order of words in a document need texts.

use std::sync::Arc;

use super::bag::{Bag, Size, bag};
use super::boolean::{Boolean, Seen};
use super::natural::{Weighted, best, expand, hits, ranked};
use super::query::QueryWord;
use crate::{Hit, Index, Mode, Posting, Rules, Wanted};

/// The hits of a query in an index: the best first, those of a boolean query in the order of rows.
pub(crate) fn search<I: Index>(
    rules: &Arc<Rules>,
    query: &[u8],
    mode: Mode,
    index: &mut I,
) -> Result<Vec<Hit>, I::Error> {
    if mode == Mode::Boolean {
        return boolean(&Boolean::new(rules.clone(), query), index);
    }
    let mut query = bag(rules, &[query]);
    let mut ranks = Ranks::read(&query, index)?;
    if mode == Mode::Expansion {
        let mut documents: Vec<u64> =
            best(&ranks.by_place, rules.expansion).map(|place| ranks.documents[place]).collect();
        documents.sort_unstable();
        index.texts(&documents, &mut |_, texts| expand(&mut query, &bag(rules, texts)))?;
        ranks = Ranks::read(&query, index)?;
    }
    let mut found: Vec<Hit> = hits(&ranks.by_place).collect();
    // The sort is stable: equal hits stay in the order of rows.
    found.sort_by(|a, b| b.rank.total_cmp(&a.rank));
    found.iter_mut().for_each(|hit| hit.document = ranks.documents[hit.document] as usize);
    Ok(found)
}

/// Documents with words of a natural query, in the order of their rows.
struct Ranks {
    documents: Vec<u64>,
    by_place: Vec<Option<f64>>,
}

impl Ranks {
    fn read<I: Index>(query: &Bag, index: &mut I) -> Result<Self, I::Error> {
        let mut lists: Vec<Vec<Posting>> = Vec::with_capacity(query.len());
        for key in query.keys() {
            let mut all = Vec::new();
            index.lists(Wanted::Whole(key), &mut |_, list| all.extend_from_slice(list))?;
            lists.push(all);
        }
        let mut all: Vec<u64> = lists.iter().flatten().map(|posting| posting.document).collect();
        all.sort_unstable();
        all.dedup();
        let places = index.places(&all)?;
        let mut documents = vec![0; all.len()];
        for (document, place) in all.iter().zip(&places) {
            if let Some((place, _)) = place {
                documents[*place] = *document;
            }
        }
        let lists: Vec<Vec<Weighted>> =
            lists.iter().map(|list| weighted(list, &all, &places)).collect();
        let words = query.values().zip(&lists).map(|(times, list)| (*times, &list[..]));
        let rows = usize::try_from(index.documents()).unwrap_or(usize::MAX);
        Ok(Self { by_place: ranked(words, rows, documents.len()), documents })
    }
}

/// A list as places with weights, in order. `all` are documents with places, in order.
fn weighted(list: &[Posting], all: &[u64], places: &[Option<(usize, Size)>]) -> Vec<Weighted> {
    let mut each = all.iter().zip(places);
    let mut out: Vec<Weighted> = Vec::with_capacity(list.len());
    for posting in list {
        let found = each.find(|(document, _)| **document == posting.document);
        if let Some((_, Some((place, size)))) = found {
            out.push((*place, size.weight(posting.occurrences)));
        }
    }
    out.sort_unstable_by_key(|(place, _)| *place);
    out
}

fn boolean<I: Index>(search: &Boolean, index: &mut I) -> Result<Vec<Hit>, I::Error> {
    let mut found = by_words(search, index)?;
    if search.query().rereads && !search.query().is_free_of_order() {
        let documents: Vec<u64> = found.iter().map(|hit| hit.document as u64).collect();
        found.clear();
        index.texts(&documents, &mut |document, texts| {
            if let Some(rank) = search.rank(texts) {
                found.push(Hit { document: document as usize, rank });
            }
        })?;
        found.sort_unstable_by_key(|hit| hit.document);
    }
    let documents: Vec<u64> = found.iter().map(|hit| hit.document as u64).collect();
    let places = index.places(&documents)?;
    let placed = found.into_iter().zip(places);
    let mut placed: Vec<(usize, Hit)> =
        placed.filter_map(|(hit, place)| Some((place?.0, hit))).collect();
    placed.sort_unstable_by_key(|(place, _)| *place);
    Ok(placed.into_iter().map(|(_, hit)| hit).collect())
}

/// The documents that the query finds by their words alone.
fn by_words<I: Index>(search: &Boolean, index: &mut I) -> Result<Vec<Hit>, I::Error> {
    let words = &search.query().words;
    let (required, others): (Vec<usize>, Vec<usize>) =
        (0..words.len()).partition(|at| words[*at].is_required());
    // The documents with all required words read so far.
    let mut within: Option<Vec<u64>> = None;
    let mut pairs: Vec<(u64, usize)> = Vec::new();
    for at in required.into_iter().chain(others) {
        let mut documents = documents_of(&words[at], index)?;
        if let Some(within) = &within {
            keep_common(&mut documents, within);
        }
        pairs.extend(documents.iter().map(|document| (*document, at)));
        if words[at].is_required() {
            if documents.is_empty() {
                return Ok(Vec::new());
            }
            within = Some(documents);
        }
    }
    pairs.sort_unstable();
    let hit = |of_one: &[(u64, usize)]| {
        let mut seen = Seen::new(words.len());
        of_one.iter().for_each(|(_, word)| seen.add(*word));
        let rank = search.rank_by_words(&seen)?;
        Some(Hit { document: of_one.first()?.0 as usize, rank })
    };
    Ok(pairs.chunk_by(|a, b| a.0 == b.0).filter_map(hit).collect())
}

/// The documents with a word of a query, in order.
fn documents_of<I: Index>(word: &QueryWord, index: &mut I) -> Result<Vec<u64>, I::Error> {
    let wanted = match word.prefix {
        true => Wanted::Begun(&word.key),
        false => Wanted::Whole(&word.key),
    };
    let mut out = Vec::new();
    index.lists(wanted, &mut |_, list| out.extend(list.iter().map(|posting| posting.document)))?;
    if word.prefix {
        out.sort_unstable();
        out.dedup();
    }
    Ok(out)
}

/// Keeps the numbers that another list has too; both are in order.
fn keep_common(these: &mut Vec<u64>, those: &[u64]) {
    let mut rest = those;
    these.retain(|document| {
        rest = &rest[rest.partition_point(|other| other < document)..];
        rest.first() == Some(document)
    });
}
