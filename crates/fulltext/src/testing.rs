//! Documents, rules and an index for tests. The index must keep to what [`Index`] demands and no
//! more, so that a search cannot rely on other properties.

use std::collections::BTreeMap;
use std::sync::Arc;

use selkie_types::CollationId;

use crate::{
    BooleanSyntax, Dialect, Index, Mode, Posting, Rules, Search, Size, Stopwords, Wanted, Words,
};

const DOCUMENTS: &[&str] = &[
    "apple banana",
    "apple",
    "banana cherry",
    "cherry apple date",
    "date",
    "wood craft",
    "wood",
    "craft wood",
    "the cat",
    "cat dog",
    "cat-dog",
    "cat the dog",
    "don't o'neil",
    "123 apple",
    "apple 123 45",
    "x_y abc",
    "zz",
    "",
    "",
];

/// Hits of a query as number of the document and rank, or the error. Ranks have as many digits
/// as tell neighbouring numbers apart.
pub(crate) fn hits(dialect: Dialect, query: &str, mode: Mode) -> Result<String, String> {
    let search = Search::new(rules(dialect).into(), query.as_bytes(), mode);
    let mut search = search.map_err(|error| error.0)?;
    DOCUMENTS.iter().for_each(|text| search.add(&[text.as_bytes()]));
    let hits = search.hits();
    let hits = hits.iter().map(|hit| format!("{}:{:.8}", hit.document, hit.rank));
    Ok(hits.collect::<Vec<_>>().join(" "))
}

/// The rules of a new server for texts of general_ci.
pub(crate) fn rules(dialect: Dialect) -> Rules {
    let collation = CollationId::from_name("utf8mb4_general_ci").expect("a known collation");
    let stopwords = Stopwords::builtin(dialect);
    Rules {
        dialect,
        collation,
        least: if dialect == Dialect::Strict { 3 } else { 4 },
        most: 84,
        stopwords: Arc::new(stopwords),
        syntax: BooleanSyntax::default(),
        expansion: 20,
    }
}

/// An index in memory.
pub(crate) struct Stored {
    lists: BTreeMap<Vec<u8>, Vec<Posting>>,
    texts: Vec<String>,
    sizes: Vec<Size>,
    order: RowOrder,
}

/// The order of rows by the numbers of their documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RowOrder {
    Numbers,
    Reversed,
}

impl Stored {
    pub(crate) fn new(rules: &Arc<Rules>, texts: Vec<String>, order: RowOrder) -> Self {
        let mut words = Words::new(rules.clone());
        let mut stored = Self { lists: BTreeMap::new(), texts, sizes: Vec::new(), order };
        for number in 0..stored.texts.len() {
            let text = stored.texts[stored.row(number as u64)].as_bytes();
            stored.sizes.extend(words.add(number as u64, &[text]));
        }
        let lists = words.take().into_iter().map(|(key, list)| (key.into_vec(), list));
        stored.lists = lists.collect();
        stored
    }

    /// The row of a document, and the document of a row.
    pub(crate) fn row(&self, document: u64) -> usize {
        match self.order {
            RowOrder::Reversed => self.texts.len() - 1 - document as usize,
            RowOrder::Numbers => document as usize,
        }
    }
}

impl Index for Stored {
    type Error = ();

    fn documents(&self) -> u64 {
        self.texts.len() as u64
    }

    fn lists(
        &mut self,
        wanted: Wanted<'_>,
        each: &mut dyn FnMut(&[u8], &[Posting]),
    ) -> Result<(), ()> {
        for (word, list) in &self.lists {
            let is_wanted = match wanted {
                Wanted::Whole(key) => word == key,
                Wanted::Begun(key) => word.starts_with(key),
            };
            if is_wanted {
                each(word, list);
            }
        }
        Ok(())
    }

    fn places(&mut self, documents: &[u64]) -> Result<Vec<Option<(usize, Size)>>, ()> {
        let mut rows: Vec<usize> = documents.iter().map(|document| self.row(*document)).collect();
        rows.sort_unstable();
        let place = |document: &u64| {
            let place = rows.binary_search(&self.row(*document)).ok()?;
            Some((place, self.sizes[*document as usize]))
        };
        Ok(documents.iter().map(place).collect())
    }

    fn texts(&mut self, documents: &[u64], each: &mut dyn FnMut(u64, &[&[u8]])) -> Result<(), ()> {
        assert!(documents.is_sorted());
        for document in documents {
            each(*document, &[self.texts[self.row(*document)].as_bytes()]);
        }
        Ok(())
    }
}
