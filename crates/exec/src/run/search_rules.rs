//! The rules of a full-text search: lengths of words, stopwords, operators, from the variables of
//! the server and the settings of the index.

use std::sync::Arc;

use selkie_catalog::TextIndex;
use selkie_engine::{FullText, RowSet, Scan, StopwordList};
use selkie_expr::VariableScope;
use selkie_fulltext::{BooleanSyntax, Dialect, Rules, Stopwords};
use selkie_plan::physical::Search;
use selkie_types::{BATCH_ROWS, SqlResult, Value};

use super::Runtime;
use crate::Instance;
use crate::state::control::Control;
use crate::state::error::{corrupt, from_engine};
use crate::state::own_transaction::begin;

/// Rules of a search. Those of a strict index that the engine keeps are as old as the index.
pub(super) fn rules(rt: &Runtime<'_>, search: &Search) -> SqlResult<Rules> {
    let index = search.index.map(|at| &search.table.fulltext[at]);
    let strict = search.table.engine.keys.fulltext == FullText::Strict;
    if let Some(kept) = index.and_then(|index| index.rules.as_ref()).filter(|_| strict) {
        return Ok(Rules {
            dialect: Dialect::Strict,
            collation: search.table.columns[search.columns[0]].ty.collation,
            least: kept.least as usize,
            most: kept.most as usize,
            stopwords: Arc::new(stopwords_of(&kept.stopwords)),
            syntax: BooleanSyntax::default(),
            expansion: 0,
        });
    }
    let dialect = if strict { Dialect::Strict } else { Dialect::Lenient };
    let (least, most) = match strict {
        true => ("innodb_ft_min_token_size", "innodb_ft_max_token_size"),
        false => ("ft_min_word_len", "ft_max_word_len"),
    };
    let syntax = text(rt, "ft_boolean_syntax")?;
    let stopwords = match strict {
        true => strict_stopwords(rt, index)?,
        false if text(rt, "ft_stopword_file")?.is_empty() => Stopwords::none(),
        false => Stopwords::builtin(dialect),
    };
    Ok(Rules {
        dialect,
        collation: search.table.columns[search.columns[0]].ty.collation,
        least: number(rt, least)?,
        most: number(rt, most)?,
        stopwords: Arc::new(stopwords),
        syntax: BooleanSyntax::new(&syntax).unwrap_or_default(),
        expansion: number(rt, "ft_query_expansion_limit")?,
    })
}

fn variable(rt: &Runtime<'_>, name: &str) -> SqlResult<Value> {
    rt.session.frame.hooks.variable(rt.session, VariableScope::Global, name)
}

pub(super) fn number(rt: &Runtime<'_>, name: &str) -> SqlResult<usize> {
    Ok(match variable(rt, name)? {
        Value::Int(value) => usize::try_from(value).unwrap_or(0),
        Value::UInt(value) => usize::try_from(value).unwrap_or(usize::MAX),
        _ => 0,
    })
}

fn text(rt: &Runtime<'_>, name: &str) -> SqlResult<String> {
    Ok(match variable(rt, name)? {
        Value::Bytes(text) => String::from_utf8_lossy(&text).into_owned(),
        _ => String::new(),
    })
}

/// The stopwords of an index of the strict dialect: none, a table's, or the built-in ones.
fn strict_stopwords(rt: &Runtime<'_>, index: Option<&TextIndex>) -> SqlResult<Stopwords> {
    let Some(index) = index.filter(|index| index.stopwords) else { return Ok(Stopwords::none()) };
    let Some(name) = &index.stopword_table else { return Ok(Stopwords::builtin(Dialect::Strict)) };
    Ok(stopwords_of(&stopword_list(rt.instance, rt.control, name)?))
}

fn stopwords_of(list: &StopwordList) -> Stopwords {
    match list {
        StopwordList::None => Stopwords::none(),
        StopwordList::Builtin => Stopwords::builtin(Dialect::Strict),
        StopwordList::Words { collation, words } => {
            Stopwords::new(*collation, words.iter().map(|word| &word[..]))
        }
    }
}

/// The words in the table `name`, which is `db/table`. Compat: a table that is gone leaves the
/// built-in list.
pub(crate) fn stopword_list(
    instance: &Instance,
    control: &Control,
    name: &str,
) -> SqlResult<StopwordList> {
    let snapshot = instance.catalog.snapshot();
    let found = name.split_once('/').and_then(|(schema, table)| snapshot.table(schema, table));
    let Some(info) = found.filter(|info| info.has_storage()) else {
        return Ok(StopwordList::Builtin);
    };
    let Some(at) = info.column_position("value") else { return Ok(StopwordList::Builtin) };
    let error = |e| from_engine(e, &info.def);
    let handle = instance.open_own(info)?;
    let trx = begin(&*handle.engine)?;
    let scan = Scan::default();
    let mut cursor = handle.table.scan(&*trx, control, &scan).map_err(error)?;
    let mut set = RowSet::default();
    let mut words = Vec::new();
    while cursor.next_batch(&mut set, BATCH_ROWS).map_err(error)? {
        let column = info.def.layout.decode(&set.rows, at).map_err(corrupt)?;
        words.extend((0..column.len()).filter_map(|row| match column.value(row) {
            Value::Bytes(word) => Some(word[..].into()),
            _ => None,
        }));
        set.clear();
    }
    Ok(StopwordList::Words { collation: info.columns[at].ty.collation, words })
}
