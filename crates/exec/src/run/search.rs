//! Full-text searches of a statement, each made once in the statement's snapshot: in the index, or
//! by reading the table if the engine keeps none. Must not know where in a plan their ranks are
//! used.

use std::sync::Arc;

use hashbrown::HashMap;
use selkie_engine::{EngineTrx, FullText, RowSet, Scan, StopwordList, TextDialect};
use selkie_expr::{EvalContext, SearchId, VariableScope};
use selkie_fulltext::{Mode, Rules, Search, SyntaxError};
use selkie_plan::physical::Search as Plan;
use selkie_sql::ast::MatchMode;
use selkie_types::error::catalogue::ER_PARSE_ERROR;
use selkie_types::{BATCH_ROWS, ByteRows, Column, SqlError, SqlResult, Value};

use super::search_rules::rules;
use super::{OpenTable, Runtime};
use crate::state::error::{corrupt, from_engine};
use crate::state::own_transaction::begin;

/// Documents by clustered key.
type Documents = HashMap<Box<[u8]>, Vec<u8>>;

/// Receiver of the key and the texts of a row.
type EachDocument<'a> = &'a mut dyn FnMut(&[u8], &[&[u8]]);

/// Receiver of the number of a row in a set and of its texts.
pub(super) type EachText<'a> = &'a mut dyn FnMut(usize, &[&[u8]]);

/// The result of a search.
#[derive(Debug, Default)]
pub(crate) struct Ranks {
    /// Clustered keys of the hits, in their order.
    pub(crate) keys: ByteRows,
    by_key: HashMap<Box<[u8]>, f32>,
}

impl Ranks {
    /// Adds a hit behind those before.
    pub(super) fn push(&mut self, key: &[u8], rank: f32) {
        self.keys.push(key);
        self.by_key.insert(key.into(), rank);
    }

    fn of(&self, key: &Value) -> f32 {
        match key {
            Value::Bytes(key) => self.by_key.get(&key[..]).copied().unwrap_or(0.0),
            _ => 0.0,
        }
    }
}

