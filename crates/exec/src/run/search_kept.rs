//! Full-text searches in indexes that the engine keeps. Rows are read only for phrases, and for the
//! words of expansions.

use std::sync::Arc;

use selkie_engine::{EngineError, RowSet, Scan, TextSearch, TextSize, WantedWords};
use selkie_fulltext::{Index, Mode, Posting, Rules, SearchError, Size, Wanted, search_index};
use selkie_plan::physical::Search as Plan;
use selkie_types::{BATCH_ROWS, ByteRows, SqlError, SqlResult};

use super::search::{Ranks, each_text, syntax_error};
use super::search_rules::number;
use super::{OpenTable, Runtime};
use crate::state::control::Control;
use crate::state::error::from_engine;

/// An index of a table, for one search.
struct Kept<'s> {
    plan: &'s Plan,
    open: &'s OpenTable<'s>,
    control: &'s Control,
    search: Box<dyn TextSearch + 's>,
    most_bytes: u64,
}

impl Kept<'_> {
    fn error(&self, error: EngineError) -> SqlError {
        from_engine(error, &self.plan.table.def)
    }

    fn keys(&mut self, documents: &[u64], out: &mut ByteRows) -> SqlResult<()> {
        let def = &self.plan.table.def;
        self.search.keys(documents, out).map_err(|e| from_engine(e, def))
    }
}

impl Index for Kept<'_> {
    type Error = SqlError;

    fn documents(&self) -> u64 {
        self.search.documents()
    }

    fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    fn lists(
        &mut self,
        wanted: Wanted<'_>,
        each: &mut dyn FnMut(&[u8], &[Posting]),
    ) -> SqlResult<()> {
        let wanted = match wanted {
            Wanted::Whole(key) => WantedWords::Whole(key),
            Wanted::Begun(key) => WantedWords::Begun(key),
        };
        let mut postings = Vec::new();
        let read = self.search.lists(wanted, &mut |word, list| {
            let posting = |(document, occurrences): &(u64, u32)| Posting {
                document: *document,
                occurrences: *occurrences,
            };
            postings.clear();
            postings.extend(list.iter().map(posting));
            each(word, &postings);
        });
        read.map_err(|e| self.error(e))
    }

    fn places(&mut self, documents: &[u64]) -> SqlResult<Vec<Option<(usize, Size)>>> {
        let (mut keys, mut sizes) = (ByteRows::default(), Vec::new());
        self.control.check()?;
        let read = self.search.sizes(documents, &mut keys, &mut sizes);
        read.map_err(|e| self.error(e))?;
        let mut order: Vec<usize> =
            (0..documents.len()).filter(|at| !keys.get(*at).is_empty()).collect();
        order.sort_unstable_by(|a, b| keys.get(*a).cmp(keys.get(*b)));
        let mut places = vec![None; documents.len()];
        for (place, at) in order.into_iter().enumerate() {
            let TextSize { words, weights } = sizes[at];
            places[at] = Some((place, Size { words, weights }));
        }
        Ok(places)
    }

    fn texts(&mut self, documents: &[u64], each: &mut dyn FnMut(u64, &[&[u8]])) -> SqlResult<()> {
        let mut keys = ByteRows::default();
        let mut set = RowSet::default();
        for part in documents.chunks(BATCH_ROWS) {
            self.control.check()?;
            let mut all = ByteRows::default();
            self.keys(part, &mut all)?;
            // A document that has gone meanwhile has no key, and an empty one would find all rows.
            let part: Vec<u64> =
                (0..part.len()).filter(|at| !all.get(*at).is_empty()).map(|at| part[at]).collect();
            keys.clear();
            set.clear();
            all.iter().filter(|key| !key.is_empty()).for_each(|key| keys.push(key));
            let table = &self.open.handle.table;
            let found =
                table.lookup(self.open.trx, self.control, &Scan::default(), &keys, &mut set);
            found.map_err(|e| self.error(e))?;
            let by = &set.found_by;
            each_text(self.plan, &set, &mut |row, texts| {
                if let Some(document) = by.get(row).and_then(|number| part.get(*number as usize)) {
                    each(*document, texts);
                }
            })?;
        }
        Ok(())
    }
}

impl Runtime<'_> {
    /// The ranks that a query gives by the index at `position` of those that the engine keeps.
    pub(super) fn search_kept(
        &self,
        plan: &Plan,
        open: &OpenTable<'_>,
        position: usize,
        (rules, query, mode): (&Arc<Rules>, &[u8], Mode),
    ) -> SqlResult<Ranks> {
        let search = open.handle.table.search_text(open.trx, self.control, position);
        let search = search.map_err(|e| from_engine(e, &plan.table.def))?;
        let most_bytes = number(self, "innodb_ft_result_cache_limit")? as u64;
        let mut kept = Kept { plan, open, control: self.control, search, most_bytes };
        let hits = search_index(rules, query, mode, &mut kept).map_err(|error| match error {
            SearchError::Syntax(error) => syntax_error(error),
            // The handler's own number is the client's.
            SearchError::TooMany => {
                SqlError::raw(128, *b"HY000", "Table handler out of memory".to_owned())
            }
            SearchError::Index(error) => error,
        })?;
        let mut documents: Vec<u64> = hits.iter().map(|hit| hit.document as u64).collect();
        documents.sort_unstable();
        let mut keys = ByteRows::default();
        kept.keys(&documents, &mut keys)?;
        let mut ranks = Ranks::default();
        for hit in hits {
            let Ok(at) = documents.binary_search(&(hit.document as u64)) else { continue };
            let key = keys.get(at);
            if !key.is_empty() {
                ranks.push(key, hit.rank);
            }
        }
        Ok(ranks)
    }
}
