//! The rules of a full-text search: lengths of words, stopwords, operators, from the variables of
//! the server and the settings of the index.

use std::sync::Arc;

use selkie_catalog::TextIndex;
use selkie_engine::{FullText, RowSet, Scan, StopwordList, TextDialect, TextRules};
use selkie_expr::VariableScope;
use selkie_fulltext::{BooleanSyntax, Dialect, Rules, Stopwords};
use selkie_plan::physical::Search;
use selkie_types::{BATCH_ROWS, SqlResult, Value};

use super::Runtime;
use crate::state::control::Control;
use crate::state::error::{corrupt, from_engine};
use crate::state::own_transaction::begin;
use crate::{Instance, Session};

/// Rules of a search. Those of a strict index that the engine keeps are as old as the index.
pub(super) fn rules(rt: &Runtime<'_>, search: &Search) -> SqlResult<Rules> {
    let index = search.index.map(|at| &search.table.fulltext[at]);
    let strict = search.table.engine.keys.fulltext == FullText::Strict;
    let of_strict = index.and_then(|index| index.rules.as_ref()).filter(|_| strict);
    if let Some(kept) = of_strict {
        return Ok(made(search, kept));
    }
    if !strict {
        let syntax = text(rt, "ft_boolean_syntax")?;
        return Ok(Rules {
            syntax: BooleanSyntax::new(&syntax).unwrap_or_default(),
            expansion: number(rt, "ft_query_expansion_limit")?,
            ..made(search, &lenient_rules(rt.session)?)
        });
    }
    let of_variables = TextRules {
        dialect: TextDialect::Strict,
        least: length(rt.session, "innodb_ft_min_token_size")?,
        most: length(rt.session, "innodb_ft_max_token_size")?,
        stopwords: strict_stopwords(rt, index)?,
    };
    Ok(made(search, &of_variables))
}

/// The rules of a search in an index with the words that `rules` choose.
fn made(search: &Search, rules: &TextRules) -> Rules {
    let dialect = match rules.dialect {
        TextDialect::Strict => Dialect::Strict,
        TextDialect::Lenient => Dialect::Lenient,
    };
    let stopwords = match &rules.stopwords {
        StopwordList::None => Stopwords::none(),
        StopwordList::Builtin => Stopwords::builtin(dialect),
        StopwordList::Words { collation, words } => {
            Stopwords::new(*collation, words.iter().map(|word| &word[..]))
        }
    };
    Rules {
        dialect,
        collation: search.table.columns[search.columns[0]].ty.collation,
        least: rules.least as usize,
        most: rules.most as usize,
        stopwords: Arc::new(stopwords),
        syntax: BooleanSyntax::default(),
        expansion: 0,
    }
}

/// The rules that the server's variables set for the words of lenient indexes.
pub(crate) fn lenient_rules(session: &Session) -> SqlResult<TextRules> {
    let hooks = &session.frame.hooks;
    let file = hooks.variable(session, VariableScope::Global, "ft_stopword_file")?;
    let has_stopwords = matches!(file, Value::Bytes(name) if !name.is_empty());
    Ok(TextRules {
        dialect: TextDialect::Lenient,
        least: length(session, "ft_min_word_len")?,
        most: length(session, "ft_max_word_len")?,
        stopwords: if has_stopwords { StopwordList::Builtin } else { StopwordList::None },
    })
}

/// The length of words in a variable of the server.
pub(crate) fn length(session: &Session, name: &str) -> SqlResult<u32> {
    Ok(match session.frame.hooks.variable(session, VariableScope::Global, name)? {
        Value::Int(value) => u32::try_from(value).unwrap_or(0),
        Value::UInt(value) => u32::try_from(value).unwrap_or(u32::MAX),
        _ => 0,
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
fn strict_stopwords(rt: &Runtime<'_>, index: Option<&TextIndex>) -> SqlResult<StopwordList> {
    let Some(index) = index.filter(|index| index.stopwords) else { return Ok(StopwordList::None) };
    match &index.stopword_table {
        Some(name) => stopword_list(rt.instance, rt.control, name),
        None => Ok(StopwordList::Builtin),
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