impl Runtime<'_> {
    /// The ranks of rows by their clustered keys.
    pub(crate) fn ranks_of(
        &self,
        id: SearchId,
        keys: &Column,
        eval: &EvalContext<'_>,
    ) -> SqlResult<Vec<f32>> {
        let ranks = self.search(id, eval)?;
        Ok((0..keys.len()).map(|row| ranks.of(&keys.value(row))).collect())
    }

    /// The result of a search of the statement.
    pub(crate) fn search(&self, id: SearchId, eval: &EvalContext<'_>) -> SqlResult<Arc<Ranks>> {
        let at = id.0 as usize;
        if let Some(Some(known)) = self.lookups.searches.borrow().get(at) {
            return Ok(known.clone());
        }
        let missing = || SqlError::internal(format_args!("there is no search {at}"));
        let plan = self.plan.searches.get(at).ok_or_else(missing)?;
        let ranks = Arc::new(self.run_search(plan, eval)?);
        if let Some(place) = self.lookups.searches.borrow_mut().get_mut(at) {
            *place = Some(ranks.clone());
        }
        Ok(ranks)
    }

    fn run_search(&self, plan: &Plan, eval: &EvalContext<'_>) -> SqlResult<Ranks> {
        let Value::Bytes(query) = plan.query.eval_value(eval)? else {
            return Ok(Ranks::default());
        };
        let mode = match plan.mode {
            MatchMode::NaturalLanguage => Mode::Natural,
            MatchMode::Boolean => Mode::Boolean,
            MatchMode::QueryExpansion => Mode::Expansion,
        };
        let rules = Arc::new(rules(self, plan)?);
        let open = self.table(&plan.table)?;
        let kept = plan.kept().filter(|_| !self.reads_all_texts() && has_its_words(plan, &rules));
        if let Some(position) = kept {
            return self.search_kept(plan, open, position, (&rules, &query, mode));
        }
        let mut search = Search::new(rules, &query, mode).map_err(syntax_error)?;
        let committed = self.committed(plan, open)?;
        let mut keys = ByteRows::default();
        self.read_documents(plan, open, open.trx, &mut |key, texts| {
            keys.push(key);
            let is_found = committed
                .as_ref()
                .is_none_or(|known| known.get(key).is_some_and(|before| *before == joined(texts)));
            search.add(if is_found { texts } else { &[] });
        })?;
        let mut ranks = Ranks::default();
        for hit in search.hits() {
            ranks.push(keys.get(hit.document), hit.rank);
        }
        Ok(ranks)
    }

    /// Whether searches read rows, although there is an index.
    fn reads_all_texts(&self) -> bool {
        let (hooks, scope) = (&self.session.frame.hooks, VariableScope::Session);
        let value = hooks.variable(self.session, scope, "selkie_fulltext_scan");
        matches!(value, Ok(Value::Int(1) | Value::UInt(1)))
    }

    /// The committed documents by key, if the statement may see others.
    ///
    /// Compat: a row whose text the transaction has changed itself is not found before it commits.
    fn committed(&self, plan: &Plan, open: &OpenTable<'_>) -> SqlResult<Option<Documents>> {
        let dirty = self.session.transaction.reads_uncommitted() || open.trx.has_changes();
        if plan.table.engine.keys.fulltext != FullText::Strict || !dirty {
            return Ok(None);
        }
        let trx = begin(&*open.handle.engine)?;
        let mut documents = Documents::new();
        self.read_documents(plan, open, &*trx, &mut |key, texts| {
            documents.insert(key.into(), joined(texts));
        })?;
        Ok(Some(documents))
    }

    /// Calls `each` with the key and the texts of every row that `trx` sees.
    fn read_documents(
        &self,
        plan: &Plan,
        open: &OpenTable<'_>,
        trx: &dyn EngineTrx,
        each: EachDocument<'_>,
    ) -> SqlResult<()> {
        let error = |e| from_engine(e, &plan.table.def);
        let scan = Scan { want_keys: true, ..Scan::default() };
        let mut cursor = open.handle.table.scan(trx, self.control, &scan).map_err(error)?;
        let mut set = RowSet::default();
        loop {
            self.control.check()?;
            set.clear();
            if !cursor.next_batch(&mut set, BATCH_ROWS).map_err(error)? {
                return Ok(());
            }
            each_text(plan, &set, &mut |row, texts| each(set.keys.get(row), texts))?;
        }
    }
}

/// Whether an index has the words that documents have under `rules`: these may be others since it
/// was made.
fn has_its_words(plan: &Plan, rules: &Rules) -> bool {
    let made = plan.index.and_then(|at| plan.table.fulltext[at].rules.as_ref());
    made.is_none_or(|made| {
        let lengths = (made.least as usize, made.most as usize);
        let has_stopwords = made.stopwords != StopwordList::None;
        made.dialect == TextDialect::Strict
            || lengths == (rules.least, rules.most) && has_stopwords != rules.stopwords.is_empty()
    })
}

/// Calls `each` with the texts of every row.
pub(super) fn each_text(plan: &Plan, set: &RowSet, each: EachText<'_>) -> SqlResult<()> {
    let layout = &plan.table.def.layout;
    let columns = plan.columns.iter().map(|at| layout.decode(&set.rows, *at));
    let columns: Vec<Column> = columns.collect::<Result<_, _>>().map_err(corrupt)?;
    for row in 0..set.rows.len() {
        let values: Vec<Value> = columns.iter().map(|column| column.value(row)).collect();
        let texts = values.iter().map(|value| match value {
            Value::Bytes(text) => &text[..],
            _ => &[],
        });
        each(row, &texts.collect::<Vec<_>>());
    }
    Ok(())
}

/// The error of a query that violates the grammar.
pub(super) fn syntax_error(SyntaxError(message): SyntaxError) -> SqlError {
    SqlError::with_message(&ER_PARSE_ERROR, message)
}

/// The texts of a document as one, so that different documents differ.
fn joined(texts: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    for text in texts {
        out.extend_from_slice(&(text.len() as u64).to_le_bytes());
        out.extend_from_slice(text);
    }
    out
}
